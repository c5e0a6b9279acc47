// Under which name? A small dialog that asks for one.

import { listen, make, openDialog } from "../elements.js";
import { collections, named } from "./collections.js";

/** Ask for the name of a collection; resolves to it, or to `null`. Known names are offered where icons may join one. */
export function askName({ title, name = "", button, joins = false }) {
  return new Promise((resolve) => {
    let chosen = null;
    const note = make("p", { className: "aside", id: "naming-note", role: "status" });
    const input = make("input", { type: "text", id: "naming-name", value: name, maxLength: 200, autocomplete: "off", required: true, "aria-describedby": "naming-note", autofocus: true });
    const done = make("button", { type: "submit", className: "button primary" }, button);
    const look = () => {
      const known = named(input.value) !== name && collections.get(named(input.value));
      note.textContent = !known ? "Kept in this browser." : joins ? `The icons join the ${known.icons.length} in it.` : "There is one of that name already.";
      done.disabled = !named(input.value) || Boolean(known && !joins);
    };
    const known = joins ? collections.all().map((one) => make("button", { className: "pill", onclick: () => { input.value = one.name; look(); input.focus(); } }, one.name)) : [];
    const form = make("form", {},
      make("label", { htmlFor: "naming-name" }, "Name"), input, known.length > 0 && make("p", { className: "pills" }, known.slice(0, 12)), note,
      make("div", { className: "foot" }, make("button", { className: "button", onclick: () => dialog.close() }, "Cancel"), done));
    listen(form, "submit", (event) => { event.preventDefault(); chosen = named(input.value); dialog.close(); });
    listen(input, "input", look);
    look();
    const dialog = openDialog("naming", title, { label: "Cancel", closed: () => resolve(chosen || null), content: form });
    input.select();
  });
}
