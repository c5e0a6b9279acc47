// On which screenshots is an icon used? A row of crops in the panel, one a screenshot; each opens the screenshot.

import { uses } from "../api.js";
import { make, plural, symbol } from "../elements.js";

const ASKED = 200; // places
const SHOWN = 8; // screenshots, before all are wanted

/** Fill a section of the panel; it stays hidden where the server knows no screenshots, or can't tell now. */
export async function fillUsed(section, icon, { signal }) {
  const found = await uses(icon.id, { k: ASKED, signal }).catch((error) => {
    if (error.name === "AbortError") throw error;
    return { generation: null };
  });
  if (found.generation === null) return;
  section.hidden = false;
  const title = found.n_screens > 0 ? `Used in ${plural(found.n_screens, "screenshot")}` : `In none of ${plural(found.n_known, "screenshot")}`;
  section.replaceChildren(make("h3", {}, title));
  const screens = [...Map.groupBy(found.uses, ({ screen }) => screen).values()]; // the surest first
  if (found.n_screens > 0) section.append(...listed(screens, found, icon));
}

function* listed(screens, { n_screens: n }, icon) {
  const tiles = screens.map((on, at) => make("li", { hidden: at >= SHOWN }, tile(on, async (button) => {
    const { showShot } = await import("./shot.js");
    showShot(screens, at, { name: icon.name, button });
  })));
  yield make("ul", { role: "list" }, tiles);
  if (screens.length > SHOWN) yield make("button", { className: "link more", "data-key": "used-more", textContent: `Show all ${screens.length}`, onclick: ({ currentTarget }) => {
    for (const one of tiles) one.hidden = false;
    tiles[SHOWN].firstChild.focus();
    currentTarget.remove();
  } });
  if (n > screens.length) yield make("p", { className: "aside" }, `${plural(n - screens.length, "more screenshot")}: icons usage ${icon.key}`);
}

function tile(on, open) {
  const [best] = on;
  const places = on.length > 1 ? `, ${on.length} places` : "";
  const button = make("button", { className: "tile", title: `${best.file}${places}`, "aria-label": `${best.file}${places}`, "aria-haspopup": "dialog", onclick: () => open(button) },
    cropOf(best), make("span", { className: "caption" }, best.file),
    on.length > 1 && make("span", { className: "times", "aria-hidden": "true" }, `×${on.length}`));
  return button;
}

/** What the screenshot shows there; a sign where no crops are kept. */
export function cropOf({ crop_url: url }) {
  return make("span", { className: "seen-there" }, url ? make("img", { src: url, alt: "", loading: "lazy" }) : symbol("image"));
}
