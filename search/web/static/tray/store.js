// Which icons are kept? In the browser, the same in all of its tabs.

import { listen, say } from "../elements.js";

const MOST = 500; // icons of one list, as many as the server writes at once; of 5 MB that a browser keeps they take 0.2
const KEY = /^[^\s:][^:]{0,199}:\S.{0,299}$/u; // "lucide:bell"
const TEXTS = ["digest", "name", "set", "set_title", "style", "svg_url", "png_url", "licence", "licence_family"];
const DIGEST = /^[\da-f]{32}$/;
const PICTURE = /^\/api\/v1\/icons\/\d+\/(svg|png)\?v=[\da-f]{32}$/;

/** What is kept of a hit: enough to draw it and to say whose it is. `null` for what is no hit. */
export function kept(hit) {
  if (typeof hit?.key !== "string" || !KEY.test(hit.key)) return null;
  const text = (value) => (typeof value === "string" && value.length <= 300 ? value : null);
  const number = (value) => (Number.isSafeInteger(value) && value >= 0 ? value : null);
  const one = { key: hit.key, id: number(hit.id), image: number(hit.image), coloured: typeof hit.coloured === "boolean" ? hit.coloured : null };
  for (const name of TEXTS) one[name] = text(hit[name]);
  if (!DIGEST.test(one.digest ?? "")) one.digest = null; // what an older page has kept has none
  for (const name of ["svg_url", "png_url"]) if (!one.digest || !PICTURE.test(one[name] ?? "")) one[name] = null; // a file that was read back may name any address
  one.name ??= hit.key.slice(hit.key.indexOf(":") + 1);
  one.set ??= hit.key.slice(0, hit.key.indexOf(":"));
  return one;
}

/** The browser's place for texts; where it has none (private windows, storage turned off), lists last as long as the page. */
export function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null; // not ours, or cut off: begin anew
  }
}

/** A list that the browser keeps; an empty one where it keeps none. */
export function readList(name) {
  const stored = read(name);
  return Array.isArray(stored) ? stored : [];
}

const LONGEST = 80; // characters of a text that is worth to be kept

/** Short texts that the browser keeps, the last one first. */
export const texts = (name, most) => readList(name).filter((one) => typeof one === "string" && one && one.length <= LONGEST).slice(0, most);

/** Put a text before the others; those that are the same go. */
export function putFirst(name, text, most, isSame = (other) => other === text) {
  if (text && text.length <= LONGEST) write(name, [text, ...texts(name, most).filter((other) => !isSame(other))].slice(0, most));
}

/** Call back when another tab changes what is kept under a name, or clears all of it. */
export function whenStored(name, changed) {
  listen(window, "storage", ({ key }) => { if (key === name || key === null) changed(); });
}

let isSaid = false;

/** Say once that the browser has no place. */
export function tellUnkept() {
  if (!isSaid) say("Your browser keeps nothing for this page: what you keep lasts until it is closed.");
  isSaid = true;
}

/** Tells whether there was room; the first time that there is none, the page says so. */
export function write(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    tellUnkept();
    return false;
  }
}

/** Icons in the order in which they were taken. Says "change" when it changes, here or in another tab. */
export class IconList extends EventTarget {
  #place;
  #icons = new Map();

  constructor(place) {
    super();
    this.#place = place;
    this.#load();
    whenStored(place, () => { this.#load(); this.dispatchEvent(new Event("change")); });
  }

  get size() {
    return this.#icons.size;
  }

  has = (key) => this.#icons.has(key);

  all = () => [...this.#icons.values()];

  /** Take an icon, or leave it; tells whether it is in now. */
  toggle(hit) {
    if (this.has(hit.key)) this.remove([hit.key]);
    else this.add([hit]);
    return this.has(hit.key);
  }

  /** Take some more; tells how many had no place any more. Icons that are in already are brought up to date. */
  add(hits) {
    const fit = hits.map(kept).filter(Boolean);
    let left = 0;
    for (const icon of fit) {
      if (this.has(icon.key) || this.size < MOST) this.#icons.set(icon.key, icon);
      else left += 1;
    }
    if (fit.length) this.#save();
    return left;
  }

  remove(keys) {
    const gone = keys.filter((key) => this.#icons.delete(key));
    if (gone.length) this.#save();
  }

  clear() {
    if (this.size) this.replace([]);
  }

  /** Other icons in place of all these: to undo, or to open a collection. */
  replace(hits) {
    this.#put(hits);
    this.#save();
  }

  #load() {
    this.#put(readList(this.#place));
  }

  #put(hits) {
    this.#icons = new Map(hits.map(kept).filter(Boolean).slice(0, MOST).map((icon) => [icon.key, icon]));
  }

  #save() {
    write(this.#place, this.all());
    this.dispatchEvent(new Event("change"));
  }
}

export const chosen = new IconList("icons.chosen");
export const KEPT = "✓"; // what they are called where a collection is named
