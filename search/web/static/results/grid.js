// How do hits become tiles, and how do the arrow keys walk through them?

import { find } from "../elements.js";
import { watchActions } from "./actions.js";
import { areExpected, shimmerLater } from "./pictures.js";
import { grouped, seen } from "./stacks.js";
import { drawnOf, place, restack, showMarks, tile } from "./tile.js";

export { frame, percent } from "./tile.js";

export class Grid {
  /**
   * `list` is a `ul`; `open(hit, { byKey })` is called for a tile that was clicked, `leave()` when arrows go above the first
   * row, `copy`, `choose` and `star` for what is done with one hit, `chooseAll(hits)` for a row of them; `marksOf(key)` says
   * what was done: `{ chosen, starred }`. `selecting()` tells whether a click chooses.
   */
  constructor(list, actions) {
    Object.assign(this, { list, ...actions, hits: new Map(), fold: true, unfolded: new Set(), groups: [], isWhole: true, last: null });
    this.awaitsFocus = false; // the first tile takes it once it is there
    document.addEventListener("input", () => { this.awaitsFocus = false; });
    list.addEventListener("click", (event) => this.#click(event));
    list.addEventListener("focusin", (event) => this.#rove(event.target.closest(".cell")?.querySelector(".tile")));
    list.addEventListener("keydown", (event) => this.#key(event));
    watchActions(list, { hitOf: (cell) => this.hitOf(cell), marksOf: this.marksOf, act: (name, hit) => this[name](hit), select: this.select });
  }

  get tiles() {
    return [...this.list.querySelectorAll(".tile")];
  }

  get focused() {
    return this.hits.get(Number(document.activeElement?.dataset.id));
  }

  hitOf(cell) {
    return this.hits.get(Number(find(".tile", cell)?.dataset.id));
  }

  /** Show hits in place of those before; tiles that stay keep their pictures, so nothing flickers. */
  show(hits, { fold = this.fold } = {}) {
    this.fold = fold;
    this.unfolded.clear();
    this.hits = new Map(hits.map((hit) => [hit.id, hit]));
    areExpected(hits);
    this.#draw({ first: this.#inSight() });
    this.#rove(find('.tile[tabindex="0"]', this.list) ?? this.tiles[0]);
    if (this.awaitsFocus) this.focusFirst();
  }

  append(hits) {
    hits.forEach((hit) => this.hits.set(hit.id, hit));
    this.#draw();
  }

  /** Draw what was out of sight, too. */
  finish() {
    if (!this.isWhole) this.#draw();
  }

  /** How many tiles fill the window, and a row more, as the first one stands. */
  #inSight() {
    const { width, height } = this.list.firstElementChild?.getBoundingClientRect() ?? {};
    if (!height) return Infinity;
    const list = this.list.getBoundingClientRect();
    return Math.floor(list.width / width) * (Math.ceil(Math.max(innerHeight - list.top, 0) / height) + 1);
  }

  /** Of more tiles than the `first` ones only those that were there before: the others would hold up the pictures of these. */
  #draw({ first = Infinity } = {}) {
    this.groups = grouped([...this.hits.values()], this);
    const before = new Map([...this.list.children].map((cell) => [find(".tile", cell)?.dataset.id, cell]));
    const all = [...seen(this.groups, ([{ words }]) => this.unfolded.has(words))];
    this.isWhole = all.length <= first;
    const drawn = all.filter(({ hit }, at) => at < first || before.has(String(hit.id)));
    const stays = ({ hit }) => before.get(String(hit.id))?.drawn === drawnOf(hit);
    const cells = drawn.map(({ hit, stack }) => {
      const kept = before.get(String(hit.id));
      if (!stays({ hit })) return tile(hit, { stack, marks: this.marksOf(hit.key) });
      if (restack(kept, hit, stack)) showMarks(kept, hit, this.marksOf(hit.key));
      return kept;
    });
    this.#replace(cells);
  }

  /** Only what changes is moved: a cell that is taken out and put back makes the browser lay it out again. */
  #replace(cells) {
    const hadFocus = this.list.contains(document.activeElement);
    const stays = new Set(cells);
    for (const cell of [...this.list.children]) if (!stays.has(cell)) cell.remove();
    let at = this.list.firstElementChild;
    for (const cell of cells) {
      if (cell === at) at = at.nextElementSibling;
      else this.list.insertBefore(cell, at);
    }
    this.awaitsFocus ||= hadFocus && !this.list.contains(document.activeElement);
  }

  /** Places of tiles, while the first answer is on its way. */
  wait(n) {
    this.hits.clear();
    shimmerLater();
    this.#replace(Array.from({ length: n }, place));
  }

  mark(id) {
    for (const button of this.tiles) button.toggleAttribute("aria-current", Number(button.dataset.id) === id);
  }

  /** What is chosen or starred has changed. */
  markAll() {
    for (const cell of this.list.children) {
      const hit = this.hitOf(cell);
      if (hit) showMarks(cell, hit, this.marksOf(hit.key));
    }
  }

  focusFirst() {
    const first = this.tiles.find((one) => one.dataset.id); // the others are still awaited
    this.awaitsFocus = !first;
    first?.focus();
  }

  focus(id) {
    this.finish();
    find(`.tile[data-id="${id}"]`, this.list)?.focus();
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
    else if (event.shiftKey && this.last !== null) this.chooseAll(this.#between(this.last, hit));
    else if (this.selecting() || event.ctrlKey || event.metaKey || event.shiftKey) this.choose(hit);
    else this.open(hit, { byKey: event.detail === 0 });
    this.last = hit.id;
  }

  #between(id, hit) {
    const ids = this.tiles.map((button) => Number(button.dataset.id));
    const [from, to] = [ids.indexOf(id), ids.indexOf(hit.id)].sort((a, b) => a - b);
    return ids.slice(Math.max(from, 0), to + 1).map((one) => this.hits.get(one));
  }

  /** To another tile; all on the way are chosen where Shift is held. */
  #walk(button, from) {
    button.focus();
    if (from) this.chooseAll(this.#between(from.id, this.hits.get(Number(button.dataset.id))));
  }

  #unfold(cell, hit) {
    if (!cell.stack?.isFirst) return;
    if (this.unfolded.has(hit.words)) this.unfolded.delete(hit.words);
    else this.unfolded.add(hit.words);
    this.#draw();
  }

  #key(event) {
    const cell = event.target.closest(".cell");
    const hit = cell && this.hitOf(cell);
    if (!hit || event.ctrlKey || event.metaKey || event.altKey) return;
    this.finish();
    const tiles = this.tiles;
    const at = tiles.indexOf(find(".tile", cell));
    const columns = getComputedStyle(this.list).gridTemplateColumns.split(" ").length;
    const down = Math.floor(at / columns) < Math.floor((tiles.length - 1) / columns) ? Math.min(at + columns, tiles.length - 1) : at;
    const targets = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: down, ArrowUp: at - columns, Home: 0, End: tiles.length - 1 };
    if (event.key in targets) {
      event.preventDefault();
      if (event.key === "ArrowUp" && at < columns) this.leave();
      else if (tiles[targets[event.key]]) this.#walk(tiles[targets[event.key]], event.shiftKey ? hit : null);
    } else {
      ({ c: () => this.copy(hit), x: () => this.choose(hit), s: () => this.star(hit), o: () => this.#unfold(cell, hit) })[event.key.toLowerCase()]?.();
    }
  }
}
