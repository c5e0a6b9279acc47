// What can be filtered by, in which words and order? Kinds, their titles, and the labels of each.

import { pinned, visited } from "../start/memory.js";

export const LEAD = ["set", "style", "licence"]; // each with a button of its own; the rest stands under "More"
export const TITLES = {
  set: "Set", style: "Style", licence: "Licence", corner: "Corners", category: "Category", tag: "Tag", size: "Size", coloured: "Colour", animated: "Motion",
};
export const ORDER = ["set", "style", "licence", "category", "tag", "size"]; // corners stand among styles, as people look for them there
export const CHOICES = { // one of a few, or none
  coloured: [[true, "Many colours"], [false, "One colour"]],
  animated: [[true, "Animated"], [false, "Still"]],
};
export const TOGGLES = { flat: "Every variant", keyword: "Keywords only" };
export const FAMILY_NAMES = { // the server takes them as licences; what most look for stands first
  permissive: "Commercial use without attribution", attribution: "Commercial use with attribution", "share-alike": "Share alike", copyleft: "Copyleft",
  "non-commercial": "No commercial use", unknown: "Not known",
};
/** Sets that people ask for by name, of Iconify's: their keys. */
export const POPULAR = ["lucide", "mdi", "material-symbols", "tabler", "ph", "heroicons", "fa6-solid", "bi", "ri", "carbon", "fluent", "solar", "simple-icons", "logos", "noto", "circle-flags"];

/** The labels of a kind, those of whole families of licences first. */
export function labelsOf(facets, kind) {
  const families = kind === "licence" ? facets.family ?? [] : [];
  const known = Object.keys(FAMILY_NAMES).map((value) => families.find((one) => one.value === value)).filter(Boolean);
  return [...known.map((family, at) => ({ ...family, title: FAMILY_NAMES[family.value], rank: known.length - at })), ...(facets[kind] ?? [])];
}

/** Labels as a menu shows them: what is on, what is ranked, pinned and popular sets, then the most frequent. */
export function sorted(kind, labels, on) {
  const first = kind === "set" ? [...pinned(), ...visited(), ...POPULAR] : [];
  const place = ({ value }) => { const at = first.indexOf(value); return at < 0 ? first.length : at; };
  const is = ({ value }) => on.has(String(value));
  return [...labels].sort((a, b) => is(b) - is(a) || (b.rank ?? 0) - (a.rank ?? 0) || place(a) - place(b) || (b.n ?? 0) - (a.n ?? 0));
}

/** What a label says: sizes have a unit. */
export const titleOf = (kind, { value, title }) => (kind === "size" ? `${value} px` : title ?? value);
