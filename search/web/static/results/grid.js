// How do hits become tiles, and how do the arrow keys walk through them?

import { find, make, plural } from "../elements.js";
import { showAlone, showPicture } from "./pictures.js";
import { watchInk } from "../view/surface.js";

/** A framed picture of an icon. It stands in `img`, where no script of an SVG can run. */
export function frame(icon, { lazy = true, px } = {}) {
  const image = make("img", { alt: "", decoding: "async", loading: lazy ? "lazy" : "eager", draggable: true });
  if (px) [image.width, image.height] = [px, px];
  const framed = make("span", { className: "picture" }, image);
  if (icon.coloured === false) framed.dataset.ink = "dark"; // until its pixels are seen
  image.addEventListener("error", () => framed.classList.add("gone"), { once: true });
  watchInk(framed, image, icon, { blank: () => showAlone(image, icon) });
  showPicture(image, icon);
  return framed;
}

export const percent = (score) => `${Math.round(100 * score)}%`;

const score = (hit) => make("span", { className: "score", title: hit.exact ? "Exactly its name" : "How sure the match is", textContent: hit.exact ? "exact" : percent(hit.score) });

const sameDrawing = (hit) => [...hit.also, hit.n_also > hit.also.length && `${hit.n_also - hit.also.length} more`].filter(Boolean).join(", ");

function tile(hit) {
  const more = hit.variants > 1;
  return make("li", { className: "cell" },
    make("button", { className: "tile", type: "button", tabIndex: -1, "data-id": hit.id },
      frame(hit),
      make("span", { className: "name", textContent: hit.name, title: hit.name }),
      make("span", { className: "from" },
        make("span", { className: "set", textContent: hit.set_title || hit.set, title: [hit.set_title, hit.style].filter(Boolean).join(", ") }),
        hit.n_also > 0 && make("span", { className: "also", title: `The same drawing: ${sameDrawing(hit)}`, textContent: `+${hit.n_also}` }),
        score(hit),
        more && make("span", { className: "hidden", textContent: `, ${plural(hit.variants, "variant")}` })),
      more && make("span", { className: "badge", "aria-hidden": "true", title: plural(hit.variants, "variant"), textContent: hit.variants })));
}

export class Grid {
  /** `list` is a `ul`; `open(hit, { byKey })` is called for a chosen tile, `leave()` when arrows go above the first row. */
  constructor(list, { open, leave, copy }) {
    this.list = list;
    this.hits = new Map();
    this.awaitsFocus = false; // the first tile takes it once it is there
    this.leave = leave;
    document.addEventListener("input", () => { this.awaitsFocus = false; });
    list.addEventListener("click", (event) => {
      const button = event.target.closest(".tile[data-id]"); // not one that is still awaited
      if (button) open(this.hits.get(Number(button.dataset.id)), { byKey: event.detail === 0 });
    });
    list.addEventListener("focusin", (event) => this.#rove(event.target.closest(".tile")));
    list.addEventListener("keydown", (event) => this.#key(event, copy));
  }

  get tiles() {
    return [...this.list.querySelectorAll(".tile")];
  }

  get focused() {
    return this.hits.get(Number(document.activeElement?.dataset.id));
  }

  /** Show hits in place of those before; tiles that stay keep their pictures, so nothing flickers. */
  show(hits) {
    const before = new Map([...this.list.children].map((cell) => [find(".tile", cell)?.dataset.id, cell]));
    const cells = hits.map((hit) => {
      const kept = before.get(String(hit.id));
      if (!kept || this.hits.get(hit.id)?.variants !== hit.variants || this.hits.get(hit.id).n_also !== hit.n_also) return tile(hit);
      find(".score", kept).replaceWith(score(hit)); // the picture stays, this is another query
      return kept;
    });
    this.hits = new Map(hits.map((hit) => [hit.id, hit]));
    this.#replace(cells);
    this.#rove(this.tiles.find((button) => button.tabIndex === 0) ?? this.tiles[0]);
    if (this.awaitsFocus) this.focusFirst();
  }

  #replace(cells) {
    const hadFocus = this.list.contains(document.activeElement);
    this.list.replaceChildren(...cells);
    this.awaitsFocus ||= hadFocus && !this.list.contains(document.activeElement);
  }

  append(hits) {
    const fresh = hits.filter((hit) => !this.hits.has(hit.id));
    fresh.forEach((hit) => this.hits.set(hit.id, hit));
    this.list.append(...fresh.map(tile));
  }

  /** Grey places in the size of tiles, while the first answer is on its way. */
  wait(n) {
    this.hits.clear();
    const place = () => make("li", { className: "cell", "aria-hidden": "true" },
      make("div", { className: "tile waiting" }, make("span", { className: "picture" }), make("span", { className: "name" }),
        make("span", { className: "from" })));
    this.#replace(Array.from({ length: n }, place));
  }

  mark(id) {
    for (const button of this.tiles) button.toggleAttribute("aria-current", Number(button.dataset.id) === id);
  }

  focusFirst() {
    const first = this.tiles.find((one) => one.dataset.id); // the others are still awaited
    this.awaitsFocus = !first;
    first?.focus();
  }

  focus(id) {
    find(`.tile[data-id="${id}"]`, this.list)?.focus();
  }

  #rove(button) {
    if (!button) return;
    for (const other of this.list.querySelectorAll('.tile[tabindex="0"]')) other.tabIndex = -1;
    button.tabIndex = 0;
  }

  #key(event, copy) {
    const button = event.target.closest(".tile");
    if (!button || event.ctrlKey || event.metaKey || event.altKey) return;
    const tiles = this.tiles;
    const at = tiles.indexOf(button);
    const columns = getComputedStyle(this.list).gridTemplateColumns.split(" ").length;
    const down = Math.floor(at / columns) < Math.floor((tiles.length - 1) / columns) ? Math.min(at + columns, tiles.length - 1) : at;
    const targets = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: down, ArrowUp: at - columns, Home: 0, End: tiles.length - 1 };
    if (event.key in targets) {
      event.preventDefault();
      if (event.key === "ArrowUp" && at < columns) this.leave();
      else tiles[targets[event.key]]?.focus();
    } else if (event.key === "c") {
      copy(this.hits.get(Number(button.dataset.id)));
    }
  }
}
