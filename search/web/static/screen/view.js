// What is seen of a picture with many icons? The picture with frames, a list of what they are called, and what is done with all of them.

import { make, plural, say, symbol } from "../elements.js";
import { distinct, isOneIcon, isSure, located, opened } from "./kept.js";
import { FoundList } from "./list.js";
import { Stage } from "./stage.js";

export class ScreenView {
  /**
   * `change(changes)` alters the state, `asIcon(number, how)` searches with the whole picture, `cut(number)` lets a person choose a
   * part of it, `take(hits)` keeps icons and tells how many had no place, `enter()` goes on to the tiles.
   */
  constructor(root, actions) {
    Object.assign(this, { root, ...actions, number: null, answer: null, frame: null });
    const parts = { choose: (at, how) => this.#choose(at, how), point: (at) => { this.stage.hint(at); this.list.hint(at); } };
    this.stage = new Stage(parts);
    this.list = new FoundList(parts);
    this.title = make("h2", {});
    this.note = make("p", { className: "aside", hidden: true });
    this.all = make("button", { className: "button primary", onclick: () => this.#takeAll() }, symbol("check"), make("span", {}));
    this.names = make("div", { className: "names" }, make("div", { className: "names-head" }, this.title, this.all), this.note, this.list.element);
    this.none = make("div", { className: "nothing", hidden: true });
    root.replaceChildren(make("div", { className: "parts" }, this.stage.element, this.names, this.none));
  }

  /** Bring it in step with a state; what is not known yet comes when it is. */
  async show(state) {
    this.state = state;
    const picture = await opened(state.screen);
    if (this.state !== state) return;
    this.root.hidden = false;
    if (this.number !== state.screen) {
      Object.assign(this, { number: state.screen, answer: null, frame: null });
      this.stage.element.hidden = !picture;
      if (picture) this.stage.picture(picture.image);
    }
    const asked = located(state);
    if (!this.answer) this.#wait();
    try {
      const answer = await asked;
      if (this.state !== state) return;
      this.#take(answer, picture);
    } catch (error) {
      if (error.name !== "AbortError" && this.state === state) this.#fail();
    }
  }

  hide() {
    this.state = null;
    this.root.hidden = true;
    this.root.removeAttribute("data-is");
  }

  #is(what) {
    this.root.dataset.is = what;
    this.names.hidden = what === "none" || what === "failed" || what === "gone";
    this.none.hidden = what !== "none" && what !== "gone";
    this.root.ariaBusy = what === "waiting";
  }

  #wait() {
    this.#is("waiting");
    this.title.textContent = "Looking for icons …";
    [this.all.hidden, this.note.hidden] = [true, true];
    this.list.clear();
  }

  /** The results say why. */
  #fail() {
    this.answer = null;
    this.#is("failed");
  }

  #take(answer, picture) {
    if (!answer) this.#gone();
    else if (isOneIcon(this.number, answer)) this.asIcon(this.number, { replace: true });
    else if (answer !== this.answer) this.#fill(answer, picture);
    if (this.frame === this.state.frame || answer !== this.answer) return;
    this.frame = this.state.frame;
    this.stage.show(this.frame);
    this.list.show(this.frame);
  }

  #fill(answer, picture) {
    this.answer = answer;
    this.frame = null;
    const { icons, width, height } = answer;
    this.stage.mark(icons, [width, height]);
    this.list.fill(answer, this.number);
    if (!icons.length || (answer.kind === "neither" && picture.as === null)) {
      this.#offer();
      return;
    }
    this.#is("found");
    this.title.textContent = plural(icons.length, "icon");
    const sure = distinct(icons.filter(isSure));
    this.all.hidden = !sure.length;
    this.all.lastChild.textContent = `Keep all ${sure.length.toLocaleString("en")}`;
    this.note.textContent = answer.is_cut ? `${answer.n_found.toLocaleString("en")} places look like icons; these are the clearest. Crop a part to see all of it.` : "";
    this.note.hidden = !answer.is_cut;
  }

  /** Nothing in it looks like an icon: a person may know better. */
  #offer() {
    this.#is("none");
    this.none.replaceChildren(make("h2", {}, "No icons here"),
      make("p", {}, "Nothing in this picture looks like the icons of an interface. What you can try:"),
      make("div", { className: "ways" },
        make("button", { className: "button primary", onclick: () => this.asIcon(this.number) }, symbol("search"), "Search it as one icon"),
        make("button", { className: "button", onclick: () => this.cut(this.number) }, symbol("crop"), "Crop by hand")));
  }

  /** It was dropped in another browser, or long ago. */
  #gone() {
    this.#is("gone");
    this.none.replaceChildren(make("h2", {}, "This picture is not here any more"),
      make("p", {}, "Pictures of screens stay in the browser that they were dropped in: no link takes them to another one, and only the last ones are kept. Drop it again."));
  }

  /** Whoever chooses an icon with the keyboard twice wants its hits. */
  #choose(at, { byKey }) {
    if (byKey && at === this.state.frame && at !== null) this.enter();
    else if (at !== this.state.frame) this.change({ frame: at, open: null });
    else this.change({ frame: null, open: null });
  }

  focus() {
    this.stage.focus(this.frame);
  }

  #takeAll() {
    const { icons } = this.answer;
    const sure = distinct(icons.filter(isSure));
    const unsure = icons.filter((icon) => !isSure(icon)).length;
    const left = this.take(sure);
    say([`${plural(sure.length - left, "icon")} kept`, left && `${left} had no place`, unsure && `${unsure} not sure, left out`].filter(Boolean).join("; "));
  }
}
