// How are elements made and found? Text always goes in as text, never as markup.

export const find = (selector, within = document) => within.querySelector(selector);

/** Make an element; properties are set as such, `data-`, `aria-` and `role` as attributes, `on...` as listeners. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button"; // none submits a form unless it says so
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (/^(data-|aria-|role$|for$|list$)/.test(name)) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Hear of events of some kinds: `"pointerup pointercancel"`. */
export function listen(target, kinds, heard, options) {
  for (const kind of kinds.split(" ")) target.addEventListener(kind, heard, options);
}

/** A phone, or a window that is as narrow. */
export const narrow = matchMedia("(max-width: 47.99rem)");

const SVG = "http://www.w3.org/2000/svg";

/** A drawing of the page itself; index.html holds them. */
export function symbol(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "symbol");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#symbol-${name}`);
  svg.append(use);
  return svg;
}

/** A button that is a drawing alone: its name is heard, and seen by whoever points at it. */
export const iconButton = (drawing, name, onclick, properties = {}) => make("button", { className: "quiet", title: name, "aria-label": name, onclick, ...properties }, symbol(drawing));

/** What a button says of itself that opens a menu. */
export const OPENS_MENU = { "aria-haspopup": "menu", "aria-expanded": "false" };

/** A filter that is on; a click takes it away. */
export const chip = (text, count, properties) => make("button", { className: "chip", ...properties }, make("span", { className: "hidden" }, "Remove filter "), text, count, symbol("x"));

/** The head of a dialog: what it is, and the way out. */
export const head = (id, title, close, label = "Close") => make("div", { className: "head" }, make("h2", { id }, title), iconButton("x", label, close));

/** Open a modal dialog that goes once it is closed, which `closed()` hears. */
export function openDialog(id, title, { label, closed, content }) {
  const dialog = make("dialog", { id, "aria-labelledby": `${id}-title` }, head(`${id}-title`, title, () => dialog.close(), label), content);
  listen(dialog, "close", () => { dialog.remove(); closed(); });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Place an element by shares of what it stands in: `{ left, top, width, height }`. */
export function placeBy(element, shares) {
  for (const [name, share] of Object.entries(shares)) element.style.setProperty(name, `${100 * share}%`);
}

/** Whether a key is pressed together with one that makes it the browser's. */
export const isCommand = (event) => event.ctrlKey || event.metaKey || event.altKey;

/** Whether a pointer is down on an element: what is made anew between press and release is never clicked. `released()` is called
 *  once the click that belongs to it has been heard. */
export function watchPress(element, released) {
  const press = { isDown: false };
  listen(element, "pointerdown", () => { press.isDown = true; });
  const end = () => {
    if (!press.isDown) return;
    press.isDown = false;
    released();
  };
  listen(window, "pointerup pointercancel", () => setTimeout(end));
  return press;
}

export const PAUSE_MS = 250; // longer than between two keystrokes of most

export const setTitle = (icon) => icon.set_title || icon.set;

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** The dialog outside of which nothing can be reached. */
export const modalDialog = () => [...document.querySelectorAll("dialog:modal")].at(-1);

let announcing = 0;

/** Tell a screen reader once typing has paused, so that not every keystroke is spoken over. */
export function announce(text, { afterMs = 600 } = {}) {
  clearTimeout(announcing);
  announcing = setTimeout(() => { live().textContent = text; }, afterMs);
}

/** Where a screen reader hears of what happens: behind a modal dialog nothing is heard. */
function live() {
  const dialog = modalDialog();
  if (!dialog) return find("#live");
  if (!find(".live", dialog)) dialog.append(make("p", { className: "hidden live", role: "status" }));
  return find(".live", dialog);
}

let toasting = 0;

/** Say briefly that something was done, to eyes and ears. */
export function say(text) {
  const toast = find("#toast");
  toast.textContent = text;
  toast.hidePopover();
  toast.showPopover(); // above dialogs, too
  toast.classList.add("shown");
  announce(text, { afterMs: 0 });
  clearTimeout(toasting);
  toasting = setTimeout(() => toast.classList.remove("shown"), 1000 + 40 * text.length); // to be read
}

const IDLE_MS = 500;

/** Do something once nothing more urgent is to be done; soon, too, where a page that keeps moving is never idle. */
export function whenIdle(work) {
  if (globalThis.requestIdleCallback) requestIdleCallback(work, { timeout: IDLE_MS });
  else setTimeout(work, 50);
}

const waiting = [];
let quietFrom = 0; // once typing has paused

/** Do something that nobody waits for: when idle, and not while somebody types. */
export function whenQuiet(work) {
  if (waiting.push(work) === 1) whenIdle(doWaiting);
}

/** As much as there is room for now. */
function doWaiting(room) {
  const left = quietFrom - performance.now();
  if (left > 0) return void setTimeout(() => whenIdle(doWaiting), left);
  do waiting.shift()(); while (waiting.length && room?.timeRemaining() > 1);
  if (waiting.length) whenIdle(doWaiting);
}

listen(document, "input", () => { quietFrom = performance.now() + PAUSE_MS; });
