// Which part of a picture is searched with? A box that is dragged, or moved with keys; the whole picture at first.

import { announce, listen, make, openDialog, placeBy, symbol } from "../elements.js";
import { drawInto, sidesOf, wholeOf } from "./picture.js";

const LEAST = 8; // pixels of the picture, across
const STEPS = 50; // of the longer side, with keys
const CENTRED = 0.5; // of the shorter side: what a camera is held to
const LARGEST = 3; // times: a small picture is not blown up further
const HANDLES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];
const PREVIEW = 72;

const held = (value, low, high) => Math.min(Math.max(value, low), high);

/** Let a person choose; resolves to `{ x, y, width, height }` in pixels of the picture, or to `null`. */
export function crop(image, { isCentred = false } = {}) {
  return new Promise((resolve) => { new Cropping(image, { isCentred, resolve }); });
}

class Cropping {
  constructor(image, { isCentred, resolve }) {
    [this.width, this.height] = sidesOf(image);
    Object.assign(this, { drag: null, chosen: null, part: isCentred ? this.#centre() : wholeOf(image) });
    this.picture = make("canvas", { width: this.width, height: this.height, "aria-hidden": "true" });
    this.picture.getContext("2d").drawImage(image, 0, 0, this.width, this.height);
    this.box = make("div", { className: "box-of-crop", tabIndex: 0, role: "group", "aria-describedby": "crop-keys" },
      HANDLES.map((side) => make("span", { className: `handle ${side}`, "data-side": side })));
    this.stage = make("div", { className: "stage" }, this.picture, this.box);
    this.preview = make("canvas", { className: "seen", width: 2 * PREVIEW, height: 2 * PREVIEW, role: "img", "aria-label": "What is searched with" });
    const content = [make("div", { className: "around" }, this.stage),
      make("div", { className: "foot" }, this.preview,
        make("p", { id: "crop-keys", className: "aside" }, "Drag a box around it.", make("span", { className: "keys" }, " With keys: arrows move the box, ", make("kbd", {}, "Shift"), " and arrows resize it.")),
        make("button", { className: "button", onclick: () => this.#set(wholeOf(image)) }, "Whole picture"),
        make("button", { className: "button primary", onclick: () => this.#done() }, symbol("search"), "Search"))];
    this.dialog = openDialog("crop", "Which part is the icon?", { label: "Cancel", closed: () => { this.resizing.disconnect(); resolve(this.chosen); }, content });
    this.#listen();
    this.#fit();
    this.#set(this.part);
    this.box.focus();
  }

  #centre() {
    const side = CENTRED * Math.min(this.width, this.height);
    return { x: (this.width - side) / 2, y: (this.height - side) / 2, width: side, height: side };
  }

  #listen() {
    listen(this.dialog, "keydown", (event) => this.#key(event));
    listen(this.stage, "pointerdown", (event) => this.#press(event));
    listen(this.stage, "pointermove", (event) => { if (this.drag) this.#set(this.drag(this.#place(event))); });
    listen(this.stage, "pointerup pointercancel", () => this.#release());
    this.resizing = new ResizeObserver(() => this.#fit());
    this.resizing.observe(this.dialog);
  }

  /** As large as there is room for. */
  #fit() {
    const around = this.stage.parentElement;
    const scale = Math.min(around.clientWidth / this.width, around.clientHeight / this.height, LARGEST);
    this.stage.style.setProperty("--w", `${Math.round(this.width * scale)}px`);
    this.stage.style.setProperty("--h", `${Math.round(this.height * scale)}px`);
  }

  #place({ clientX, clientY }) {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    return [held((clientX - left) / width, 0, 1) * this.width, held((clientY - top) / height, 0, 1) * this.height];
  }

  #press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.stage.setPointerCapture(event.pointerId);
    const { side } = event.target.dataset;
    const [from, part] = [this.#place(event), this.part];
    const isWhole = part.width === this.width && part.height === this.height;
    if (side) this.drag = (to) => this.#stretched(part, side, to);
    else if (event.target === this.box && !isWhole) this.drag = ([x, y]) => this.#moved(part, x - from[0], y - from[1]);
    else {
      this.before = part;
      this.drag = (to) => this.#between(from, to);
    }
  }

  /** A click is no box: it leaves the one before. */
  #release() {
    this.drag = null;
    if (this.before && Math.max(this.part.width, this.part.height) <= LEAST) this.#set(this.before);
    this.before = null;
    this.box.focus({ preventScroll: true });
    this.#tell();
  }

  #moved(part, dx, dy) {
    return { ...part, x: held(part.x + dx, 0, this.width - part.width), y: held(part.y + dy, 0, this.height - part.height) };
  }

  #between([x0, y0], [x1, y1]) {
    const [width, height] = [Math.max(LEAST, Math.abs(x1 - x0)), Math.max(LEAST, Math.abs(y1 - y0))];
    return { x: held(Math.min(x0, x1), 0, this.width - width), y: held(Math.min(y0, y1), 0, this.height - height), width, height };
  }

  #stretched({ x, y, width, height }, side, [toX, toY]) {
    const [right, bottom] = [x + width, y + height];
    const left = side.includes("w") ? Math.min(toX, right - LEAST) : x;
    const top = side.includes("n") ? Math.min(toY, bottom - LEAST) : y;
    return {
      x: left, y: top,
      width: (side.includes("e") ? Math.max(toX, left + LEAST) : right) - left,
      height: (side.includes("s") ? Math.max(toY, top + LEAST) : bottom) - top,
    };
  }

  #key(event) {
    if (event.key === "Enter" && !event.target.matches("button")) {
      event.preventDefault();
      this.#done();
      return;
    }
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || event.target !== this.box) return;
    event.preventDefault();
    const step = Math.max(1, Math.max(this.width, this.height) / STEPS);
    const { part } = this;
    const [dx, dy] = way.map((one) => one * step);
    this.#set(event.shiftKey
      ? { ...part, width: held(part.width + dx, LEAST, this.width - part.x), height: held(part.height + dy, LEAST, this.height - part.y) }
      : this.#moved(part, dx, dy));
    this.#tell();
  }

  #tell() {
    this.box.ariaLabel = this.#described();
    announce(this.#described());
  }

  #described() {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Math.round(this.part[name]));
    return `Part to search with: ${width} by ${height} pixels, ${x} from the left, ${y} from the top`;
  }

  #set(part) {
    this.part = part;
    placeBy(this.box, { left: part.x / this.width, top: part.y / this.height, width: part.width / this.width, height: part.height / this.height });
    this.box.ariaLabel = this.#described();
    drawInto(this.preview, this.picture, part);
  }

  #done() {
    const { x, y, width, height } = this.part;
    this.chosen = { x: Math.round(x), y: Math.round(y), width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) };
    this.dialog.close();
  }
}
