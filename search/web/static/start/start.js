// What is seen before anything is asked? What was done here before, what one may ask for, and all sets.

import { health, labels, search, sets } from "../api.js";
import { find, listen, make, plural, setTitle, symbol, whenIdle } from "../elements.js";
import { frame } from "../results/tile.js";
import { cleared } from "../state.js";
import { forget, forgetOpened, openedIcons, searches } from "./memory.js";
import { Sets } from "./sets.js";

const EXAMPLES = ["settings", "go back", "shopping", "a cup with steam", "sleep", "danger"];
const SMALL = 2000; // icons: all of them are shown at once

export class Start {
  /** `ask(words)` searches, `open(icon)` opens one, `browse(set)` shows those of a set. */
  constructor(root, { ask, open, browse }) {
    Object.assign(this, { root, ask, open, isTried: false, library: { icons: null, sets: 0 } });
    this.sets = new Sets(find("#sets", root), { browse });
    listen(find("#forget"), "click", () => { forget(); this.refresh(); find("#words").focus(); });
  }

  /** Learn what the library holds. Returns the labels of its icons, and whether it is so small that all of it is shown. */
  async load() {
    const [counted, known] = await Promise.allSettled([health(), labels()]);
    const facets = known.value ?? {};
    this.library = { icons: counted.value?.icons ?? null, sets: facets.set?.length ?? 0 };
    const { icons, sets: n } = this.library;
    if (icons !== null) find("#library").replaceChildren(make("strong", {}, plural(icons, "icon")), n === 1 ? ` of ${facets.set[0].title}` : n ? ` in ${plural(n, "set")}` : "");
    return { facets, isSmall: icons !== null && icons > 0 && (icons <= SMALL || n === 1) };
  }

  /** Cards of sets; without them the page is whole, too. */
  async loadSets() {
    this.sets.show(await sets().catch(() => []));
  }

  /** Bring it up to date: it is about to be seen. */
  refresh() {
    const [words, icons] = [searches(), openedIcons()];
    find("#recent").hidden = !words.length && !icons.length;
    find("#recent-searches").replaceChildren(...words.map((one) => this.#chip(one, "history")));
    find("#recent-icons").replaceChildren(...icons.map((icon) => this.#icon(icon)));
    this.sets.refresh();
    if (!find("#examples").children.length) find("#examples").replaceChildren(...EXAMPLES.map((one) => this.#chip(one, "search")));
    if (!this.isTried) whenIdle(() => this.#tryExamples());
  }

  #chip(words, drawing) {
    return make("li", { "data-words": words }, make("button", { className: "suggestion", onclick: () => this.ask(words) }, symbol(drawing), words));
  }

  #icon(icon) {
    const label = `${icon.name}, ${setTitle(icon)}`;
    const framed = frame(icon, { px: 24 });
    const item = make("li", {}, make("button", { className: "recent", title: label, "aria-label": label, onclick: () => this.open(icon) }, framed));
    listen(find("img", framed), "error", () => { forgetOpened(icon); item.remove(); }, { once: true });
    return item;
  }

  /** Only what this library has is offered. */
  async #tryExamples() {
    this.isTried = true;
    for (const item of find("#examples").children) {
      try {
        item.hidden = (await search({ ...cleared({}), q: item.dataset.words }, { k: 1 })).hits.length === 0;
      } catch {
        return; // a search will say what is wrong
      }
    }
  }
}
