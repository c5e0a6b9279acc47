// What does a query find, and what do filters alone leave? Asks, drops what was asked before, and says honestly how it went.

import { health, search, svgsFound } from "../api.js";
import { announce, find, PAUSE_MS, plural, say, whenIdle } from "../elements.js";
import { asks, browses, PAGE, question } from "../state.js";
import { expectPictures } from "./pictures.js";
import { Rail } from "./rail.js";
import { glosses, Remarks, subject } from "./remarks.js";

const FOLDED_PAGE = 120; // names that many sets share: sixty hits may be one stack
const LARGEST_PAGE = 240;
const AWAY_MS = 3000; // between looks at whether a server is back

/** Whether hits are what something holds, not what was looked for. */
const isAmong = (state) => state.collection !== null || (state.screen !== null && state.frame === null);

export class Search {
  /**
   * `change(changes)`, `clearFilters()`, `filters()` and `pictures` as `Remarks` has them; `counted(facets)` takes the counts of labels,
   * `read(language)` how the words were read, `answered(state, hits)` hears of answers, `describe(set)` tells of a set in a line,
   * `rested(at)` of the place that one has scrolled to.
   */
  constructor({ grid, change, clearFilters, filters, pictures, counted, read, answered, describe, rested }) {
    Object.assign(this, { grid, counted, read, answered, describe, rested, asking: null, state: null, answer: null, coming: null, settled: null, asked: null });
    this.remarks = new Remarks({ change, clearFilters, filters, pictures });
    this.rail = new Rail(find("#rail"), { nameAt: async (at) => (grid.slots[at] ?? (await search(this.state, { k: 1, offset: at })).hits[0])?.name ?? "", go: (at) => grid.goTo(at) });
    this.showsAll = false; // the library is small: all of it is seen before anything is asked
  }

  /** Whether tiles of equal names are folded. */
  folds = (state) => state.fold && !state.flat && state.set.length !== 1 && state.icon === null && !state.picture && state.collection === null && state.screen === null;

  /** Bring the results in step with a state. */
  run(state) {
    const folded = this.state && this.folds(this.state) !== this.folds(state);
    this.state = state;
    const starts = !asks(state) && !browses(state);
    const asked = JSON.stringify([`${question(state)}`, state.picture, state.collection, state.screen, state.frame, starts && this.showsAll]);
    if (asked === this.asked && !folded) return;
    this.asked = asked;
    this.asking?.abort();
    this.asking = new AbortController();
    find("#start").hidden = !starts;
    find("#found").hidden = starts && !this.showsAll;
    if (starts) document.title = "icons";
    if (find("#found").hidden) this.#rest();
    else this.#find();
  }

  again() {
    this.asked = null;
    this.run(this.state);
  }

  /** One has scrolled to a place. */
  rests(at) {
    if (!this.asking || this.settled !== this.asking.signal) return;
    this.rail.mark(this.grid.leading?.name);
    this.rested(at);
  }

  /** Back to where one was. */
  return(at) {
    if (this.settled === this.asking.signal && at !== this.grid.first()) this.#reach(at);
  }

  async #find() {
    const { state, asking: { signal } } = this;
    this.#busy(true);
    if (!this.grid.n) this.grid.wait(PAGE);
    const k = this.folds(state) ? FOLDED_PAGE : PAGE;
    const offset = asks(state) || this.folds(state) ? 0 : state.at - (state.at % PAGE);
    try {
      const answer = search(state, { k, offset, signal });
      expectPictures(offset ? null : svgsFound(state, { k }));
      this.#show(await answer, { k, offset });
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#refuse(error);
    }
    this.#busy(false);
    setTimeout(() => whenIdle(() => { if (!signal.aborted && this.answer) this.#complete(signal); }), PAUSE_MS);
  }

  /** What nobody waits for comes once the typing has paused: the next hits where their place is near, counts of labels. */
  async #complete(signal) {
    this.settled = signal;
    this.fill();
    if (this.state.q) this.answered(this.state, this.grid.hits);
    try {
      this.counted((await search(this.state, { k: 1, facets: true, signal })).facets);
    } catch (error) {
      if (error.name !== "AbortError") this.counted(null);
    }
  }

  #show(answer, { k, offset }) {
    const { hits, n_found: nFound, is_more: isMore, read_as: readAs } = answer;
    const { state } = this;
    const hasPlaces = !isMore && !this.folds(state) && state.collection === null && state.screen === null;
    this.answer = answer;
    this.grid.show(hits, { fold: this.folds(state), total: hasPlaces ? Math.max(nFound, hits.length) : null, from: offset });
    this.#count(hits.length < k);
    const isByName = !asks(state) && (state.sort === "name" || (state.sort === "relevance" && state.set.length === 1));
    this.rail.show(hasPlaces && isByName ? nFound : 0);
    this.#tell();
    if (state.at || scrollY > innerHeight) this.#reach(state.at);
    this.read(readAs ? [readAs.language] : []);
  }

  /** Scroll to a place, once as many hits are there. */
  async #reach(at) {
    const { signal } = this.asking;
    while (at >= this.grid.n && !this.ends && !signal.aborted) await this.#ask({ offset: this.grid.slots.length, k: LARGEST_PAGE }, signal);
    if (!signal.aborted) this.grid.goTo(at);
  }

  /** More is known of the sets now. */
  retell() {
    if (this.answer && !(asks(this.state) && this.answer.hits.length)) this.#tell();
  }

  /** Say how the search went. */
  #tell() {
    const { state, answer } = this;
    const { hits, read_as: readAs, is_doubtful: isDoubtful, n_found: nFound, is_more: isMore } = answer;
    const unit = state.screen !== null && state.frame === null ? "different icon" : "icon";
    const number = isMore ? `${nFound.toLocaleString("en")}+ icons` : plural(nFound, unit);
    const found = isDoubtful ? `No good match for ${subject(state)}. These come nearest.` : asks(state) ? `${number} ${isAmong(state) ? "in" : state.q ? "for" : "like"} ${subject(state)}` : browses(state) ? this.#browsed(number) : "All icons";
    const text = hits.length ? found : state.collection !== null ? `No icon in ${subject(state)}` : asks(state) ? `${state.screen === null ? "Nothing good" : "No icon"} found ${isAmong(state) ? "in" : "for"} ${subject(state)}` : "No icon is left by these filters";
    find("#summary").textContent = hits.length ? text : "";
    find("#notice").replaceChildren(...this.remarks.of(state, answer, this.asking.signal), ...this.#about());
    if (asks(state)) document.title = state.q ? `${state.q} · icons` : "icons";
    else if (browses(state)) document.title = state.set.length === 1 ? `${this.describe(state.set[0]).title} · icons` : "icons";
    announce(readAs ? `${text}. ${glosses(readAs).map((gloss) => gloss.join(": ")).join("; ")} (${readAs.name})` : text);
  }

  /** Of one set as its card says it: how many names, and how many icons with all variants. */
  #browsed(number) {
    const { state, answer: { n_found: nFound } } = this;
    if (state.set.length !== 1) return number;
    const { title, count } = this.describe(state.set[0]);
    const isWhole = !state.flat && question({ ...state, set: [], sort: "relevance" }).size === 0;
    return `${isWhole ? count(nFound) : number} in ${title}`;
  }

  /** Of the one set that is browsed: its terms, where it is from. */
  #about() {
    if (asks(this.state) || this.state.set.length !== 1) return [];
    const { facts } = this.describe(this.state.set[0]);
    return facts ? [this.remarks.line("about", facts)] : [];
  }

  /** Say what went wrong; what was found before stays where the server is to blame, as it may be back in a moment. */
  #refuse(error) {
    const mayPass = !(error.status > 0 && error.status < 500);
    const stays = mayPass && this.grid.hits.length > 0;
    if (!stays) {
      this.grid.show([]);
      find("#summary").textContent = "";
    }
    this.rail.show(0);
    this.answer = null;
    find("#notice").replaceChildren(this.remarks.refused(this.state, error, { stays, again: mayPass ? () => this.again() : null }));
    announce(error.message, { afterMs: 0 });
    if (error.status === 0) this.#await(this.asking.signal);
  }

  /** Ask again once the server is back. */
  async #await(signal) {
    while (!signal.aborted) {
      await new Promise((resolve) => { setTimeout(resolve, AWAY_MS); });
      if (await health().catch(() => null)) break;
    }
    if (!signal.aborted) this.again();
  }

  /** Ask for what is missing where one looks, one part after the other. */
  async fill() {
    const { signal } = this.asking ?? {};
    if (!signal || this.settled !== signal || this.coming === signal) return;
    this.coming = signal;
    try {
      for (let part = this.#missing(); part && !signal.aborted; part = this.#missing()) await this.#ask(part, signal);
    } catch (error) {
      if (error.name !== "AbortError") say(error.message);
    } finally {
      if (this.coming === signal) this.coming = null;
      this.rail.mark(this.grid.leading?.name);
    }
  }

  #missing() {
    const { slots, total, range: [from, to], n } = this.grid;
    if (total === null) return to >= n && !this.ends && n ? { offset: slots.length, k: Math.min(LARGEST_PAGE, PAGE * Math.ceil(slots.length / n)) } : null;
    for (let at = from; at < to; at += 1) if (!slots[at]) return { offset: at - (at % PAGE), k: Math.min(LARGEST_PAGE, PAGE * Math.ceil((to - at) / PAGE + 1)) };
    return null;
  }

  async #ask({ offset, k }, signal) {
    const { hits } = await search(this.state, { k, offset, signal });
    if (signal.aborted) return;
    if (this.grid.total !== null && hits.length < k) this.grid.total = Math.min(this.grid.total, offset + hits.length); // fewer than was said
    this.grid.put(hits, offset);
    this.#count(hits.length < k);
  }

  /** Whether there are no more hits than those that are here. */
  #count(isLast) {
    this.ends = isLast || (!this.answer.is_more && this.grid.slots.length >= this.answer.n_found);
  }

  #busy(is) {
    find("#progress").classList.toggle("busy", is);
    find("#found").ariaBusy = is;
  }

  /** Nothing is asked. */
  #rest() {
    this.#busy(false);
    this.answer = null;
    this.grid.show([]);
    this.rail.show(0);
    find("#notice").replaceChildren();
    this.counted(null);
  }
}
