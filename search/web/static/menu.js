// What can be done from here? A menu at a button: arrows walk, letters jump, Escape gives the focus back.

import { find, make, symbol } from "./elements.js";

const GAP = 6; // pixels between button and menu
const LONG = 12; // items: more of them stand in two columns
let opened = null;
let isWatched = false;

/** Open a menu at a button, or close it where it is open already. `items` are `{ title, note, symbol, checked, act }` or
 *  `{ heading }`; where one states `checked`, one of them is chosen. */
export function openMenu(button, { label, items, note = null }) {
  const menu = find("#choices");
  watch(menu);
  if (opened === button && menu.matches(":popover-open")) {
    menu.hidePopover();
    return;
  }
  (button.closest("dialog:modal") ?? document.body).append(menu); // what is outside of a modal dialog can't be reached
  menu.setAttribute("aria-label", label);
  menu.replaceChildren(make("div", { role: "menu", "aria-label": label }, items.map(drawn)), note ? make("p", { className: "aside", textContent: note }) : "");
  menu.toggleAttribute("data-long", items.length > LONG);
  opened = button;
  button.setAttribute("aria-expanded", "true");
  menu.showPopover();
  place(menu, button);
  (find('[aria-checked="true"]', menu) ?? find(".choice", menu)).focus({ preventScroll: menu.scrollHeight <= menu.clientHeight });
}

function drawn(item) {
  if (item.heading) return make("p", { className: "heading", role: "presentation", textContent: item.heading });
  const checked = item.checked === undefined ? null : String(item.checked);
  return make("button", {
    type: "button", className: "choice", role: checked === null ? "menuitem" : "menuitemradio", "aria-checked": checked, tabIndex: -1,
    onclick: () => { find("#choices").hidePopover(); item.act(); },
  }, item.symbol && symbol(item.symbol), make("span", { className: "what" }, make("span", { textContent: item.title }), item.note && make("small", { textContent: item.note })),
  checked === "true" && symbol("check"));
}

/** Below the button, above it where that has more room, beside it where neither has enough; always inside the window. */
function place(menu, button) {
  const at = button.getBoundingClientRect();
  const [width, below] = [menu.offsetWidth, innerHeight - at.bottom - 2 * GAP];
  if (menu.scrollHeight > below && at.left > width + 2 * GAP) { // what is looked at meanwhile stays in sight
    const top = Math.max(GAP, Math.min(at.top, innerHeight - menu.scrollHeight - GAP));
    const placed = { left: `${at.left - width - GAP}px`, top: `${top}px`, most: `${innerHeight - top - GAP}px`, bottom: "auto" };
    for (const [name, value] of Object.entries(placed)) menu.style.setProperty(`--${name}`, value);
    return;
  }
  const isAbove = below < menu.scrollHeight && at.top > below;
  const left = Math.max(GAP, Math.min(at.right - width, innerWidth - width - GAP));
  menu.style.setProperty("--left", `${at.left + width < innerWidth - GAP ? at.left : left}px`);
  menu.style.setProperty("--most", `${(isAbove ? at.top : innerHeight - at.bottom) - 2 * GAP}px`);
  menu.style.setProperty("--top", isAbove ? "auto" : `${at.bottom + GAP}px`);
  menu.style.setProperty("--bottom", isAbove ? `${innerHeight - at.top + GAP}px` : "auto");
}

/** Listen once, for all menus there will be. */
function watch(menu) {
  if (isWatched) return;
  isWatched = true;
  menu.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    opened?.setAttribute("aria-expanded", "false");
    if (menu.contains(document.activeElement) || document.activeElement === document.body) opened?.focus();
    opened = null;
    document.body.append(menu); // the dialog may go
  });
  menu.addEventListener("keydown", (event) => {
    const choices = [...menu.querySelectorAll(".choice")];
    const at = choices.indexOf(document.activeElement);
    const goal = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") menu.hidePopover();
    else if (goal !== undefined) {
      event.preventDefault();
      choices.at(goal % choices.length).focus();
    } else if (/^\S$/u.test(event.key) && !event.ctrlKey && !event.metaKey) {
      event.stopPropagation(); // it is no key of the page
      const begins = (choice) => choice.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase());
      [...choices.slice(at + 1), ...choices.slice(0, at + 1)].find(begins)?.focus();
    }
  });
}
