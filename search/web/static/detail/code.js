// The part of the panel that writes an icon as code: a menu of frameworks, one large button, and the code itself.

import { code } from "../api.js";
import { make, symbol } from "../elements.js";
import { copyText, formatsFor, prefer, preferred, said } from "./copying.js";

const LOOKS = { colour: "colour", stroke_width: "stroke width", size: "size", corner: "corners", motion: "motion", stroke: "stroke: as a filled shape it is another icon" };

export class Code {
  /** `look()` is how copies are to look. */
  constructor({ look }) {
    Object.assign(this, { look, icon: null, signal: null, format: null, text: null });
    this.title = make("span", { textContent: "…" });
    this.menu = make("button", { className: "framework", "aria-haspopup": "menu", "aria-expanded": "false", "data-key": "framework", onclick: () => this.#offer() },
      make("span", { className: "hidden", textContent: "Format: " }), this.title, symbol("chevron-down"));
    this.button = make("button", { className: "primary", "data-key": "copy", onclick: () => this.#copy() }, symbol("copy"), "Copy");
    this.code = make("code");
    this.note = make("p", { className: "aside" });
    this.element = make("div", { className: "copy", role: "group", "aria-label": "Copy" }, this.menu, this.button,
      make("pre", { className: "code", tabIndex: 0, role: "region", "aria-label": "Code" }, this.code), this.note);
  }

  /** Write an icon in the format that was chosen last. */
  show(icon, { signal }) {
    if (icon.key !== this.icon?.key) this.code.textContent = "";
    Object.assign(this, { icon, signal });
    return this.write();
  }

  async write() {
    const { icon, signal } = this;
    if (!icon) return;
    try {
      const format = await preferred([icon]);
      this.format = format;
      this.title.textContent = format.title;
      this.button.setAttribute("aria-label", `Copy as ${format.title}`);
      const coming = code(icon.key, { format: format.name, look: this.look(), signal });
      this.text = coming.then((snippet) => snippet.code);
      this.text.catch(() => {}); // said below, and again where it is copied
      this.#tell(await coming, format);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.code.textContent = error.message;
      this.note.replaceChildren();
    }
  }

  #tell({ code: text, install, left_out: leftOut }, { title }) {
    this.code.textContent = text;
    const unsaid = [...leftOut].sort((a, b) => (a === "stroke") - (b === "stroke")).map((name) => LOOKS[name] ?? name).join(", ");
    this.note.replaceChildren(...[install && make("code", { textContent: install }), unsaid && `${title} can’t state the ${unsaid}.`].filter(Boolean));
  }

  async #offer() {
    const { icon } = this;
    const [{ openMenu }, all] = await Promise.all([import("../menu.js"), formatsFor([icon])]);
    const item = (format) => ({
      title: format.title, checked: format.name === this.format?.name,
      act: () => { prefer(format.name); this.write(); },
    });
    const groups = [
      [`Made for ${icon.set_title || icon.set}`, ({ sets }) => sets.length > 0],
      ["By its name", ({ sets, form }) => !sets.length && form !== "drawn"],
      ["The drawing itself", ({ form }) => form === "drawn"],
    ].map(([heading, belongs]) => [heading, all.filter(belongs)]);
    openMenu(this.menu, { label: "Copy as", items: groups.flatMap(([heading, some]) => (some.length ? [{ heading }, ...some.map(item)] : [])) });
  }

  #copy() {
    const { icon, text, format } = this;
    return copyText(async () => [await text, said(icon, format)]);
  }
}
