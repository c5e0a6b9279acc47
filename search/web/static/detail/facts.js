// What is known of an icon, as a list of facts? Values that others share can be clicked: only those.

import { make, setTitle } from "../elements.js";
import { percent } from "../results/tile.js";
import { inPlainWords } from "./licences.js";

/** A value that narrows the search. */
export const link = (filter, kind, value, { title = value, className = "link" } = {}) =>
  make("button", { className, title: `Only this ${kind}`, onclick: () => filter(kind, value) }, title || value);

/** Facts of an icon; a hit tells some of them, all that is known is `complete`. */
export function facts(icon, { complete, filter }) {
  const pills = (kind, values) => values?.length > 0 && make("span", { className: "pills" }, values.map((value) => link(filter, kind, value, { className: "pill" })));
  const style = [icon.style && link(filter, "style", icon.style), icon.style && icon.size && ", ", icon.size && `drawn for ${icon.size} px`].filter(Boolean);
  const rows = [
    ["Licence", licence(icon)],
    ["Read as", complete && icon.name_read && `${icon.name_read.english} (${icon.name_read.name})`],
    ["Match", icon.exact ? "Exactly its name" : icon.score !== null && icon.score !== undefined && percent(icon.score)],
    ["Style", style.length > 0 && style],
    ["Category", complete && pills("category", icon.categories)],
    ["Tags", complete && pills("tag", icon.tags)],
    ["From", from(icon)],
  ];
  return make("dl", {}, rows.filter(([, value]) => value).map(([title, value]) => make("div", {}, make("dt", {}, title), make("dd", {}, value))));
}

function licence(icon) {
  const [may, asks] = inPlainWords(icon.licence_family);
  const name = icon.licence && make("a", { href: `https://spdx.org/licenses/${encodeURIComponent(icon.licence)}.html`, rel: "noreferrer", target: "_blank" }, icon.licence);
  return [make("span", { className: "may" }, may), make("small", {}, asks, name && " ", name)];
}

function from(icon) {
  const maker = [icon.author, icon.version].filter(Boolean).join(", ") || setTitle(icon);
  const file = icon.member ? `${icon.path}#${icon.member}` : icon.path;
  return [maker, make("small", {}, [icon.source, file].filter(Boolean).join(" · "))];
}
