// The page: one state, held in the address; everything else follows from it.

import { show, why } from "./api.js";
import { copy } from "./detail/copying.js";
import { Detail } from "./detail/detail.js";
import { announce, find, isCommand, listen, narrow, PAUSE_MS, say } from "./elements.js";
import { Filters } from "./filters/filters.js";
import { Grid } from "./results/grid.js";
import { Incoming } from "./picture/incoming.js";
import { drawInto, unpacked } from "./picture/picture.js";
import { Shows } from "./picture/shows.js";
import { Order } from "./results/order.js";
import { setLook } from "./results/pictures.js";
import { Search } from "./results/results.js";
import { frame } from "./results/tile.js";
import { insist, located, partOf, pictureOf } from "./screen/kept.js";
import { noteOpened, noteSearch, noteSet, pin } from "./start/memory.js";
import { Start } from "./start/start.js";
import { asks, browses, cleared, format, fromBox, IN_ENGLISH, isExplained, parse, readLook, saysLook, toBox, withoutFilters, withoutQuestion } from "./state.js";
import { chosen, KEPT } from "./tray/store.js";
import { Customize, remembered } from "./view/customize.js";
import { look as lookOf } from "./view/look.js";
import { applyView, watchTheme } from "./view/surface.js";

let state = parse(location.href);
if (!saysLook(location.href)) Object.assign(state, readLook(remembered()));
const JUDGING_MS = 300; // until a picture is shown with what is found in it, where that takes longer
let typing = false; // a run of keystrokes is one step of the browser's history
let unwritten = null; // how the address is to follow the state, where it does not yet
let drawnLook = null; // most keystrokes leave it as it is
const words = find("#words");

const look = () => lookOf(state);
const grid = new Grid(find("#grid"), {
  open: (hit, { byKey }) => {
    openIcon(hit).then(() => { if (byKey) detail.focus(); });
  },
  leave: () => (state.screen === null ? words : screen).focus(),
  copy: (hit) => copy([hit], { look: look() }),
  keep: (hit) => announce(`${hit.name} ${chosen.toggle(hit) ? "kept" : "not kept any more"}`, { afterMs: 0 }),
  keepAll: (hits) => {
    const left = chosen.add(hits);
    if (left) say(`${left} had no place: ${chosen.size} icons are kept`);
    else announce(`${hits.length} kept`, { afterMs: 0 });
  },
  isKept: (key) => chosen.has(key),
  selecting: () => order.isSelecting,
  select: (hit) => { order.select(true); chosen.add([hit]); },
  wants: () => search.fill(),
  rests: (at) => search.rests(at),
});
listen(chosen, "change", () => {
  grid.markAll();
  if (state.collection === KEPT) search.again();
});

const order = new Order({ change: ask, keepAll: () => grid.keepAll(grid.hits) });
const clearFilters = () => go(withoutFilters(state));
const filters = new Filters({ bar: find("#filters"), menu: find("#menu"), all: find("#all-filters") }, { change: ask, clear: clearFilters });
const start = new Start(find("#start"), {
  ask: (q) => ask({ q, ...IN_ENGLISH }),
  open: openIcon,
  browse: (set) => { noteSet(set); go({ ...cleared(state), set: [set] }); scrollTo({ top: 0 }); },
});
const cut = async () => incoming.cut(state.screen ?? await incoming.originOf(state.picture));
const search = new Search({
  grid, change: ask, clearFilters, filters: () => filters.active(state), counted: (facets) => filters.count(facets), read: (language) => settle({ language }), describe: start.sets.describe,
  pictures: { part: (answer) => incoming.use(state.screen, partOf(state.screen, answer, state.frame)), cut, choose: () => find("#file").click() },
  rested: (at) => { if (at !== state.at) settle({ at }); },
  answered: ({ q, icon, picture }, hits) => { if (hits.length && icon === null && !picture) noteSearch(q.trim()); },
});
const detail = new Detail(find("#detail"), {
  open: openIcon,
  like: (icon) => go({ ...withoutQuestion(state), icon: icon.id }),
  filter: (kind, value) => ask({ [kind]: [...new Set([...state[kind], value])] }),
  close: closeDetail,
  preferred: () => state.prefer,
  prefer: (set, yes) => {
    pin(set, yes);
    ask({ prefer: yes ? [...state.prefer, set] : state.prefer.filter((other) => other !== set) });
  },
  look,
  customize: () => customize.toggle(),
  moved: () => customize.place(),
  explain: (id) => (isExplained(state) ? (options) => why(id, state, options) : null),
});
const customize = new Customize(find("#look"), {
  button: find("#customize"), main: find("main"), dialog: find("#detail"),
  change: (changes) => {
    change(changes, { replace: true, later: true });
    customize.keep(state);
  },
});
watchTheme(() => render());

const incoming = new Incoming({
  button: find("#choose"), file: find("#file"), photo: find("#photo"), overlay: find("#drop"), panel: find("#drawing"),
  search: (picture, { isSketch = false, replace = isSketch && state.picture !== null } = {}) => {
    if (!isSketch) announce("Searching with your picture", { afterMs: 0 });
    return ask({ picture, icon: null, screen: null, frame: null, open: null, min_score: null }, { replace });
  },
  examine,
});
const shows = new Shows(find("#shows"), {
  asIcon: () => incoming.use(state.screen),
  asScreen: async () => examine(state.screen ?? await incoming.originOf(state.picture), "screen"),
  cut,
});
let screen = null; // made with the first picture that has icons in it

/** Look for icons in a picture that is kept here; where it shows one alone, search with that. `as` says what it shows, if anybody has said. */
async function examine(number, as = null) {
  if (as) insist(number, as);
  const next = { ...withoutQuestion(state), screen: number };
  announce("Looking for icons in your picture", { afterMs: 0 });
  const judged = located(next).catch((error) => ({ kind: error.status === 422 ? "icon" : null })); // the search will say what is wrong with it
  const pause = new Promise((resolve) => { setTimeout(resolve, JUDGING_MS); });
  const answer = as ? null : await Promise.race([judged, pause]);
  if (answer?.kind === "icon") await incoming.use(number);
  else await go(next);
}

async function showScreen() {
  if (state.screen === null && !screen) return;
  if (!screen) {
    Object.assign(find("#screen"), { hidden: false }).dataset.is = "waiting"; // its parts are on their way
    const { ScreenView } = await import("./screen/view.js");
    screen ??= new ScreenView(find("#screen"), {
      change: ask, cut: (number) => incoming.cut(number), take: (hits) => chosen.add(hits), enter: () => grid.focusAt(0),
      asIcon: (number, how) => incoming.use(number, null, how),
    });
  }
  if (state.screen === null) screen.hide();
  else {
    await screen.show(state);
    showBox();
  }
}

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

/** What became known of a question, so that whoever opens its address finds the same: in which languages words that were typed are
 *  read, how far one has scrolled. */
function settle(known) {
  if (known.language && (!state.typed || known.language.join() === state.language.join())) return;
  state = { ...state, ...known };
  unwritten ??= { replace: true, timer: setTimeout(writeAddress, PAUSE_MS) };
}

function change(changes, how) {
  return go({ ...state, ...changes }, how);
}

function openIcon(icon) {
  noteOpened(icon);
  return change({ open: icon.id });
}

/** Changes of what is asked: another answer is seen from its beginning. */
function ask(changes, how) {
  return change({ at: 0, ...changes }, how);
}

async function render() {
  const ground = applyView(state);
  const asked = JSON.stringify([look(), state.px, state.names, ground]);
  if (asked !== drawnLook) {
    drawnLook = asked;
    customize.show(state, ground);
    setLook(look());
    detail.relook();
  }
  showBox();
  order.show(state, { canFold: start.library.sets > 1 && search.folds({ ...state, fold: true }), isOneSet: start.library.sets === 1 || state.set.length === 1 });
  filters.render(state);
  if (!asks(state) && !browses(state) && find("#start").hidden) start.refresh();
  showScreen();
  search.run(state);
  grid.mark(state.open);
  if (state.open === null) detail.hide();
  else await Promise.race([detail.show(state.open, grid.byId(state.open)), 0]);
}

function showBox() {
  const { q, not } = fromBox(words.value, state);
  if (q.trim() !== state.q.trim() || not.join() !== state.not.join()) words.value = toBox(state);
  find("#clear").hidden = !asks(state);
  incoming.follow(state.picture);
  const picture = find("#picture");
  const seen = state.picture ?? state.screen;
  if (seen && picture.dataset.drawn !== seen) {
    const image = state.picture ? unpacked(state.picture) : Promise.resolve(pictureOf(seen)?.image);
    image.then((one) => one && drawInto(find("canvas", picture), one)).catch((error) => say(error.message));
    picture.dataset.drawn = seen;
  }
  picture.hidden = !state.picture && !pictureOf(state.screen);
  shows.show(state.picture ? "icon" : pictureOf(state.screen)?.kind); // "neither" is neither of the two
  find("#within").hidden = state.collection === null;
  find("#within span").textContent = state.collection === KEPT ? "Kept" : state.collection;
  find("#filters").hidden = state.collection !== null; // they are the server's, a collection is not
  find("#sort").hidden = state.collection !== null || state.screen !== null;
  const like = find("#like");
  like.hidden = state.icon === null;
  if (state.icon !== null && like.dataset.icon !== String(state.icon)) showSeed(like, state.icon);
  words.placeholder = state.picture || state.icon !== null ? "Add words to narrow it down" : narrow.matches ? "Meaning, looks or name" : "Search by meaning, looks or name";
}

/** The icon that others are to be like: its picture and its key. */
async function showSeed(like, id) {
  like.dataset.icon = id;
  find(".origin", like).textContent = "like this icon";
  find(".seed", like).replaceChildren();
  const icon = grid.byId(id) ?? await show(id).catch(() => null); // gone from the library: the search will say so
  if (!icon || like.dataset.icon !== String(id)) return;
  find(".origin", like).textContent = icon.key;
  find(".seed", like).replaceChildren(frame(icon, { px: 20 }));
}

function closeDetail() {
  const { open } = state;
  change({ open: null });
  grid.focus(open);
}

listen(words, "input", (event) => {
  if (event.isComposing) return;
  const follows = typing;
  go({ ...state, ...fromBox(words.value, state), collection: null, screen: null, frame: null, typed: true, language: [], min_score: null, open: null, at: 0 }, { replace: follows, later: true });
  typing = true;
  scrollTo({ top: 0 });
});
listen(words, "compositionend", () => words.dispatchEvent(new InputEvent("input")));
listen(words, "keydown", (event) => {
  if (event.key === "ArrowDown" || (event.key === "Enter" && !event.isComposing)) {
    event.preventDefault();
    grid.focusAt(0);
  }
});
listen(find("#search"), "submit", (event) => event.preventDefault());
for (const leave of ["#clear", "#within button"]) listen(find(leave), "click", () => { go(withoutQuestion(state)); words.focus(); });
listen(find(".brand"), "click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(cleared(state));
});
listen(find("#picture button"), "click", () => { ask({ picture: null, screen: null, frame: null }); words.focus(); });
listen(find("#like button"), "click", () => { ask({ icon: null }); words.focus(); });

listen(window, "keydown", (event) => {
  const inField = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && (!inField || inField.type === "radio" || inField.type === "range")) {
    event.preventDefault();
    words.focus();
    words.select();
  } else if (event.key === "Escape" && !event.defaultPrevented && !find(":popover-open:not(#toast), :modal:not(#detail)")) {
    escape(event);
  } else if (detail.dialog.contains(event.target) && !inField && !isCommand(event) && detail.icon) {
    ({ c: grid.copy, x: grid.keep })[event.key.toLowerCase()]?.(detail.icon);
  }
});

/** Step back once: from the panel to its tile, from the grid to the box, from words to the start page. */
function escape(event) {
  if (find("#detail").matches(":modal")) return; // its own "cancel" does it
  if (!customize.panel.hidden && customize.panel.contains(document.activeElement)) customize.toggle();
  else if (state.open !== null) closeDetail();
  else if (grid.list.contains(document.activeElement)) grid.leave();
  else if (order.isSelecting) order.select(false);
  else if (state.frame !== null) change({ frame: null });
  else if (asks(state)) go(withoutQuestion(state));
  else if (browses(state)) go(cleared(state));
  else return;
  event.preventDefault();
}

let tray = null;
const showTray = () => { if (chosen.size) tray ??= import("./tray/tray.js").then(({ Tray }) => new Tray(find("#tray"), { open: (icon) => change({ open: icon.id }), look })); };
listen(chosen, "change", showTray); // its parts are fetched with the first icon that is kept
showTray();
listen(find("#type-here"), "click", () => words.focus());
for (const way of ["#drop-here", "#screen-here"]) listen(find(way), "click", () => find("#file").click());
listen(find("#draw-here"), "click", () => incoming.draw());
listen(find("#shelf-button"), "click", async () => {
  const { showShelf } = await import("./tray/shelf.js");
  showShelf({ open: (collection) => go({ ...cleared(state), collection }) });
});

listen(window, "pagehide", writeAddress);
listen(window, "popstate", () => {
  typing = false;
  clearTimeout(unwritten?.timer);
  unwritten = null;
  state = parse(location.href);
  render();
  search.return(state.at);
});

new ResizeObserver(([{ target }]) => {
  document.documentElement.style.setProperty("--head", `${target.offsetHeight}px`);
}).observe(find("body > header"));
if (matchMedia("(hover: hover)").matches) words.focus(); // elsewhere a keyboard would cover half of the page
render();
const known = start.load().then(({ facets, isSmall }) => {
  search.showsAll = isSmall;
  filters.knows(facets);
  return render();
});
Promise.all([known, start.loadSets()]).then(() => {
  search.retell();
  find("body > footer").hidden = false; // what is above it is there now, and does not push it away any more
});
