// What is known of one icon, and how does it leave the page? The panel beside the grid; over it on a phone.

import { show } from "../api.js";
import { find, head, iconButton, listen, make, narrow, say, symbol } from "../elements.js";
import { frame } from "../results/tile.js";
import { fileName, save } from "../tray/exporting.js";
import { chosen } from "../tray/store.js";
import { isRestyled } from "../view/look.js";
import { Code } from "./code.js";
import { copyText } from "./copying.js";
import { facts, link } from "./facts.js";
import { pngOf, svgIn } from "./files.js";
import { alike, fill } from "./similar.js";
import { fillUsed } from "./used.js";

const PNG_SIZES = [24, 48, 96, 256, 512];

export class Detail {
  /**
   * `open(icon)` shows another icon, `like(icon)` asks for more like it, `filter(kind, value)` narrows, `close()` leaves;
   * `explain(id)` gives what asks why the icon is here, or null; `preferred()` sets come first, `prefer(set, yes)` changes that;
   * `look()` is how copies are to look, `customize()` lets a person change it; `moved()` hears that the panel is there, gone or anew.
   */
  constructor(dialog, actions) {
    Object.assign(this, { dialog, ...actions, id: null, icon: null, loading: null, begun: null, rest: [], code: new Code({ look: actions.look }) });
    listen(dialog, "cancel", (event) => { event.preventDefault(); this.close(); });
    listen(narrow, "change", () => { if (dialog.open) { dialog.close(); this.#unfold(); } });
    listen(chosen, "change", () => this.#mark());
  }

  /** Show an icon; what a hit already tells of it stands there at once. */
  async show(id, known) {
    if (this.id === id) return;
    this.loading?.abort();
    this.loading = new AbortController();
    const { signal } = this.loading;
    this.id = id;
    if (known) this.#render({ ...known, variants: [] }, { complete: false });
    try {
      const icon = await show(id, { signal });
      icon.score = known?.score ?? null;
      this.#render(icon, { complete: true });
      await Promise.all([this.#showSimilar(icon, signal), fillUsed(find(".used", this.dialog), icon, { signal })]);
    } catch (error) {
      if (error.name !== "AbortError") this.#fail(error);
    }
  }

  async #showSimilar(icon, signal) {
    const [own, elsewhere] = [".similar.own", ".similar.elsewhere"].map((selector) => find(selector, this.dialog));
    try {
      const found = await alike(icon, { signal });
      fill(own, "Similar in this set", found.own, { open: this.open, by: "name" });
      fill(elsewhere, "Similar elsewhere", found.elsewhere, { open: this.open, by: "set" });
    } catch (error) {
      if (error.name !== "AbortError") elsewhere.replaceChildren(make("h3", {}, "Similar"), make("p", {}, error.message));
    }
  }

  hide() {
    this.loading?.abort();
    this.id = null;
    if (this.dialog.open) this.dialog.close();
    document.documentElement.classList.remove("inspecting");
    this.moved();
  }

  focus() {
    find(".copy .primary", this.dialog)?.focus();
  }

  /** The look of copies has changed. */
  relook() {
    if (this.id !== null) this.code.write();
    if (this.original) this.original.hidden = !isRestyled(this.look());
  }

  #unfold() {
    if (this.dialog.open) return;
    const before = document.activeElement;
    document.documentElement.classList.add("inspecting");
    if (narrow.matches) this.dialog.showModal();
    else {
      this.dialog.show();
      before?.focus({ preventScroll: true }); // beside the grid, the keys stay where they are
    }
  }

  #render(icon, { complete }) {
    const hadFocus = this.dialog.contains(document.activeElement) && document.activeElement.dataset.key;
    this.icon = icon;
    if (this.begun === icon.id) for (const part of this.rest) part.remove(); // what is above stays: a click may be under way there
    else this.dialog.replaceChildren(this.#head(icon), this.#preview(icon), this.#doing(icon), this.code.element, this.#downloads(icon));
    this.begun = complete ? null : icon.id;
    this.rest = [
      make("section", { className: "mini variants", hidden: true }),
      facts(icon, { complete, filter: this.filter }),
      make("section", { className: "mini used", hidden: true }),
      complete && this.#why(icon),
      make("section", { className: "mini alike", hidden: true }),
      make("section", { className: "mini similar own", hidden: !complete }),
      make("section", { className: "mini similar elsewhere", hidden: true }),
    ].filter(Boolean);
    this.dialog.append(...this.rest);
    this.#mark();
    if (complete) {
      const variants = icon.variants.filter(({ id }) => id !== icon.id);
      fill(find(".variants", this.dialog), "Variants", variants, { open: this.open, by: "style" });
      fill(find(".alike", this.dialog), "The same drawing", icon.near_duplicates, { open: this.open, by: "set" });
    }
    this.#unfold();
    this.moved();
    this.code.show(icon, { signal: this.loading.signal });
    if (hadFocus) find(`[data-key="${hadFocus}"]`, this.dialog)?.focus({ preventScroll: true });
    else if (narrow.matches) find("[data-key=close]", this.dialog).focus({ preventScroll: true });
  }

  #head(icon) {
    const key = make("button", { className: "key", title: "Copy it", "aria-label": `Copy ${icon.key}`, "data-key": "name", onclick: () => copyText(async () => [icon.key, `Copied “${icon.key}”`]) },
      make("span", {}, icon.key), symbol("copy"));
    return make("div", { className: "head" },
      make("div", {}, key, make("h2", { id: "detail-name" }, icon.name),
        make("p", { className: "links" }, link(this.filter, "set", icon.set, { title: icon.set_title }), this.#pin(icon))),
      iconButton("x", "Close", this.close, { "data-key": "close" }));
  }

  #preview(icon) {
    const sizes = [16, 24, 32, 48].map((px) => make("span", { className: "at" }, frame(icon, { lazy: false, px }), make("small", {}, px)));
    const tune = iconButton("sliders-horizontal", "Customize", this.customize, { className: "quiet tune", title: "Colour, stroke, size, corners, background", "data-key": "tune" });
    return make("div", { className: "preview" }, frame(icon, { lazy: false, px: 128 }), tune, make("div", { className: "sizes", "aria-hidden": "true" }, sizes));
  }

  #doing(icon) {
    return make("div", { className: "doing" },
      make("button", { className: "wide keep", onclick: () => chosen.toggle(icon), "data-key": "keep" }, symbol("check"), make("span")),
      make("button", { className: "wide", onclick: () => this.like(icon), "data-key": "like" }, symbol("sparkles"), "More like this"));
  }

  #mark() {
    const { icon } = this;
    if (this.id === null || !icon) return; // none is shown, or it could not be
    const isKept = chosen.has(icon.key);
    find(".keep", this.dialog).ariaPressed = isKept;
    find(".keep span", this.dialog).textContent = isKept ? "Kept" : "Keep";
  }

  /** Files of what is shown; in another look also the SVG as it is stored. */
  #downloads(icon) {
    const size = make("select", { "aria-label": "Size of the PNG", "data-key": "px" }, PNG_SIZES.map((px) => make("option", { value: px, selected: px === 256 }, `${px} px`)));
    const button = (kind, text, href) => make("a", { className: "button", href, download: `${fileName(icon.name)}.${kind}`, "data-key": text.toLowerCase() }, symbol("download"), text);
    const png = button("png", "PNG", sized(icon.png_url, 256));
    if (icon.animated) png.append(", still");
    listen(size, "change", () => { png.href = sized(icon.png_url, size.value); });
    if (!icon.svg_url) return make("div", { className: "downloads", role: "group", "aria-label": "Download" }, png, size);
    const [svg, original] = [button("svg", "SVG", icon.svg_url), button("svg", "Original", icon.svg_url)];
    original.title = "The SVG as it is stored";
    const inLook = (link, write) => listen(link, "click", (event) => {
      if (!isRestyled(this.look())) return;
      event.preventDefault();
      write(this.look()).then((blob) => save(blob, link.download)).catch((error) => say(error.message));
    });
    inLook(svg, (look) => svgIn(icon.key, look));
    inLook(png, async (look) => pngOf(await svgIn(icon.key, { ...look, size: Number(size.value) }), Number(size.value)));
    this.original = original;
    original.hidden = !isRestyled(this.look());
    return make("div", { className: "downloads", role: "group", "aria-label": "Download" }, svg, original, png, size);
  }

  /** What each part of the search says of the icon, beside the one that comes first; asked for when it is opened. */
  #why(icon) {
    const ask = this.explain(icon.id);
    if (!ask) return null;
    const folded = make("details", { className: "why" }, make("summary", { "data-key": "why" }, "Why was this found?"));
    listen(folded, "toggle", async () => {
      try {
        const [{ explained }, told] = await Promise.all([import("./why.js"), ask({ signal: this.loading.signal })]);
        folded.append(...explained(told));
      } catch (error) {
        if (error.name !== "AbortError") folded.append(make("p", {}, error.message));
      }
    }, { once: true });
    return folded;
  }

  /** Whether icons of this set come first where several sets have the icon, and the set itself on the start page. */
  #pin({ set }) {
    const pressed = this.preferred().includes(set);
    return make("button", {
      className: "link pinned", "aria-pressed": String(pressed), title: "Pin: this set and its icons come first", "data-key": "pin",
      onclick: ({ currentTarget }) => { this.prefer(set, !pressed); currentTarget.replaceWith(this.#pin({ set })); },
    }, symbol("pin"), pressed ? "Pinned" : "Pin");
  }

  #fail(error) {
    this.icon = this.begun = null;
    const text = error.status === 404 ? "This icon is not in the library any more." : error.message;
    this.dialog.replaceChildren(head("detail-name", "Not to be shown", this.close), make("p", {}, text));
    this.#unfold();
  }
}

/** The address of a PNG of some size. */
function sized(url, size) {
  const address = new URL(url, document.baseURI);
  address.searchParams.set("size", size);
  return address.href;
}
