// What is asked and how is it shown? The address of the page holds all of it, under the API's own names.

export const FACETS = ["set", "style", "corner", "category", "tag", "licence", "size"];
const FILTERS = [...FACETS, "animated", "coloured"];
const LISTS = ["not", "prefer", ...FACETS, "language"];
export const SIZES = [16, 20, 24, 32, 40, 48, 64, 96, 128];
export const PAGE = 60;
const FARTHEST = 1e7; // place in a list, as far as the server goes
const MOST_LANGUAGES = 4;
const LONGEST_NAME = 200; // of a collection
const KEPT = /^[a-z0-9]{1,16}$/;
const LOCALE = /^[a-z]{2,3}([-_][a-z0-9]+)*$/i;

const EMPTY = {
  q: "", keyword: false, icon: null, picture: null, collection: null,
  screen: null, frame: null, // a picture that this page keeps, and which of its icons is chosen
  not: [], prefer: [], set: [], style: [], corner: [], category: [], tag: [], licence: [], size: [],
  animated: null, coloured: null, flat: false, min_score: null,
  language: [], // in which the words are to be read: an address finds the same for everybody who opens it
  typed: false, // whether they were typed here: then they are read in the languages of the browser
  sort: "relevance", fold: true, at: 0, open: null, // `at` is the place of the first tile in sight
  bg: "auto", px: 48, colour: null, stroke: null, joins: null, names: null, // how icons are drawn
};
export const SORTS = { relevance: "Best match", name: "Name", set: "Set", newest: "Newest" };
export const LOOK = ["bg", "px", "colour", "stroke", "joins", "names"];
export const STROKES = { least: 0.5, most: 3, step: 0.25, usual: 2 }; // of a grid of 24
const COLOUR = /^#[0-9a-f]{6}$/;
const PREFIX = /\p{L}\*(\s|$)/u; // "arr*" asks for names that begin so: no meaning does

const whole = (text, low, high) => (/^\d+$/.test(text ?? "") ? Math.min(Math.max(Number(text), low), high) : null);
const truth = (text) => (text === "true" ? true : text === "false" ? false : null);

/** Read the state from an address; what makes no sense there is left out. */
export function parse(address) {
  const url = new URL(address);
  const given = url.searchParams;
  const score = Number(given.get("min_score") ?? NaN);
  const picture = new URLSearchParams(url.hash.slice(1)).get("picture");
  const state = {
    ...EMPTY,
    q: given.get("q") ?? "",
    keyword: given.get("keyword") === "1",
    flat: given.get("flat") === "1",
    fold: given.get("fold") !== "0",
    sort: Object.hasOwn(SORTS, given.get("sort") ?? "") ? given.get("sort") : EMPTY.sort,
    icon: whole(given.get("icon"), 0, Number.MAX_SAFE_INTEGER),
    open: whole(given.get("open"), 0, Number.MAX_SAFE_INTEGER),
    animated: truth(given.get("animated")),
    coloured: truth(given.get("coloured")),
    min_score: score >= 0 && score <= 1 ? score : null,
    collection: given.get("collection")?.slice(0, LONGEST_NAME).replace(/^★$/, "Starred") || null, // as older pages called it
    screen: KEPT.test(given.get("screen") ?? "") ? given.get("screen") : null,
    frame: given.has("screen") ? whole(given.get("frame"), 0, Number.MAX_SAFE_INTEGER) : null,
    at: whole(given.get("at"), 0, FARTHEST) ?? 0,
    picture: /^[\w-]+$/.test(picture ?? "") ? picture : null,
    ...readLook(Object.fromEntries(LOOK.map((name) => [name, given.get(name)]))),
  };
  for (const name of LISTS) state[name] = [...new Set(given.getAll(name))].filter(Boolean);
  state.language = state.language.filter((code) => LOCALE.test(code)).slice(0, MOST_LANGUAGES);
  return state;
}

/** How icons are drawn, of texts that may be missing or wrong; an address has them, and what the browser remembers. */
export function readLook({ bg, px, colour, stroke, joins, names }) {
  const size = whole(px, SIZES[0], SIZES.at(-1));
  const wide = Number(stroke ?? NaN);
  return {
    bg: /^(light|dark)$/.test(bg ?? "") || COLOUR.test(bg ?? "") ? bg : EMPTY.bg,
    px: size === null ? EMPTY.px : SIZES.reduce((a, b) => (Math.abs(b - size) < Math.abs(a - size) ? b : a)),
    colour: COLOUR.test(colour ?? "") ? colour : null,
    stroke: wide >= STROKES.least && wide <= STROKES.most ? wide : null,
    joins: /^(round|sharp)$/.test(joins ?? "") ? joins : null,
    names: names === "hover" ? names : null,
  };
}

/** Whether an address says how icons are drawn. */
export const saysLook = (address) => LOOK.some((name) => new URL(address).searchParams.has(name));

/** The languages that the browser's user reads, most used first; none where that is English alone, as it goes without saying. */
function ownLanguages() {
  const codes = navigator.languages.filter((tag) => LOCALE.test(tag)).map((tag) => tag.split(/[-_]/)[0].toLowerCase());
  const distinct = [...new Set(codes)].slice(0, MOST_LANGUAGES);
  return distinct.join() === "en" ? [] : distinct;
}

const languages = (state) => (state.typed ? ownLanguages() : state.language);

/** What makes of a question one in English, whoever asks. */
export const IN_ENGLISH = { language: [], typed: false };

/** Parameters that the API understands. */
export const question = (state) => parametersOf({ ...state, language: languages(state), keyword: state.keyword || PREFIX.test(state.q) });

/** Those of a question that say which icons may be named in a picture. */
export const located = (state) => parametersOf({ ...EMPTY, ...only(state, FILTERS) });

function parametersOf(state) {
  const parameters = new URLSearchParams();
  if (state.q.trim()) parameters.set("q", state.q.trim());
  for (const name of ["keyword", "flat"]) if (state[name]) parameters.set(name, "1");
  if (state.sort !== EMPTY.sort) parameters.set("sort", state.sort);
  for (const name of ["icon", "animated", "coloured", "min_score"]) {
    if (state[name] !== null) parameters.set(name, String(state[name]));
  }
  for (const name of LISTS) for (const value of state[name]) parameters.append(name, value);
  return parameters;
}

/** The part of a question that is words. */
export const words = (state) => parametersOf({ ...EMPTY, q: state.q, not: state.not, language: languages(state) });

/** Whether an icon's place in the answer can be explained: words were asked, and nothing else. */
export const isExplained = (state) => Boolean(state.q.trim()) && !state.keyword && !state.picture && state.icon === null;

/** The address of a state, relative to the page. A picture stands behind "#": browsers send that part nowhere. */
export function format(state) {
  const parameters = parametersOf(state);
  if (!state.fold) parameters.set("fold", "0");
  for (const name of ["collection", "screen", "frame", "at", "open", ...LOOK]) {
    if (state[name] !== EMPTY[name]) parameters.set(name, String(state[name]));
  }
  const query = parameters.toString();
  return `${location.pathname}${query ? `?${query}` : ""}${state.picture ? `#picture=${state.picture}` : ""}`;
}

/** Whether there is anything to look for. */
export const asks = (state) => Boolean(state.q.trim() || state.picture || state.icon !== null || state.collection !== null || state.screen !== null);

/** Whether icons are wanted without looking for any: those that the filters leave, or all in some order. */
export const browses = (state) => !asks(state) && (countFilters(state) > 0 || state.sort !== EMPTY.sort);

const only = (state, names) => Object.fromEntries(names.map((name) => [name, state[name]]));

/** How icons are drawn as their makers meant it. */
export const plainLook = () => only(EMPTY, LOOK);

/** Nothing asked, no filter; how icons are shown stays. */
export const cleared = (state) => ({ ...EMPTY, ...only(state, LOOK), fold: state.fold });

/** Nothing looked for; the filters stay, and how icons are shown. */
export const withoutQuestion = (state) => ({ ...state, ...only(EMPTY, ["q", "icon", "picture", "collection", "screen", "frame", "not", "language", "typed", "min_score", "sort", "at", "open"]) });

export const withoutFilters = (state) => ({ ...state, ...only(EMPTY, [...FILTERS, "at"]) });

export const countFilters = (state) =>
  FACETS.reduce((n, name) => n + state[name].length, 0) + (state.animated !== null) + (state.coloured !== null);

/** Split what stands in the box: words after a lone "-" are steered away from, as in `home -filled`. */
export function fromBox(text, { keyword }) {
  if (keyword) return { q: text, not: [] };
  const not = [];
  const q = text.replace(/(^|\s)-(\p{L}[^\s]*)/gu, (_, space, word) => (not.push(word), space));
  return { q: not.length ? q.replace(/\s+/g, " ").trim() : q, not };
}

export const toBox = (state) => [state.q, ...state.not.map((word) => `-${word}`)].filter(Boolean).join(" ");
