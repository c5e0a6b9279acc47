// Which icons may answer at all? A button for each of the leading kinds of filters, one for the rest, and a chip for each that is on.

import { chip, find, listen, make, symbol, watchPress } from "../elements.js";
import { asks, countFilters, FACETS } from "../state.js";
import { CHOICES, labelsOf, LEAD, ORDER, TITLES, titleOf, TOGGLES } from "./labels.js";
import { Menu } from "./menu.js";

const COUNTED = 50; // of a kind, by the server, the most frequent ones

export class Filters {
  /** `bar` holds buttons and chips, `all` is the one button of a narrow window; `change(changes)` takes what a filter makes of
   *  the state, `clear()` takes all of them away. */
  constructor({ bar, menu, all }, { change, clear }) {
    Object.assign(this, { bar, all, change, clear, known: {}, counts: {}, state: null });
    this.menu = new Menu(menu, { change, clear, labels: (kind) => this.#labels(kind), counts: (kind) => this.counts[kind] ?? [], known: (kind) => this.known[kind] ?? [] });
    this.press = watchPress(bar, () => this.render(this.state));
    listen(all, "click", () => this.menu.open({ kinds: this.#kinds(), button: all, title: "Filters" }));
  }

  /** Labels of the whole library: what can be filtered for before anything is asked. */
  knows(facets) {
    this.known = facets ?? {};
    this.bar.removeAttribute("data-waits"); // until now the buttons that come would have pushed the others aside
    if (this.state) this.render(this.state);
  }

  /** How many of the present hits bear each label; `null` while that is not known. */
  count(facets) {
    this.counts = facets ?? {};
    if (this.state) this.render(this.state);
  }

  render(state) {
    this.state = state;
    this.menu.state = state;
    const kinds = this.#kinds();
    const lead = LEAD.filter((kind) => kinds.includes(kind)).map((kind) => ({ kind, title: TITLES[kind], n: state[kind].length + (kind === "style" ? state.corner.length : 0) }));
    this.#draw({ lead, more: this.#countMore(), chips: this.#chips(state) });
    const n = countFilters(state) + Object.keys(TOGGLES).filter((name) => state[name]).length;
    find(".number", this.all).textContent = n || "";
    this.all.ariaLabel = n ? `Filters, ${n} on` : "Filters";
    if (this.menu.isOpen) this.menu.fill();
  }

  /** Kinds that can be filtered by here. */
  #kinds() {
    const listed = ORDER.filter((kind) => this.#labels(kind).length > 1 || this.state[kind].length || (kind === "style" && this.#labels("corner").length > 1));
    return [...listed, ...Object.keys(CHOICES).filter((kind) => this.known[kind]?.length > 1 || this.state[kind] !== null)];
  }

  /** How many filters are on that have no button of their own. */
  #countMore() {
    const { state } = this;
    return ORDER.filter((kind) => !LEAD.includes(kind)).reduce((n, kind) => n + state[kind].length, 0)
      + [...Object.keys(CHOICES).map((kind) => state[kind] !== null), ...Object.keys(TOGGLES).map((name) => state[name])].filter(Boolean).length;
  }

  /** Most keystrokes leave the bar as it is; then nothing of it is made anew. */
  #draw(parts) {
    const text = JSON.stringify(parts);
    if (text === this.drawn || this.press.isDown) return;
    this.drawn = text;
    const hadFocus = this.bar.contains(document.activeElement) ? document.activeElement.dataset.kind : null;
    const more = () => this.menu.open({ kinds: this.#kinds().filter((kind) => !LEAD.includes(kind)), button: find('[data-kind="more"]', this.bar), title: "More filters" });
    this.bar.replaceChildren(
      ...parts.lead.map(({ kind, title, n }) => this.#button({ kind, title, n, open: (event) => this.menu.open({ kind, button: event.currentTarget, title }) })),
      this.#button({ kind: "more", title: "More", n: parts.more, open: more }),
      ...parts.chips.map((one) => this.#chip(one)), ...(parts.chips.length > 1 ? [make("button", { className: "quiet", onclick: this.clear, "data-kind": "clear" }, "Clear all")] : []));
    if (hadFocus) find(`[data-kind="${CSS.escape(hadFocus)}"]`, this.bar)?.focus();
  }

  #labels(kind) {
    if (kind in CHOICES) return CHOICES[kind];
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

  #button({ kind, title, n, open }) {
    const isOpen = this.menu.button?.dataset.kind === kind;
    return make("button", {
      className: "filter", "data-kind": kind, "aria-haspopup": "dialog", "aria-expanded": String(isOpen), "data-on": n ? "" : null, onclick: open,
    }, title, symbol("chevron-down"));
  }

  #chips(state) {
    const pins = state.prefer.map((set) => ({ text: `Pinned: ${set}`, less: { prefer: state.prefer.filter((other) => other !== set) } }));
    const toggles = Object.entries(TOGGLES).filter(([name]) => state[name]).map(([name, text]) => ({ text, less: { [name]: false } }));
    return [...pins, ...this.active(state), ...toggles];
  }

  /** Filters that are on: what each is called, how many icons of the present answer and of the library it leaves, and what of the
   *  state takes it away. How many of a set are browsed stands above them. */
  active(state) {
    const countOf = (facets, kind, value) => labelsOf(facets, kind).find((one) => String(one.value) === String(value));
    const chips = FACETS.flatMap((kind) => state[kind].map((value) => {
      const [found, known] = [countOf(this.counts, kind, value), countOf(this.known, kind, value)];
      return { text: titleOf(kind, found ?? known ?? { value }), n: asks(state) ? found?.n : undefined, known: known?.n, less: { [kind]: state[kind].filter((one) => one !== value) } };
    }));
    for (const [kind, values] of Object.entries(CHOICES)) {
      if (state[kind] !== null) chips.push({ text: values.find(([value]) => value === state[kind])[1], known: this.known[kind] && (countOf(this.known, kind, state[kind])?.n ?? 0), less: { [kind]: null } });
    }
    return chips;
  }

  #chip({ text, n, less }) {
    const count = n !== undefined && make("span", { className: "count" }, n.toLocaleString("en"));
    return chip(text, count, { onclick: () => this.change(less), "data-kind": `chip-${text}` });
  }
}
