// How is an icon drawn by hand? A canvas beside the results, which follow each stroke after a short pause.

import { announce, head, iconButton, listen, make, plural } from "../elements.js";
import { CANVAS, distance, smooth, toSvg } from "./strokes.js";

const PAUSE_MS = 300;
const PEN = 9; // of 320 pixels, as it is seen; what is searched with has a width of its own
const ERASER = 14;
const MOST_STROKES = 200;
const MOST_POINTS = 2000; // of a stroke: a minute of drawing without a lift
const STYLUS_ERASER = 32; // of PointerEvent.buttons

export class Drawing {
  /** `search(svg)` is asked with what is drawn, `null` once nothing is; `close()` is told, `upload()` asks for a file instead. */
  constructor(panel, { search, close, upload }) {
    Object.assign(this, { panel, search, strokes: [], before: [], erases: false, erased: null, timer: 0, drawn: new Map() });
    this.canvas = make("canvas", { width: 2 * CANVAS, height: 2 * CANVAS, role: "img" }); // twice: for screens with fine pixels
    this.pen = this.canvas.getContext("2d");
    const button = (drawing, name, act, properties) => iconButton(drawing, name, act, { className: "pen", ...properties });
    this.tools = [["pencil", "Pen", false], ["eraser", "Eraser", true]].map(([drawing, name, erases]) => button(drawing, name, () => this.#take(erases), { "aria-pressed": String(!erases), "data-erases": String(erases) }));
    this.undo = button("undo-2", "Undo", () => this.#undo(), { title: "Undo (Ctrl Z)" });
    this.clear = button("trash-2", "Clear the drawing", () => this.#keep([]));
    this.hint = make("p", { className: "hint", "aria-hidden": "true" }, "Draw an icon");
    panel.replaceChildren(
      head("drawing-title", "Draw what you look for", close, "Close the drawing"),
      make("div", { className: "sheet" }, this.canvas, this.hint),
      make("div", { className: "pens", role: "group", "aria-label": "Drawing" }, this.tools, make("span", { className: "space" }), this.undo, this.clear),
      make("p", { className: "aside" }, "With the keyboard, ", make("button", { className: "link", onclick: upload }, "choose a picture"), " instead."));
    this.#listen();
    this.#show();
  }

  focus() {
    this.tools[0].focus({ preventScroll: true });
  }

  /** Begin anew: what was drawn is not what is searched with any more. */
  forget() {
    clearTimeout(this.timer);
    [this.strokes, this.before] = [[], []];
    this.#show();
  }

  #listen() {
    listen(this.canvas, "pointerdown", (event) => {
      if (event.button !== 0 && !(event.buttons & STYLUS_ERASER)) return;
      event.preventDefault(); // no selection, no scrolling; the focus stays
      this.canvas.setPointerCapture(event.pointerId);
      this.lifted = event.buttons & STYLUS_ERASER;
      this.line = this.#isErasing ? null : [this.#place(event)];
      this.erased = this.#isErasing ? [...this.strokes] : null;
      this.#move([event]);
    });
    listen(this.canvas, "pointermove", (event) => {
      const all = event.getCoalescedEvents?.() ?? []; // some browsers give none
      if (this.line || this.erased) this.#move(all.length ? all : [event]);
    });
    listen(this.canvas, "pointerup pointercancel", () => this.#lift());
    listen(this.canvas, "touchstart", (event) => event.preventDefault(), { passive: false }); // the page does not scroll
    listen(this.panel, "keydown", (event) => {
      if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.#undo();
    });
  }

  get #isErasing() {
    return this.erases || Boolean(this.lifted);
  }

  #place({ clientX, clientY }) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const inside = (share) => Math.round(10 * CANVAS * Math.min(1, Math.max(0, share))) / 10;
    return [inside((clientX - left) / width), inside((clientY - top) / height)];
  }

  #move(events) {
    const places = events.map((event) => this.#place(event));
    if (this.erased) this.erased = this.erased.filter((stroke) => places.every((place) => distance(place, stroke) > ERASER));
    else if (this.line.length < MOST_POINTS) this.line.push(...places);
    this.#paint(this.erased ?? [...this.strokes, this.line]);
  }

  #lift() {
    const { line, erased } = this;
    [this.line, this.erased] = [null, null];
    if (erased) {
      if (erased.length < this.strokes.length) this.#keep(erased);
    } else if (line && this.strokes.length < MOST_STROKES) this.#keep([...this.strokes, line]);
  }

  #keep(strokes) {
    if (!strokes.length && !this.strokes.length) return;
    this.before.push(this.strokes);
    this.#set(strokes);
  }

  #undo() {
    if (this.before.length) this.#set(this.before.pop());
  }

  #set(strokes) {
    this.strokes = strokes;
    this.#show();
    announce(this.canvas.ariaLabel);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(strokes.length ? toSvg(strokes) : null), PAUSE_MS);
  }

  #take(erases) {
    this.erases = erases;
    for (const tool of this.tools) tool.ariaPressed = tool.dataset.erases === String(erases);
    this.canvas.classList.toggle("erasing", erases);
  }

  #show() {
    this.#paint(this.strokes);
    this.canvas.ariaLabel = this.strokes.length ? `Your drawing, ${plural(this.strokes.length, "stroke")}` : "Your drawing, empty";
    this.undo.disabled = this.before.length === 0;
    this.clear.disabled = this.strokes.length === 0;
  }

  #paint(strokes) {
    const { pen } = this;
    this.hint.hidden = strokes.length > 0;
    pen.setTransform(2, 0, 0, 2, 0, 0);
    pen.clearRect(0, 0, CANVAS, CANVAS);
    Object.assign(pen, { lineWidth: PEN, lineCap: "round", lineJoin: "round", strokeStyle: getComputedStyle(this.canvas).color });
    for (const stroke of strokes) pen.stroke(this.#path(stroke));
  }

  /** The path of a stroke, made once for those that are whole. */
  #path(stroke) {
    if (stroke === this.line) return new Path2D(smooth(stroke, 2));
    if (!this.drawn.has(stroke)) this.drawn.set(stroke, new Path2D(smooth(stroke, 2)));
    return this.drawn.get(stroke);
  }
}
