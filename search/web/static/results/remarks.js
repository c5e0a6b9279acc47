// What is said above the tiles: how words were read, what they were perhaps meant to be, and what to try where nothing is good.

import { find, make, PAUSE_MS, plural } from "../elements.js";
import { asks, countFilters, IN_ENGLISH } from "../state.js";
import { STARS } from "../tray/store.js";

export class Remarks {
  /** `change(changes)` alters the state, `clearFilters()` takes all filters away, `more(located)` searches with the chosen icon of a
   *  picture. */
  constructor({ change, clearFilters, more }) {
    Object.assign(this, { change, clearFilters, more, state: null, told: null });
  }

  /** Lines for an answer to a state, from the fields of the answer. */
  of(state, { hits, spelled, read_as: readAs, missing = [], located = null }) {
    this.state = state;
    if (state.collection !== null) return this.#collected(state, hits, missing);
    if (state.screen !== null) return this.#framed(hits, located);
    return hits.length ? this.#remarks(spelled, readAs) : [this.#nothing(spelled, readAs)];
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

  /** Of a collection: what this library does not have of it. */
  #collected(state, hits, missing) {
    if (missing.length) return [make("p", { className: "remark" }, `${plural(missing.length, "icon")} of it ${missing.length === 1 ? "is" : "are"} not in this library: ${missing.join(", ")}`)];
    return hits.length ? [] : [make("div", { className: "nothing" }, make("h2", { textContent: `No icon in ${subject(state)}` }), make("p", { textContent: "Collections and stars are kept in the browser that they were made with." }))];
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
    if (countFilters(state)) tries.push(make("li", {}, this.#withoutFilters()));
    if (state.keyword) tries.push(make("li", {}, make("button", { type: "button", className: "link", textContent: "Search by meaning, not by keywords", onclick: () => this.change({ keyword: false }) })));
    else if (state.q) tries.push(make("li", {}, "Say what it looks like (“a cup with steam”), or use a more common word."));
    if (!asks(state)) return make("div", { className: "nothing" }, make("h2", { textContent: "No icon is left by these filters" }), make("ul", {}, tries));
    tries.push(make("li", {}, state.picture ? "Crop the picture closer to the icon, or say in words what it is." : "Paste or drop a picture of what you have in mind."));
    if (state.min_score !== 0 && !state.keyword) {
      tries.push(make("li", {}, make("button", { type: "button", className: "link", textContent: "Show the nearest icons anyway", onclick: () => this.change({ min_score: 0 }) })));
    }
    return make("div", { className: "nothing" }, make("h2", { textContent: `Nothing good found for ${subject(state)}` }), readAs && this.#reading(readAs),
      make("p", { textContent: "No icon here comes close enough to be shown as a match. What you can try:" }), make("ul", {}, tries));
  }

  /** Of an icon in a picture: a way to more hits than were asked for, or why there are none. */
  #framed(hits, located) {
    const isChosen = located && this.state.frame !== null;
    if (hits.length) return isChosen ? [make("p", { className: "about" }, make("button", { type: "button", className: "link", textContent: "Search with this part of the picture", onclick: () => this.more(located) }), " for more like it.")] : [];
    return [make("div", { className: "nothing" }, make("h2", { textContent: `No name for ${subject(this.state)}` }),
      make("p", { textContent: "No icon here looks like it." }), this.#withoutFilters())];
  }

  #withoutFilters() {
    const n = countFilters(this.state);
    return n > 0 && make("button", { type: "button", className: "link", textContent: n === 1 ? "Search without the filter" : `Search without the ${n} filters`, onclick: this.clearFilters });
  }

  #suggest(words) {
    return make("button", { type: "button", className: "link", textContent: words, onclick: () => this.change({ q: words, ...IN_ENGLISH }) });
  }
}

/** The words of a reading that are not taken as they are, each with its English. */
export const glosses = ({ words }) => words.filter(({ english }) => english.length).map(({ word, english }) => [word, english.join(", ")]);

/** What a search is for, as a person would say it. */
export function subject({ q, picture, icon, collection, screen, frame, not }) {
  if (screen !== null) return frame === null ? "your picture" : "the framed icon";
  if (collection !== null) return collection === STARS ? "your stars" : `“${collection}”`;
  const parts = [q && `“${q.trim()}”`, picture && "your picture", icon !== null && "that icon"].filter(Boolean);
  return (parts.join(" and ") || "anything") + (not.length ? ` but not “${not.join(", ")}”` : "");
}
