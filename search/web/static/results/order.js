// In what order do results stand, is there one tile a name, does a click keep? The switches above the tiles.

import { asks, SORTS } from "../state.js";
import { find, listen, make } from "../elements.js";

export class Order {
  /** `change(changes)` alters the state, `keepAll()` keeps whatever is shown. */
  constructor({ change, keepAll }) {
    this.isSelecting = false; // whether a click on a tile keeps it
    this.drawn = null;
    listen(find("#sort select"), "change", ({ target }) => change({ sort: target.value }));
    listen(find("#fold input"), "change", ({ target }) => change({ fold: target.checked }));
    listen(find("#select"), "click", () => this.select(!this.isSelecting));
    listen(find("#select-all"), "click", keepAll);
  }

  /** Keep the switches in step with a state; `canFold` tells whether there is anything to fold, `isOneSet` whether all is of one set. */
  show(state, { canFold, isOneSet }) {
    const drawn = JSON.stringify([isOneSet, canFold, asks(state), state.sort, state.fold]);
    if (drawn === this.drawn) return; // as after most keystrokes
    this.drawn = drawn;
    const sort = find("#sort select");
    const kinds = Object.entries(SORTS).filter(([kind]) => (kind !== "relevance" || asks(state)) && (kind !== "set" || !isOneSet || state.sort === kind));
    sort.replaceChildren(...kinds.map(([value, textContent]) => make("option", { value, textContent })));
    sort.value = state.sort === "relevance" && !asks(state) ? (isOneSet ? "name" : "set") : state.sort;
    find("#fold input").checked = state.fold;
    find("#fold").hidden = !canFold;
    find("#grid").toggleAttribute("data-one-set", isOneSet);
  }

  /** Keep with clicks and taps, or open again. */
  select(on) {
    this.isSelecting = on;
    const button = find("#select");
    button.ariaPressed = on;
    button.textContent = on ? "Done" : "Keep several";
    find("#grid").toggleAttribute("data-selecting", on);
    find("#select-all").hidden = !on;
  }
}
