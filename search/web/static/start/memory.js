// What was done here before? Kept in this browser alone, and cleared with one button.

import { IconList, read, write } from "../tray/store.js";

const [SEARCHES, OPENED, PINNED, VISITED] = ["icons.searches", "icons.opened", "icons.pinned", "icons.visited"];
const MOST = { [SEARCHES]: 8, [VISITED]: 8, [PINNED]: 50 };
const MOST_OPENED = 16;
const LONGEST = 80; // characters of a search that is worth to be kept
const opened = new IconList(OPENED);

function texts(place) {
  const stored = read(place);
  return (Array.isArray(stored) ? stored : []).filter((one) => typeof one === "string" && one && one.length <= LONGEST).slice(0, MOST[place]);
}

/** Put a text first. A search that another one begins with was that one, half typed. */
function note(place, text, { isSame = (other) => other === text } = {}) {
  if (text && text.length <= LONGEST) write(place, [text, ...texts(place).filter((other) => !isSame(other))].slice(0, MOST[place]));
}

export const searches = () => texts(SEARCHES);
export const noteSearch = (words) => note(SEARCHES, words, { isSame: (other) => words.toLowerCase().startsWith(other.toLowerCase()) });

/** Sets that were looked at, and those that the user wants first. */
export const visited = () => texts(VISITED);
export const noteSet = (set) => note(VISITED, set);
export const pinned = () => texts(PINNED);
export const pin = (set, yes) => (yes ? note(PINNED, set) : write(PINNED, pinned().filter((other) => other !== set)));

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
