// What is done with the icons that were kept? A bar below the page, there while any are.

import { copy, formatsFor, prefer, preferred } from "../detail/copying.js";
import { summedUp } from "../detail/licences.js";
import { announce, find, iconButton, listen, make, OPENS_MENU, plural, say, setTitle, symbol, whenIdle } from "../elements.js";
import { openMenu } from "../menu.js";
import { frame } from "../results/tile.js";
import { exportAs, ways } from "./exporting.js";
import { refresh } from "./opened.js";
import { clearKept, saveKept } from "./shelf.js";
import { chosen } from "./store.js";

const SHOWN = 24; // pictures; the bar shows as many of them as there is room for

export class Tray {
  /** `open(icon)` shows an icon, `look()` is how copies are to look. */
  constructor(bar, { open, look }) {
    Object.assign(this, { bar, open, look, cells: new Map(), n: 0 });
    this.list = make("ul", { role: "list", "aria-label": "Kept icons" });
    this.more = make("span", { className: "rest" });
    this.count = make("strong");
    this.licences = make("span");
    const button = (text, drawing, act, extra = {}) => make("button", { className: "act", onclick: act, ...extra }, symbol(drawing), make("span", {}, text));
    this.export = button("Export", "download", () => this.#export(), OPENS_MENU);
    this.format = make("button", { className: "act next", "aria-label": "Copy all as …", title: "Copy all as …", ...OPENS_MENU, onclick: () => this.#chooseFormat() }, symbol("chevron-down"));
    bar.replaceChildren(this.list, this.more, make("div", { className: "sum" }, this.count, this.licences),
      make("div", { className: "acts", role: "group", "aria-label": "All kept icons" },
        make("span", { className: "joined" }, button("Copy all", "copy", () => this.#copy(), { className: "act primary" }), this.format),
        this.export, button("Save", "folder-plus", saveKept, { title: "Save as collection", "aria-label": "Save as collection" }),
        button("Clear", "x", clearKept, { className: "act last", title: "Let all go", "aria-label": "Clear" })));
    listen(chosen, "change", () => this.#show());
    new ResizeObserver(() => this.#measure()).observe(bar);
    this.#show();
    whenIdle(() => refresh(chosen).catch((error) => say(error.message)));
  }

  #show() {
    const icons = chosen.all();
    const hadFocus = this.bar.contains(document.activeElement);
    this.bar.hidden = icons.length === 0;
    document.documentElement.classList.toggle("choosing", icons.length > 0);
    const drawn = ({ key, id, digest }) => `${key} ${id} ${digest}`;
    const cells = new Map(icons.slice(0, SHOWN).map((icon) => [drawn(icon), this.cells.get(drawn(icon)) ?? this.#cell(icon)]));
    this.cells = cells;
    this.list.replaceChildren(...cells.values());
    this.count.textContent = plural(icons.length, "icon");
    this.licences.textContent = icons.length ? summedUp(icons) : "";
    if (this.n !== icons.length) announce(icons.length ? `${plural(icons.length, "icon")} kept. ${summedUp(icons)}` : "No icon kept");
    this.n = icons.length;
    this.#measure();
    if (hadFocus && !this.bar.contains(document.activeElement)) (find("button", this.list) ?? find("#words")).focus();
  }

  #cell(icon) {
    const isHere = icon.id !== null;
    const title = isHere ? `${icon.name}, ${setTitle(icon)}` : `${icon.key}, not in this library`;
    return make("li", {},
      make("button", { className: "tile", title, "aria-label": title, disabled: !isHere, onclick: () => this.open(icon) }, isHere ? frame(icon, { lazy: false, px: 24 }) : make("span", { className: "picture gone" })),
      iconButton("x", `Leave out ${icon.name}`, () => chosen.remove([icon.key]), { className: "drop" }));
  }

  /** How many pictures are out of sight; how much of the page the bar covers. */
  #measure() {
    document.documentElement.style.setProperty("--tray", `${this.bar.offsetHeight}px`);
    const first = this.list.firstElementChild;
    const row = first ? [...this.list.children].filter((cell) => cell.offsetTop === first.offsetTop).length : 0;
    const hidden = chosen.size - row;
    this.more.textContent = hidden > 0 ? `+${hidden.toLocaleString("en")}` : "";
    [...this.list.children].forEach((cell, at) => { cell.toggleAttribute("inert", at >= row); });
  }

  #copy() {
    return copy(chosen.all(), { look: this.look() });
  }

  async #chooseFormat() {
    const [all, now] = await Promise.all([formatsFor(chosen.all()), preferred(chosen.all())]);
    openMenu(this.format, { label: "Copy all as", items: all.map((format) => ({
      title: format.title, checked: format.name === now.name, act: () => { prefer(format.name); this.#copy(); },
    })) });
  }

  #export() {
    openMenu(this.export, { label: "Export", note: "Each comes with a file of the licences.", items: ways((kind) => exportAs(kind, chosen.all(), { name: "icons", look: this.look() })) });
  }
}
