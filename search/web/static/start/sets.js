// Which sets are there? A card for each: a few of its icons, how many there are, under what terms, in what style.

import { search } from "../api.js";
import { find, make, plural, symbol, whenQuiet } from "../elements.js";
import { FAMILY_NAMES, POPULAR } from "../filters/labels.js";
import { frame } from "../results/tile.js";
import { cleared } from "../state.js";
import { pin, pinned, visited } from "./memory.js";

const SAMPLED = 6;
const GROUPS = { // by the look that most of its icons have
  outline: "Outline", filled: "Filled", duotone: "Two tones", color: "In colour",
};
const NEAR = "400px"; // of the window, where pictures of cards are asked for

/** How many names a set has, and how many icons with all their variants. */
const counted = (names, icons) => (names === icons ? plural(icons, "icon") : `${plural(names, "name")}, ${plural(icons, "icon")}`);

export class Sets {
  /** `cards` as the server tells them; `browse(set)` shows the icons of one. */
  constructor(root, { browse }) {
    Object.assign(this, { root, browse, cards: [], typed: "" });
    this.near = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => this.#draw(target)), { rootMargin: NEAR });
    this.box = make("input", { type: "search", id: "find-set", placeholder: "Find a set", "aria-label": "Find a set", autocomplete: "off", oninput: () => this.#list() });
    this.groups = make("div", { className: "groups" });
    root.replaceChildren(make("div", { className: "sets-head" }, make("h2", {}, "Sets"), this.box), this.groups);
  }

  show(cards) {
    this.cards = cards;
    this.root.hidden = cards.length < 2;
    this.#list();
  }

  /** Of one set: its title, and its facts in a line. */
  describe = (key) => {
    const card = this.cards.find((one) => one.key === key);
    if (!card) return { title: key, facts: null, count: (names) => plural(names, "icon") };
    const facts = [card.licence ?? "Licence unknown", card.licence && FAMILY_NAMES[card.licence_family]?.toLowerCase(), card.styles.slice(0, 3).join(", "), card.author && `by ${card.author}`, card.version];
    return { title: card.title, facts: facts.filter(Boolean).join(" · "), count: (names) => counted(names, card.n) };
  };

  /** Pinned and visited sets may have changed. */
  refresh() {
    if (this.cards.length > 1) this.#list();
  }

  #list() {
    const wanted = this.box.value.trim().toLowerCase();
    const fits = ({ key, title, author, licence, styles, categories }) => [key, title, author, licence, ...styles, ...categories].join(" ").toLowerCase().includes(wanted);
    const groups = this.#grouped(this.cards.filter(fits)).filter(([, cards]) => cards.length);
    this.near.disconnect();
    const made = this.made ?? new Map(); // a card that stays keeps its pictures
    this.made = new Map();
    const rows = groups.map(([title, cards]) => make("section", { className: "set-group" },
      make("h3", {}, title, " ", make("span", { className: "count" }, cards.length.toLocaleString("en"))),
      make("ul", { role: "list" }, cards.map((card) => this.#card(card, `${title} ${card.key}`, made)))));
    if (!rows.length) rows.push(make("p", { className: "none" }, `No set is called “${this.box.value.trim()}”.`));
    this.groups.replaceChildren(...rows);
    for (const item of this.groups.querySelectorAll("li:not([data-drawn])")) this.near.observe(item);
  }

  #grouped(cards) {
    const byKey = new Map(cards.map((card) => [card.key, card]));
    const taken = new Set();
    const take = (keys) => keys.filter((key) => byKey.has(key) && !taken.has(key)).map((key) => (taken.add(key), byKey.get(key)));
    const first = [["Pinned and recent", take([...pinned(), ...visited()])], ["Popular", cards.length > 12 ? take(POPULAR) : []]];
    const rest = Map.groupBy(cards.filter(({ key }) => !taken.has(key)), ({ styles }) => GROUPS[styles[0]] ?? "Others");
    if (cards.length <= 12) return [...first, [taken.size ? "Others" : "All", [...rest.values()].flat()]];
    return [...first, ...[...Object.values(GROUPS), "Others"].map((title) => [title, rest.get(title) ?? []])];
  }

  #card(card, name, made) {
    const item = made.get(name) ?? this.#make(card);
    this.made.set(name, item);
    find(".pin", item).ariaPressed = pinned().includes(card.key);
    return item;
  }

  #make(card) {
    const { key, title, n, licence, styles } = card;
    const open = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.browse(key);
    };
    const item = make("li", { className: "set-card" },
      make("a", { href: `?set=${encodeURIComponent(key)}`, onclick: open },
        make("span", { className: "mosaic", "aria-hidden": "true" }, Array.from({ length: SAMPLED }, () => make("span", { className: "picture waiting" }))),
        make("span", { className: "title" }, title),
        make("span", { className: "facts" }, make("span", { className: "count" }, plural(n, "icon")), make("span", {}, [licence ?? "licence unknown", styles[0]].filter(Boolean).join(" · ")))),
      make("button", { className: "pin", "aria-label": `Pin ${title}`, title: "Pin: show it first", onclick: ({ currentTarget }) => this.#pin(key, currentTarget) }, symbol("pin")));
    item.card = card;
    return item;
  }

  #pin(key, button) {
    pin(key, button.ariaPressed !== "true");
    this.made.clear(); // its group is another
    this.#list();
    find(`a[href="?set=${CSS.escape(encodeURIComponent(key))}"]`, this.groups)?.closest("li").querySelector(".pin").focus();
  }

  #draw(item) {
    this.near.unobserve(item);
    item.dataset.drawn = "";
    const sample = item.card.sample.slice(0, SAMPLED);
    find(".mosaic", item).replaceChildren(...sample.map((icon) => frame(icon, { px: 24 })));
    const { key, n } = item.card;
    whenQuiet(async () => {
      const { n_found: names } = await search({ ...cleared({}), set: [key] }, { k: 1 }).catch(() => ({ n_found: n })); // as an opened set says it
      find(".count", item).textContent = counted(names, n);
    });
  }
}
