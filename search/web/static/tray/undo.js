// How is something that was taken away brought back? A line with a button, for a while.

import { announce, listen, make, modalDialog } from "../elements.js";

const SECONDS = 12;
let line = null;
let timer = 0;

/** Say what is gone, and offer to undo it: with the button, or with Ctrl Z. */
export function offerUndo(text, undo) {
  line?.remove();
  const lost = document.activeElement === document.body || !document.activeElement?.isConnected;
  const back = () => { hide(); undo(); announce("Undone", { afterMs: 0 }); };
  const button = make("button", { onclick: back }, "Undo");
  line = make("div", { id: "undo", role: "group", "aria-label": text }, make("span", {}, text), button);
  line.undo = back;
  listen(line, "pointerenter focusin", () => clearTimeout(timer));
  listen(line, "pointerleave focusout", start);
  const dialog = modalDialog();
  (dialog ?? document.body).append(line);
  dialog?.addEventListener("close", () => { if (line) document.body.append(line); }, { once: true });
  announce(`${text}. Undo with Control Z`, { afterMs: 0 });
  if (lost) button.focus({ focusVisible: false });
  start();
}

function start() {
  clearTimeout(timer);
  timer = setTimeout(hide, 1000 * SECONDS);
}

function hide() {
  clearTimeout(timer);
  line?.remove();
  line = null;
}

listen(window, "keydown", (event) => {
  if (!line || event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.defaultPrevented) return;
  if (event.target.closest?.("input, textarea, select, #drawing")) return; // they undo their own
  event.preventDefault();
  line.undo();
});
