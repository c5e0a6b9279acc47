// How is a picture shown with its icons framed? Scaled to fit, larger if wished; a button over each icon, arrow keys walk among them.

import { find, iconButton, isCommand, listen, make, placeBy, setTitle } from "../elements.js";
import { sidesOf } from "../picture/picture.js";
import { isSure } from "./kept.js";

const ZOOMS = [1, 1.5, 2, 3, 4, 6]; // times what fits
const LARGEST = 2; // times its own size: a small picture is not blown up further
const EDGE = 0.15; // of the picture: nearer to a side a label is set beside it
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Stage {
  /** `choose(at, { byKey })` is told which icon was chosen, `null` for none; `point(at)` which one is pointed at, `null` for none. */
  constructor({ choose, point }) {
    Object.assign(this, { choose, point, zoom: 0, icons: [], buttons: [], sides: [1, 1] });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.frames = make("div", { className: "frames", role: "group", "aria-label": "Icons in the picture" });
    this.label = make("p", { className: "label", "aria-hidden": "true", hidden: true });
    this.shot = make("div", { className: "shot" }, this.canvas, this.frames, this.label);
    this.around = make("div", { className: "shown" }, this.shot);
    this.zooms = make("div", { className: "zooms", role: "group", "aria-label": "Size of the picture" },
      this.#zoomer("minus", "Smaller", -1), this.#zoomer("plus", "Larger", 1));
    this.element = make("div", { className: "stage-of-screen" }, this.around, this.zooms);
    this.#listen();
  }

  #zoomer(drawing, name, step) {
    return iconButton(drawing, name, () => this.#zoom(step), { className: "", title: `${name} (${step > 0 ? "+" : "−"})` });
  }

  #listen() {
    listen(this.shot, "click", (event) => {
      const button = event.target.closest(".found-icon");
      this.choose(button ? Number(button.dataset.at) : null, { byKey: Boolean(button) && event.detail === 0 });
    });
    listen(this.frames, "pointerover focusin", (event) => this.#pointed(event.target.closest(".found-icon")));
    listen(this.frames, "pointerleave focusout", () => this.#pointed(null));
    listen(this.frames, "keydown", (event) => this.#key(event));
    listen(this.around, "wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.#zoom(event.deltaY < 0 ? 1 : -1, event);
    }, { passive: false });
    new ResizeObserver(() => this.#fit()).observe(this.around);
  }

  /** Show another picture, without frames yet. */
  picture(image) {
    this.sides = sidesOf(image);
    [this.canvas.width, this.canvas.height] = this.sides;
    this.canvas.getContext("2d").drawImage(image, 0, 0, ...this.sides);
    this.zoom = 0;
    this.mark([], [1, 1]);
    this.#fit();
  }

  /** Frame icons, whose boxes are pixels of a picture of these sides. */
  mark(icons, [width, height]) {
    const hadFocus = this.frames.contains(document.activeElement);
    this.icons = icons.map(({ box: [left, top, right, bottom] }) => ({ left: left / width, top: top / height, right: right / width, bottom: bottom / height }));
    this.buttons = icons.map((icon, at) => this.#button(icon, at));
    this.frames.replaceChildren(...this.buttons);
    this.#pointed(null);
    if (hadFocus) this.buttons[0]?.focus();
  }

  #button(icon, at) {
    const { left, top, right, bottom } = this.icons[at];
    const button = make("button", { className: "found-icon", tabIndex: at ? -1 : 0, "data-at": at, "aria-label": labelOf(icon, at), "aria-pressed": "false" });
    placeBy(button, { left, top, width: right - left, height: bottom - top });
    button.toggleAttribute("data-unsure", !isSure(icon));
    return button;
  }

  /** Say which icon is chosen, and bring it into sight where the picture is larger than its place. */
  show(at) {
    showChosen(this.buttons, at, this.around);
  }

  focus(at) {
    (this.buttons[at] ?? this.buttons[0])?.focus({ preventScroll: true });
  }

  /** Point at an icon from elsewhere. */
  hint = (at) => hint(this.buttons, at);

  #pointed(button) {
    const at = button ? Number(button.dataset.at) : null;
    if (document.activeElement === button) rove(this.buttons, button);
    this.label.hidden = !button;
    if (button) this.#tell(button, this.icons[at]);
    this.point(at);
  }

  #tell(button, { left, right, top, bottom }) {
    const middle = (left + right) / 2;
    const side = middle < EDGE ? "left" : middle > 1 - EDGE ? "right" : "middle";
    const isLow = bottom > 1 - EDGE;
    this.label.textContent = button.ariaLabel.replace(/^\d+: /, "");
    this.label.dataset.side = side;
    this.label.toggleAttribute("data-above", isLow);
    placeBy(this.label, { left: { left, middle, right }[side], top: isLow ? top : bottom });
  }

  #key(event) {
    if (isCommand(event)) return;
    const at = this.buttons.indexOf(event.target.closest(".found-icon"));
    if (at < 0) return;
    const goal = event.key in WAYS ? this.#next(at, WAYS[event.key]) : { Home: 0, End: this.buttons.length - 1 }[event.key];
    if (event.key === "+" || event.key === "-") this.#zoom(event.key === "+" ? 1 : -1);
    else if (goal === undefined) return;
    else this.buttons[goal]?.focus({ preventScroll: true });
    event.preventDefault();
    reveal(document.activeElement, this.around);
  }

  /** The nearest icon in a direction; what lies aside counts double. */
  #next(from, [dx, dy]) {
    const [width, height] = this.sides;
    const middle = ({ left, right, top, bottom }) => [(left + right) * width / 2, (top + bottom) * height / 2];
    const [x, y] = middle(this.icons[from]);
    let [best, least] = [-1, Infinity];
    this.icons.forEach((icon, at) => {
      const [ox, oy] = middle(icon);
      const [along, aside] = dx ? [(ox - x) * dx, Math.abs(oy - y)] : [(oy - y) * dy, Math.abs(ox - x)];
      if (at !== from && along > 0 && along >= aside / 2 && along + 2 * aside < least) [best, least] = [at, along + 2 * aside];
    });
    return best;
  }

  #zoom(step, { clientX, clientY } = {}) {
    const before = this.zoom;
    this.zoom = Math.min(Math.max(this.zoom + step, 0), ZOOMS.length - 1);
    if (this.zoom === before) return;
    const { around } = this;
    const { left, top, width, height } = around.getBoundingClientRect();
    const chosen = document.activeElement?.closest?.(".found-icon") ?? find('[aria-pressed="true"]', this.frames);
    const [x, y] = clientX === undefined ? [width / 2, height / 2] : [clientX - left, clientY - top];
    const times = ZOOMS[this.zoom] / ZOOMS[before];
    const [toLeft, toTop] = [(around.scrollLeft + x) * times - x, (around.scrollTop + y) * times - y];
    this.#fit();
    around.scrollTo(toLeft, toTop);
    if (chosen && clientX === undefined) reveal(chosen, this.around);
  }

  /** As large as there is room for, times what was asked for. */
  #fit() {
    const [width, height] = this.sides;
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth) return;
    const most = parseFloat(getComputedStyle(this.around).maxHeight) || clientHeight;
    const scale = Math.min(clientWidth / width, most / height, LARGEST) * ZOOMS[this.zoom];
    this.shot.style.setProperty("--w", `${Math.round(width * scale)}px`);
    this.shot.style.setProperty("--h", `${Math.round(height * scale)}px`);
    const [less, more] = this.zooms.children;
    less.disabled = this.zoom === 0;
    more.disabled = this.zoom === ZOOMS.length - 1;
  }
}

/** Say which of some buttons, one an icon, is chosen; it is brought into sight in the place that they scroll in. */
export function showChosen(buttons, at, around) {
  buttons.forEach((button, n) => { button.ariaPressed = n === at; });
  if (!buttons[at]) return;
  rove(buttons, buttons[at]);
  reveal(buttons[at], around);
}

/** Say which is pointed at elsewhere. */
export const hint = (buttons, at) => buttons.forEach((button, n) => button.toggleAttribute("data-pointed", n === at));

/** Let Tab reach one of them. */
export function rove(buttons, one) {
  if (one) for (const button of buttons) button.tabIndex = button === one ? 0 : -1;
}

function reveal(element, around) {
  const [box, place] = [element.getBoundingClientRect(), around.getBoundingClientRect()];
  if (box.left >= place.left && box.right <= place.right && box.top >= place.top && box.bottom <= place.bottom) return;
  around.scrollBy({ left: (box.left + box.right - place.left - place.right) / 2, top: (box.top + box.bottom - place.top - place.bottom) / 2 });
}

/** What an icon of a picture is called, for those who hear it. */
export function labelOf(icon, at) {
  const [hit] = icon.hits;
  return `${at + 1}: ${hit ? `${hit.name}, ${setTitle(hit)}${isSure(icon) ? "" : ", not sure"}` : "no name found"}`;
}
