// Which files does one icon become, in the look that is shown? The server writes the SVG, the browser draws it as a PNG.

import { code } from "../api.js";

export async function svgIn(key, look) {
  const { code: text } = await code(key, { format: "svg", look });
  return new Blob([text], { type: "image/svg+xml" });
}

/** Draw an SVG into the middle of a square. */
export async function pngOf(svg, px) {
  const image = new Image();
  const url = URL.createObjectURL(svg);
  try {
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(px, px);
    const scale = px / Math.max(image.naturalWidth, image.naturalHeight);
    const [width, height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    canvas.getContext("2d").drawImage(image, (px - width) / 2, (px - height) / 2, width, height);
    return await canvas.convertToBlob({ type: "image/png" });
  } finally {
    URL.revokeObjectURL(url);
  }
}
