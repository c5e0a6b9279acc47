// In which forms do many icons leave the page? The server makes each; the browser saves it as a file.

import { exported } from "../api.js";
import { make, plural, say } from "../elements.js";

const KINDS = [
  ["zip", "file-archive", "SVG files", "A zip, with the licences"],
  ["sprite", "layers", "SVG sprite", "One file, used by id"],
  ["iconify", "braces", "Iconify JSON", "For @iconify and UnoCSS"],
  ["font", "type", "Web font", "WOFF2 with a style sheet"],
  ["react", "package", "React package", "Components with types"],
];

const SIZED = ["zip", "react"]; // the others take their size where they are shown

/** The ways as items of a menu. */
export const ways = (choose) => KINDS.map(([kind, drawing, title, note]) => ({ title, note, symbol: drawing, act: () => choose(kind) }));

/** Make a file of icons and save it; says how it went. */
export async function exportAs(kind, icons, { name, look }) {
  say(`Making a file of ${plural(icons.length, "icon")} …`);
  try {
    const asked = { ...look, size: SIZED.includes(kind) ? look.size : null, colour: kind === "font" ? null : look.colour };
    const { blob, fileName: called, leftOut } = await exported({ kind, name, icons: icons.map(({ key }) => key), look: asked });
    save(blob, called);
    const isPlain = kind === "font" && look.colour !== null;
    say([`Saved ${called}`, leftOut && `${plural(leftOut, "icon")} could not be read`, isPlain && "a font takes the colour of the text"].filter(Boolean).join("; "));
  } catch (error) {
    say(error.message);
  }
}

/** A name for a file: `Arrow left` -> `arrow-left`. */
export const fileName = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "icon";

/** Save a file, as a click on a link does. */
export function save(blob, name) {
  const href = URL.createObjectURL(blob);
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
