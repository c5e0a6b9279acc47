// What does one icon look like in a list? A framed picture; with its name and set it is a tile.

import { find, listen, make, plural, setTitle, symbol } from "../elements.js";
import { showAlone, showPicture } from "./pictures.js";
import { watchInk } from "../view/surface.js";

/** A framed picture of an icon. It stands in `img`, where no script of an SVG can run. Its place shimmers until it is there. */
export function frame(icon, { lazy = true, px } = {}) {
  const image = make("img", { alt: "", decoding: "async", loading: lazy ? "lazy" : "eager", draggable: true });
  if (px) [image.width, image.height] = [px, px];
  const framed = make("span", { className: "picture waiting" }, image);
  if (icon.coloured !== null) framed.dataset.ink = icon.coloured ? "colour" : "dark"; // until its pixels are seen
  if (!icon.svg_url) framed.dataset.bitmap = "";
  listen(image, "load", () => framed.classList.remove("waiting"));
  listen(image, "error", () => { framed.classList.remove("waiting"); framed.classList.add("gone"); }, { once: true });
  watchInk(framed, image, icon, { blank: () => showAlone(image, icon) });
  showPicture(image, icon);
  return framed;
}

export const percent = (score) => `${Math.round(100 * score)}%`;

const LINE = 84; // pixels that a line of a name has in the narrowest tile
let pen = null;

/** How wide a name is, without a layout of the page. */
function widthOf(text) {
  pen ??= Object.assign(new OffscreenCanvas(1, 1).getContext("2d"), { font: `12px ${getComputedStyle(document.body).fontFamily}` });
  return pen.measureText(text).width;
}

const fitsInTwo = (name) => widthOf(name) <= LINE || [...name.matchAll(/-/g)].some(({ index }) => [name.slice(0, index + 1), name.slice(index + 1)].every((line) => widthOf(line) <= LINE));

/** A name that two lines hold: broken anywhere where hyphens don't help, cut in the middle where that doesn't, as names differ at their ends. */
function shortened(name) {
  let text = name;
  for (let half = Math.ceil(name.length / 2); widthOf(text) > 1.9 * LINE; half -= 1) text = `${name.slice(0, half - 1)}…${name.slice(1 - half)}`;
  return text;
}

const setOf = (hit) => setTitle(hit).replace(/ Icons?$/, ""); // all of them are

/** Of several variants: what a set gives to all (`baseline-`) stands back; where the name is long, that of a style (`-outline-rounded`), too. */
function called({ name, words, n_variants: n }) {
  const plain = words.replaceAll(" ", "-");
  return n > 1 && (name.endsWith(`-${plain}`) || (!fitsInTwo(name) && name.startsWith(`${plain}-`))) ? plain : name;
}

/** What cannot be seen in a tile, for those who hear it. */
function unseen(hit, isKept, stack) {
  const folded = stack?.isFirst && !stack.isOpen;
  const drawings = hit.n_also > 0 && `the same drawing ${hit.n_also === 1 ? "once" : `${hit.n_also} times`} more`;
  return [folded && `in ${plural(stack.n, "set")}`, hit.n_variants > 1 && plural(hit.n_variants, "variant"), drawings, isKept && "kept"].filter(Boolean).map((text) => `, ${text}`).join("");
}

/** A tile of one icon; `stack` tells of icons of other sets that bear its name: `{ n, isOpen, isFirst }`, `n` sets in all. */
export function tile(hit, { stack = null, isKept }) {
  const [name, isWhole] = [called(hit), fitsInTwo(called(hit))];
  const cell = make("li", { className: "cell" },
    make("button", { className: "tile", tabIndex: -1, "data-id": hit.id, title: [hit.key, hit.style].filter(Boolean).join(" · ") },
      frame(hit),
      make("span", { className: "name", "data-long": isWhole ? null : "" }, isWhole ? name : shortened(name)),
      make("span", { className: "hidden unseen" })));
  cell.drawn = drawnOf(hit);
  restack(cell, hit, stack);
  showMarks(cell, hit, isKept);
  return cell;
}

/** Of two answers: whether one tile can stand for this icon in both. */
export const drawnOf = (hit) => `${hit.key} ${hit.digest} ${hit.n_variants} ${hit.n_also}`; // another library may answer by now

/** Fold or unfold what a tile stands for; its picture stays. Tells whether anything is different. */
export function restack(cell, hit, stack) {
  const text = JSON.stringify(stack);
  if (cell.restacked === text) return false;
  Object.assign(cell, { stack, restacked: text });
  cell.classList.toggle("stack", stack?.isOpen === false || (!stack && hit.n_variants > 1));
  cell.classList.toggle("unfolded", stack?.isOpen === true);
  find(".set", cell)?.remove();
  if (!stack?.isFirst) find(".name", cell).after(make("span", { className: "set" }, hit.n_variants > 1 ? `${hit.n_variants} in ${setOf(hit)}` : setOf(hit)));
  const before = find(".unfold", cell);
  const button = stack?.isFirst ? unfold(hit, stack) : null;
  const hadFocus = before === document.activeElement;
  before?.remove();
  if (button) find(".tile", cell).after(button);
  if (hadFocus) button?.focus();
  return true;
}

function unfold(hit, { n, isOpen }) {
  return make("button", {
    className: "unfold", tabIndex: -1, "aria-expanded": String(isOpen),
    "aria-label": `${hit.name} in ${plural(n, "set")}`, title: `${isOpen ? "Fold" : "Unfold"} (O)`,
  }, make("span", {}, isOpen ? setOf(hit) : `in ${plural(n, "set")}`));
}

/** Say on a tile whether its icon is kept. */
export function showMarks(cell, hit, isKept) {
  cell.toggleAttribute("data-kept", isKept);
  const mark = find(".mark", cell);
  if (isKept && !mark) cell.append(make("span", { className: "mark", "aria-hidden": "true" }, symbol("check")));
  else if (!isKept) mark?.remove();
  find(".unseen", cell).textContent = unseen(hit, isKept, cell.stack);
}

/** A grey place in the size of a tile, while the first answer is on its way. */
export const place = () => make("li", { className: "cell", "aria-hidden": "true" },
  make("div", { className: "tile waiting" }, make("span", { className: "picture waiting" }), make("span", { className: "name" }), make("span", { className: "set" })));
