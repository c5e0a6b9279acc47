// How does a user change the look of all icons? A popover with colour, stroke, size, corner and background.

import { find, make, symbol } from "../elements.js";
import { LOOK, plainLook, SIZES, STROKES } from "../state.js";
import { read, write } from "../tray/store.js";

const PLACE = "icons.look";
const COLOURS = { "#d7263d": "Red", "#d9730d": "Orange", "#17663f": "Green", "#2f6fed": "Blue", "#7a3fc8": "Violet" };
const JOINS = { "": "As drawn", round: "Round", sharp: "Sharp" };
const GROUNDS = { light: "On light", dark: "On dark", colour: "On a colour" };

/** The look that this browser was left with, as texts. */
export const remembered = () => read(PLACE) ?? {};

export class Customize {
  /** `change(changes)` takes what is chosen; `button` opens the popover. */
  constructor(popover, { button, change }) {
    Object.assign(this, { popover, button, change });
    popover.replaceChildren(
      make("div", { className: "menu-head" }, make("h2", { textContent: "Customize" }),
        make("button", { type: "button", className: "quiet reset", onclick: () => change(plainLook()) }, "Reset"),
        make("button", { type: "button", className: "quiet done", textContent: "Done", onclick: () => popover.hidePopover() })),
      this.#colours(), this.#strokes(), this.#sizes(), this.#joins(), this.#grounds(),
      make("p", { className: "note", textContent: "Colour, stroke and corners apply where an icon leaves them open: outlines have strokes, filled icons have none." }));
    const shelf = () => { popover.hidePopover(); find("#shelf-button").click(); };
    popover.append(make("button", { type: "button", className: "kind shelf", onclick: shelf }, symbol("folder"), make("span", { textContent: "Collections and stars" }), symbol("chevron-right"))); // of a narrow window, whose head has no place for it
    button.addEventListener("click", () => this.#place());
    popover.addEventListener("toggle", ({ newState }) => button.setAttribute("aria-expanded", String(newState === "open")));
  }

  #place() {
    const { right, bottom } = this.button.getBoundingClientRect();
    this.popover.style.setProperty("--left", `${Math.max(8, right - 336)}px`);
    this.popover.style.setProperty("--top", `${bottom + 8}px`);
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
    this.asDrawn = make("button", { type: "button", className: "quiet undo", "aria-label": "Stroke width as drawn", title: "As drawn", onclick: () => { this.change({ stroke: null }); range.focus(); } }, symbol("rotate-ccw"));
    return make("div", { className: "strokes" }, label, this.asDrawn);
  }

  #sizes() {
    const [range, label] = this.#range("size", "Size", { min: 0, max: SIZES.length - 1, step: 1, oninput: () => this.change({ px: SIZES[range.value] }) });
    this.size = range;
    return label;
  }

  #joins() {
    const radios = Object.entries(JOINS).map(([value, title]) => make("label", {},
      make("input", { type: "radio", name: "joins", value, onchange: () => this.change({ joins: value || null }) }), make("span", { textContent: title })));
    return make("fieldset", { id: "joins", className: "segments" }, make("legend", { textContent: "Corners" }), make("div", {}, radios));
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
    const { popover } = this;
    const listed = (state.colour ?? "") in { "": 0, ...COLOURS };
    for (const radio of popover.querySelectorAll('[name="ink"]')) radio.checked = listed && radio.value === (state.colour ?? "");
    this.own.value = state.colour ?? "#1c1b19";
    this.own.toggleAttribute("data-on", !listed);
    this.stroke.value = state.stroke ?? STROKES.usual;
    this.stroke.setAttribute("aria-valuetext", state.stroke === null ? "as drawn" : `${state.stroke} of 24`);
    find("#stroke output", popover).textContent = state.stroke ?? "As drawn";
    this.asDrawn.hidden = state.stroke === null;
    this.size.value = SIZES.indexOf(state.px);
    this.size.setAttribute("aria-valuetext", `${state.px} pixels`);
    find("#size output", popover).textContent = `${state.px} px`;
    find(`[name="joins"][value="${state.joins ?? ""}"]`, popover).checked = true;
    const isOwn = ground.startsWith("#");
    find(`#surfaces [value="${isOwn ? "colour" : ground}"]`, popover).checked = true;
    this.ground.hidden = !isOwn;
    if (isOwn) this.ground.value = ground;
    this.button.toggleAttribute("data-on", state.colour !== null || state.stroke !== null || state.joins !== null);
  }
}
