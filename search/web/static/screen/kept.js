// Which pictures were brought in, and which icons are in them? They stay in this browser: an address names one by a number.

import { locate } from "../api.js";
import { load, named, sidesOf, uploaded } from "../picture/picture.js";
import { located as parameters } from "../state.js";
import { tellUnkept } from "../tray/store.js";

const MOST = 6; // pictures in memory; those before are read again
const MOST_STORED = 20; // in the browser, for whoever reloads or goes back; those before are forgotten
const HITS = 8; // of each icon
const MARGIN = 0.15; // of its longer side, around an icon
const SURE = 0.5; // least score of a name that is taken unseen
const kept = new Map(); // number -> { image, file, name, as, kind, answers, asking }

/** Keep a picture; returns the number that stands for it. An address of another day names none of today's. */
export function keep(image, { file = null } = {}) {
  const number = `${Date.now().toString(36)}${kept.size}`;
  const picture = hold(number, { image, file, name: named(file) });
  picture.sent.then((blob) => store("readwrite", async (pictures) => {
    await done(pictures.put({ number, blob, name: picture.name, as: picture.as }));
    for (const other of (await done(pictures.getAllKeys())).slice(0, -MOST_STORED)) pictures.delete(other);
  }).catch(tellUnkept), () => {}); // a picture that can't be sent is refused by the search
  return number;
}

function hold(number, { image, file, name, as = null }) {
  const picture = { image, name, as, kind: as, sent: uploaded(image, file), answers: new Map(), asking: null };
  kept.set(number, picture);
  if (kept.size > MOST) kept.delete(kept.keys().next().value);
  return picture;
}

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

async function store(mode, act) {
  const opening = indexedDB.open("icons", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("pictures", { keyPath: "number" });
  const database = await done(opening);
  try {
    return await act(database.transaction("pictures", mode).objectStore("pictures"));
  } finally {
    database.close();
  }
}

export const pictureOf = (number) => kept.get(number) ?? null;

const reading = new Map();

/** A picture that this browser has, in memory or since before the page was loaded; `null` where it has none of this number. */
export function opened(number) {
  if (kept.has(number)) return Promise.resolve(kept.get(number));
  if (!reading.has(number)) reading.set(number, readStored(number).catch(() => null).finally(() => reading.delete(number)));
  return reading.get(number);
}

async function readStored(number) {
  const row = await store("readonly", (pictures) => done(pictures.get(number)));
  return row ? hold(number, { ...row, image: await load(row.blob), file: row.blob }) : null;
}

/** A person says what a picture shows: "icon" or "screen"; it is not judged any more. */
export function insist(number, kind) {
  const picture = kept.get(number);
  if (picture.as === kind) return;
  Object.assign(picture, { as: kind, kind });
  picture.answers.clear();
  store("readwrite", async (pictures) => {
    const row = await done(pictures.get(number));
    if (row) await done(pictures.put({ ...row, as: kind }));
  }).catch(() => {});
}

/** What is found in the picture of a state under its filters, as the server tells it; asked once. `null` where it is not kept any more. */
export async function located(state) {
  const picture = await opened(state.screen);
  if (!picture) return null;
  const asked = `${parameters(state)}`;
  if (!picture.answers.has(asked)) {
    picture.asking?.abort(); // other filters hold now
    picture.asking = new AbortController();
    picture.answers.set(asked, ask(picture, state).catch((error) => { picture.answers.delete(asked); throw error; }));
  }
  return picture.answers.get(asked);
}

async function ask(picture, state) {
  const { signal } = picture.asking;
  const answer = await locate(await picture.sent, state, { k: HITS, as: picture.as, signal });
  picture.kind = picture.as ?? answer.kind;
  return answer;
}

/** Whether a name is one to rely on. */
export const isSure = ({ hits }) => hits.length > 0 && hits[0].score >= SURE;

/** Whether a picture was judged to show one icon, and nobody says otherwise. */
export const isOneIcon = (number, answer) => answer?.kind === "icon" && kept.get(number)?.as === null;

/** The hits of the icon that is chosen, else the first hit of each, as an answer of the server. */
export async function hitsOf(state, { signal }) {
  const answer = await located(state);
  signal.throwIfAborted();
  if (isOneIcon(state.screen, answer)) await new Promise((_, reject) => { signal.addEventListener("abort", () => reject(signal.reason)); }); // it is searched with instead, in a moment
  const chosen = state.frame === null ? null : answer?.icons[state.frame];
  const hits = chosen ? chosen.hits : distinct(answer?.icons ?? []);
  return { hits, located: answer, n_found: hits.length };
}

/** The part of a kept picture where an icon was found, with some of what is around it. */
export function partOf(number, { icons, width }, at) {
  const { image } = pictureOf(number);
  const scale = sidesOf(image)[0] / width;
  const [left, top, right, bottom] = icons[at].box.map((side) => side * scale);
  const margin = MARGIN * Math.max(right - left, bottom - top);
  const [x, y] = [Math.max(0, Math.floor(left - margin)), Math.max(0, Math.floor(top - margin))];
  const [endX, endY] = [right, bottom].map((side, axis) => Math.min(sidesOf(image)[axis], Math.ceil(side + margin)));
  return { x, y, width: endX - x, height: endY - y };
}

/** The first hits of some icons, each once. */
export const distinct = (icons) => [...new Map(icons.flatMap(({ hits: [hit] }) => (hit ? [[hit.id, hit]] : []))).values()];
