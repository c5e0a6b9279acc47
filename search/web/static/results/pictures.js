// Where do the pictures of icons come from? Many in one answer: one for each makes the browser work ten times as long.

import { layerOf, pictureOf, svgsOf } from "../api.js";
import { listen, whenIdle } from "../elements.js";
import { isRestyled, restyled, restyledStack } from "../view/look.js";

const MOST_AT_ONCE = 40; // about a screen of them; the server takes 100
const MOST_TEXTS = 100; // of stacks, about 40 kB each
const SLOW_MS = 120; // until places shimmer: most pictures are there before
let wanted = [];
let expected = null; // the stack that comes beside an answer: { address, image, layers }
let slow = 0;
let asked = null; // another look than the one that icons were drawn in
let drawn = null; // what of it is seen in a picture, as text
let stacks = []; // on the page now: { address, shown: [{ image, icon }], url }
const texts = new Map();
const alone = []; // addresses of pictures that were pointed at, the last ones
const MOST_ALONE = 20;

/** Show an icon in an `img`, where no script of an SVG can run: as soon as all that is wanted now can be asked for. */
export function showPicture(image, icon) {
  if (!icon.svg_url) image.src = pictureOf(icon);
  else if (wanted.push({ image, icon }) === 1) queueMicrotask(showWanted);
  // Whoever drags it away or saves it wants this icon, not all that came with it.
  listen(image, "pointerenter", () => showAlone(image, icon), { once: true });
}

/** Begin to load the pictures of an answer that is asked for; `null` where none come beside it. Those of the one before are
 *  given up, unless they are shown. */
export function expectPictures(address) {
  if (expected) expected.image.src = "";
  expected = null;
  if (address === null || asked) return;
  expected = { address, image: Object.assign(new Image(), { fetchPriority: "high", src: address }), layers: new Set() };
}

/** The answer is there: its first hits, one of a name, are those whose pictures come with it. */
export function areExpected(hits) {
  const firsts = [...Map.groupBy(hits, ({ words }) => words).values()].map(([first]) => first);
  const shown = firsts.filter((hit) => hit.svg_url).slice(0, MOST_AT_ONCE);
  if (expected) expected.layers = new Set(shown.map(layerOf));
}

const addressOf = (icons) => svgsOf([...new Set(icons.map(layerOf))]);

/** Show an icon by its own address, which also says what is wrong with it. */
export async function showAlone(image, icon) {
  if (image.src.endsWith(pictureOf(icon))) return;
  if (!asked || !icon.svg_url) image.src = pictureOf(icon);
  else {
    const look = asked;
    const text = await textOf(pictureOf(icon)).catch(() => null); // without it the picture stays as it is
    if (text === null || look !== asked) return;
    alone.push(showBlob(restyled(text, look, icon), [{ image, fragment: "" }]));
    if (alone.length > MOST_ALONE) URL.revokeObjectURL(alone.shift());
  }
}

/** The first ones first; what is no longer on the page by then is not asked for. */
async function showWanted() {
  const all = wanted;
  wanted = [];
  forgetGone();
  shimmerLater();
  const isExpected = ({ icon }) => Boolean(expected?.layers.has(layerOf(icon)));
  const others = all.filter((one) => !isExpected(one));
  const parts = [{ address: expected?.address, some: all.filter(isExpected) }];
  for (let at = 0; at < others.length; at += MOST_AT_ONCE) parts.push({ some: others.slice(at, at + MOST_AT_ONCE) });
  for (const [at, { address, some }] of parts.entries()) {
    const shown = some.filter(({ image }) => image.isConnected);
    if (shown.length) {
      const stack = { address: address ?? addressOf(shown.map(({ icon }) => icon)), shown };
      stacks.push(stack);
      if (at < 2) for (const { image } of shown) image.loading = "eager"; // what is lazy is asked for a frame later only
      if (asked) await showRestyled(stack);
      else showPlain(stack);
    }
    await new Promise((resolve) => { whenIdle(resolve); });
  }
}

/** Whatever still waits in a moment shimmers; sixty animations that nobody sees would cost the next answer its time. */
export function shimmerLater() {
  const root = document.documentElement;
  clearTimeout(slow);
  root.removeAttribute("data-slow");
  slow = setTimeout(() => root.setAttribute("data-slow", ""), SLOW_MS);
}

function showPlain({ address, shown }) {
  for (const { image, icon } of shown) image.src = `${address}#i${layerOf(icon)}`;
}

/** Draw all icons of the page in another look, or as they were drawn for one that changes nothing. The server is not asked
 *  again for what the browser has. */
export async function setLook(look) {
  const next = isRestyled(look) ? look : null;
  const text = next && JSON.stringify([look.colour, look.stroke_width, look.corner]); // the size is none of the picture's business
  if (text === drawn) return;
  [asked, drawn] = [next, text];
  document.documentElement.toggleAttribute("data-recoloured", look.colour !== null);
  forgetGone();
  for (const stack of stacks) {
    if (!asked) showPlain(stack);
    else await showRestyled(stack);
    if (text !== drawn) return; // overtaken by the next one
  }
}

async function showRestyled(stack) {
  const look = asked;
  const text = await textOf(stack.address).catch(() => null);
  if (look !== asked) return;
  if (text === null) return showPlain(stack); // which then says what is wrong
  const icons = new Map(stack.shown.map(({ icon }) => [layerOf(icon), icon]));
  const before = stack.url;
  stack.url = showBlob(restyledStack(text, look, icons), stack.shown.map(({ image, icon }) => ({ image, fragment: `#i${layerOf(icon)}` })));
  if (before) URL.revokeObjectURL(before);
}

function showBlob(text, images) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  for (const { image, fragment } of images) image.src = `${url}${fragment}`;
  return url;
}

async function textOf(address) {
  if (!texts.has(address)) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    texts.set(address, await answer.text());
    if (texts.size > MOST_TEXTS) texts.delete(texts.keys().next().value);
  }
  return texts.get(address);
}

/** Stacks that no picture of the page shows any more. */
function forgetGone() {
  for (const stack of stacks) stack.shown = stack.shown.filter(({ image }) => image.isConnected);
  for (const { url } of stacks.filter(({ shown, url }) => url && !shown.length)) URL.revokeObjectURL(url);
  stacks = stacks.filter(({ shown }) => shown.length);
}
