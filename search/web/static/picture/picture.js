// How does a pasted, dropped or chosen picture become part of the search? It is made small enough for the page's address.

const LONGEST = 160; // pixels: more than twice what the encoder looks at
const MOST_BYTES = 40e6;

/** Shrink a picture file to base64url PNG or WebP, whichever is smaller. Throws an Error that can be shown. */
export async function shrink(file) {
  if (file.size > MOST_BYTES) throw new Error(`“${file.name}” has ${Math.round(file.size / 1e6)} MB; 40 MB at most.`);
  const image = await load(file).catch(() => {
    throw new Error(`“${file.name || "What you pasted"}” is not a picture that this browser can read.`);
  });
  const [width, height] = [image.naturalWidth || LONGEST, image.naturalHeight || LONGEST];
  const scale = Math.min(1, LONGEST / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const forms = await Promise.all([encode(canvas, "image/png"), encode(canvas, "image/webp", 0.9)]);
  const smallest = forms.reduce((a, b) => (b.size < a.size ? b : a));
  return toBase64Url(new Uint8Array(await smallest.arrayBuffer()));
}

async function load(file) {
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

/** The bytes behind `shrink`'s text. Throws an Error where the text was cut or changed. */
export async function toBlob(text) {
  let binary;
  try {
    binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    throw new Error("The picture in this address is damaged; drop it again.");
  }
  return new Blob([Uint8Array.from(binary, (character) => character.charCodeAt(0))]);
}

/** Draw the picture of a search into a small canvas, whole and centred. */
export async function drawThumbnail(canvas, text) {
  const bitmap = await createImageBitmap(await toBlob(text));
  const scale = Math.min(canvas.width / bitmap.width, canvas.height / bitmap.height);
  const [width, height] = [bitmap.width * scale, bitmap.height * scale];
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
}

const firstPicture = (transfer) =>
  [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/")) ?? transfer?.files?.[0];

/** Call `take(file)` for every picture that is pasted, dropped anywhere on the page, or chosen. */
export function watchForPictures({ input, button, overlay, take }) {
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    if (input.files[0]) take(input.files[0]);
    input.value = "";
  });
  addEventListener("paste", (event) => {
    const file = firstPicture(event.clipboardData);
    if (!file) return;
    event.preventDefault();
    take(file);
  });
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  let depth = 0;
  const shade = (change) => {
    depth = Math.max(0, change === 0 ? 0 : depth + change);
    overlay.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => { if (carriesFiles(event)) shade(1); });
  addEventListener("dragleave", (event) => { if (carriesFiles(event)) shade(-1); });
  addEventListener("dragover", (event) => { if (carriesFiles(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    shade(0);
    const file = firstPicture(event.dataTransfer);
    if (file) take(file);
  });
}
