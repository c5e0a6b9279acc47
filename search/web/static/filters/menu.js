// What does a filter offer? One kind's labels, with a box to find them; or all kinds, each a step further in.

import { find, listen, make, plural, symbol, watchPress } from "../elements.js";
import { CHOICES, sorted, TITLES, titleOf, TOGGLES } from "./labels.js";

const MOST = 150; // options drawn at once; the box above them finds the others
const SEARCHED = 10; // from how many on there is a box
const NO_KIND = { kind: null, kinds: null };

export class Menu {
  /** `change(changes)` takes what is ticked, `clear()` takes all filters away; `labels(kind)` and `counts(kind)` tell what there is,
   *  `known(kind)` what the whole library has. */
  constructor(element, { change, clear, labels, counts, known }) {
    Object.assign(this, { element, change, clear, labels, counts, known, ...NO_KIND, state: null, button: null });
    listen(element, "toggle", (event) => { if (event.newState === "closed") this.#closed(); });
    listen(element, "keydown", (event) => this.#walk(event));
    this.press = watchPress(element, () => { if (this.isOpen) this.fill(); });
  }

  /** Open it below a button, for one kind or for several. */
  open({ kind = null, kinds = null, button, title }) {
    const again = this.button === button;
    if (this.element.matches(":popover-open")) this.element.hidePopover();
    if (again) return;
    Object.assign(this, { kind, kinds, button, title });
    this.element.ariaLabel = title;
    this.element.replaceChildren();
    this.fill();
    const { left, bottom } = button.getBoundingClientRect();
    this.element.style.setProperty("--left", `${Math.max(8, Math.min(left, innerWidth - 320))}px`);
    this.element.style.setProperty("--top", `${bottom + 6}px`);
    this.element.showPopover();
    button.ariaExpanded = true;
    this.#focusFirst();
  }

  get isOpen() {
    return this.button !== null;
  }

  #focusFirst() {
    find(this.kind ? "input" : ".kind, input", this.element)?.focus();
  }

  #closed() {
    const { button } = this;
    Object.assign(this, NO_KIND, { button: null });
    if (button) button.ariaExpanded = false;
    if (this.element.contains(document.activeElement) || document.activeElement === document.body) this.find(button)?.focus();
  }

  /** The bar may have been made anew since. */
  find = (button) => (button?.isConnected ? button : find(`[data-kind="${button?.dataset.kind}"]`));

  /** Draw what there is to choose from. */
  fill() {
    if (this.press.isDown) return;
    const { element, kind } = this;
    const active = element.contains(document.activeElement) ? document.activeElement : null;
    const focused = active && (active.dataset.kind ?? active.value);
    const box = find("input[type=search]", element);
    const head = this.#head();
    const list = find(".options", element) ?? make("div", { className: "options" });
    const search = kind && this.#isLong(kind) && (box ?? this.#box());
    list.replaceChildren(...(kind ? this.#options(kind, box?.value ?? "") : this.#kinds()));
    if (!element.contains(list)) element.replaceChildren(...[head, search, list].filter(Boolean));
    else if (search && !box) list.before(search); // the library's labels have come meanwhile
    if (active && box !== document.activeElement) find(`input[value="${CSS.escape(focused)}"], [data-kind="${CSS.escape(focused)}"]`, list)?.focus();
  }

  /** Whether there is a box: few labels may be left by a question whose answer makes way for the next one. */
  #isLong(kind) {
    return !(kind in CHOICES) && Math.max(this.labels(kind).length, this.known(kind).length) > SEARCHED;
  }

  /** Of several kinds: what this is, the way back, and the way out where it covers the page. */
  #head() {
    if (!this.kinds) return null;
    const back = () => this.#step(null);
    const title = this.kind ? TITLES[this.kind] : this.title;
    return make("div", { className: "menu-head" },
      this.kind && make("button", { className: "quiet back", "aria-label": `Back to ${this.title}`, onclick: back }, symbol("chevron-left")),
      make("h2", {}, title),
      make("button", { className: "quiet done", onclick: () => this.element.hidePopover() }, "Done"));
  }

  #step(kind) {
    const from = this.kind;
    this.kind = kind;
    this.press.isDown = false; // this is the click that was waited for
    this.element.replaceChildren();
    this.fill();
    if (kind) this.#focusFirst();
    else find(`[data-kind="${from}"]`, this.element)?.focus();
  }

  #kinds() {
    const rows = this.kinds.map((kind) => make("button", { className: "kind", "data-kind": kind, onclick: () => this.#step(kind) },
      make("span", {}, TITLES[kind]), make("span", { className: "value" }, this.#valueOf(kind)), symbol("chevron-right")));
    const toggles = Object.entries(TOGGLES).map(([name, title]) => this.#row({
      type: "checkbox", kind: name, value: name, title, checked: this.state[name], onchange: ({ target }) => this.change({ [name]: target.checked }),
    }));
    return [...rows, ...toggles, make("button", { className: "quiet clear", onclick: () => this.clear() }, "Clear all filters")];
  }

  #valueOf(kind) {
    if (kind in CHOICES) return CHOICES[kind].find(([value]) => value === this.state[kind])?.[1] ?? "";
    const on = new Set(this.state[kind]);
    return this.labels(kind).filter(({ value }) => on.has(String(value))).map((label) => titleOf(kind, label)).join(", ");
  }

  #box() {
    const title = TITLES[this.kind].toLowerCase();
    const tickFirst = (event) => {
      if (event.key !== "Enter" || event.isComposing || !event.target.value.trim()) return;
      event.preventDefault();
      find(".options input", this.element)?.click();
      event.target.select();
    };
    return make("input", { type: "search", placeholder: `Find a ${title}`, "aria-label": `Find a ${title}`, oninput: () => this.fill(), onkeydown: tickFirst });
  }

  #options(kind, typed) {
    if (kind in CHOICES) return this.#choices(kind);
    if (kind === "style" && this.labels("corner").length > 1) return [...this.#boxes("style", typed), ...this.#boxes("corner", typed)];
    return this.#boxes(kind, typed);
  }

  #boxes(kind, typed) {
    const wanted = typed.trim().toLowerCase();
    const on = new Set(this.state[kind]);
    const fits = this.labels(kind).filter(({ value, title }) => `${title} ${value}`.toLowerCase().includes(wanted));
    const starts = ({ value, title }) => [title, value].some((text) => String(text ?? "").toLowerCase().startsWith(wanted));
    const labels = sorted(kind, fits, on);
    const ordered = wanted ? [...labels.filter(starts), ...labels.filter((label) => !starts(label))] : labels; // Enter ticks the first
    const rows = ordered.slice(0, MOST).map((label) => this.#row({
      type: "checkbox", kind, value: String(label.value), title: titleOf(kind, label), n: label.n, checked: on.has(String(label.value)),
      onchange: ({ target }) => this.change({ [kind]: target.checked ? [...this.state[kind], String(label.value)] : this.state[kind].filter((one) => one !== String(label.value)) }),
    }));
    if (ordered.length > MOST) rows.push(make("p", {}, `${plural(ordered.length - MOST, "other")}: type to find them.`));
    if (!ordered.length) rows.push(make("p", {}, typed ? `Nothing called “${typed}”.` : "Nothing to choose from."));
    return rows;
  }

  #choices(kind) {
    const counted = new Map(this.counts(kind).map(({ value, n }) => [String(value), n]));
    return [[null, "Any"], ...CHOICES[kind]].map(([value, title]) => this.#row({
      type: "radio", kind, value: String(value), title, n: counted.get(String(value)), checked: this.state[kind] === value, onchange: () => this.change({ [kind]: value }),
    }));
  }

  #row({ type, kind, value, title, n, checked, onchange }) {
    return make("label", { className: "option" }, make("input", { type, name: kind, value, checked, onchange, "data-kind": kind in TOGGLES ? kind : null }),
      make("span", {}, title), n !== undefined && make("span", { className: "count" }, n.toLocaleString("en")));
  }

  /** Arrows go from row to row, Enter ticks the one that has the focus. */
  #walk(event) {
    if (event.key === "Enter" && event.target.matches(".option input")) {
      event.preventDefault();
      event.target.click();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target.type === "radio") return;
    event.preventDefault();
    const stops = [...this.element.querySelectorAll("input, .kind, .clear")];
    stops[stops.indexOf(document.activeElement) + step]?.focus();
  }
}
