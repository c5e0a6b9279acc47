// How do strangers' SVGs take another colour, stroke and corner? Styles are put at the head of their text, which stays in `img`.

import { plainLook } from "../state.js";

/** What is asked of the look of icons: for pictures here, and for copies. `null` leaves a thing as it was drawn. */
export const look = (state) => ({ colour: state.colour, stroke_width: state.stroke, size: state.px === plainLook().px ? null : state.px, corner: state.joins });

/** Whether any icon is drawn otherwise than its maker did. */
export const isRestyled = ({ colour, stroke_width: width, corner }) => colour !== null || width !== null || corner !== null;

export const GRID = 24; // stroke widths are told in its units; an icon on a grid of 256 gets them in its own
const CORNERS = { round: "stroke-linejoin:round;stroke-linecap:round", sharp: "stroke-linejoin:miter;stroke-linecap:square" }; // a dot is a line without length: without caps it is gone
const ROOT = /<svg(?=[\s/>])((?:[^>"']|"[^"]*"|'[^']*')*)>/;
const LAYER = /<svg id="i([\da-f-]+)"((?:[^>"']|"[^"]*"|'[^']*')*)>/g;
const AS_IMAGE = /(<svg id="i([\da-f-]+)"><image width="100%" height="100%" href=")data:image\/svg\+xml;base64,([^"]*)"/g;
const VIEW = /\sviewBox\s*=\s*["']\s*[-+.\de]+[\s,]+[-+.\de]+[\s,]+([.\d]+)[\s,]+([.\d]+)/;
const PAINTED = ["none", "transparent", "#fff", "#ffffff", "white"].map((value) => `:not([NAME="${value}" i])`).join("");
const painted = (name) => `[${name}]:not([${name}^="url" i])${PAINTED.replaceAll("NAME", name)}`;

/** Rules for the icon below a selector. `attributes` are those of its root. An icon of one colour takes another wherever it
 *  is painted, one of several colours only where it leaves that open. */
function rulesFor(own, attributes, { colour, stroke_width: width, corner }, coloured) {
  const rules = [];
  if (colour !== null) {
    rules.push(`${own}{color:${colour}${/\sfill\s*[=:]/.test(attributes) ? "" : `;fill:${colour}`}}`);
    if (coloured === false) {
      for (const name of ["fill", "stroke"]) rules.push(`${own}${painted(name)},${own} ${painted(name)}{${name}:${colour}}`);
    }
  }
  if (width !== null) {
    const [, wide, high] = VIEW.exec(attributes) ?? [null, GRID, GRID];
    rules.push(`${own},${own} *{stroke-width:${+((width * Math.max(wide, high)) / GRID).toFixed(3)}px!important}`);
  }
  if (corner !== null) rules.push(`${own},${own} *{${CORNERS[corner]}}`);
  return rules.join("");
}

/** The text of one SVG in another look. */
export function restyled(text, asked, { coloured }) {
  const found = ROOT.exec(text);
  if (!found || found[1].endsWith("/")) return text; // empty, or none
  const end = found.index + found[0].length;
  return `${text.slice(0, end)}<style>${rulesFor(":root", found[1], asked, coloured)}</style>${text.slice(end)}`;
}

/** The text of a stack in another look; `icons` tells of each layer of it whether it has several colours. */
export function restyledStack(text, asked, icons) {
  const rules = [];
  const colouredOf = (layer) => icons.get(layer)?.coloured ?? null;
  for (const [, layer, attributes] of text.matchAll(LAYER)) rules.push(rulesFor(`#i${layer}`, attributes, asked, colouredOf(layer)));
  return text
    .replace(AS_IMAGE, (_, before, layer, packed) => `${before}data:image/svg+xml,${encodeURIComponent(restyled(unpacked(packed), asked, { coloured: colouredOf(layer) }))}"`)
    .replace("</style>", () => `${rules.join("")}</style>`);
}

const unpacked = (base64) => new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
