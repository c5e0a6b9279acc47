// What is every icon of a picture called? A row each: how it looks there, and the icon that it was named by.

import { make } from "../elements.js";
import { frame } from "../results/tile.js";
import { isSure, partOf, pictureOf } from "./kept.js";
import { labelOf } from "./stage.js";

const SIDE = 56; // pixels of a crop: twice what it is shown at

export class FoundList {
  /** `choose(at, { byKey })` and `point(at)` as a stage has them. */
  constructor({ choose, point }) {
    Object.assign(this, { choose, rows: [] });
    this.element = make("ul", { className: "rows", role: "list", "aria-label": "Icons found" });
    this.element.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) choose(Number(row.dataset.at), { byKey: event.detail === 0 });
    });
    const at = (event) => event.target.closest(".row")?.dataset.at ?? null;
    for (const kind of ["pointerover", "focusin"]) this.element.addEventListener(kind, (event) => point(at(event) === null ? null : Number(at(event))));
    for (const kind of ["pointerleave", "focusout"]) this.element.addEventListener(kind, () => point(null));
    this.element.addEventListener("focusin", (event) => this.#rove(event.target.closest(".row")));
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Rows for what was found in a picture. */
  fill(answer, number) {
    const { image } = pictureOf(number);
    const isOfOneSet = new Set(answer.icons.flatMap(({ hits: [hit] }) => hit?.set ?? [])).size === 1;
    this.rows = answer.icons.map((icon, at) => row(icon, at, cutOut(image, partOf(number, answer, at)), isOfOneSet));
    this.element.replaceChildren(...this.rows.map((one) => make("li", {}, one)));
  }

  clear() {
    this.rows = [];
    this.element.replaceChildren();
  }

  /** Say which icon is chosen. */
  show(at) {
    for (const one of this.rows) one.setAttribute("aria-pressed", String(Number(one.dataset.at) === at));
    const chosen = this.rows[at];
    if (!chosen) return;
    this.#rove(chosen);
    const { element } = this;
    const [box, place] = [chosen.getBoundingClientRect(), element.getBoundingClientRect()];
    if (box.top < place.top || box.bottom > place.bottom) element.scrollBy({ top: (box.top + box.bottom - place.top - place.bottom) / 2 });
    if (box.left < place.left || box.right > place.right) element.scrollBy({ left: (box.left + box.right - place.left - place.right) / 2 });
  }

  hint(at) {
    for (const one of this.rows) one.toggleAttribute("data-pointed", Number(one.dataset.at) === at);
  }

  #rove(chosen) {
    if (chosen) for (const one of this.rows) one.tabIndex = one === chosen ? 0 : -1;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.rows.indexOf(document.activeElement);
    const goal = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: this.rows.length - 1 }[event.key];
    if (at < 0 || goal === undefined) return;
    event.preventDefault();
    this.rows[goal]?.focus();
  }
}

function row(icon, at, cut, isOfOneSet) {
  const [hit] = icon.hits;
  const label = labelOf(icon, at);
  return make("button", { className: "row", tabIndex: at ? -1 : 0, "data-at": at, "aria-label": label, "aria-pressed": "false", title: label.replace(/^\d+: /, "") },
    cut, hit ? frame(hit, { px: 24 }) : make("span", { className: "picture none" }),
    make("span", { className: "what" }, make("span", { textContent: hit?.name ?? "no name found" }),
      make("small", { textContent: hit ? [!isSure(icon) && "not sure", !isOfOneSet && (hit.set_title || hit.set)].filter(Boolean).join(" · ") : "" })));
}

/** A part of a picture, centred in a square. */
function cutOut(image, { x, y, width, height }) {
  const canvas = make("canvas", { className: "cut", width: SIDE, height: SIDE, "aria-hidden": "true" });
  const scale = SIDE / Math.max(width, height);
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, x, y, width, height, (SIDE - width * scale) / 2, (SIDE - height * scale) / 2, width * scale, height * scale);
  return canvas;
}
