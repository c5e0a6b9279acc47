// What does the server know? The only module that talks to it.

import { located, question, words } from "./state.js";
import { toBlob } from "./picture/picture.js";

const BASE = new URL("api/v1/", document.baseURI);

class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function fetchJson(path, options = {}) {
  let answer;
  try {
    answer = await fetch(new URL(path, BASE), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer. Is `icons serve` still running?", 0);
  }
  const body = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error; // overtaken while the answer was on its way
    return null;
  });
  if (!answer.ok || body === null) throw new ApiError(describe(body, answer.status), answer.status);
  return body;
}

function describe(body, status) {
  const text = body?.error ?? (status === 503 ? "the server is busy; try again in a moment" : `The server answered with status ${status}.`);
  return status === 503 ? `${text[0].toUpperCase()}${text.slice(1)}.` : text;
}

/** Ask for hits `offset` to `offset + k`; `facets` also counts them. A busy server is asked again, twice. */
export async function search(state, { k, offset = 0, facets = false, signal }) {
  if (state.collection !== null) return (await import("./tray/opened.js")).opened(state.collection, { signal });
  if (state.screen !== null) return (await import("./screen/kept.js")).hitsOf(state, { signal });
  const parameters = searched(state, k);
  if (offset) parameters.set("offset", String(offset));
  if (facets) parameters.set("facets", "1");
  const options = state.picture ? { signal, ...sent(await toBlob(state.picture)) } : { signal };
  return patiently(`search?${parameters}`, options);
}

function searched(state, k) {
  const parameters = question(state);
  parameters.set("k", String(k));
  return parameters;
}

/** The address of the first pictures of what a search finds, in one; null where the server is not asked with words. */
export function svgsFound(state, { k }) {
  if (state.collection !== null || state.screen !== null || state.picture) return null;
  return new URL(`search/svgs?${searched(state, k)}`, BASE).href;
}

/** Ask which icons are in a picture, under the filters of a state, each with `k` hits; `as` says what it shows, "icon" or "screen". */
export function locate(picture, state, { k, as, signal }) {
  const parameters = located(state);
  parameters.set("k", String(k));
  if (as) parameters.set("as_kind", as);
  return patiently(`locate?${parameters}`, { signal, ...sent(picture) });
}

function sent(picture) {
  const body = new FormData();
  body.set("picture", picture, "picture.png");
  return { method: "POST", body };
}

async function patiently(path, options) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await fetchJson(path, options);
    } catch (error) {
      if (error.status !== 503 || attempt === 2) throw error;
      await new Promise((resolve) => { setTimeout(resolve, 200 * 2 ** attempt); });
      options.signal?.throwIfAborted();
    }
  }
}

export const show = (id, { signal } = {}) => patiently(`icons/${id}`, { signal });
export const why = (id, state, { signal } = {}) => fetchJson(`icons/${id}/why?${words(state)}`, { signal });
export const similar = (id, { k, set = null, signal }) => fetchJson(`similar/${id}?${new URLSearchParams(set ? { k, set } : { k })}`, { signal });

/** Where an icon is used in screenshots: `{ uses, n_found, n_screens, n_known, generation }`; no generation where none are known. */
export const uses = (id, { k, signal }) => fetchJson(`icons/${id}/usage?${new URLSearchParams({ k })}`, { signal });

export const labels = () => fetchJson("facets");
export const sets = async () => (await fetchJson("sets")).sets;
export const health = () => fetchJson("../../health");

export const frameworks = async () => (await fetchJson("frameworks")).frameworks;

/** An icon as code: `{ code, install, left_out }`, the last two what has to be installed, and what of the look it can't state. */
export const code = (key, { format, look, signal }) =>
  fetchJson(`icons/${encodeURIComponent(key)}/code?${new URLSearchParams({ format, ...stated(look) })}`, { signal });

/** Many icons as code, in one piece. */
export const codes = (keys, { format, look }) => fetchJson("code", posted({ icons: keys, format, ...stated(look) }));

/** A file of icons: `{ blob, fileName, leftOut }`, the last one how many could not be read. */
export async function exported({ kind, name, icons, look }) {
  const answer = await fetch(new URL("export", BASE), posted({ kind, name, icons, skip_unreadable: true, ...stated(look) }));
  if (!answer.ok) throw new ApiError(describe(await answer.json().catch(() => null), answer.status), answer.status);
  const [, fileName] = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "") ?? [null, name];
  return { blob: await answer.blob(), fileName, leftOut: JSON.parse(answer.headers.get("Icons-Export")).n_left_out };
}

/** What of a look is not left as it is. */
const stated = (look) => Object.fromEntries(Object.entries(look ?? {}).filter(([, value]) => value !== null));

const posted = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/** The address of an icon's picture in the best form there is. */
export const pictureOf = (icon) => icon.svg_url ?? icon.png_url;

/** What the picture of an icon is called where many come in one: the fragment `#i${layerOf(icon)}` shows it. */
export const layerOf = ({ image, digest }) => `${image}-${digest}`;

/** The address of many pictures in one. */
export const svgsOf = (layers) => new URL(`svgs?${new URLSearchParams(layers.map((layer) => ["image", layer]))}`, BASE).href;
