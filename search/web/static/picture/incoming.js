// By which ways does a picture come in? Pasted, dropped, chosen, taken with the camera, drawn.

import { say } from "../elements.js";
import { fromSvg, read, shrink, sidesOf } from "./picture.js";

const SCREEN = 700; // pixels, and longer than high: then it shows more than an icon
const OBLONG = 1.2;

const firstPicture = (transfer) =>
  [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/")) ?? transfer?.files?.[0];

/** Call `take(file)` for every picture that is pasted, dropped anywhere on the page, or chosen. */
export function watchForPictures({ inputs, overlay, take }) {
  for (const input of inputs) {
    input.addEventListener("change", () => {
      if (input.files[0]) take(input.files[0], { isPhoto: input.hasAttribute("capture") });
      input.value = "";
    });
  }
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

/** Make what is searched with of a picture: a person says which part of it where it shows more than an icon; `null` for none. */
export async function part(image, { isPhoto = false, isAsked = false, isSvg = false } = {}) {
  const [width, height] = sidesOf(image);
  const isScreen = !isSvg && Math.max(width, height) >= SCREEN && Math.max(width / height, height / width) >= OBLONG;
  if (!isPhoto && !isScreen && !isAsked) return shrink(image);
  const { crop } = await import("./crop.js");
  const box = await crop(image, { isCentred: isPhoto });
  return box && shrink(image, box);
}

export class Incoming {
  /** `search(picture, how)` asks with a picture, as the address holds it. */
  constructor({ button, file, photo, overlay, panel, search }) {
    Object.assign(this, { button, file, photo, panel, search, last: null, drawing: null, sketch: null });
    watchForPictures({ inputs: [file, photo], overlay, take: (taken, how) => this.#take(taken, how) });
    button.addEventListener("click", () => this.#offer());
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.#close();
    });
  }

  /** What is drawn belongs to the search with it: where that ends, so does the drawing. */
  follow(picture) {
    if (picture === this.sketch) return;
    this.sketch = null;
    this.drawing?.forget();
    if (picture) this.#fold();
  }

  async #offer() {
    const canFilm = Boolean(navigator.mediaDevices?.getUserMedia) || this.#isPhone;
    const { openMenu } = await import("../menu.js");
    openMenu(this.button, { label: "Search with a picture", note: "Or paste one, or drop it anywhere.", items: [
      { title: "Choose a picture", symbol: "image-up", act: () => this.file.click() },
      canFilm && { title: "Take a photo", symbol: "camera", act: () => this.#film() },
      { title: "Draw it", symbol: "pencil", act: () => this.draw() },
      this.last && { title: "Choose another part", symbol: "crop", act: () => this.#use(this.last, { isAsked: true }) },
    ].filter(Boolean) });
  }

  get #isPhone() {
    return matchMedia("(pointer: coarse)").matches;
  }

  async #take(taken, { isPhoto = false } = {}) {
    try {
      await this.#use(await read(taken), { isPhoto, isSvg: taken.type === "image/svg+xml" });
    } catch (error) {
      say(error.message);
    }
  }

  async #use(image, how) {
    const picture = await part(image, how);
    if (!picture) return;
    this.last = how.isSvg ? null : image;
    await this.search(picture);
  }

  async #film() {
    if (this.#isPhone || !navigator.mediaDevices?.getUserMedia) {
      this.photo.click(); // a phone's own camera does it better
      return;
    }
    try {
      const { film } = await import("./camera.js");
      const taken = await film();
      if (taken) await this.#use(taken, { isPhoto: true });
    } catch (error) {
      say(error.message);
    }
  }

  /** Open the canvas beside the results. */
  async draw() {
    const { Drawing } = await import("./drawing.js");
    this.drawing ??= new Drawing(this.panel, {
      search: (svg) => this.#searchSketch(svg),
      close: () => this.#close(),
      upload: () => { this.#close(); this.file.click(); },
    });
    this.#unfold(true);
    this.drawing.focus();
  }

  #searchSketch(svg) {
    this.last = null;
    this.sketch = svg && fromSvg(svg);
    this.search(this.sketch, { isSketch: true });
  }

  #close() {
    this.#fold();
    this.button.focus();
  }

  #fold() {
    this.#unfold(false);
  }

  #unfold(isOpen) {
    this.panel.hidden = !isOpen;
    document.documentElement.classList.toggle("drawing", isOpen);
  }
}
