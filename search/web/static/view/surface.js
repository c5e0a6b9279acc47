// On what ground do icons stand, how large, and can they be seen there? Black on dark is shown turned, as white.

import { pictureOf } from "../api.js";
import { listen, whenQuiet } from "../elements.js";

const DENSE = 24; // pixels: pictures up to this size stand close together, without names
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Paint the ground that a state asks for on the whole page. */
export function applyView({ bg, px, names }) {
  const ground = bg === "auto" ? (dark.matches ? "dark" : "light") : bg;
  const root = document.documentElement;
  const own = ground.startsWith("#");
  root.dataset.surface = own ? "colour" : ground;
  root.dataset.ground = own ? (luminance(...linear(ground)) < 0.3 ? "dark" : "light") : ground;
  root.style.setProperty("--px", px);
  root.toggleAttribute("data-dense", px <= DENSE || names === "hover");
  if (own) root.style.setProperty("--colour", ground);
  return ground;
}

/** Channels in proportion to light, 0 to 255, so that a colour is judged as WCAG judges it. */
const linear = (hex) => [1, 3, 5].map((at) => 255 * (parseInt(hex.slice(at, at + 2), 16) / 255) ** 2.2);
const luminance = (r, g, b) => (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;

/** Call back when the system goes dark or light. */
export const watchTheme = (changed) => listen(dark, "change", changed);

const SIDE = 24; // pixels that are looked at, across
const inks = new Map();
let canvas = null;

/** Tell "dark", "light" or "colour" from the pixels of a loaded picture; a picture without a free corner keeps its own.
 *  `null` where nothing is seen at all. */
function inkOf(image) {
  canvas ??= new OffscreenCanvas(SIDE, SIDE).getContext("2d", { willReadFrequently: true });
  canvas.clearRect(0, 0, SIDE, SIDE);
  canvas.drawImage(image, 0, 0, SIDE, SIDE);
  const pixels = canvas.getImageData(0, 0, SIDE, SIDE).data;
  const corners = [0, SIDE - 1, SIDE * (SIDE - 1), SIDE * SIDE - 1];
  if (corners.every((corner) => pixels[4 * corner + 3] > 200)) return "colour";
  let [light, weight] = [0, 0];
  for (let at = 0; at < pixels.length; at += 4) {
    const [r, g, b, alpha] = pixels.subarray(at, at + 4);
    if (alpha > 100 && Math.max(r, g, b) - Math.min(r, g, b) > 40) return "colour";
    light += luminance(r, g, b) * alpha;
    weight += alpha;
  }
  if (!weight) return null;
  const mean = light / weight;
  return mean < 0.45 ? "dark" : mean > 0.65 ? "light" : "colour";
}

/** Note on a picture's frame which ink it is drawn in: at once where nothing is known, else when there is time to look. */
export function watchInk(frame, image, icon, { blank }) {
  const address = pictureOf(icon);
  const note = () => {
    if (image.src.startsWith("blob:")) { // in a look of the user's: its pixels do not tell how the icon was drawn
      frame.dataset.ink ??= "look";
      return;
    }
    const ink = inks.get(address) ?? inkOf(image);
    if (ink) inks.set(address, ink);
    else blank();
    frame.dataset.ink = ink ?? "dark";
  };
  if (inks.has(address)) note();
  else listen(image, "load", () => (icon.coloured === null ? note() : whenQuiet(note)));
}
