// What is known of one icon, and how does it leave the page? The panel beside the grid; over it on a phone.

import { show, similar, svgText } from "../api.js";
import { make, say, symbol } from "../elements.js";
import { slug, toCss, toDataUri, toJsx, toVue } from "./formats.js";
import { frame, percent } from "../results/grid.js";
import { isColoured } from "../view/surface.js";

const FORMATS = [
  ["SVG", (icon) => svgText(icon)],
  ["JSX", async (icon) => toJsx(await svgText(icon), icon)],
  ["Vue", async (icon) => toVue(await svgText(icon))],
  ["CSS", async (icon) => toCss(await svgText(icon), { name: icon.name, coloured: isColoured(icon) })],
  ["Data URI", async (icon) => toDataUri(await svgText(icon))],
  ["Name", async (icon) => icon.key],
];
const FAMILIES = {
  permissive: "Free to use, also commercially. Keep the licence text.",
  attribution: "Free to use, also commercially, if you credit the author.",
  "share-alike": "Free to use with credit; what you change stays under the same licence.",
  copyleft: "What you build with it may have to carry the same licence.",
  "non-commercial": "Not for commercial use.",
  unknown: "No licence is known to us. Ask the author before you use it.",
};
const PNG_SIZES = [24, 48, 96, 256, 512];
const narrow = matchMedia("(max-width: 47.99rem)");

/** Copy an icon in one of the formats; says what happened. */
export async function copy(icon, format = "SVG") {
  try {
    const [, write] = FORMATS.find(([name]) => name === format);
    await navigator.clipboard.writeText(await write(icon));
    say(format === "Name" ? `Copied “${icon.key}”` : `Copied ${icon.name} as ${format}`);
  } catch (error) {
    say(error.name === "NotAllowedError" ? "The browser does not let this page write to the clipboard" : error.message);
  }
}

export class Detail {
  /**
   * `open(icon)` shows another icon, `like(icon)` asks for more like it, `filter(kind, value)` narrows, `close()` leaves;
   * `explain(id)` gives what asks why the icon is here, or null; `preferred()` sets come first, `prefer(set, yes)` changes that.
   */
  constructor(dialog, actions) {
    Object.assign(this, { dialog, ...actions, id: null, loading: null });
    dialog.addEventListener("cancel", (event) => { event.preventDefault(); this.close(); });
    narrow.addEventListener("change", () => { if (dialog.open) { dialog.close(); this.#unfold(); } });
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
    } catch (error) {
      if (error.name !== "AbortError") this.#fail(error);
      return;
    }
    await this.#showSimilar(id, signal);
  }

  async #showSimilar(id, signal) {
    const section = this.dialog.querySelector(".similar");
    try {
      const { hits } = await similar(id, { k: 13, signal });
      this.#fill(".similar", "Similar", hits.filter((hit) => hit.id !== id).slice(0, 12));
    } catch (error) {
      if (error.name !== "AbortError") section.replaceChildren(make("h3", { textContent: "Similar" }), make("p", { textContent: error.message }));
    }
  }

  hide() {
    this.loading?.abort();
    this.id = null;
    if (this.dialog.open) this.dialog.close();
    document.documentElement.classList.remove("inspecting");
  }

  focus() {
    this.dialog.querySelector(".copy button")?.focus();
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
    this.dialog.replaceChildren(
      make("div", { className: "head" },
        make("div", {}, make("h2", { id: "detail-name", textContent: icon.name }), make("p", { className: "links" }, this.#link("set", icon.set, icon.set_title), this.#pin(icon))),
        make("button", { type: "button", className: "quiet", "aria-label": "Close", onclick: () => this.close(), "data-key": "close" }, symbol("x"))),
      this.#preview(icon), this.#copying(icon), this.#downloads(icon),
      make("button", { type: "button", className: "wide", onclick: () => this.like(icon), "data-key": "like" }, symbol("sparkles"), "More like this"),
      make("section", { className: "mini variants", hidden: true }),
      make("section", { className: "mini alike", hidden: true }),
      this.#facts(icon, complete),
      complete && this.#why(icon),
      make("section", { className: "mini similar", hidden: !complete }));
    if (complete) {
      this.#fill(".variants", "Variants", icon.variants.filter(({ id }) => id !== icon.id));
      this.#fill(".alike", "The same drawing", icon.near_duplicates);
    }
    this.#unfold();
    if (hadFocus) this.dialog.querySelector(`[data-key="${hadFocus}"]`)?.focus({ preventScroll: true });
    else if (narrow.matches) this.dialog.querySelector("[data-key=close]").focus({ preventScroll: true });
  }

  #preview(icon) {
    const sizes = [16, 24, 32, 48].map((px) => make("span", { className: "at" }, frame(icon, { lazy: false, px })));
    return make("div", { className: "preview" }, frame(icon, { lazy: false, px: 144 }), make("div", { className: "sizes", "aria-hidden": "true" }, sizes));
  }

  #copying(icon) {
    const offered = icon.svg_url ? FORMATS : FORMATS.slice(-1);
    const buttons = offered.map(([name], at) => make("button", {
      type: "button", className: at === 0 ? "primary" : "", "aria-label": `Copy ${name}`, onclick: () => copy(icon, name), "data-key": name,
    }, at === 0 && symbol("copy"), at === 0 ? `Copy ${name}` : name));
    return make("div", { className: "copy", role: "group", "aria-label": "Copy" }, buttons);
  }

  #downloads(icon) {
    const size = make("select", { "aria-label": "Size of the PNG" }, PNG_SIZES.map((px) => make("option", { value: px, textContent: `${px} px`, selected: px === 256 })));
    const link = make("a", { className: "button", download: `${slug(icon.name)}.png`, "data-key": "png" }, symbol("download"), "PNG");
    const aim = () => { link.href = sized(icon.png_url, size.value); };
    size.addEventListener("change", aim);
    aim();
    const svg = icon.svg_url && make("a", { className: "button", href: icon.svg_url, download: `${slug(icon.name)}.svg`, "data-key": "svg" }, symbol("download"), "SVG");
    return make("div", { className: "downloads", role: "group", "aria-label": "Download" }, svg, link, size);
  }

  #facts(icon, complete) {
    const licence = icon.licence
      ? make("a", { href: `https://spdx.org/licenses/${encodeURIComponent(icon.licence)}.html`, rel: "noreferrer", target: "_blank", textContent: icon.licence })
      : "Unknown";
    const links = (kind, values) => values?.length > 0 && make("span", { className: "links" }, values.map((value) => this.#link(kind, value, value)));
    const rows = [
      ["Licence", [licence, make("small", { textContent: FAMILIES[icon.licence_family] ?? FAMILIES.unknown })]],
      ["Read as", complete && icon.name_read && `${icon.name_read.english} (${icon.name_read.name})`],
      ["Match", icon.exact ? "Exactly its name" : icon.score !== null && percent(icon.score)],
      ["Style", icon.style && this.#link("style", icon.style, icon.style)],
      ["Drawn for", icon.size && `${icon.size} px`],
      ["Category", complete && links("category", icon.categories)],
      ["Tags", complete && links("tag", icon.tags)],
      ["From", [[icon.author, icon.version].filter(Boolean).join(", ") || icon.set_title, make("small", { textContent: [icon.source, icon.member ? `${icon.path}#${icon.member}` : icon.path].filter(Boolean).join(" · ") })]],
    ];
    return make("dl", {}, rows.filter(([, value]) => value).map(([title, value]) => make("div", {}, make("dt", { textContent: title }), make("dd", {}, value))));
  }

  /** What each part of the search says of the icon, beside the one that comes first; asked for when it is opened. */
  #why(icon) {
    const ask = this.explain(icon.id);
    if (!ask) return null;
    const folded = make("details", { className: "why" }, make("summary", { textContent: "Why is it here?", "data-key": "why" }));
    folded.addEventListener("toggle", async () => {
      try {
        folded.append(...explained(await ask({ signal: this.loading.signal })));
      } catch (error) {
        if (error.name !== "AbortError") folded.append(make("p", { textContent: error.message }));
      }
    }, { once: true });
    return folded;
  }

  /** Whether icons of this set come first where several sets have the icon. */
  #pin({ set }) {
    const pressed = this.preferred().includes(set);
    return make("button", {
      type: "button", className: "link", "aria-pressed": String(pressed), textContent: pressed ? "comes first" : "put first",
      title: "Icons of this set come first", "data-key": "pin",
      onclick: ({ currentTarget }) => { this.prefer(set, !pressed); currentTarget.replaceWith(this.#pin({ set })); },
    });
  }

  #link(kind, value, title) {
    return make("button", { type: "button", className: "link", textContent: title || value, title: `Only this ${kind}`, onclick: () => this.filter(kind, value) });
  }

  #fill(selector, title, icons) {
    const section = this.dialog.querySelector(selector);
    section.hidden = icons.length === 0;
    const list = make("ul", { role: "list" }, icons.map((icon) => make("li", {},
      make("button", { type: "button", className: "tile", title: `${icon.name}, ${icon.set_title}`, "aria-label": `${icon.name}, ${icon.set_title}`, onclick: () => this.open(icon) },
        frame(icon, { px: 28 })))));
    section.replaceChildren(make("h3", { textContent: title }), list);
  }

  #fail(error) {
    const text = error.status === 404 ? "This icon is not in the library any more." : error.message;
    this.dialog.replaceChildren(make("div", { className: "head" }, make("h2", { id: "detail-name", textContent: "Not to be shown" }),
      make("button", { type: "button", className: "quiet", "aria-label": "Close", onclick: () => this.close() }, symbol("x"))), make("p", { textContent: text }));
    this.#unfold();
  }
}

/** Lay out an explanation: how the words were read, then a column for each icon. */
function* explained({ typed, spelled, read_as: readAs, style, parts, drawn, without, icon, first, shown }) {
  const lists = Object.entries({ parts, "customarily drawn": drawn, without }).map(([title, words]) => words.length > 0 && `${title}: ${words.join(", ")}`);
  const read = [readAs && `read as ${readAs.name}`, `asked: ${spelled ? `${typed}, perhaps ${spelled}` : typed}`, style && `style: ${style}`, ...lists];
  yield make("p", { textContent: read.filter(Boolean).join(" · ") });
  const columns = first && first.hit.id !== icon.hit.id ? [icon, first] : [icon];
  const rows = (part, unit, digits) => [...new Set(columns.flatMap((one) => Object.keys(one[part])))]
    .map((name) => [`${name}, ${unit}`, (one) => one[part][name]?.toFixed(digits) ?? ""]);
  const all = [...rows("cosines", "cosine", 3), ...rows("evidence", "log-odds", 2),
    ["answers", ({ tier }) => tier], ["score", ({ hit }) => percent(hit.score)], ["rank", ({ rank }) => rank ?? "far down"]];
  yield make("table", {},
    make("thead", {}, make("tr", {}, make("td"), columns.map(({ hit }) => make("th", { scope: "col", textContent: hit.name })))),
    make("tbody", {}, all.map(([label, value]) => make("tr", {}, make("th", { scope: "row", textContent: label }),
      columns.map((one) => make("td", { textContent: value(one) }))))));
  yield make("p", { textContent: `It is ${shown}.` });
}

/** A picture's address with a size of its PNG. */
export function sized(url, px) {
  const address = new URL(url, document.baseURI);
  address.searchParams.set("size", px);
  return address.href;
}
