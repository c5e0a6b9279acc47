// Where do the pictures of icons come from? Many in one answer: one for each makes the browser work ten times as long.

import { pictureOf, svgsOf } from "../api.js";
import { whenIdle } from "../elements.js";

const MOST_AT_ONCE = 40; // about a screen of them; the server takes 100
let wanted = [];

/** Show an icon in an `img`, where no script of an SVG can run: as soon as all that is wanted now can be asked for. */
export function showPicture(image, icon) {
  if (!icon.svg_url) image.src = pictureOf(icon);
  else if (wanted.push({ image, icon }) === 1) queueMicrotask(showWanted);
  // Whoever drags it away or saves it wants this icon, not all that came with it.
  image.addEventListener("pointerenter", () => showAlone(image, icon), { once: true });
}

/** Show an icon by its own address, which also says what is wrong with it. */
export function showAlone(image, icon) {
  if (!image.src.endsWith(pictureOf(icon))) image.src = pictureOf(icon);
}

/** The first ones first; what is no longer on the page by then is not asked for. */
async function showWanted() {
  const all = wanted;
  wanted = [];
  for (let at = 0; at < all.length; at += MOST_AT_ONCE) {
    const some = all.slice(at, at + MOST_AT_ONCE).filter(({ image }) => image.isConnected);
    const address = svgsOf([...new Set(some.map(({ icon }) => icon.image))]);
    for (const { image, icon } of some) {
      if (at === 0) image.loading = "eager"; // what is lazy is asked for a frame later only
      image.src = `${address}#i${icon.image}`;
    }
    await new Promise((resolve) => { whenIdle(resolve); });
  }
}
