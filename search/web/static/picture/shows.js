// What does a picture show, one icon or a whole screen? It is judged first; a switch lets the user say which.

import { find, listen } from "../elements.js";

export class Shows {
  /** `asIcon()` and `asScreen()` take the picture for one or the other, `cut()` lets a person choose a part. */
  constructor(row, { asIcon, asScreen, cut }) {
    this.row = row;
    this.inputs = [...row.querySelectorAll("input")];
    listen(row, "change", ({ target }) => (target.value === "icon" ? asIcon() : asScreen()));
    listen(find("#cut", row), "click", cut);
  }

  /** `kind` is what it is taken for, `null` while that is open; `undefined` where there is no picture. */
  show(kind) {
    this.row.hidden = kind === undefined;
    for (const input of this.inputs) input.checked = input.value === kind;
  }
}
