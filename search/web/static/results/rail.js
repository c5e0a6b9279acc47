// Where in a long list does a letter begin? A rail of them at the side; the server is asked for a few names on the way.

import { make } from "../elements.js";

const LEAST = 80; // icons: a shorter list is soon scrolled through
const LETTERS = ["#", ..."abcdefghijklmnopqrstuvwxyz"];

const letterOf = (name) => (/^[a-z]/i.test(name) ? name[0].toLowerCase() : name && name[0].toLowerCase() > "z" ? "z" : "#");

export class Rail {
  /** `nameAt(at)` resolves to the name at a place of the list, `go(at)` scrolls there. */
  constructor(nav, { nameAt, go }) {
    Object.assign(this, { nav, nameAt, go, n: 0 });
    nav.replaceChildren(...LETTERS.map((letter) => make("button", { "aria-label": letter === "#" ? "To the beginning" : `To ${letter.toUpperCase()}`, "data-letter": letter, onclick: () => this.#find(letter) }, letter.toUpperCase())));
  }

  /** There for a list of so many icons that are sorted by name. */
  show(n) {
    this.n = n;
    this.nav.hidden = n < LEAST;
  }

  /** Halve the list until the first name of the letter is found, or the first behind it. */
  async #find(letter) {
    let [from, to] = [0, this.n];
    while (from < to && letter !== "#") {
      const middle = Math.floor((from + to) / 2);
      if (letterOf(await this.nameAt(middle)) < letter) from = middle + 1;
      else to = middle;
    }
    this.go(letter === "#" ? 0 : Math.min(from, this.n - 1));
  }

  /** Say with which letter the first name in sight begins. */
  mark(name) {
    if (name && !this.nav.hidden) for (const button of this.nav.children) button.toggleAttribute("aria-current", button.dataset.letter === letterOf(name));
  }
}
