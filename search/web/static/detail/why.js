// Why was an icon found? What each part of the search says of it, beside the icon that comes first.

import { make } from "../elements.js";
import { percent } from "../results/tile.js";

const WORDS = { picture: "looks", name: "name", tags: "tags", fused: "all of it" };
const TIERS = { called: "it is called so", named: "its name says it", stated: "a tag says it", related: "it is related" };

/** Lay out an explanation: how the words were read, a bar for each way in which it fits, the rest as a table. */
export function* explained({ typed, spelled, read_as: readAs, style, parts, drawn, without, icon, first, shown }) {
  const columns = first && first.hit.id !== icon.hit.id ? [icon, first] : [icon];
  const lists = Object.entries({ parts, "customarily drawn": drawn, without }).map(([title, words]) => words.length > 0 && `${title}: ${words.join(", ")}`);
  const read = [readAs && `read as ${readAs.name}`, `asked: ${spelled ? `${typed}, perhaps ${spelled}` : typed}`, style && `style: ${style}`, ...lists];
  yield make("p", {}, read.filter(Boolean).join(" · "));
  yield fits(icon, columns[1]);
  yield table(columns);
  const silent = Object.keys(icon.evidence).filter((name) => !says(columns, name));
  if (silent.length) yield make("p", {}, `Nothing from: ${silent.join(", ")}.`);
  yield make("p", {}, `It is ${shown}.`);
}

/** How near the query is to what the icon shows and how it is named, 0 to 1. */
function fits(icon, first) {
  const rows = Object.entries(icon.cosines).map(([part, cosine]) => make("li", {},
    make("span", {}, WORDS[part] ?? part),
    make("meter", { min: 0, max: 1, value: Math.max(0, cosine), "aria-label": `${WORDS[part] ?? part}: ${cosine.toFixed(2)}${first ? `, the first icon ${first.cosines[part]?.toFixed(2) ?? "none"}` : ""}` }),
    make("span", { className: "figure", "aria-hidden": "true" }, cosine.toFixed(2))));
  return make("div", { className: "fits" }, make("p", {}, `It is among the results because ${TIERS[icon.tier] ?? icon.tier}. How well it fits:`), make("ul", { role: "list" }, rows));
}

const says = (columns, name) => columns.some(({ evidence, cosines }) => evidence[name] || name in cosines);

function table(columns) {
  const rows = (part, unit, digits) => [...new Set(columns.flatMap((one) => Object.keys(one[part])))].filter((name) => says(columns, name))
    .map((name) => [`${name}, ${unit}`, (one) => one[part][name]?.toFixed(digits) ?? ""]);
  const all = [...rows("cosines", "cosine", 3), ...rows("evidence", "log-odds", 2),
    ["answers", ({ tier }) => tier], ["score", ({ hit }) => percent(hit.score)], ["rank", ({ rank }) => rank ?? "none"]];
  return make("table", {},
    make("thead", {}, make("tr", {}, make("td"), columns.map(({ hit }) => make("th", { scope: "col" }, hit.name)))),
    make("tbody", {}, all.map(([label, value]) => make("tr", {}, make("th", { scope: "row" }, label),
      columns.map((one) => make("td", {}, value(one)))))));
}
