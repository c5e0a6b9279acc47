// Which files does one icon become, in the look that is shown? The server writes the SVG, the browser draws it as a PNG.

import { code } from "../api.js";
import { drawInto, load } from "../picture/picture.js";

export async function svgIn(key, look) {
  const { code: text } = await code(key, { format: "svg", look });
  return new Blob([text], { type: "image/svg+xml" });
}

/** Draw an SVG into the middle of a square. */
export async function pngOf(svg, px) {
  const canvas = new OffscreenCanvas(px, px);
  drawInto(canvas, await load(svg));
  return canvas.convertToBlob({ type: "image/png" });
}
