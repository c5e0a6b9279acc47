// What may be done with an icon? Licences in plain words, of one icon and of many.

const FAMILIES = {
  permissive: ["Free to use, also commercially", "Keep the licence text with the icons."],
  attribution: ["Free to use with credit", "Also commercially; name the author."],
  "share-alike": ["Free to use with credit", "What you change stays under the same licence."],
  copyleft: ["Free to use, with a condition", "What you build with it may have to carry the same licence."],
  "non-commercial": ["Not for commercial use", "Ask the author for more."],
  unknown: ["Licence not known", "Ask the author before you use it."],
};

/** `[what may be done, what is asked for it]` */
export const inPlainWords = (family) => FAMILIES[family] ?? FAMILIES.unknown;

const ASKS = [ // what many icons ask for, the gravest first
  ["non-commercial", (n) => `${n} not for commercial use`],
  ["unknown", (n) => (n === 1 ? "1 licence unknown" : `${n} licences unknown`)],
  ["copyleft", (n) => `${n} copyleft`],
  ["share-alike", (n) => `${n} share-alike`],
  ["attribution", (n) => `${n} need${n === 1 ? "s" : ""} attribution`],
];

/** What the licences of some icons ask for: "1 licence unknown, 2 need attribution"; of free ones that they are. */
export function summedUp(icons) {
  const families = Map.groupBy(icons, ({ licence_family: family }) => (family in FAMILIES ? family : "unknown"));
  const asks = ASKS.filter(([family]) => families.has(family)).map(([family, say]) => say(families.get(family).length));
  return asks.length ? asks.join(", ") : "All free to use";
}
