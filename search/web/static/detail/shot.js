// How is a screenshot shown on which an icon is used? In a dialog, the icon framed; arrow keys go on to the next screenshot.

import { find, iconButton, isCommand, listen, make, narrow, placeBy, plural, symbol } from "../elements.js";
import { percent } from "../results/tile.js";
import { cropOf } from "./used.js";

/** Show one of some screenshots, each a list of uses on it; `button` has the focus again when the dialog closes. */
export function showShot(screens, at, { name, button }) {
  new Shot(screens, { name, button }).show(at);
}

class Shot {
  constructor(screens, { name, button }) {
    Object.assign(this, { screens, name, at: 0, isLarge: narrow.matches });
    this.title = make("h2", { id: "shot-title" });
    this.note = make("p", { id: "shot-note", className: "aside", role: "status" });
    this.around = make("div", { className: "whole", role: "group", "aria-label": "Screenshot", tabIndex: 0 });
    this.before = iconButton("chevron-left", "Previous screenshot", () => this.show(this.at - 1));
    this.after = iconButton("chevron-right", "Next screenshot", () => this.show(this.at + 1));
    this.zoom = iconButton("plus", "Larger", () => this.#enlarge(!this.isLarge));
    this.dialog = make("dialog", { id: "shot", "aria-labelledby": "shot-title", "aria-describedby": "shot-note", onkeydown: (event) => this.#key(event) },
      make("div", { className: "head" }, make("div", {}, this.title, this.note), this.zoom, screens.length > 1 && [this.before, this.after],
        iconButton("x", "Close", () => this.dialog.close())), this.around);
    listen(this.dialog, "close", () => { this.dialog.remove(); button.focus({ preventScroll: true }); });
    listen(this.dialog, "click", ({ target }) => { if (target === this.dialog) this.dialog.close(); });
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.around.focus();
  }

  show(at) {
    if (at < 0 || at >= this.screens.length) return;
    this.at = at;
    const on = this.screens[at];
    const [{ file, also, screen_url: url, width, height }] = on;
    const place = this.screens.length > 1 ? ` · ${at + 1} of ${this.screens.length}` : "";
    this.title.textContent = [file, ...also].join(", ");
    this.note.textContent = `${plural(on.length, "place")} of “${this.name}”, ${sureness(on)}${place}`;
    const image = make("img", { src: url, alt: `${file}: ${plural(on.length, "place")} framed`, width, height });
    listen(image, "error", () => this.#missing(on));
    this.picture = make("div", { className: "framed" }, image, on.map(framed));
    this.picture.style.setProperty("--ratio", width / height);
    this.picture.style.setProperty("--own", `${width}px`);
    this.around.replaceChildren(this.picture);
    this.#enlarge(this.isLarge);
    const [hadFocus, turned] = [this.dialog.contains(document.activeElement), [this.before, this.after]];
    [this.before.disabled, this.after.disabled] = [at === 0, at === this.screens.length - 1];
    if (hadFocus && turned.some((one) => one.disabled && one === document.activeElement)) this.around.focus();
  }

  #missing(on) {
    this.zoom.hidden = true;
    this.around.replaceChildren(make("div", { className: "gone" }, make("p", {}, "The file has gone, or is another one by now. This was seen there:"),
      make("div", { className: "crops" }, on.map(cropOf))));
  }

  #enlarge(isLarge) {
    this.isLarge = isLarge;
    this.zoom.hidden = false;
    this.zoom.ariaLabel = isLarge ? "Smaller" : "Larger";
    this.zoom.title = isLarge ? "Smaller" : "Larger";
    this.zoom.replaceChildren(symbol(isLarge ? "minus" : "plus"));
    this.around.toggleAttribute("data-large", isLarge);
    find("i", this.around)?.scrollIntoView({ block: "center", inline: "center" });
  }

  #key(event) {
    if (isCommand(event)) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && !this.isLarge) this.show(this.at + step);
    else if (event.key === "+" || event.key === "-") this.#enlarge(event.key === "+");
    else return;
    event.preventDefault();
  }
}

function framed({ box: [left, top, right, bottom], width, height, score }) {
  const mark = make("i", { title: score.toFixed(2), "aria-hidden": "true" });
  placeBy(mark, { left: left / width, top: top / height, width: (right - left) / width, height: (bottom - top) / height });
  return mark;
}

/** How sure it is, best and least. */
function sureness(on) {
  const [best, least] = [Math.max(...on.map(({ score }) => score)), Math.min(...on.map(({ score }) => score))].map(percent);
  return best === least ? `${best} sure` : `${least} to ${best} sure`;
}
