// What does a query find, and what do filters alone leave? Asks, drops what was asked before, and says honestly how it went.

import { health, search, svgsFound } from "../api.js";
import { announce, find, make, PAUSE_MS, plural, whenIdle } from "../elements.js";
import { asks, browses, PAGE, question } from "../state.js";
import { expectPictures } from "./pictures.js";
import { glosses, Remarks, subject } from "./remarks.js";

const MOST_AT_ONCE = 1000;
const FOLDED_PAGE = 120; // names that many sets share: sixty hits may be one stack
const LARGEST_PAGE = 240;
const ENOUGH = 24; // tiles: about a screen
const AWAY_MS = 3000; // between looks at whether a server is back

/** Whether hits are what something holds, not what was looked for. */
const isAmong = (state) => state.collection !== null || (state.screen !== null && state.frame === null);

export class Search {
  /**
   * `change(changes)` alters the state, `more(located)` searches with the icon of a picture that is chosen, `counted(facets)` takes the counts of labels, `read(language)` how the words were
   * read, `answered(state, hits)` hears of answers, `describe(set)` tells of a set in a line.
   */
  constructor({ grid, change, clearFilters, more, counted, read, answered, describe }) {
    Object.assign(this, { grid, change, counted, read, answered, describe, asking: null, state: null, nFound: 0, isMore: false, shown: 0, asked: null });
    this.remarks = new Remarks({ change, clearFilters, more });
    this.showsAll = false; // the library is small: all of it is seen before anything is asked
    this.more = find("#more");
    this.more.addEventListener("click", () => this.#next());
    this.nearEnd = new IntersectionObserver((entries) => { if (entries.at(-1).isIntersecting) this.#next(); }, { rootMargin: "600px" });
  }

  /** Whether tiles of equal names are folded. */
  folds = (state) => state.fold && !state.flat && state.set.length !== 1 && state.icon === null && !state.picture && state.collection === null && state.screen === null;

  /** Bring the results in step with a state. */
  run(state) {
    const folded = this.state && this.folds(this.state) !== this.folds(state);
    this.state = state;
    const starts = !asks(state) && !browses(state);
    const asked = `${question(state)} ${state.picture ?? ""} ${state.collection ?? ""} ${state.screen ?? ""} ${state.frame ?? ""} ${starts && this.showsAll}`;
    if (asked === this.asked && !folded) return;
    this.asked = asked;
    this.asking?.abort();
    this.asking = new AbortController();
    this.more.disabled = false;
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

  async #find() {
    const { state, asking: { signal } } = this;
    this.#busy(true);
    if (!this.grid.hits.size) this.grid.wait(60);
    const first = this.folds(state) ? FOLDED_PAGE : PAGE;
    const k = Math.min(Math.max(state.k, first), MOST_AT_ONCE);
    try {
      const answer = search(state, { k, signal });
      expectPictures(svgsFound(state, { k }));
      this.#show(await answer, k);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#refuse(error);
    }
    this.#busy(false);
    setTimeout(() => whenIdle(() => { if (!signal.aborted && this.shown) this.#complete(signal); }), PAUSE_MS);
  }

  /** What nobody waits for comes once the typing has paused: tiles out of sight, the next hits where their place is near,
   *  counts of labels. */
  async #complete(signal) {
    this.grid.finish();
    if (this.grid.groups.length < ENOUGH) await this.#next({ byItself: true });
    if (signal.aborted) return;
    this.#watchEnd();
    if (this.state.q) this.answered(this.state, [...this.grid.hits.values()]);
    try {
      this.counted((await search(this.state, { k: 1, facets: true, signal })).facets);
    } catch (error) {
      if (error.name !== "AbortError") this.counted(null);
    }
  }

  #show(answer, wanted) {
    const { hits, n_found: nFound, is_more: isMore, read_as: readAs } = answer;
    Object.assign(this, { nFound, isMore, answer });
    this.shown = hits.length;
    this.grid.show(hits, { fold: this.folds(this.state) });
    this.nearEnd.unobserve(this.more);
    this.#offerMore(hits.length, wanted);
    this.#tell();
    this.read(readAs ? [readAs.language] : []);
  }

  /** More is known of the sets now. */
  retell() {
    if (this.shown && !asks(this.state)) this.#tell();
  }

  /** Say how the search went. */
  #tell() {
    const { state, answer, nFound, isMore } = this;
    const { hits, read_as: readAs, is_doubtful: isDoubtful } = answer;
    const unit = state.screen !== null && state.frame === null ? "different icon" : "icon";
    const number = isMore ? `${nFound.toLocaleString("en")}+ icons` : plural(nFound, unit);
    const found = isDoubtful ? `No good match for ${subject(state)}. These come nearest.` : asks(state) ? `${number} ${isAmong(state) ? "in" : "for"} ${subject(state)}` : browses(state) ? `${number}${this.#place()}` : "All icons";
    const text = hits.length ? found : state.collection !== null ? `No icon in ${subject(state)}` : asks(state) ? `${state.screen === null ? "Nothing good" : "No icon"} found ${isAmong(state) ? "in" : "for"} ${subject(state)}` : "No icon is left by these filters";
    find("#summary").textContent = hits.length ? text : "";
    find("#notice").replaceChildren(...this.remarks.of(state, answer), ...this.#about());
    if (asks(state)) document.title = state.q ? `${state.q} · icons` : "icons";
    else if (browses(state)) document.title = state.set.length === 1 ? `${this.describe(state.set[0]).title} · icons` : "icons";
    announce(readAs ? `${text}. ${glosses(readAs).map((gloss) => gloss.join(": ")).join("; ")} (${readAs.name})` : text);
  }

  #place() {
    const { set } = this.state;
    return set.length === 1 ? ` in ${this.describe(set[0]).title}` : "";
  }

  /** Of the one set that is browsed: its terms, where it is from. */
  #about() {
    if (asks(this.state) || this.state.set.length !== 1) return [];
    const { facts } = this.describe(this.state.set[0]);
    return facts ? [make("p", { className: "about", textContent: facts })] : [];
  }

  /** Say what went wrong; what was found before stays where the server is to blame, as it may be back in a moment. */
  #refuse(error) {
    const mayPass = !(error.status > 0 && error.status < 500);
    const stays = mayPass && this.grid.hits.size > 0;
    if (!stays) {
      this.grid.show([]);
      find("#summary").textContent = "";
    }
    this.shown = 0;
    this.more.hidden = true;
    find("#notice").replaceChildren(make("div", { className: "nothing" }, make("h2", { textContent: "That did not work" }),
      make("p", { textContent: error.message }), stays && make("p", { textContent: "The icons below are those found before." }), mayPass && make("button", { type: "button", className: "button", textContent: "Try again", onclick: () => this.again() })));
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

  /** Also where the end is near already: an observer tells of changes, and once of what is so when it begins. */
  #watchEnd() {
    this.nearEnd.unobserve(this.more);
    this.nearEnd.observe(this.more);
  }

  async #next({ byItself = false } = {}) {
    if (!this.grid.hits.size || this.more.hidden || this.more.disabled || this.asking.signal.aborted) return;
    this.more.disabled = true;
    const { signal } = this.asking;
    try {
      const k = Math.min(LARGEST_PAGE, PAGE * Math.ceil(this.grid.hits.size / Math.max(this.grid.groups.length, 1)));
      const { hits } = await search(this.state, { k, offset: this.shown, signal });
      this.grid.append(hits);
      this.shown += hits.length;
      this.#offerMore(hits.length, k);
      if (!byItself) {
        this.change({ k: this.shown }, { replace: true });
        this.#watchEnd();
      }
    } catch (error) {
      if (error.name !== "AbortError") this.more.textContent = `${error.message} Try again`;
    } finally {
      if (signal === this.asking.signal) this.more.disabled = false;
    }
  }

  #offerMore(got, wanted) {
    this.more.textContent = "Show more";
    this.more.hidden = got < wanted || (this.shown >= this.nFound && !this.isMore);
  }

  #busy(is) {
    find("#progress").classList.toggle("busy", is);
    find("#found").setAttribute("aria-busy", String(is));
  }

  /** Nothing is asked. */
  #rest() {
    this.#busy(false);
    this.shown = 0;
    this.grid.show([]);
    find("#notice").replaceChildren();
    this.counted(null);
  }
}
