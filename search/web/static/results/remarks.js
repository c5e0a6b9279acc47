// What is said above the tiles: how words were read, what they were perhaps meant to be, and what to try where nothing is good.

import { search } from "../api.js";
import { chip, find, make, PAUSE_MS, plural } from "../elements.js";
import { asks, countFilters, IN_ENGLISH } from "../state.js";

const UNKNOWN_SET = /no set "(.*?)" in this library(?:; near: (.*))?/;

const link = (textContent, onclick) => make("button", { className: "link", textContent, onclick });

/** What stands where results would be. */
const nothing = (title, ...children) => make("div", { className: "nothing" }, make("h2", {}, title), ...children);

export class Remarks {
  /** `change(changes)` alters the state, `clearFilters()` takes all filters away, `filters()` tells which are on; `pictures` are what
   *  is done with a picture: `part(located)` searches with the chosen icon, `cut()` lets a person choose a part, `choose()` another one. */
  constructor({ change, clearFilters, filters, pictures }) {
    Object.assign(this, { change, clearFilters, filters, pictures, state: null, told: null });
  }

  line = (className, ...children) => make("p", { className }, ...children);

  /** Lines for an answer to a state, from the fields of the answer. */
  of(state, { hits, spelled, read_as: readAs, is_doubtful: isDoubtful = false, missing = [], located = null }, signal) {
    Object.assign(this, { state, signal });
    if (state.collection !== null) return this.#collected(state, hits, missing);
    if (state.screen !== null) return this.#framed(hits, located);
    if (!hits.length) return [this.#nothing(spelled, readAs)];
    return [...this.#remarks(spelled, readAs), isDoubtful && this.#causes()].filter(Boolean);
  }

  /** How words of another language were read; where they are English, too, with a way to ask them as that alone. While one
   *  types it waits for a pause: every eighth beginning of English words is read as something, and the grid would jump. */
  #reading(readAs) {
    const told = glosses(readAs).flatMap(([word, english], at) => [at > 0 && "; ", make("bdi", { lang: readAs.language }, word), `: ${english}`]);
    const ask = () => { this.change(IN_ENGLISH); find("#results").focus({ preventScroll: true }); }; // the button goes
    const remark = this.line("remark", told, make("span", { className: "from-language" }, ` (${readAs.name}) `), readAs.is_english_too && link("Search in English only", ask));
    remark.hidden = this.state.typed && remark.textContent !== this.told;
    this.told = remark.textContent;
    setTimeout(() => { remark.hidden = false; }, PAUSE_MS);
    return remark;
  }

  /** Of a collection: what this library does not have of it. */
  #collected(state, hits, missing) {
    if (missing.length) return [this.line("remark", `${plural(missing.length, "icon")} of it ${missing.length === 1 ? "is" : "are"} not in this library: ${missing.join(", ")}`)];
    return hits.length ? [] : [nothing(`No icon in ${subject(state)}`, make("p", {}, "Collections are kept in the browser that they were made with."))];
  }

  #remarks(spelled, readAs) {
    const remarks = readAs ? [this.#reading(readAs)] : [];
    if (spelled) remarks.push(this.line("remark", "Did you mean ", this.#suggest(spelled), "? Icons for it are among these."));
    if (this.state.min_score === 0) remarks.push(this.line("remark", "The nearest icons, however far away. ", link("Show good matches only", () => this.change({ min_score: null }))));
    return remarks;
  }

  #nothing(spelled, readAs) {
    const { state } = this;
    const tries = [];
    if (spelled) tries.push(make("li", {}, "Did you mean ", this.#suggest(spelled), "?"));
    if (state.keyword) tries.push(make("li", {}, link("Search by meaning, not by keywords", () => this.change({ keyword: false }))));
    else if (state.q) tries.push(make("li", {}, "Say what it looks like (“a cup with steam”), or use a more common word."));
    if (!asks(state)) return nothing("No icon is left by these filters", this.#causes());
    tries.push(make("li", {}, state.picture ? [link("Crop the picture", this.pictures.cut), " closer to the icon, or say in words what it is."] : "Paste or drop a picture of what you have in mind."));
    if (state.min_score !== 0 && !state.keyword) tries.push(make("li", {}, link("Show the nearest icons anyway", () => this.change({ min_score: 0 }))));
    return nothing(`Nothing good found for ${subject(state)}`, readAs && this.#reading(readAs), this.#causes(),
      make("p", {}, "No icon here comes close enough to be shown as a match. What you can try:"), make("ul", {}, tries));
  }

  /** The filters that are on, each with its cross: how many icons it leaves by itself, and how many would answer without it. */
  #causes() {
    const { state, signal } = this;
    const causes = this.filters().map(({ text, known, less }) => {
      const told = make("span", { className: "count" }, known === undefined ? "" : `${plural(known, "icon")} here`);
      search({ ...state, ...less }, { k: 1, signal }).then(({ hits, n_found: n, is_more: isMore, is_doubtful: isDoubtful }) => {
        const left = hits.length && !isDoubtful ? `${n.toLocaleString("en")}${isMore ? "+" : ""} ${n === 1 ? "fits" : "fit"} without it` : "none fits without it, either";
        told.textContent = [told.textContent, left].filter(Boolean).join("; ");
      }).catch(() => {}); // its cross is there all the same
      return make("p", { className: "cause" }, chip(text, null, { onclick: () => this.change(less) }), told);
    });
    return causes.length > 0 && make("div", { className: "causes" }, make("p", {}, asks(state) ? "These filters may be why:" : "Take one away:"), causes, causes.length > 1 && this.#withoutFilters());
  }

  /** What can't be answered, with what a person can do about it: a click where there is one that helps. */
  refused(state, error, { stays, again }) {
    const [, set, near] = UNKNOWN_SET.exec(error.message) ?? [];
    const isOfPicture = error.status === 422 && Boolean(state.picture ?? state.screen);
    const title = set !== undefined ? `There is no set “${set}” here` : isOfPicture ? "This picture can’t be searched" : "That did not work";
    const text = /of one colour/.test(error.message) ? "It is of one colour all over: nothing is drawn in it." : set !== undefined ? "" : error.message;
    const put = (other) => () => this.change({ set: state.set.flatMap((one) => (one === set ? other : [one])) });
    const sets = set === undefined ? [] : [...(near ? near.split(", ") : []).map((one) => [one, put([one])]), ["All sets", put([])]];
    const pictures = isOfPicture ? [["Choose another part", this.pictures.cut], ["Choose another picture", this.pictures.choose]] : [];
    const ways = [...sets, ...pictures, ...(again ? [["Try again", again]] : [])];
    return nothing(title, text && make("p", {}, text), stays && make("p", {}, "The icons below are those found before."),
      make("div", { className: "ways" }, ways.map(([textContent, onclick]) => make("button", { className: "button", textContent, onclick }))));
  }

  /** Of an icon in a picture: a way to more hits than were asked for, or why there are none. */
  #framed(hits, located) {
    const isChosen = located && this.state.frame !== null;
    if (hits.length) return isChosen ? [this.line("about", link("Search with this part of the picture", () => this.pictures.part(located)), " for more like it.")] : [];
    return [nothing(`No name for ${subject(this.state)}`,
      make("p", {}, "No icon here looks like it."), this.#causes())];
  }

  #withoutFilters() {
    const n = countFilters(this.state);
    return n > 0 && link(n === 1 ? "Search without the filter" : `Search without the ${n} filters`, this.clearFilters);
  }

  #suggest(words) {
    return link(words, () => this.change({ q: words, ...IN_ENGLISH }));
  }
}

/** The words of a reading that are not taken as they are, each with its English. */
export const glosses = ({ words }) => words.filter(({ english }) => english.length).map(({ word, english }) => [word, english.join(", ")]);

/** What a search is for, as a person would say it. */
export function subject({ q, picture, icon, collection, screen, frame, not }) {
  if (screen !== null) return frame === null ? "your picture" : "the framed icon";
  if (collection !== null) return `“${collection}”`;
  const parts = [q && `“${q.trim()}”`, picture && "your picture", icon !== null && "that icon"].filter(Boolean);
  return (parts.join(" and ") || "anything") + (not.length ? ` but not “${not.join(", ")}”` : "");
}
