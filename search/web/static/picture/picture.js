// How does a pasted, dropped or chosen picture become part of the search? It is made small enough for the page's address.

const LONGEST = 160; // pixels: more than twice what the encoder looks at
const MOST_BYTES = 40e6;
const MOST_PIXELS = 16e6; // a screen of 5K has less; a larger picture is halved, as a server would refuse it
const ENDS = { "image/png": "IEND", "image/jpeg": "ÿÙ" }; // what files say at their end, as Latin text
const LONGEST_END = 65_536; // bytes in which they say it, and what some programs put behind that
const MOST_SENT = 9e6; // bytes of a whole picture: a server takes ten million unless told
const SENT_AS_IT_IS = ["image/png", "image/jpeg", "image/webp"];

/** Read a picture file. Throws an Error that can be shown. */
export async function read(file) {
  if (file.size > MOST_BYTES) throw new Error(`“${file.name}” has ${Math.round(file.size / 1e6)} MB; 40 MB at most.`);
  const name = `“${file.name || "What you pasted"}”`;
  const image = await load(file).catch(() => {
    throw new Error(`${name} is not a picture that this browser can read.`);
  });
  if (await isCut(file)) throw new Error(`${name} is cut off: its end is missing.`);
  const sides = sidesOf(image);
  const scale = Math.sqrt(MOST_PIXELS / (sides[0] * sides[1]));
  if (scale >= 1) return image;
  const [resizeWidth, resizeHeight] = sides.map((side) => Math.max(1, Math.round(side * scale)));
  return createImageBitmap(file, { resizeWidth, resizeHeight, resizeQuality: "medium" }).catch(() => painted(image, scale)); // while the page goes on; an SVG has no pixels
}

/** Whether the end of a file is missing: a browser shows the part that is there. */
async function isCut(file) {
  if (file.type === "image/webp") return new DataView(await file.slice(0, 8).arrayBuffer()).getUint32(4, true) + 8 > file.size;
  const end = new TextDecoder("latin1").decode(await file.slice(-LONGEST_END).arrayBuffer());
  return !end.includes(ENDS[file.type] ?? "");
}

/** An image, or a part of it, as a canvas of so much of its size. */
function painted(image, scale, part = null) {
  const { x, y, width, height } = part ?? wholeOf(image);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height].map((side) => Math.max(1, Math.round(side * scale)));
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  if (part) pen.drawImage(image, x, y, width, height, 0, 0, canvas.width, canvas.height);
  else pen.drawImage(image, 0, 0, canvas.width, canvas.height); // an SVG has no pixels to take a part of
  return canvas;
}

/** Width and height of an image or a canvas; of an SVG that states none, what it is drawn at. */
export const sidesOf = (image) => [image.naturalWidth || image.width || LONGEST, image.naturalHeight || image.height || LONGEST];

/** An image, or a part of it, as a canvas of what is searched with. */
function small(image, part = null) {
  const { width, height } = part ?? wholeOf(image);
  return painted(image, Math.min(1, LONGEST / Math.max(width, height)), part);
}

/** Whether nothing is drawn in a picture: it is of one colour all over. */
export function isPlain(image) {
  const canvas = small(image);
  const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return pixels.every((pixel) => pixel === pixels[0]);
}

/** Shrink an image, or a part of it, to base64url PNG or WebP, whichever is smaller. */
export async function shrink(image, part = null) {
  const canvas = small(image, part);
  const forms = await Promise.all([encode(canvas, "image/png"), encode(canvas, "image/webp", 0.9)]);
  const smallest = forms.reduce((a, b) => (b.size < a.size ? b : a));
  return toBase64Url(new Uint8Array(await smallest.arrayBuffer()));
}

/** A whole picture as it is sent: its file, or its pixels where the file is large or of a kind that browsers alone read. */
export async function uploaded(image, file) {
  if (file && image instanceof Image && file.size <= MOST_SENT && SENT_AS_IT_IS.includes(file.type)) return file;
  for (let scale = 1; ; scale /= 2) {
    const canvas = painted(image, scale);
    for (const [type, quality] of [["image/png"], ["image/webp", 0.92]]) {
      const blob = await encode(canvas, type, quality);
      if (blob && blob.size <= MOST_SENT) return blob;
    }
    if (canvas.width + canvas.height < LONGEST) throw new Error("The browser can't send this picture.");
  }
}

/** What a picture is called: pasted ones all have the same name, which says nothing. */
export const named = (file) => (file?.name && file.name !== "image.png" ? file.name : null);

export function wholeOf(image) {
  const [width, height] = sidesOf(image);
  return { x: 0, y: 0, width, height };
}

/** A drawing goes as it is: an SVG of strokes is small, and sharp at every size. */
export const fromSvg = (svg) => toBase64Url(new TextEncoder().encode(svg));

export async function load(file) {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(url);
  }
}

const encode = (canvas, type, quality) =>
  new Promise((resolve) => { canvas.toBlob(resolve, type, quality); });

function toBase64Url(bytes) {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes behind the text that `shrink` and `fromSvg` give. Throws an Error where the text was cut or changed. */
export async function toBlob(text) {
  let binary;
  try {
    binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    throw new Error("The picture in this address is damaged; drop it again.");
  }
  const type = binary.startsWith("<svg") ? "image/svg+xml" : ""; // the others are told by their content
  return new Blob([Uint8Array.from(binary, (character) => character.charCodeAt(0))], { type });
}

/** The picture of a search. */
export const unpacked = async (text) => load(await toBlob(text));

/** Draw an image, or a part of it, into a canvas, as large as it fits and centred. */
export function drawInto(canvas, image, part = null) {
  const { x, y, width, height } = part ?? wholeOf(image);
  const scale = Math.min(canvas.width / width, canvas.height / height);
  const place = [(canvas.width - width * scale) / 2, (canvas.height - height * scale) / 2, width * scale, height * scale];
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.clearRect(0, 0, canvas.width, canvas.height);
  if (part) pen.drawImage(image, x, y, width, height, ...place);
  else pen.drawImage(image, ...place);
}
