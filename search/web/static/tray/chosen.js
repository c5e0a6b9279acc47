// When does the tray appear? With the first icon that is chosen: its parts are fetched then, not before.

import { chosen } from "./store.js";

/** Show the tray while icons are chosen. */
export function watchChosen(bar, actions) {
  let tray = null;
  const show = () => { if (chosen.size) tray ??= import("./tray.js").then(({ Tray }) => new Tray(bar, actions)); };
  chosen.addEventListener("change", show);
  show();
}
