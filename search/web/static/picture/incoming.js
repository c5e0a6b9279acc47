// By which ways does a picture come in? Pasted, dropped, chosen, taken with the camera, drawn.

import { say } from "../elements.js";
import { openMenu } from "../menu.js";
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
  constructor({ button, file, photo, overlay, drawing, search }) {
    Object.assign(this, { button, file, photo, panel: drawing, search, last: null, drawing: null });
    watchForPictures({ inputs: [file, photo], overlay, take: (taken, how) => this.#take(taken, how) });
    button.addEventListener("click", () => this.#offer());
  }

  /** Whether that picture was read here, so that another part of it can be chosen. */
  holds = (picture) => this.last !== null && this.last.picture === picture;

  #offer() {
    const canFilm = Boolean(navigator.mediaDevices?.getUserMedia) || matchMedia("(pointer: coarse)").matches;
    openMenu(this.button, { label: "Search with a picture", note: "Or paste one, or drop it anywhere.", items: [
      { title: "Choose a picture", symbol: "image-up", act: () => this.file.click() },
      canFilm && { title: "Take a photo", symbol: "camera", act: () => this.#film() },
      { title: "Draw it", symbol: "pencil", act: () => this.draw() },
      this.last && { title: "Choose another part", symbol: "crop", act: () => this.cut() },
    ].filter(Boolean) });
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
    this.#fold();
    this.last = how.isSvg ? null : { image, picture };
    await this.search(picture);
  }

  /** Another part of the picture that came last. */
  async cut() {
    if (this.last) await this.#use(this.last.image, { isAsked: true });
  }

  async #film() {
    if (matchMedia("(pointer: coarse)").matches || !navigator.mediaDevices?.getUserMedia) {
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
    const { Drawing, unfold } = await import("./drawing.js");
    this.drawing ??= new Drawing(this.panel, {
      search: (svg) => this.#sketch(svg),
      close: () => { this.#fold(); this.button.focus(); },
      upload: () => { this.#fold(); this.file.click(); },
    });
    unfold(this.panel, true);
    this.drawing.focus();
  }

  async #sketch(svg) {
    this.last = null;
    this.search(svg && fromSvg(svg), { isSketch: true });
  }

  #fold() {
    this.drawing?.close();
  }
}
