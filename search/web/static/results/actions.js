// What can be done with a tile without opening it? Two buttons over its picture, wherever the pointer or the focus is; a long press with a finger.

import { find, listen, make, symbol } from "../elements.js";

const PRESS_MS = 450;
const SLOP = 10; // pixels that a finger may move while it presses
const ACTIONS = [ // name, drawing, what it says, its key
  ["keep", "check", (name) => `Keep ${name}`, "X"],
  ["copy", "copy", (name) => `Copy ${name}`, "C"],
];

/** One bar for all tiles of a list: sixty of their own would make each answer slower. `hitOf(cell)`, `isKept(key)` tell of a
 *  tile, `act(name, hit)` does something, `select(hit)` begins to keep with a finger. */
export function watchActions(list, { hitOf, isKept, act, select }) {
  const bar = make("div", { className: "actions", role: "group" });
  const show = (cell) => {
    const hit = cell && hitOf(cell);
    if (!hit || (bar.contains(document.activeElement) && document.activeElement.matches(":focus-visible"))) return;
    if (bar.parentElement !== cell) cell.append(bar);
    if (bar.dataset.key !== hit.key || !bar.children.length) {
      bar.dataset.key = hit.key;
      bar.ariaLabel = hit.name;
      bar.replaceChildren(...ACTIONS.map((one) => button(one, hit)));
    }
    refresh(hit);
  };
  const button = ([name, drawing, text, key], hit) => make("button", {
    className: `act-${name}`, "aria-label": text(hit.name), title: `${text(hit.name)} (${key})`,
    onclick: (event) => {
      act(name, hit);
      refresh(hit);
      if (event.detail > 0) find(".tile", bar.parentElement)?.focus({ preventScroll: true }); // the bar goes with the pointer
    },
  }, symbol(drawing));
  const refresh = (hit) => { find(".act-keep", bar).ariaPressed = isKept(hit.key); };
  listen(list, "pointerover", (event) => { if (event.pointerType !== "touch") show(event.target.closest(".cell")); });
  listen(list, "pointerleave", () => {
    const focused = list.querySelector(":focus-visible")?.closest(".cell"); // by the keyboard: who pointed at a tile is done with it
    if (focused) show(focused);
    else bar.remove();
  });
  listen(list, "focusin", (event) => { if (event.target.matches(".tile:focus-visible")) show(event.target.closest(".cell")); });
  listen(list, "focusout", (event) => { if (!list.contains(event.relatedTarget) && !list.matches(":hover")) bar.remove(); });
  listen(list, "keyup", () => { const hit = bar.isConnected && hitOf(bar.parentElement); if (hit) refresh(hit); });
  watchPresses(list, (cell) => { const hit = hitOf(cell); if (hit) select(hit); });
}

/** A finger that stays on a tile; the click that follows it is none. */
function watchPresses(list, pressed) {
  let timer = 0;
  let from = null;
  let swallows = false;
  const end = () => { clearTimeout(timer); from = null; };
  listen(list, "pointerdown", (event) => {
    const cell = event.target.closest(".cell");
    swallows = false;
    if (event.pointerType !== "touch" || !cell || event.target.closest(".actions, .unfold")) return;
    from = { x: event.clientX, y: event.clientY };
    timer = setTimeout(() => { swallows = true; from = null; navigator.vibrate?.(10); pressed(cell); }, PRESS_MS);
  });
  listen(list, "pointermove", (event) => { if (from && Math.hypot(event.clientX - from.x, event.clientY - from.y) > SLOP) end(); });
  listen(list, "pointerup pointercancel pointerleave", end);
  listen(list, "contextmenu", (event) => { if (from || swallows) event.preventDefault(); }); // it would save the picture
  listen(list, "click", (event) => {
    if (!swallows) return;
    swallows = false;
    event.stopImmediatePropagation();
    event.preventDefault();
  }, { capture: true });
}
