// Where are the icons that were kept? A dialog that lists them: to open, rename, take along as a file, or delete.

import { summedUp } from "../detail/licences.js";
import { find, iconButton, listen, make, openDialog, OPENS_MENU, plural, say, symbol } from "../elements.js";
import { openMenu } from "../menu.js";
import { frame } from "../results/tile.js";
import { collections, fromFile, toFile } from "./collections.js";
import { fileName, save } from "./exporting.js";
import { askName } from "./naming.js";
import { chosen, KEPT } from "./store.js";
import { offerUndo } from "./undo.js";

const SHOWN = 6;

/** Show them; `open(name)` shows the icons of one. */
export function showShelf({ open }) {
  const file = make("input", { type: "file", accept: ".json,.txt,application/json,text/plain", hidden: true, "aria-label": "File of a collection" });
  const list = make("ul", { role: "list" });
  const leave = (name) => { dialog.close(); open(name); };
  const fill = () => {
    const all = collections.all();
    list.replaceChildren(...(chosen.size ? [keptRow(leave)] : []), ...all.map((one) => row(one, leave)),
      ...(chosen.size || all.length ? [] : [empty()]));
  };
  listen(file, "change", async () => { for (const one of file.files) await take(one); file.value = ""; });
  const foot = make("div", { className: "foot" }, make("p", { className: "aside" }, "Kept in this browser. A file takes a collection to another one, or to icons export."),
    make("button", { className: "button", onclick: () => file.click() }, symbol("upload"), "Read a file"), file);
  const places = [collections, chosen];
  for (const place of places) listen(place, "change", fill);
  fill();
  const closed = () => { for (const place of places) place.removeEventListener("change", fill); };
  const dialog = openDialog("shelf", "Kept icons", { closed, content: [list, foot] });
  find("ul button, .foot button", dialog).focus();
}

const empty = () => make("li", { className: "empty" }, symbol("folder"), make("p", {}, "Nothing here yet. Keep an icon with the check mark on its tile, and save several as a collection."));

const mosaic = (icons) => make("span", { className: "peek", "aria-hidden": "true" }, icons.filter(({ id }) => id !== null).slice(0, SHOWN).map((icon) => frame(icon, { lazy: false, px: 22 })));

const opening = (title, icons, leave, drawing) => make("button", { className: "row", onclick: leave },
  make("span", { className: "what" }, make("strong", {}, drawing && symbol(drawing), title), make("small", {}, `${plural(icons.length, "icon")}${described(icons)}`)), mosaic(icons));

/** Of icons that a file named nothing is known but their keys. */
const described = (icons) => (icons.every(({ id }) => id !== null) && icons.length ? ` · ${summedUp(icons)}` : "");

const keptRow = (leave) => make("li", {}, opening("Kept", chosen.all(), () => leave(KEPT), "check"), more("Kept", [
  { title: "Save as collection", symbol: "folder-plus", act: saveKept },
  { title: "Clear", symbol: "trash-2", act: clearKept },
]));

/** Let go of all kept icons; it can be undone. */
export function clearKept() {
  const before = chosen.all();
  chosen.clear();
  offerUndo(`${plural(before.length, "icon")} let go`, () => chosen.add(before));
}

/** Save them under a name. */
export async function saveKept() {
  const icons = chosen.all();
  const name = await askName({ title: `Save ${plural(icons.length, "icon")} as a collection`, button: "Save", joins: true });
  if (name !== null) attempt(() => join(name, icons, (n, isNew) => (isNew ? `Saved “${name}”` : `Added ${plural(n, "icon")} to “${name}”`)));
}

function join(name, icons, said) {
  const isNew = !collections.get(name);
  const n = collections.add(name, icons);
  say(isNew || n ? said(n, isNew) : `“${name}” has them all already`);
}

const row = (one, leave) => make("li", {}, opening(one.name, one.icons, () => leave(one.name)), more(one.name, [
  { title: "Keep all", symbol: "check", act: () => chosen.add(one.icons.filter(({ id }) => id !== null)) },
  { title: "Rename", symbol: "pencil", act: () => rename(one) },
  { title: "Download as a file", symbol: "download", act: () => save(new Blob([toFile(one)], { type: "application/json" }), `${fileName(one.name)}.json`) },
  { title: "Delete", symbol: "trash-2", act: () => attempt(() => offerUndo(`“${one.name}” deleted`, collections.remove(one.name))) },
]));

function more(name, items) {
  const button = iconButton("ellipsis", `More for ${name}`, () => openMenu(button, { label: name, items }), OPENS_MENU);
  return button;
}

async function rename(one) {
  const name = await askName({ title: `Rename “${one.name}”`, name: one.name, button: "Rename" });
  if (name !== null) attempt(() => collections.rename(one.name, name));
}

async function take(file) {
  const read = await fromFile(file).catch((error) => say(error.message));
  if (read) attempt(() => join(read.name, read.icons, (n) => `Read ${plural(n, "icon")} into “${read.name}”`));
}

function attempt(act) {
  try {
    act();
  } catch (error) {
    say(error.message);
  }
}
