// How does a user change the look of all icons? Colour, stroke, size, corners and ground, beside what they change.

import { find, make, symbol } from "../elements.js";
import { LOOK, plainLook, SIZES, STROKES } from "../state.js";
import { read, write } from "../tray/store.js";

const PLACE = "icons.look";
const COLOURS = { "#d7263d": "Red", "#d9730d": "Orange", "#17663f": "Green", "#2f6fed": "Blue", "#7a3fc8": "Violet" };
const JOINS = { "": "As drawn", round: "Round", sharp: "Sharp" };
const NAMES = { "": "Below", hover: "When pointed at" };
const GROUNDS = { light: "On light", dark: "On dark", colour: "On a colour" };

/** The look that this browser was left with, as texts. */
export const remembered = () => read(PLACE) ?? {};

export class Customize {
  /** `change(changes)` takes what is chosen; `button` opens the panel, which stands beside `main`, or in the `dialog` of an icon. */
  constructor(panel, { button, main, dialog, change }) {
    Object.assign(this, { panel, button, main, dialog, change });
    panel.replaceChildren(
      make("div", { className: "menu-head" }, make("h2", { textContent: "Customize" }),
        make("button", { className: "quiet reset", onclick: () => change(plainLook()) }, "Reset"),
        make("button", { className: "quiet done", textContent: "Done", onclick: () => this.toggle() })),
      this.#colours(), this.#strokes(), this.#sizes(), this.#segments("joins", "Corners", JOINS), this.#segments("names", "Names", NAMES), this.#grounds(),
      make("p", { className: "note", textContent: "Colour, stroke and corners apply where an icon leaves them open: outlines have strokes, filled icons have none." }));
    button.addEventListener("click", () => this.toggle());
  }

  toggle() {
    const { panel, button, dialog } = this;
    panel.hidden = !panel.hidden;
    button.setAttribute("aria-expanded", String(!panel.hidden));
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

  #colours() {
    const choose = (value) => () => this.change({ colour: value || null });
    const radios = Object.entries({ "": "As drawn", ...COLOURS }).map(([value, title]) => {
      const radio = make("input", { type: "radio", name: "ink", value, onchange: choose(value) });
      if (value) radio.style.setProperty("--swatch", value);
      return make("label", { title }, radio, make("span", { className: "hidden", textContent: title }));
    });
    this.own = make("input", { type: "color", id: "ink", "aria-label": "Another colour", title: "Another colour", oninput: () => this.change({ colour: this.own.value }) });
    return make("fieldset", { id: "inks", className: "swatches" }, make("legend", { textContent: "Colour" }), radios, this.own);
  }

  #range(id, title, properties) {
    const range = make("input", { type: "range", ...properties });
    return [range, make("label", { id, className: "range" }, make("span", { textContent: title }), make("output", {}), range)];
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
      make("input", { type: "radio", name, value, onchange: () => this.change({ [name]: value || null }) }), make("span", { textContent: text })));
    return make("fieldset", { id: name, className: "segments" }, make("legend", { textContent: title }), make("div", {}, radios));
  }

  #grounds() {
    const choose = ({ target: { value } }) => this.change({ bg: value === "colour" ? this.ground.value : value });
    const radios = Object.entries(GROUNDS).map(([value, title]) => make("label", { title },
      make("input", { type: "radio", name: "bg", value, onchange: choose }), make("span", { className: "hidden", textContent: title })));
    this.ground = make("input", { type: "color", id: "ground", value: "#2f6fed", "aria-label": "Background colour", title: "Choose the colour", oninput: () => this.change({ bg: this.ground.value }) });
    return make("fieldset", { id: "surfaces", className: "swatches" }, make("legend", { textContent: "Background" }), radios, this.ground);
  }

  /** Keep it for the next visit. */
  keep = (state) => write(PLACE, Object.fromEntries(LOOK.map((name) => [name, state[name] === null ? null : String(state[name])])));

  /** Keep the controls in step with a state, and with the ground that is seen. */
  show(state, ground) {
    const { panel } = this;
    const listed = (state.colour ?? "") in { "": 0, ...COLOURS };
    for (const radio of panel.querySelectorAll('[name="ink"]')) radio.checked = listed && radio.value === (state.colour ?? "");
    this.own.value = state.colour ?? "#1c1b19";
    this.own.toggleAttribute("data-on", !listed);
    this.stroke.value = state.stroke ?? STROKES.usual;
    this.stroke.setAttribute("aria-valuetext", state.stroke === null ? "as drawn" : `${state.stroke} of 24`);
    find("#stroke output", panel).textContent = state.stroke ?? "As drawn";
    this.asDrawn.hidden = state.stroke === null;
    this.size.value = SIZES.indexOf(state.px);
    this.size.setAttribute("aria-valuetext", `${state.px} pixels`);
    find("#size output", panel).textContent = `${state.px} px`;
    for (const name of ["joins", "names"]) find(`[name="${name}"][value="${state[name] ?? ""}"]`, panel).checked = true;
    const isOwn = ground.startsWith("#");
    find(`#surfaces [value="${isOwn ? "colour" : ground}"]`, panel).checked = true;
    this.ground.hidden = !isOwn;
    if (isOwn) this.ground.value = ground;
    this.button.toggleAttribute("data-on", state.colour !== null || state.stroke !== null || state.joins !== null);
  }
}
