// What is every icon of a picture called? A row each: how it looks there, and the icon that it was named by.

import { isCommand, listen, make, setTitle } from "../elements.js";
import { drawInto } from "../picture/picture.js";
import { frame } from "../results/tile.js";
import { isSure, partOf, pictureOf } from "./kept.js";
import { hint, labelOf, rove, showChosen } from "./stage.js";

const SIDE = 56; // pixels of a crop: twice what it is shown at

export class FoundList {
  /** `choose(at, { byKey })` and `point(at)` as a stage has them. */
  constructor({ choose, point }) {
    Object.assign(this, { choose, rows: [] });
    this.element = make("ul", { className: "rows", role: "list", "aria-label": "Icons found" });
    listen(this.element, "click", (event) => {
      const row = event.target.closest(".row");
      if (row) choose(Number(row.dataset.at), { byKey: event.detail === 0 });
    });
    const at = (event) => event.target.closest(".row")?.dataset.at ?? null;
    listen(this.element, "pointerover focusin", (event) => point(at(event) === null ? null : Number(at(event))));
    listen(this.element, "pointerleave focusout", () => point(null));
    listen(this.element, "focusin", (event) => rove(this.rows, event.target.closest(".row")));
    listen(this.element, "keydown", (event) => this.#key(event));
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
    showChosen(this.rows, at, this.element);
  }

  hint = (at) => hint(this.rows, at);

  #key(event) {
    if (isCommand(event)) return;
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
    make("span", { className: "what" }, make("span", {}, hit?.name ?? "no name found"),
      make("small", {}, hit ? [!isSure(icon) && "not sure", !isOfOneSet && setTitle(hit)].filter(Boolean).join(" · ") : "")));
}

/** A part of a picture, centred in a square. */
function cutOut(image, part) {
  const canvas = make("canvas", { className: "cut", width: SIDE, height: SIDE, "aria-hidden": "true" });
  drawInto(canvas, image, part);
  return canvas;
}
