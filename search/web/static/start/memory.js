// What was done here before? Kept in this browser alone, and cleared with one button.

import { IconList, putFirst, texts, write } from "../tray/store.js";

const [SEARCHES, OPENED, PINNED, VISITED] = ["icons.searches", "icons.opened", "icons.pinned", "icons.visited"];
const [MOST, MOST_PINNED, MOST_OPENED] = [8, 50, 16];
const opened = new IconList(OPENED);

export const searches = () => texts(SEARCHES, MOST);
/** Note words that were searched for. A search that another one begins with was that one, half typed. */
export const noteSearch = (words) => putFirst(SEARCHES, words, MOST, (other) => words.toLowerCase().startsWith(other.toLowerCase()));

/** Sets that were looked at, and those that the user wants first. */
export const visited = () => texts(VISITED, MOST);
export const noteSet = (set) => putFirst(VISITED, set, MOST);
export const pinned = () => texts(PINNED, MOST_PINNED);
export const pin = (set, yes) => (yes ? putFirst(PINNED, set, MOST_PINNED) : write(PINNED, pinned().filter((other) => other !== set)));

/** Icons that were opened, the last one first. */
export const openedIcons = () => opened.all().reverse();
export function noteOpened(icon) {
  opened.replace([...opened.all().filter(({ key }) => key !== icon.key), icon].slice(-MOST_OPENED));
}

/** What is no longer in the library. */
export const forgetOpened = (icon) => opened.remove([icon.key]);

/** Forget what was searched for and looked at; pinned sets stay, they were put there on purpose. */
export function forget() {
  write(SEARCHES, []);
  write(VISITED, []);
  opened.clear();
}
