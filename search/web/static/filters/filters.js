// Which icons may answer at all? A button a kind of filter, a menu with counts behind it, a chip for each that is on.

import { find, make, plural, symbol } from "../elements.js";
import { FACETS } from "../state.js";

const TITLES = { set: "Set", style: "Style", corner: "Corners", licence: "Licence", category: "Category", tag: "Tag", size: "Size" };
const ORDER = ["set", "style", "corner", "licence", "category", "tag", "size"];
const CHOICES = {
  coloured: { title: "Colour", values: [[true, "Many colours"], [false, "One colour"]] },
  animated: { title: "Motion", values: [[true, "Animated"], [false, "Still"]] },
};
const FAMILIES = { // the server takes them as licences
  permissive: "Any permissive", attribution: "Any with credit", "share-alike": "Any share-alike", copyleft: "Any copyleft",
  "non-commercial": "Any non-commercial", unknown: "Not known",
};
const COUNTED = 50; // of a kind, by the server, the most frequent ones
const MOST = 150; // options drawn at once; the box above them finds the others

/** The labels of a kind, those of whole families of licences first. */
function labelsOf(facets, kind) {
  const families = kind === "licence" ? facets.family ?? [] : [];
  const known = families.filter(({ value }) => value in FAMILIES);
  return [...known.map((family) => ({ ...family, title: FAMILIES[family.value], first: true })), ...(facets[kind] ?? [])];
}

export class Filters {
  /** `change(changes)` takes what a filter makes of the state, `clear()` takes all of them away. */
  constructor(bar, menu, { change, clear }) {
    Object.assign(this, { bar, menu, change, clear, known: {}, counts: {}, state: null, kind: null, pressed: false });
    menu.addEventListener("toggle", (event) => { if (event.newState === "closed") this.#closed(); });
    menu.addEventListener("keydown", (event) => this.#walk(event));
    menu.addEventListener("pointerdown", () => { this.pressed = true; });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => this.#released()));
  }

  /** Labels of the whole library: what can be filtered for before anything is asked. */
  knows(facets) {
    this.known = facets ?? {};
    if (this.state) this.render(this.state);
  }

  /** How many of the present hits bear each label; `null` while that is not known. */
  count(facets) {
    this.counts = facets ?? {};
    if (this.state) this.render(this.state);
  }

  render(state) {
    this.state = state;
    const kinds = ORDER.filter((kind) => this.#labels(kind).length > 1 || state[kind].length)
      .map((kind) => ({ kind, title: TITLES[kind], active: state[kind].length > 0 }));
    const choices = Object.keys(CHOICES).filter((kind) => this.known[kind]?.length > 1 || state[kind] !== null)
      .map((kind) => ({ kind, title: CHOICES[kind].title, active: state[kind] !== null }));
    const toggles = [{ name: "flat", title: "Every variant", pressed: state.flat }, { name: "keyword", title: "Keywords only", pressed: state.keyword }];
    this.#draw({ buttons: [...kinds, ...choices], toggles, chips: this.#chips(state) });
    if (this.kind) this.#fill();
  }

  /** Most keystrokes leave the bar as it is; then nothing of it is made anew. */
  #draw(parts) {
    const text = JSON.stringify(parts);
    if (text === this.drawn) return;
    this.drawn = text;
    const hadFocus = this.bar.contains(document.activeElement) ? document.activeElement.dataset.kind : null;
    this.bar.replaceChildren(...parts.buttons.map((one) => this.#button(one)), ...parts.toggles.map((one) => this.#toggle(one)),
      ...parts.chips.map((one) => this.#chip(one)), ...(parts.chips.length > 1 ? [this.#clearAll()] : []));
    if (hadFocus) find(`[data-kind="${hadFocus}"]`, this.bar)?.focus();
  }

  #labels(kind) {
    const [library, found] = [labelsOf(this.known, kind), labelsOf(this.counts, kind)];
    // Choosing one set must not hide the others: a kind that is filtered by offers all that the library has.
    if (!found.length || this.state[kind].length) {
      const counted = new Map(found.map(({ value, n }) => [String(value), n]));
      return library.length ? library.map((label) => ({ ...label, n: this.counts[kind] ? counted.get(String(label.value)) : label.n })) : found;
    }
    if (found.length < COUNTED) return found;
    const counted = new Set(found.map(({ value }) => value)); // the others may answer, too, only nobody counted them
    return [...found, ...library.filter(({ value }) => !counted.has(value)).map((label) => ({ ...label, n: undefined }))];
  }

  #button({ kind, title, active }) {
    return make("button", {
      type: "button", className: "filter", "data-kind": kind, "aria-haspopup": "dialog", "aria-expanded": String(this.kind === kind),
      "data-on": active ? "" : null, onclick: (event) => this.#open(kind, event.currentTarget),
    }, title, symbol("chevron-down"));
  }

  #toggle({ name, title, pressed }) {
    return make("button", {
      type: "button", className: "filter", "data-kind": name, "aria-pressed": String(pressed), "data-on": pressed ? "" : null,
      onclick: () => this.change({ [name]: !pressed }),
    }, title);
  }

  #chips(state) {
    const pins = state.prefer.map((set) => ({ text: `First: ${set}`, remove: () => this.change({ prefer: state.prefer.filter((other) => other !== set) }) }));
    const chips = FACETS.flatMap((kind) => state[kind].map((value) => {
      const n = labelsOf(this.counts, kind).find((one) => String(one.value) === value)?.n;
      const label = [...labelsOf(this.counts, kind), ...labelsOf(this.known, kind)].find((one) => String(one.value) === value);
      const text = kind === "size" ? `${value} px` : label?.title ?? value;
      return { text, n, remove: () => this.change({ [kind]: this.state[kind].filter((one) => one !== value) }) };
    }));
    for (const [kind, { values }] of Object.entries(CHOICES)) {
      if (state[kind] !== null) chips.push({ text: values.find(([value]) => value === state[kind])[1], remove: () => this.change({ [kind]: null }) });
    }
    return [...pins, ...chips];
  }

  #chip({ text, n, remove }) {
    return make("button", { type: "button", className: "chip", onclick: remove, "data-kind": `chip-${text}` },
      make("span", { className: "hidden", textContent: "Remove filter " }), text,
      n !== undefined && make("span", { className: "count", textContent: n.toLocaleString("en") }), symbol("x"));
  }

  #clearAll() {
    return make("button", { type: "button", className: "quiet", textContent: "Clear all", onclick: this.clear, "data-kind": "clear" });
  }

  #open(kind, button) {
    const again = this.kind === kind;
    if (this.menu.matches(":popover-open")) this.menu.hidePopover();
    if (again) return;
    this.kind = kind;
    this.menu.setAttribute("aria-label", TITLES[kind] ?? CHOICES[kind].title);
    this.menu.replaceChildren();
    this.#fill();
    const { left, bottom } = button.getBoundingClientRect();
    this.menu.style.setProperty("--left", `${Math.max(8, Math.min(left, innerWidth - 300))}px`);
    this.menu.style.setProperty("--top", `${bottom + 6}px`);
    this.menu.showPopover();
    button.setAttribute("aria-expanded", "true");
    find("input", this.menu)?.focus();
  }

  #closed() {
    const button = find(`[data-kind="${this.kind}"]`, this.bar);
    this.kind = null;
    button?.setAttribute("aria-expanded", "false");
    if (this.menu.contains(document.activeElement) || document.activeElement === document.body) button?.focus();
  }

  /** The click that belongs to it has been heard. */
  #released() {
    const waits = this.pressed && this.kind;
    this.pressed = false;
    if (waits) this.#fill();
  }

  #fill() {
    if (this.pressed) return; // what is made anew between press and release is never clicked
    const kind = this.kind;
    const focused = this.menu.contains(document.activeElement) ? document.activeElement.value : null;
    const box = find("input[type=search]", this.menu);
    const typed = box?.value ?? "";
    const options = kind in CHOICES ? this.#choices(kind) : this.#options(kind, typed);
    const search = !(kind in CHOICES) && this.#labels(kind).length > 10 && (box ?? this.#box());
    const list = find(".options", this.menu) ?? make("div", { className: "options" });
    list.replaceChildren(...options);
    if (!this.menu.contains(list)) this.menu.replaceChildren(...[search, list].filter(Boolean));
    if (focused !== null && box !== document.activeElement) find(`input[value="${CSS.escape(focused)}"]`, list)?.focus();
  }

  #box() {
    const title = TITLES[this.kind].toLowerCase();
    return make("input", { type: "search", placeholder: `Find a ${title}`, "aria-label": `Find a ${title}`, oninput: () => this.#fill() });
  }

  #options(kind, typed) {
    const wanted = typed.trim().toLowerCase();
    const labels = this.#labels(kind).filter(({ value, title }) => `${title} ${value}`.toLowerCase().includes(wanted));
    const on = new Set(this.state[kind]);
    const sorted = [...labels].sort((a, b) => on.has(String(b.value)) - on.has(String(a.value)) || Boolean(b.first) - Boolean(a.first) || (b.n ?? 0) - (a.n ?? 0));
    const rows = sorted.slice(0, MOST).map(({ value, title, n }) => this.#row({
      type: "checkbox", kind, value: String(value), title: kind === "size" ? `${value} px` : title ?? value, n, checked: on.has(String(value)),
      onchange: (event) => this.change({ [kind]: event.target.checked ? [...on, String(value)] : [...on].filter((one) => one !== String(value)) }),
    }));
    if (sorted.length > MOST) rows.push(make("p", { textContent: `${plural(sorted.length - MOST, "other")}: type to find them.` }));
    if (!sorted.length) rows.push(make("p", { textContent: typed ? `Nothing called “${typed}”.` : "Nothing to choose from." }));
    return rows;
  }

  #choices(kind) {
    const values = [[null, "Any"], ...CHOICES[kind].values];
    const counted = new Map((this.counts[kind] ?? []).map(({ value, n }) => [String(value), n]));
    return values.map(([value, title]) => this.#row({
      type: "radio", kind, value: String(value), title, n: counted.get(String(value)), checked: this.state[kind] === value, onchange: () => this.change({ [kind]: value }),
    }));
  }

  #row({ type, kind, value, title, n, checked, onchange }) {
    return make("label", { className: "option" }, make("input", { type, name: kind, value, checked, onchange }),
      make("span", { textContent: title }), n !== undefined && make("span", { className: "count", textContent: n.toLocaleString("en") }));
  }

  #walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target.type === "radio") return;
    event.preventDefault();
    const inputs = [...this.menu.querySelectorAll("input")];
    inputs[inputs.indexOf(document.activeElement) + step]?.focus();
  }
}
