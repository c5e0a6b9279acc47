// What does a query find? Asks, drops what was asked before, and says honestly how it went.

import { health, labels, search } from "../api.js";
import { announce, find, make, PAUSE_MS, plural, whenIdle } from "../elements.js";
import { frame } from "./grid.js";
import { asks, countFilters, IN_ENGLISH, PAGE, question } from "../state.js";

const MOST_AT_ONCE = 1000;
const EXAMPLES = ["settings", "go back", "shopping", "a cup with steam", "sleep", "danger"];

export class Search {
  /** `change(changes)` alters the state, `counted(facets)` takes the counts of labels, `read(language)` how the words were read. */
  constructor({ grid, change, clearFilters, counted, read }) {
    Object.assign(this, { grid, change, clearFilters, counted, read, asking: null, state: null, nFound: 0, isMore: false, shown: 0, asked: null, told: null });
    this.more = find("#more");
    this.more.addEventListener("click", () => this.#next());
    this.nearEnd = new IntersectionObserver((entries) => { if (entries.at(-1).isIntersecting) this.#next(); }, { rootMargin: "600px" });
  }

  /** Bring the results in step with a state. */
  run(state) {
    this.state = state;
    const asked = `${question(state)} ${state.picture ?? ""}`;
    if (asked === this.asked) return;
    this.asked = asked;
    this.asking?.abort();
    this.asking = new AbortController();
    find("#start").hidden = asks(state);
    find("#found").hidden = !asks(state);
    if (asks(state)) this.#find();
    else this.#greet();
  }

  again() {
    this.asked = null;
    this.run(this.state);
  }

  async #find() {
    const { state, asking: { signal } } = this;
    this.#busy(true);
    if (!this.grid.hits.size) this.grid.wait(24);
    try {
      this.#show(await search(state, { k: Math.min(state.k, MOST_AT_ONCE), signal }));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#refuse(error);
    }
    this.#busy(false);
    setTimeout(() => whenIdle(() => { if (!signal.aborted && this.shown) this.#complete(signal); }), PAUSE_MS);
  }

  /** What nobody waits for comes once the typing has paused: the next hits where their place is near, counts of labels. */
  async #complete(signal) {
    this.#watchEnd();
    try {
      this.counted((await search(this.state, { k: 1, facets: true, signal })).facets);
    } catch (error) {
      if (error.name !== "AbortError") this.counted(null);
    }
  }

  #show({ hits, n_found: nFound, is_more: isMore, spelled, read_as: readAs, is_doubtful: isDoubtful }) {
    const { state } = this;
    Object.assign(this, { nFound, isMore });
    this.shown = hits.length;
    this.grid.show(hits);
    this.nearEnd.unobserve(this.more);
    this.#offerMore(hits.length, state.k);
    const number = isMore ? `${nFound.toLocaleString("en")}+ icons` : plural(nFound, "icon");
    const found = isDoubtful ? `No good match for ${subject(state)}. These come nearest.` : `${number} for ${subject(state)}`;
    const text = hits.length ? found : `Nothing good found for ${subject(state)}`;
    find("#summary").textContent = hits.length ? text : "";
    find("#notice").replaceChildren(...(hits.length ? this.#remarks(spelled, readAs) : [this.#nothing(spelled, readAs)]));
    document.title = state.q ? `${state.q} · icons` : "icons";
    announce(readAs ? `${text}. ${glosses(readAs).map((gloss) => gloss.join(": ")).join("; ")} (${readAs.name})` : text);
    this.read(readAs ? [readAs.language] : []);
  }

  /** How words of another language were read; where they are English, too, with a way to ask them as that alone. While one
   *  types it waits for a pause: every eighth beginning of English words is read as something, and the grid would jump. */
  #reading(readAs) {
    const told = glosses(readAs).flatMap(([word, english], at) => [at > 0 && "; ", make("bdi", { lang: readAs.language, textContent: word }), `: ${english}`]);
    const ask = () => { this.change(IN_ENGLISH); find("#results").focus({ preventScroll: true }); }; // the button goes
    const remark = make("p", { className: "remark" }, told, make("span", { className: "from-language", textContent: ` (${readAs.name}) ` }),
      readAs.is_english_too && make("button", { type: "button", className: "link", textContent: "Search in English only", onclick: ask }));
    remark.hidden = this.state.typed && remark.textContent !== this.told;
    this.told = remark.textContent;
    setTimeout(() => { remark.hidden = false; }, PAUSE_MS);
    return remark;
  }

  #remarks(spelled, readAs) {
    const remarks = readAs ? [this.#reading(readAs)] : [];
    if (spelled) remarks.push(make("p", { className: "remark" }, "Did you mean ", this.#suggest(spelled), "? Icons for it are among these."));
    if (this.state.min_score === 0) {
      remarks.push(make("p", { className: "remark" }, "The nearest icons, however far away. ",
        make("button", { type: "button", className: "link", textContent: "Show good matches only", onclick: () => this.change({ min_score: null }) })));
    }
    return remarks;
  }

  #nothing(spelled, readAs) {
    const { state } = this;
    const tries = [];
    if (spelled) tries.push(make("li", {}, "Did you mean ", this.#suggest(spelled), "?"));
    if (countFilters(state)) {
      tries.push(make("li", {}, make("button", { type: "button", className: "link", textContent: countFilters(state) === 1 ? "Search without the filter" : `Search without the ${countFilters(state)} filters`, onclick: this.clearFilters })));
    }
    if (state.keyword) tries.push(make("li", {}, make("button", { type: "button", className: "link", textContent: "Search by meaning, not by keywords", onclick: () => this.change({ keyword: false }) })));
    else if (state.q) tries.push(make("li", {}, "Say what it looks like (“a cup with steam”), or use a more common word."));
    tries.push(make("li", {}, "Paste or drop a picture of what you have in mind."));
    if (state.min_score !== 0 && !state.keyword) {
      tries.push(make("li", {}, make("button", { type: "button", className: "link", textContent: "Show the nearest icons anyway", onclick: () => this.change({ min_score: 0 }) })));
    }
    return make("div", { className: "nothing" }, make("h2", { textContent: `Nothing good found for ${subject(state)}` }), readAs && this.#reading(readAs),
      make("p", { textContent: "No icon here comes close enough to be shown as a match. What you can try:" }), make("ul", {}, tries));
  }

  #suggest(words) {
    return make("button", { type: "button", className: "link", textContent: words, onclick: () => this.change({ q: words, ...IN_ENGLISH }) });
  }

  #refuse(error) {
    this.grid.show([]);
    this.shown = 0;
    this.more.hidden = true;
    find("#summary").textContent = "";
    find("#notice").replaceChildren(make("div", { className: "nothing" }, make("h2", { textContent: "That did not work" }),
      make("p", { textContent: error.message }), make("button", { type: "button", className: "button", textContent: "Try again", onclick: () => this.again() })));
    announce(error.message, { afterMs: 0 });
  }

  /** Also where the end is near already: an observer tells of changes, and once of what is so when it begins. */
  #watchEnd() {
    this.nearEnd.unobserve(this.more);
    this.nearEnd.observe(this.more);
  }

  async #next() {
    if (this.more.hidden || this.more.disabled || this.asking.signal.aborted) return;
    this.more.disabled = true;
    const { signal } = this.asking;
    try {
      const { hits } = await search(this.state, { k: PAGE, offset: this.shown, signal });
      this.grid.append(hits);
      this.shown += hits.length;
      this.#offerMore(hits.length, PAGE);
      this.change({ k: this.shown }, { replace: true });
      this.#watchEnd();
    } catch (error) {
      if (error.name !== "AbortError") this.more.textContent = `${error.message} Try again`;
    } finally {
      this.more.disabled = false;
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

  /** The start page: examples, answered from this very library. */
  async #greet() {
    const { state, asking: { signal } } = this;
    this.#busy(false);
    this.shown = 0;
    this.grid.show([]);
    document.title = "icons";
    find("#notice").replaceChildren();
    this.counted(null);
    const list = find("#examples");
    if (!list.children.length) list.replaceChildren(...EXAMPLES.map((words) => this.#example(words)));
    for (const item of list.children) {
      try {
        const { hits } = await search({ ...state, q: item.dataset.words, ...IN_ENGLISH }, { k: 4, signal });
        item.hidden = hits.length === 0; // only what this library has
        find(".pictures", item).replaceChildren(...hits.map((hit) => frame(hit, { px: 32 })));
      } catch (error) {
        if (error.name === "AbortError") return;
        break; // words alone do as examples; a search will say what is wrong
      }
    }
  }

  #example(words) {
    return make("li", { "data-words": words }, make("button", { type: "button", onclick: () => this.change({ q: words, ...IN_ENGLISH }) },
      make("span", { className: "pictures", "aria-hidden": "true" }, Array.from({ length: 4 }, () => make("span", { className: "picture waiting" }))),
      make("span", { textContent: words })));
  }
}

/** The words of a reading that are not taken as they are, each with its English. */
const glosses = ({ words }) => words.filter(({ english }) => english.length).map(({ word, english }) => [word, english.join(", ")]);

/** What a search is for, as a person would say it. */
function subject({ q, picture, icon, not }) {
  const parts = [q && `“${q.trim()}”`, picture && "your picture", icon !== null && "that icon"].filter(Boolean);
  return (parts.join(" and ") || "anything") + (not.length ? ` but not “${not.join(", ")}”` : "");
}

/** Tell the start page what the library holds; returns its labels, none where the server does not answer. */
export async function describeLibrary() {
  const [counted, known] = await Promise.allSettled([health(), labels()]);
  const facets = known.value ?? {};
  const sets = facets.set?.length ? ` in ${plural(facets.set.length, "set")}` : "";
  if (counted.value) find("#library").textContent = `${plural(counted.value.icons, "icon")}${sets}.`;
  return facets;
}
