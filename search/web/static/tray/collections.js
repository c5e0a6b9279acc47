// Which collections are there? Icons under a name, kept in this browser; and as files, which `icons export` reads, too.

import { kept, readList, whenStored, write } from "./store.js";

const PLACE = "icons.collections";
const STARS = "icons.starred"; // where older pages had a list more: it becomes a collection
const MOST = 100;
const MOST_ICONS = 500; // as many as can be kept
const LONGEST_NAME = 200;
const [FORMAT, VERSION] = ["icons-collection", 1];
const MOST_BYTES = 5e6;

/** A name without what nobody sees. */
export const named = (text) => String(text ?? "").replace(/\s+/gu, " ").trim().slice(0, LONGEST_NAME);

class Collections extends EventTarget {
  #all = [];

  constructor() {
    super();
    this.#load();
    const stars = readList(STARS);
    if (stars.some(kept) && this.#all.length < MOST) this.add("Starred", stars);
    if (stars.length) localStorage.removeItem(STARS);
    whenStored(PLACE, () => { this.#load(); this.dispatchEvent(new Event("change")); });
  }

  all = () => this.#all;

  get = (name) => this.#all.find((one) => one.name === name) ?? null;

  /** Put icons into a collection, those that are not in it yet; tells how many came. */
  add(name, icons) {
    const before = this.get(name)?.icons ?? [];
    const known = new Set(before.map(({ key }) => key));
    const fresh = icons.map(kept).filter((icon) => icon && !known.has(icon.key)).slice(0, MOST_ICONS - before.length);
    const one = { name, icons: [...before, ...fresh] };
    this.#set(this.get(name) ? this.#all.map((other) => (other.name === name ? one : other)) : [one, ...this.#all]);
    return fresh.length;
  }

  rename(name, other) {
    if (name === other || this.get(other)) return false;
    this.#set(this.#all.map((one) => (one.name === name ? { ...one, name: other } : one)));
    return true;
  }

  /** Take a collection away; calling what is given back brings it back to its place. */
  remove(name) {
    const at = this.#all.findIndex((one) => one.name === name);
    const gone = this.#all[at];
    this.#set(this.#all.filter((one) => one !== gone));
    return () => { if (!this.get(name)) this.#set(this.#all.toSpliced(at, 0, gone)); };
  }

  #load() {
    const sound = (one) => named(one?.name) && Array.isArray(one.icons);
    this.#all = readList(PLACE).filter(sound).slice(0, MOST)
      .map(({ name, icons }) => ({ name: named(name), icons: icons.slice(0, MOST_ICONS).map(kept).filter(Boolean) }));
  }

  #set(all) {
    if (all.length > MOST) throw new Error(`There are ${MOST} collections already; delete one first.`);
    if (!write(PLACE, all)) throw new Error("The browser has no room for more; delete a collection, or download it as a file first.");
    this.#all = all;
    this.dispatchEvent(new Event("change"));
  }
}

export const collections = new Collections();

/** A collection as the text of a file. */
export const toFile = ({ name, icons }) => `${JSON.stringify({ format: FORMAT, version: VERSION, name, icons: icons.map(({ key }) => key) }, null, 2)}\n`;

/** Read a file: a collection, a JSON list of keys, or a key a line. Throws an Error that can be shown. */
export async function fromFile(file) {
  const name = named(file.name.replace(/\.[^.]*$/, "")) || "Collection";
  if (file.size > MOST_BYTES) throw new Error(`“${file.name}” has ${(file.size / 1e6).toFixed(1)} MB; a collection has 5 MB at most.`);
  const text = (await file.text()).trim();
  if (!/^[[{]/.test(text)) return { name, icons: icons(text.split("\n").map((line) => line.replace(/(^|\s)#\s.*$/, "").trim()).filter(Boolean), file.name) };
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error(`“${file.name}” can't be read: it is no JSON.`);
  }
  if (Array.isArray(content)) return { name, icons: icons(content, file.name) };
  if ((content.format ?? FORMAT) !== FORMAT || !Array.isArray(content.icons)) throw new Error(`“${file.name}” is no collection of icons.`);
  if ((content.version ?? VERSION) !== VERSION) throw new Error(`“${file.name}” is of version ${content.version}; this page reads version ${VERSION}.`);
  return { name: named(content.name) || name, icons: icons(content.icons, file.name) };
}

function icons(entries, file) {
  const all = entries.map((one) => kept({ key: typeof one === "string" ? one.trim() : one?.key })).filter(Boolean);
  if (!all.length) throw new Error(`“${file}” names no icon; write keys as lucide:bell.`);
  if (all.length > MOST_ICONS) throw new Error(`“${file}” names ${all.length.toLocaleString("en")} icons; a collection has ${MOST_ICONS.toLocaleString("en")} at most here.`);
  return all;
}
