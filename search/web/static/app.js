// The page: one state, held in the address; everything else follows from it.

import { why } from "./api.js";
import { Detail, copy } from "./detail/detail.js";
import { announce, find, PAUSE_MS, say } from "./elements.js";
import { Filters } from "./filters/filters.js";
import { Grid } from "./results/grid.js";
import { drawThumbnail, shrink, watchForPictures } from "./picture/picture.js";
import { describeLibrary, Search } from "./results/results.js";
import { asks, cleared, format, fromBox, isExplained, PAGE, parse, toBox, withoutFilters } from "./state.js";
import { applyView, watchView } from "./view/surface.js";

let state = parse(location.href);
let typing = false; // a run of keystrokes is one step of the browser's history
let unwritten = null; // how the address is to follow the state, where it does not yet
const words = find("#words");

const grid = new Grid(find("#grid"), {
  open: (hit, { byKey }) => {
    if (byKey && detail.id === hit.id) detail.focus();
    else change({ open: hit.id }).then(() => { if (byKey) detail.focus(); });
  },
  leave: () => words.focus(),
  copy,
});
const clearFilters = () => go(withoutFilters(state));
const filters = new Filters(find("#filters"), find("#menu"), { change: (changes) => change({ ...changes, k: PAGE }), clear: clearFilters });
const search = new Search({ grid, change: ask, clearFilters, counted: (facets) => filters.count(facets), read: settle });
const detail = new Detail(find("#detail"), {
  open: (icon) => change({ open: icon.id }),
  like: (icon) => go({ ...cleared(state), icon: icon.id, open: null }),
  filter: (kind, value) => change({ [kind]: [...new Set([...state[kind], value])], k: PAGE }),
  close: closeDetail,
  preferred: () => state.prefer,
  prefer: (set, yes) => change({ prefer: yes ? [...state.prefer, set] : state.prefer.filter((other) => other !== set), k: PAGE }),
  explain: (id) => (isExplained(state) ? (options) => why(id, state, options) : null),
});
const showView = watchView({
  surfaces: find("#surfaces"), colour: find("#colour"), size: find("#size"),
  change: (changes) => change(changes, { replace: true }), theme: () => render(),
});

/** Go to another state: a new entry in the browser's history unless it only refines the present one. The address of what
 *  is typed follows `later`: each change of it costs the browser time that the pictures wait for. */
async function go(next, { replace = false, later = false } = {}) {
  typing = false;
  if (!later) writeAddress(); // of what was typed before
  clearTimeout(unwritten?.timer);
  unwritten = { replace: replace && (unwritten?.replace ?? true), timer: setTimeout(writeAddress, PAUSE_MS) };
  state = next;
  if (!later) writeAddress();
  await render();
}

function writeAddress() {
  if (!unwritten) return;
  const { replace, timer } = unwritten;
  clearTimeout(timer);
  unwritten = null;
  const address = format(state);
  if (address !== `${location.pathname}${location.search}${location.hash}`) {
    history[replace ? "replaceState" : "pushState"](null, "", address);
  }
}

/** What was typed was read in these languages: the address says so, so that it finds the same for whoever opens it. */
function settle(language) {
  if (!state.typed || language.join() === state.language.join()) return;
  state = { ...state, language };
  unwritten ??= { replace: true, timer: setTimeout(writeAddress, PAUSE_MS) };
}

function change(changes, how) {
  return go({ ...state, ...changes }, how);
}

/** Changes from the results: other words start at the first page again. */
function ask(changes, how) {
  return change("k" in changes ? changes : { ...changes, k: PAGE }, how);
}

async function render() {
  showView(state, applyView(state));
  showBox();
  filters.render(state);
  search.run(state);
  grid.mark(state.open);
  if (state.open === null) detail.hide();
  else await Promise.race([detail.show(state.open, grid.hits.get(state.open)), 0]);
}

function showBox() {
  const { q, not } = fromBox(words.value, state);
  if (q.trim() !== state.q.trim() || not.join() !== state.not.join()) words.value = toBox(state);
  find("#clear").hidden = !asks(state);
  const picture = find("#picture");
  if (state.picture && picture.dataset.drawn !== state.picture) {
    drawThumbnail(find("canvas", picture), state.picture).catch((error) => say(error.message));
    picture.dataset.drawn = state.picture;
  }
  picture.hidden = !state.picture;
  const like = find("#like");
  like.hidden = state.icon === null;
  find("span", like).textContent = "like the icon you chose";
  words.placeholder = state.picture || state.icon !== null ? "Add words to narrow it down" : "Search by meaning, looks or name";
}

function closeDetail() {
  const { open } = state;
  change({ open: null });
  grid.focus(open);
}

words.addEventListener("input", (event) => {
  if (event.isComposing) return;
  const follows = typing;
  go({ ...state, ...fromBox(words.value, state), typed: true, language: [], min_score: null, open: null, k: PAGE }, { replace: follows, later: true });
  typing = true;
  scrollTo({ top: 0 });
});
words.addEventListener("compositionend", () => words.dispatchEvent(new InputEvent("input")));
words.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || (event.key === "Enter" && !event.isComposing)) {
    event.preventDefault();
    grid.focusFirst();
  }
});
find("#search").addEventListener("submit", (event) => event.preventDefault());
find("#clear").addEventListener("click", () => { go(cleared(state)); words.focus(); });
find(".brand").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(cleared(state));
});
find("#picture button").addEventListener("click", () => { ask({ picture: null }); words.focus(); });
find("#like button").addEventListener("click", () => { ask({ icon: null }); words.focus(); });

addEventListener("keydown", (event) => {
  const inField = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && (!inField || inField.type === "radio" || inField.type === "range")) {
    event.preventDefault();
    words.focus();
    words.select();
  } else if (event.key === "Escape" && !event.defaultPrevented && !find("#menu").matches(":popover-open")) {
    escape(event);
  }
});

/** Step back once: from the panel to its tile, from the grid to the box, from words to the start page. */
function escape(event) {
  if (find("#detail").matches(":modal")) return; // its own "cancel" does it
  if (state.open !== null) closeDetail();
  else if (grid.list.contains(document.activeElement)) words.focus();
  else if (asks(state)) go(cleared(state));
  else return;
  event.preventDefault();
}

watchForPictures({
  input: find("#file"), button: find("#choose"), overlay: find("#drop"),
  take: async (file) => {
    try {
      const picture = await shrink(file);
      announce("Searching with your picture", { afterMs: 0 });
      await ask({ picture, icon: null, open: null, min_score: null });
    } catch (error) {
      say(error.message);
    }
  },
});

addEventListener("pagehide", writeAddress);
addEventListener("popstate", () => {
  typing = false;
  clearTimeout(unwritten?.timer);
  unwritten = null;
  state = parse(location.href);
  render();
});

new ResizeObserver(([{ target }]) => {
  document.documentElement.style.setProperty("--head", `${target.offsetHeight}px`);
}).observe(find("body > header"));
if (matchMedia("(hover: hover)").matches) words.focus(); // elsewhere a keyboard would cover half of the page
render();
describeLibrary().then((facets) => filters.knows(facets));
