"""How the page of screenshots looks, light and dark, and what its script does."""

STYLE = """
:root { color-scheme: light dark; font: 14px/1.45 system-ui, sans-serif; --page: #f4f5f7; --card: #fff; --text: #1c2127;
  --soft: #667080; --line: #dfe3e8; --accent: #2563eb; --warning: #c2570c; --on: #2563eb1a; }
@media (prefers-color-scheme: dark) { :root { --page: #101318; --card: #191d24; --text: #e6e9ee; --soft: #97a1b0;
  --line: #2c333d; --accent: #6aa0ff; --warning: #ff9d4d; --on: #6aa0ff26; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--page); }
header { position: sticky; top: 0; z-index: 9; display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem 1rem;
  padding: .9rem 1.5rem; background: var(--card); border-bottom: 1px solid var(--line); }
h1 { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; } header p { margin: 0; flex: 1; color: var(--soft); }
label { color: var(--soft); cursor: pointer; user-select: none; }
label input { accent-color: var(--accent); margin: 0; }
main { display: grid; grid-template-columns: minmax(0, 1fr) 23rem; gap: 1.5rem; padding: 1.5rem; align-items: start; }
figure { margin: 0 0 2rem; } figcaption { margin-bottom: .5rem; color: var(--soft); }
figcaption b { color: var(--text); margin-right: .4rem; }
.shot { position: relative; max-width: 100%; border-radius: .6rem;
  box-shadow: 0 0 0 1px var(--line), 0 8px 28px #0002; }
.shot img { display: block; width: 100%; height: 100%; border-radius: inherit; }
.frame { position: absolute; padding: 0; border: 0; background: none; cursor: pointer; color: #2f6bff; }
.frame::before { content: ""; position: absolute; inset: -4px; border-radius: 5px; border: 2px solid currentColor;
  box-shadow: 0 0 0 1px #fff9; transition: background .12s; }
.frame.doubtful { color: #e8590c; } .frame.unknown { color: #7c8798; }
.frame.unknown::before { border-style: dashed; }
.frame:hover::before, .frame[aria-expanded="true"]::before { border-width: 3px;
  background: color-mix(in srgb, currentColor 20%, transparent); }
.frame:focus-visible { outline: none; }
.frame:focus-visible::before { outline: 2px solid var(--text); outline-offset: 2px; }
.frame::after { content: attr(data-name); position: absolute; left: 50%; top: calc(100% + 7px); translate: -50%;
  display: none; padding: .1rem .45rem; border-radius: .35rem; background: #14171cf0; color: #fff; white-space: nowrap;
  font: 500 .74rem/1.5 system-ui, sans-serif; pointer-events: none; }
.frame:hover, .frame:focus-visible { z-index: 3; }
.frame:hover::after, .frame:focus-visible::after { display: block; }
.with-names .frame::after { display: block; max-width: 8.5em; overflow: hidden; text-overflow: ellipsis;
  padding: 0 .3rem; top: calc(100% + 5px); font-size: .62rem; background: #14171cd0; }
.with-names .frame:hover::after { max-width: none; background: #14171c; }
aside { position: sticky; top: 4.4rem; background: var(--card); border: 1px solid var(--line); border-radius: .8rem;
  padding: 1rem; max-height: calc(100vh - 6rem); overflow: auto; }
.hint { margin: 0; color: var(--soft); } section ~ .hint { display: none; }
.crop { display: flex; gap: .9rem; align-items: center; margin-bottom: .8rem; }
.crop canvas { width: 4.6rem; height: 4.6rem; flex: none; border-radius: .6rem; border: 1px solid var(--line); }
.crop p { margin: 0; overflow-wrap: anywhere; } .crop b { display: block; font-size: 1rem; }
small { color: var(--soft); }
ol { list-style: none; margin: 0; padding: 0; }
li { display: flex; align-items: center; gap: .7rem; padding: .5rem .4rem; border-top: 1px solid var(--line); }
.first { background: var(--on); border-radius: .5rem; border-color: transparent; }
.first + li { border-color: transparent; }
.picture { display: grid; place-items: center; flex: none; width: 2.8rem; height: 2.8rem; border-radius: .5rem;
  background: #fff; color: #888; border: 1px solid #8883; font-size: .7rem; }
.dark { background: #1b1c1e; } .picture img { width: 1.8rem; height: 1.8rem; object-fit: contain; }
.told { flex: 1; min-width: 0; overflow-wrap: anywhere; } .told b { display: block; font-weight: 600; }
code { display: block; font: .76rem/1.4 ui-monospace, monospace; color: var(--soft); user-select: all; }
.told small { font-size: .74rem; }
.sure { width: 2.7rem; flex: none; text-align: right; font-variant-numeric: tabular-nums; }
.sure b { display: block; font-size: .8rem; } .sure i { display: block; height: 3px; border-radius: 2px;
  background: var(--accent); margin-top: .2rem; margin-left: auto; }
.refused { color: var(--warning); overflow-wrap: anywhere; }
@media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); padding: 1rem; gap: 1rem; }
  aside { top: auto; bottom: .6rem; max-height: 46vh; box-shadow: 0 4px 24px #0004; } }
"""
SCRIPT = """
const frames = [...document.querySelectorAll(".frame")].sort((a, b) =>
  Number(a.getAttribute("aria-controls").slice(1)) - Number(b.getAttribute("aria-controls").slice(1)));
const panelOf = frame => document.getElementById(frame.getAttribute("aria-controls"));
const paint = (frame, canvas) => {
  const [left, top, right, bottom] = frame.dataset.box.split(" ").map(Number);
  const side = 1.3 * Math.max(right - left, bottom - top), ink = canvas.getContext("2d");
  ink.imageSmoothingEnabled = side > canvas.width;
  ink.drawImage(frame.parentElement.querySelector("img"), (left + right - side) / 2, (top + bottom - side) / 2,
    side, side, 0, 0, canvas.width, canvas.height);
};
let chosen = null;
const choose = frame => {
  if (chosen) { chosen.removeAttribute("aria-expanded"); panelOf(chosen).hidden = true; }
  chosen = frame;
  document.querySelector(".hint").hidden = true;
  const panel = panelOf(frame);
  frame.setAttribute("aria-expanded", "true");
  panel.hidden = false;
  paint(frame, panel.querySelector("canvas"));
};
for (const frame of frames) frame.addEventListener("click", () => choose(frame));
document.addEventListener("keydown", event => {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
  if (!step || !chosen || !document.activeElement.matches(".frame")) return;
  event.preventDefault();
  const next = frames[(frames.indexOf(chosen) + step + frames.length) % frames.length];
  next.focus();
  choose(next);
});
document.querySelector("#names").addEventListener("change", event =>
  document.body.classList.toggle("with-names", event.target.checked));
addEventListener("load", () => { if (frames.length) choose(frames[0]); });
"""
