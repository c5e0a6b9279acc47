// By which ways does a picture come in? Pasted, dropped, chosen, taken with the camera, drawn.

import { listen, say } from "../elements.js";
import { keep, pictureOf } from "../screen/kept.js";
import { fromSvg, isPlain, read, shrink, sidesOf, unpacked } from "./picture.js";

const SCREEN = 700; // pixels, and longer than high: then it shows more than an icon
const OBLONG = 1.2;
const HAS_CAMERA = Boolean(navigator.mediaDevices?.getUserMedia);

const firstPicture = (transfer) =>
  [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/")) ?? transfer?.files?.[0];

/** Call `take(file)` for every picture that is pasted, dropped anywhere on the page, or chosen. */
function watchForPictures({ inputs, overlay, take }) {
  for (const input of inputs) {
    listen(input, "change", () => {
      if (input.files[0]) take(input.files[0], { isPhoto: input.hasAttribute("capture") });
      input.value = "";
    });
  }
  listen(window, "paste", (event) => {
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
  listen(window, "dragenter", (event) => { if (carriesFiles(event)) shade(1); });
  listen(window, "dragleave", (event) => { if (carriesFiles(event)) shade(-1); });
  listen(window, "dragover", (event) => { if (carriesFiles(event)) event.preventDefault(); });
  listen(window, "drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    shade(0);
    const file = firstPicture(event.dataTransfer);
    if (file) take(file);
  });
}

/** Whether a drawing is that of a screen: others are icons, and need no judge. */
function isScreen(image) {
  const [width, height] = sidesOf(image);
  return Math.max(width, height) >= SCREEN && Math.max(width / height, height / width) >= OBLONG;
}

export class Incoming {
  /** `search(picture, how)` asks with a picture, as the address holds it; `examine(number)` has one judged that is kept here. */
  constructor({ button, file, photo, overlay, panel, search, examine }) {
    Object.assign(this, { button, file, photo, panel, search, examine, last: null, origins: new Map(), drawing: null, sketch: null });
    watchForPictures({ inputs: [file, photo], overlay, take: (taken, how) => this.#take(taken, how) });
    listen(button, "click", () => this.#offer());
    listen(panel, "keydown", (event) => {
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
    if (picture) this.#unfold(false);
  }

  async #offer() {
    const { openMenu } = await import("../menu.js");
    openMenu(this.button, { label: "Search with a picture", note: "Or paste one, or drop it anywhere.", items: [
      { title: "Choose a picture", symbol: "image-up", act: () => this.file.click() },
      (HAS_CAMERA || this.#isPhone) && { title: "Take a photo", symbol: "camera", act: () => this.#film() },
      { title: "Draw it", symbol: "pencil", act: () => this.draw() },
      pictureOf(this.last) && { title: "Choose another part", symbol: "crop", act: () => this.cut(this.last) },
      pictureOf(this.last) && { title: "Back to the whole picture", symbol: "scan-search", act: () => this.examine(this.last, "screen") },
    ].filter(Boolean) });
  }

  get #isPhone() {
    return matchMedia("(pointer: coarse)").matches;
  }

  async #take(taken, { isPhoto = false } = {}) {
    try {
      await this.#use(await read(taken), { isPhoto, file: taken });
    } catch (error) {
      say(error.message);
    }
  }

  async #use(image, { isPhoto = false, file = null } = {}) {
    if ((file?.type === "image/svg+xml" && !isScreen(image)) || isPlain(image)) { // nothing is found in the latter, which is said at once
      await this.#ask(await shrink(image), null);
      return;
    }
    const number = keep(image, { file });
    if (isPhoto) await this.cut(number, { isCentred: true });
    else {
      this.last = number;
      await this.examine(number);
    }
  }

  #ask(picture, number, how) {
    this.last = number;
    if (number) this.origins.set(picture, number);
    return this.search(picture, how);
  }

  /** Search with a picture that is kept here: the whole of it, or a part. */
  async use(number, part = null, how = {}) {
    await this.#ask(await shrink(pictureOf(number).image, part), number, how);
  }

  /** Search with a part of a picture, which a person chooses. */
  async cut(number, { isCentred = false } = {}) {
    const { image } = pictureOf(number);
    const { crop } = await import("./crop.js");
    const box = await crop(image, { isCentred });
    if (box) await this.use(number, box);
  }

  /** The number of the picture that a search's picture was made of; one that came with an address is all there is. */
  async originOf(picture) {
    const number = this.origins.get(picture);
    if (number && pictureOf(number)) return number;
    const own = keep(await unpacked(picture));
    this.origins.set(picture, own);
    return own;
  }

  async #film() {
    if (this.#isPhone || !HAS_CAMERA) {
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
    this.#unfold(false);
    this.button.focus();
  }

  #unfold(isOpen) {
    this.panel.hidden = !isOpen;
    document.documentElement.classList.toggle("drawing", isOpen);
  }
}
