// How does an icon leave as code? In the framework that was chosen last; the server writes it, the browser copies it.

import { codes, frameworks } from "../api.js";
import { plural, say } from "../elements.js";
import { putFirst, texts } from "../tray/store.js";

const PLACE = "icons.formats"; // those that were chosen, the last one first
const MOST_REMEMBERED = 8;
const USUAL = ["svg", "name"]; // the second one for bitmaps

let asked = null;

/** All ways to write an icon, as the server has them: `{ name, title, sets, form }`, `sets` empty where it serves every set. */
function formats() {
  asked ??= frameworks().catch((error) => { asked = null; throw error; });
  return asked;
}

/** Whether a format can write an icon: what is drawn of an SVG needs one. */
const writes = (format, icon) => (format.sets.length === 0 || format.sets.includes(icon.set)) && (icon.svg_url !== null || format.form !== "drawn");

/** Remember a format: the next icon that it serves is written so, too. */
export const prefer = (name) => putFirst(PLACE, name, MOST_REMEMBERED);

/** The formats that write all of some icons. */
export const formatsFor = async (icons) => (await formats()).filter((format) => icons.every((icon) => writes(format, icon)));

/** The format that was chosen last of those that write all of some icons. */
export async function preferred(icons) {
  const able = await formatsFor(icons);
  const known = (name) => able.find((format) => format.name === name);
  return [...texts(PLACE, MOST_REMEMBERED), ...USUAL].map(known).find(Boolean);
}

const LOOKS = { colours: "colour", stroke_width: "stroke width", corner: "corners", stroke: "stroke: as a filled shape it is another icon" };

/** What of the look a format leaves out, in words; the one with a reason last. */
export const unsaid = (leftOut) => [...new Set([...leftOut].sort((a, b) => (a === "stroke") - (b === "stroke")).map((name) => LOOKS[name] ?? name))].join(", ");

/** What is said once icons were copied. */
function said(icons, { name, title }, leftOut) {
  const [{ key, name: first }] = icons;
  if (name === "name") return `Copied ${icons.length > 1 ? plural(icons.length, "name") : `“${key}”`}`;
  return `Copied ${icons.length > 1 ? plural(icons.length, "icon") : first} as ${title}${leftOut.length ? `, without ${unsaid(leftOut)}` : ""}`;
}

/** Copy icons in the remembered format, or in one that is on its way; says what happened. */
export function copy(icons, { look, format: chosen = null, written = null }) {
  return copyText(async () => {
    const format = chosen ?? await preferred(icons);
    const { code: text, left_out: leftOut } = await (written ?? codes(icons.map(({ key }) => key), { format: format.name, look }));
    return [text, said(icons, format, leftOut)];
  });
}

/** Copy what is on its way: some browsers take it only where the promise is handed over within the click. `ask` gives the text
 *  and what to say of it. */
export async function copyText(ask) {
  let failure = null;
  const coming = ask().catch((error) => { failure = error; throw error; });
  try {
    const blob = coming.then(([text]) => new Blob([text], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    say((await coming)[1]);
    return true;
  } catch (error) {
    say(failure?.message ?? (error.name === "NotAllowedError" ? "The browser does not let this page write to the clipboard" : error.message));
    return false;
  }
}
