// What does the server know? The only module that talks to it.

import { question, words } from "./state.js";
import { toBlob } from "./picture/picture.js";

const BASE = new URL("api/v1/", document.baseURI);

export class ApiError extends Error {
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
  if (status === 503) return "The server is busy. Try again in a moment.";
  return body?.error ?? `The server answered with status ${status}.`;
}

/** Ask for hits `offset` to `offset + k`; `facets` also counts them. A busy server is asked again, twice. */
export async function search(state, { k, offset = 0, facets = false, signal }) {
  const parameters = question(state);
  parameters.set("k", String(k));
  if (offset) parameters.set("offset", String(offset));
  if (facets) parameters.set("facets", "1");
  const options = { signal };
  if (state.picture) {
    options.method = "POST";
    options.body = new FormData();
    options.body.set("picture", await toBlob(state.picture), "picture.png");
  }
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await fetchJson(`search?${parameters}`, options);
    } catch (error) {
      if (error.status !== 503 || attempt === 2) throw error;
      await new Promise((resolve) => { setTimeout(resolve, 200 * 2 ** attempt); });
      signal?.throwIfAborted();
    }
  }
}

export const show = (id, { signal } = {}) => fetchJson(`icons/${id}`, { signal });
export const why = (id, state, { signal } = {}) => fetchJson(`icons/${id}/why?${words(state)}`, { signal });
export const similar = (id, { k, signal }) => fetchJson(`similar/${id}?k=${k}`, { signal });
export const labels = () => fetchJson("facets");
export const health = () => fetchJson("../../health");

/** The address of an icon's picture in the best form there is. */
export const pictureOf = (icon) => icon.svg_url ?? icon.png_url;

/** The address of many pictures in one; the fragment #i17 shows the one of the image 17. */
export const svgsOf = (images) => new URL(`svgs?${new URLSearchParams(images.map((image) => ["image", image]))}`, BASE).href;

/** The picture of an icon as text, for copying. */
export async function svgText(icon) {
  const answer = await fetch(icon.svg_url);
  if (!answer.ok) throw new ApiError(`"${icon.name}" could not be read (status ${answer.status}).`, answer.status);
  return answer.text();
}
