// What can be done from here? A menu at a button: arrows walk, letters jump, Escape gives the focus back.

import { find, listen, make, symbol } from "./elements.js";

const GAP = 6; // pixels between button and menu
const LONG = 12; // items: more of them stand in two columns
let opened = null;

/** Open a menu at a button, or close it where it is open already. `items` are `{ title, note, symbol, checked, act }` or
 *  `{ heading }`; where one states `checked`, one of them is chosen. */
export function openMenu(button, { label, items, note = null }) {
  const menu = find("#choices");
  if (opened === button && menu.matches(":popover-open")) {
    menu.hidePopover();
    return;
  }
  (button.closest("dialog:modal") ?? document.body).append(menu); // what is outside of a modal dialog can't be reached
  menu.ariaLabel = label;
  menu.replaceChildren(make("div", { role: "menu", "aria-label": label }, items.map(drawn)), note ? make("p", { className: "aside" }, note) : "");
  menu.toggleAttribute("data-long", items.length > LONG);
  opened = button;
  button.ariaExpanded = true;
  menu.showPopover();
  place(menu, button);
  (find('[aria-checked="true"]', menu) ?? find(".choice", menu)).focus({ preventScroll: menu.scrollHeight <= menu.clientHeight });
}

function drawn(item) {
  if (item.heading) return make("p", { className: "heading", role: "presentation" }, item.heading);
  const checked = item.checked === undefined ? null : String(item.checked);
  return make("button", {
    className: "choice", role: checked === null ? "menuitem" : "menuitemradio", "aria-checked": checked, tabIndex: -1,
    onclick: () => { find("#choices").hidePopover(); item.act(); },
  }, item.symbol && symbol(item.symbol), make("span", { className: "what" }, make("span", {}, item.title), item.note && make("small", {}, item.note)),
  checked === "true" && symbol("check"));
}

/** Below the button where there is room, else beside it or above; always inside the window. */
function place(menu, button) {
  const at = button.getBoundingClientRect();
  const [width, height, below] = [menu.offsetWidth, menu.scrollHeight, innerHeight - at.bottom - 2 * GAP];
  const isFoot = below < at.height; // a bar at the foot stays in sight below its menu, else what stands above the button does beside it
  const [isBeside, isAbove] = [height > below && !isFoot && at.left > width + 2 * GAP, height > below && at.top > below];
  const top = isBeside ? Math.max(GAP, Math.min(at.top, innerHeight - height - GAP)) : at.bottom + GAP;
  const left = Math.max(GAP, Math.min(at.right - width, innerWidth - width - GAP));
  const placed = {
    left: isBeside ? at.left - width - GAP : at.left + width < innerWidth - GAP ? at.left : left,
    most: isAbove && !isBeside ? at.top - 2 * GAP : innerHeight - top - GAP,
    top: isAbove && !isBeside ? null : top,
    bottom: isAbove && !isBeside ? innerHeight - at.top + GAP : null,
  };
  for (const [name, pixels] of Object.entries(placed)) menu.style.setProperty(`--${name}`, pixels === null ? "auto" : `${pixels}px`);
}

function watch(menu) {
  listen(menu, "toggle", (event) => {
    if (event.newState !== "closed") return;
    if (opened) opened.ariaExpanded = false;
    if (menu.contains(document.activeElement) || document.activeElement === document.body) opened?.focus();
    opened = null;
    document.body.append(menu); // the dialog may go
  });
  listen(menu, "keydown", (event) => {
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

watch(find("#choices")); // one for all menus there will be
