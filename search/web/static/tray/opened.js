// Which icons of a collection does this library have? Its keys are looked up; the answer reads like one of the server.

import { show } from "../api.js";
import { collections } from "./collections.js";
import { chosen, KEPT } from "./store.js";

const AT_ONCE = 6; // requests: the server has other pages to answer
const found = new Map();

/** Look up what is not known yet of some icons. */
async function lookUp(icons, { signal } = {}) {
  const waiting = icons.filter(({ key }) => !found.has(key));
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let icon = waiting.shift(); icon; icon = waiting.shift()) found.set(icon.key, await look(icon.key, signal));
  }));
}

/** Bring a list up to date: another library may be served here than when its icons were taken. */
export async function refresh(list) {
  await lookUp(list.all());
  const nowhere = { id: null, image: null, digest: null, svg_url: null, png_url: null };
  const fresh = list.all().map((icon) => (found.has(icon.key) ? found.get(icon.key) ?? { ...icon, ...nowhere } : icon)); // some came meanwhile
  if (fresh.some((icon, at) => icon.id !== list.all()[at].id || icon.digest !== list.all()[at].digest)) list.replace(fresh);
}

/** The icons of a collection as hits, and the keys that this library does not have. */
export async function opened(name, { signal }) {
  const icons = name === KEPT ? chosen.all() : collections.get(name)?.icons ?? [];
  await lookUp(icons, { signal });
  const hits = icons.map(({ key }) => found.get(key)).filter(Boolean);
  const missing = icons.filter(({ key }) => !found.get(key)).map(({ key }) => key);
  return { hits, missing, n_found: hits.length };
}

async function look(key, signal) {
  try {
    const icon = await show(encodeURIComponent(key), { signal });
    // As a hit: alone, exactly what was asked for. What an answer counts is not known here.
    return { ...icon, n_variants: 1, also: [], n_also: 0, exact: false, score: null };
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}
