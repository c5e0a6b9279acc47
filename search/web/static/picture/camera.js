// What does the camera see? A dialog with its picture, one of which is taken.

import { make, openDialog, symbol } from "../elements.js";

const REASONS = {
  NotAllowedError: "The browser does not let this page use the camera.",
  NotFoundError: "There is no camera here.",
  NotReadableError: "The camera is in use by another program.",
};

/** Take one picture: resolves to a canvas, or to `null`. Throws an Error that can be shown. */
export async function film() {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment", width: { ideal: 1280 } } }).catch((error) => {
    throw new Error(REASONS[error.name] ?? "The camera does not start.");
  });
  const video = make("video", { autoplay: true, muted: true, playsInline: true, srcObject: stream, "aria-label": "What the camera sees" });
  let taken = null;
  const take = () => {
    if (!video.videoWidth) return; // nothing is seen yet
    taken = make("canvas", { width: video.videoWidth, height: video.videoHeight });
    taken.getContext("2d").drawImage(video, 0, 0);
    dialog.close();
  };
  const content = [make("div", { className: "around" }, video),
    make("div", { className: "foot" }, make("button", { className: "button primary", autofocus: true, onclick: take }, symbol("camera"), "Take the picture"))];
  let dialog;
  await new Promise((closed) => { dialog = openDialog("camera", "Hold the icon before the camera", { label: "Cancel", closed, content }); });
  for (const track of stream.getTracks()) track.stop();
  return taken;
}
