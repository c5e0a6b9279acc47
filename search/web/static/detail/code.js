// The part of the panel that writes an icon as code: a menu of frameworks, one large button, and the code itself.

import { code } from "../api.js";
import { make, OPENS_MENU, setTitle, symbol } from "../elements.js";
import { copy, formatsFor, prefer, preferred, unsaid } from "./copying.js";

export class Code {
  /** `look()` is how copies are to look. */
  constructor({ look }) {
    Object.assign(this, { look, icon: null, signal: null, format: null, written: null });
    this.title = make("span", {}, "…");
    this.menu = make("button", { className: "framework", ...OPENS_MENU, "data-key": "framework", onclick: () => this.#offer() },
      make("span", { className: "hidden" }, "Format: "), this.title, symbol("chevron-down"));
    this.button = make("button", { className: "primary", "data-key": "copy", onclick: () => copy([this.icon], { format: this.format, written: this.written }) }, symbol("copy"), "Copy");
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
      this.button.ariaLabel = `Copy as ${format.title}`;
      this.written = code(icon.key, { format: format.name, look: this.look(), signal });
      this.#tell(await this.written, format);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.code.textContent = error.message;
      this.note.replaceChildren();
    }
  }

  #tell({ code: text, install, left_out: leftOut }, { title }) {
    this.code.textContent = text;
    this.note.replaceChildren(...[install && make("code", {}, install), leftOut.length > 0 && `${title} can’t state the ${unsaid(leftOut)}.`].filter(Boolean));
  }

  async #offer() {
    const { icon } = this;
    const [{ openMenu }, all] = await Promise.all([import("../menu.js"), formatsFor([icon])]);
    const item = (format) => ({
      title: format.title, checked: format.name === this.format?.name,
      act: () => { prefer(format.name); this.write(); },
    });
    const groups = [
      [`Made for ${setTitle(icon)}`, ({ sets }) => sets.length > 0],
      ["By its name", ({ sets, form }) => !sets.length && form !== "drawn"],
      ["The drawing itself", ({ form }) => form === "drawn"],
    ].map(([heading, belongs]) => [heading, all.filter(belongs)]);
    openMenu(this.menu, { label: "Copy as", items: groups.flatMap(([heading, some]) => (some.length ? [{ heading }, ...some.map(item)] : [])) });
  }
}
