// How does a user change the look of all icons? Colour, stroke, size, corners and ground, beside what they change.

import { find, listen, make, symbol } from "../elements.js";
import { LOOK, plainLook, SIZES, STROKES } from "../state.js";
import { read, write } from "../tray/store.js";

const PLACE = "icons.look";
const COLOURS = { "": "As drawn", "#d7263d": "Red", "#d9730d": "Orange", "#17663f": "Green", "#2f6fed": "Blue", "#7a3fc8": "Violet" };
const JOINS = { "": "As drawn", round: "Round", sharp: "Sharp" };
const NAMES = { "": "Below", hover: "When pointed at" };
const GROUNDS = { light: "On light", dark: "On dark", colour: "On a colour" };

/** The look that this browser was left with, as texts. */
export const remembered = () => read(PLACE) ?? {};

export class Customize {
  /** `change(changes)` takes what is chosen; `button` opens the panel, which stands beside `main`, or in the `dialog` of an icon. */
  constructor(panel, { button, main, dialog, change }) {
    Object.assign(this, { panel, button, main, dialog, change });
    this.own = this.#picker("ink", "Another colour", "colour", "#1c1b19");
    this.ground = this.#picker("ground", "Background colour", "bg", "#2f6fed");
    panel.replaceChildren(
      make("div", { className: "menu-head" }, make("h2", {}, "Customize"),
        make("button", { className: "quiet reset", onclick: () => change(plainLook()) }, "Reset"),
        make("button", { className: "quiet done", onclick: () => this.toggle() }, "Done")),
      this.#swatches("inks", "Colour", "ink", COLOURS, (value) => change({ colour: value || null }), this.own),
      this.#strokes(), this.#sizes(), this.#segments("joins", "Corners", JOINS), this.#segments("names", "Names", NAMES),
      this.#swatches("surfaces", "Background", "bg", GROUNDS, (value) => change({ bg: value === "colour" ? this.ground.value : value }), this.ground),
      make("p", { className: "note" }, "Colour, stroke and corners apply where an icon leaves them open: outlines have strokes, filled icons have none."));
    listen(button, "click", () => this.toggle());
  }

  toggle() {
    const { panel, button, dialog } = this;
    panel.hidden = !panel.hidden;
    button.ariaExpanded = !panel.hidden;
    this.place();
    if (!panel.hidden) find(":checked", panel).focus({ preventScroll: true });
    else (dialog.open ? find(".tune", dialog) : button).focus({ preventScroll: true });
  }

  /** Below the picture of the icon that is open, else beside the tiles. */
  place() {
    const { panel, main, dialog } = this;
    const before = (dialog.open && find(".preview", dialog)) || main;
    if (before.nextElementSibling !== panel) before.after(panel);
    document.documentElement.classList.toggle("looking", !panel.hidden && before === main);
  }

  #picker(id, title, name, value) {
    return make("input", { type: "color", id, value, "aria-label": title, title, oninput: ({ target }) => this.change({ [name]: target.value }) });
  }

  /** Some colours, and a `picker` of any other. */
  #swatches(id, title, name, options, choose, picker) {
    const radios = Object.entries(options).map(([value, text]) => {
      const radio = make("input", { type: "radio", name, value, onchange: () => choose(value) });
      if (value.startsWith("#")) radio.style.setProperty("--swatch", value);
      return make("label", { title: text }, radio, make("span", { className: "hidden" }, text));
    });
    return make("fieldset", { id, className: "swatches" }, make("legend", {}, title), radios, picker);
  }

  #range(id, title, properties) {
    const range = make("input", { type: "range", ...properties });
    return [range, make("label", { id, className: "range" }, make("span", {}, title), make("output", {}), range)];
  }

  #strokes() {
    const { least, most, step } = STROKES;
    const [range, label] = this.#range("stroke", "Stroke width", { min: least, max: most, step, oninput: () => this.change({ stroke: Number(range.value) }) });
    this.stroke = range;
    this.asDrawn = make("button", { className: "quiet undo", "aria-label": "Stroke width as drawn", title: "As drawn", onclick: () => { this.change({ stroke: null }); range.focus(); } }, symbol("rotate-ccw"));
    return make("div", { className: "strokes" }, label, this.asDrawn);
  }

  #sizes() {
    const [range, label] = this.#range("size", "Size", { min: 0, max: SIZES.length - 1, step: 1, oninput: () => this.change({ px: SIZES[range.value] }) });
    this.size = range;
    return label;
  }

  #segments(name, title, options) {
    const radios = Object.entries(options).map(([value, text]) => make("label", {},
      make("input", { type: "radio", name, value, onchange: () => this.change({ [name]: value || null }) }), make("span", {}, text)));
    return make("fieldset", { id: name, className: "segments" }, make("legend", {}, title), make("div", {}, radios));
  }

  /** Keep it for the next visit. */
  keep = (state) => write(PLACE, Object.fromEntries(LOOK.map((name) => [name, state[name] === null ? null : String(state[name])])));

  /** Keep the controls in step with a state, and with the ground that is seen. */
  show(state, ground) {
    const { panel } = this;
    const listed = (state.colour ?? "") in COLOURS;
    for (const radio of panel.querySelectorAll('[name="ink"]')) radio.checked = listed && radio.value === (state.colour ?? "");
    this.own.value = state.colour ?? "#1c1b19";
    this.own.toggleAttribute("data-on", !listed);
    this.stroke.value = state.stroke ?? STROKES.usual;
    this.stroke.ariaValueText = state.stroke === null ? "as drawn" : `${state.stroke} of 24`;
    find("#stroke output", panel).textContent = state.stroke ?? "As drawn";
    this.asDrawn.hidden = state.stroke === null;
    this.size.value = SIZES.indexOf(state.px);
    this.size.ariaValueText = `${state.px} pixels`;
    find("#size output", panel).textContent = `${state.px} px`;
    for (const name of ["joins", "names"]) find(`[name="${name}"][value="${state[name] ?? ""}"]`, panel).checked = true;
    const isOwn = ground.startsWith("#");
    find(`#surfaces [value="${isOwn ? "colour" : ground}"]`, panel).checked = true;
    this.ground.hidden = !isOwn;
    if (isOwn) this.ground.value = ground;
    this.button.toggleAttribute("data-on", state.colour !== null || state.stroke !== null || state.joins !== null);
  }
}
