// What else is there like this icon? Rows of small tiles with a caption each.

import { similar } from "../api.js";
import { make, setTitle } from "../elements.js";
import { frame } from "../results/tile.js";

const SHOWN = 8;
const LOOKED_AT = 60; // the nearest ones, of which those of other sets are taken
const OF_A_SET = 2; // so that eight tiles are not eight sizes of one set

/** Icons that look like one: of its set, and of others. */
export async function alike(icon, { signal }) {
  const [own, all] = await Promise.all([
    similar(icon.id, { k: SHOWN + 1, set: icon.set, signal }),
    similar(icon.id, { k: LOOKED_AT, signal }),
  ]);
  const counts = new Map();
  const elsewhere = all.hits.filter((hit) => {
    if (hit.set === icon.set) return false;
    counts.set(hit.set, (counts.get(hit.set) ?? 0) + 1);
    return counts.get(hit.set) <= OF_A_SET;
  });
  return { own: own.hits.filter(({ id }) => id !== icon.id).slice(0, SHOWN), elsewhere: elsewhere.slice(0, SHOWN) };
}

/** Fill a section of the panel; hidden where there is nothing. `by` says what stands below a tile: "name", "set" or "style". */
export function fill(section, title, icons, { open, by }) {
  section.hidden = icons.length === 0;
  const caption = (icon) => (by === "name" ? icon.name : by === "style" ? icon.style || (icon.size ? `${icon.size} px` : icon.name) : setTitle(icon));
  const list = make("ul", { role: "list" }, icons.map((icon) => make("li", {},
    make("button", { className: "tile", title: `${icon.name}, ${setTitle(icon)}`, "aria-label": `${icon.name}, ${setTitle(icon)}`, onclick: () => open(icon) },
      frame(icon, { px: 28 }), make("span", { className: "caption" }, caption(icon))))));
  section.replaceChildren(make("h3", {}, title), list);
}
