// How do hits become tiles, and how do the arrow keys walk through them? A list is as high as all of it; tiles are only where one looks.

import { find, isCommand, listen, whenIdle } from "../elements.js";
import { watchActions } from "./actions.js";
import { areExpected, shimmerLater } from "./pictures.js";
import { drawnOf, place, restack, showMarks, tile } from "./tile.js";

const SPARE = 500; // pixels above and below the window in which tiles are there
const REST_MS = 200; // until a place is one to be noted

/** Groups of hits in the order of their best ones: those of several sets that bear the same name stand in one. */
function grouped(hits) {
  const groups = Map.groupBy(hits, ({ words }) => words);
  return [...groups.values()].flatMap((group) => (countSets(group) > 1 ? [group] : group.map((hit) => [hit])));
}

const countSets = (group) => new Set(group.map((hit) => hit.set)).size;

/** What is to be seen of groups, in order: `{ hit, stack }`; `isOpen(group)` tells which are unfolded. */
function* seen(groups, isOpen) {
  for (const group of groups) {
    const [first, ...others] = group;
    if (!others.length) yield { hit: first, stack: null };
    else {
      const [n, open] = [countSets(group), isOpen(group)];
      yield { hit: first, stack: { n, isOpen: open, isFirst: true } };
      if (open) for (const hit of others) yield { hit, stack: { isOpen: true, isFirst: false } };
    }
  }
}

export class Grid {
  /**
   * `list` is a `ul`; `open(hit, { byKey })` is called for a tile that was clicked, `leave()` when arrows go above the first
   * row, `copy` and `keep` for what is done with one hit, `keepAll(hits)` for a row of them; `isKept(key)` says whether one is.
   * `selecting()` tells whether a click keeps. `wants()` is called where tiles are missing, `rests(at)` where one has scrolled to.
   */
  constructor(list, actions) {
    Object.assign(this, { list, ...actions, slots: [], items: [], total: null, fold: true, unfolded: new Set(), current: null, last: null });
    Object.assign(this, { columns: 1, pitch: 1e6, range: [0, 0], awaited: null }); // `awaited` is the place that takes the focus once its tile is there
    listen(document, "input", () => { this.awaited = null; });
    listen(list, "click", (event) => this.#click(event));
    listen(list, "focusin", (event) => this.#rove(event.target.closest(".cell")?.querySelector(".tile")));
    listen(list, "keydown", (event) => this.#key(event));
    listen(window, "scroll", () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => { if (this.#layout().join() !== [this.columns, this.pitch].join()) this.draw(); }).observe(list);
    watchActions(list, { hitOf: this.hitOf, isKept: this.isKept, act: (name, hit) => this[name](hit), select: this.select });
  }

  /** Hits that are here, by their places; of a long list some are not. */
  get hits() {
    return this.slots.filter(Boolean);
  }

  /** How many tiles there are, seen or not. */
  get n() {
    return this.total ?? this.items.length;
  }

  byId = (id) => this.slots.find((hit) => hit?.id === id);

  hitOf = (cell) => this.#at(cell.at)?.hit;

  #at(place) {
    return this.total === null ? this.items[place] : this.slots[place] && { hit: this.slots[place], stack: null };
  }

  /** Show hits in place of those before; tiles that stay keep their pictures, so nothing flickers. `total` is how many there are where
   *  each has its place, `from` the place of the first. */
  show(hits, { fold = this.fold, total = null, from = 0 } = {}) {
    Object.assign(this, { fold, total, slots: [], last: null });
    this.unfolded.clear();
    areExpected(hits);
    this.put(hits, from);
  }

  put(hits, from = this.slots.length) {
    hits.forEach((hit, n) => { this.slots[from + n] = hit; });
    this.#arrange();
  }

  #arrange() {
    this.groups = this.fold ? grouped(this.hits) : this.hits.map((hit) => [hit]);
    this.items = [...seen(this.groups, ([{ words }]) => this.unfolded.has(words))];
    this.draw();
  }

  /** Places of tiles, while the first answer is on its way. */
  wait(n) {
    shimmerLater();
    Object.assign(this, { slots: [], items: [], total: n });
    this.draw();
  }

  /** How many columns there are, and how far it is from row to row. */
  #layout() {
    const style = getComputedStyle(this.list); // its automatic columns are as wide as the least, whatever cells stand in them now
    const [gap, least] = [parseFloat(style.rowGap), parseFloat(style.gridAutoColumns)];
    return [Math.floor((this.list.clientWidth + gap) / (least + gap)) || 1, parseFloat(style.gridAutoRows) + gap || 1];
  }

  /** Make the list as high as all of it. Tells where one is if the tiles have found other columns, else 0. */
  #measure() {
    const [columns, pitch] = this.#layout();
    const at = columns === this.columns && pitch === this.pitch ? 0 : this.first();
    Object.assign(this, { columns, pitch });
    this.list.style.minHeight = `${Math.ceil(this.n / columns) * pitch}px`;
    return at;
  }

  /** The places that are in the window, and somewhat more. */
  #inSight(spare = SPARE) {
    const { top } = this.list.getBoundingClientRect();
    const [first, last] = [Math.floor((-top - spare) / this.pitch), Math.ceil((innerHeight - top + spare) / this.pitch)];
    return [Math.max(0, first * this.columns), Math.max(0, Math.min(this.n, last * this.columns))];
  }

  /** Tiles in the window at once, those around it when there is time. */
  draw({ isIdle = false } = {}) {
    const at = this.#measure();
    if (at > 0) scrollTo({ top: this.#topOf(at), behavior: "instant" }); // one sees what one has seen
    this.range = this.#inSight();
    const before = new Map([...this.list.children].map((cell) => [cell.key, cell]));
    const [first, last] = isIdle ? this.range : this.#inSight(0);
    const cells = [];
    for (let at = this.range[0]; at < this.range[1]; at += 1) {
      if ((at >= first && at < last) || before.has(this.#keyOf(at))) cells.push(this.#cell(at, before));
    }
    if (cells.length < this.range[1] - this.range[0]) this.#drawLater();
    this.#replace(cells);
    this.mark(this.current);
    if (!find('.tile[tabindex="0"]', this.list)) this.#rove(find(".tile", this.list));
    if (this.awaited !== null) this.focusAt(this.awaited);
    this.wants();
  }

  #drawLater() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    whenIdle(() => {
      this.isWaiting = false;
      this.draw({ isIdle: true });
    });
  }

  #keyOf(at) {
    const item = this.#at(at);
    return item ? String(item.hit.id) : `place ${at}`;
  }

  #cell(at, before) {
    const [item, key] = [this.#at(at), this.#keyOf(at)];
    let cell = before.get(key);
    if (!item) cell ??= place();
    else if (cell?.drawn !== drawnOf(item.hit)) cell = tile(item.hit, { stack: item.stack, isKept: this.isKept(item.hit.key) });
    else if (restack(cell, item.hit, item.stack)) showMarks(cell, item.hit, this.isKept(item.hit.key));
    Object.assign(cell, { key, at });
    cell.style.gridArea = `${Math.floor(at / this.columns) + 1} / ${(at % this.columns) + 1}`;
    return cell;
  }

  /** Only what changes is moved: a cell that is taken out and put back makes the browser lay it out again. The one with the focus
   *  stays, wherever one looks. */
  #replace(cells) {
    const held = document.activeElement?.closest("#grid .cell") ?? null;
    const stays = new Set(cells);
    if (held && !stays.has(held) && String(this.hitOf(held)?.id) === held.key) {
      stays.add(held);
      cells.splice(held.at < cells[0]?.at ? 0 : cells.length, 0, held);
    }
    for (const cell of [...this.list.children]) if (!stays.has(cell)) cell.remove();
    let at = this.list.firstElementChild;
    for (const cell of cells) {
      if (cell === at) at = at.nextElementSibling;
      else this.list.insertBefore(cell, at);
    }
    if (held && !stays.has(held)) this.awaited ??= 0;
  }

  #scrolled() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.#inSight().join() !== this.range.join()) this.draw();
    });
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.rests(this.first()), REST_MS);
  }

  /** The place of the first tile below the head of the page. */
  first() {
    const row = Math.ceil((this.#head() - this.list.getBoundingClientRect().top) / this.pitch - 0.5);
    return Math.max(0, Math.min(row * this.columns, this.n - 1));
  }

  /** The hit at the end of the first row in sight: letters are told by it. */
  get leading() {
    return this.slots[Math.min(this.first() + this.columns, this.n) - 1];
  }

  #head = () => find("body > header").offsetHeight;

  /** Scroll to a place. */
  goTo(at) {
    this.#measure();
    scrollTo({ top: this.#topOf(at), behavior: "instant" });
    this.draw();
  }

  #topOf = (at) => (at < this.columns ? 0 : this.list.getBoundingClientRect().top + scrollY + Math.floor(at / this.columns) * this.pitch - this.#head() - 12);

  mark(id) {
    this.current = id;
    for (const button of this.list.querySelectorAll(".tile")) button.toggleAttribute("aria-current", Number(button.dataset.id) === id);
  }

  /** What is kept has changed. */
  markAll() {
    for (const cell of this.list.children) {
      const hit = this.hitOf(cell);
      if (hit) showMarks(cell, hit, this.isKept(hit.key));
    }
  }

  focus(id) {
    const at = this.total === null ? this.items.findIndex(({ hit }) => hit.id === id) : this.slots.findIndex((hit) => hit?.id === id);
    if (at >= 0) this.focusAt(at);
  }

  /** Give a place the focus, now or once its tile is there. */
  focusAt(at) {
    this.awaited = at;
    const item = this.#at(at);
    if (!item) return;
    const top = this.list.getBoundingClientRect().top + Math.floor(at / this.columns) * this.pitch;
    if (top < this.#head() || top + this.pitch > innerHeight) scrollBy({ top: top < this.#head() ? top - this.#head() - 12 : top + this.pitch - innerHeight + 12, behavior: "instant" });
    this.awaited = null;
    const button = () => find(`.tile[data-id="${item.hit.id}"]`, this.list);
    if (!button()) this.draw();
    button()?.focus({ preventScroll: true });
  }

  #rove(button) {
    if (!button) return;
    for (const other of this.list.querySelectorAll('.tile[tabindex="0"]')) other.tabIndex = -1;
    button.tabIndex = 0;
  }

  #click(event) {
    const cell = event.target.closest(".cell");
    const hit = cell && this.hitOf(cell); // not one that is still awaited
    if (!hit || event.target.closest(".actions")) return;
    if (event.target.closest(".unfold")) this.#unfold(cell, hit);
    else if (event.shiftKey && this.last !== null) this.#keepBetween(this.last, cell.at);
    else if (this.selecting() || event.ctrlKey || event.metaKey || event.shiftKey) this.keep(hit);
    else this.open(hit, { byKey: event.detail === 0 });
    this.last = cell.at;
  }

  #keepBetween(one, other) {
    const [from, to] = [one, other].sort((a, b) => a - b);
    const between = Array.from({ length: to - from + 1 }, (_, n) => this.#at(from + n)?.hit);
    this.keepAll(between.filter(Boolean));
  }

  #unfold(cell, hit) {
    if (!cell.stack?.isFirst) return;
    if (this.unfolded.has(hit.words)) this.unfolded.delete(hit.words);
    else this.unfolded.add(hit.words);
    this.#arrange();
  }

  #key(event) {
    const cell = event.target.closest(".cell");
    const hit = cell && this.hitOf(cell);
    if (!hit || isCommand(event)) return;
    const { at } = cell;
    const { columns, n } = this;
    const down = Math.floor(at / columns) < Math.floor((n - 1) / columns) ? Math.min(at + columns, n - 1) : at;
    const goal = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: down, ArrowUp: at - columns, Home: 0, End: n - 1 }[event.key];
    if (goal !== undefined) {
      event.preventDefault();
      if (event.key === "ArrowUp" && at < columns) this.leave();
      else if (goal >= 0 && goal < n) this.#walk(at, goal, event.shiftKey);
    } else {
      ({ c: () => this.copy(hit), x: () => this.keep(hit), o: () => this.#unfold(cell, hit) })[event.key.toLowerCase()]?.();
    }
  }

  /** To another tile; all on the way are kept where Shift is held. One that is not here yet is scrolled to, and comes. */
  #walk(from, to, keeps) {
    if (this.#at(to)) this.focusAt(to);
    else {
      this.awaited = to;
      this.goTo(to);
    }
    if (keeps) this.#keepBetween(from, to);
  }
}
