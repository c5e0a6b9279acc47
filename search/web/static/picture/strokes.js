// How do strokes of a hand become a picture like an icon? `data/making/eval/sketches.py` does the same, and measures it.

export const CANVAS = 320; // pixels across, whatever its size on the screen
const GRID = 24;
const SIDE = 20; // of 24: the longer side of what the pen's tip drew, as in most icons
const WIDTH = 1.5;
const APART = 0.6; // points that are nearer than this to the one before say nothing but how the hand shook

const spelt = (number) => String(Math.floor(number * 100 + 0.5) / 100);
const at = ([x, y]) => `${spelt(x)} ${spelt(y)}`;

/** Draw strokes, lists of points [x, y], as an SVG of 24 by 24: cut to the ink, centred, black lines with round ends. */
export function toSvg(strokes) {
  const paths = fitted(strokes).map((stroke) => `<path d="${smooth(stroke)}"/>`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24"><g fill="none" `
    + `stroke="#000" stroke-width="${WIDTH}" stroke-linecap="round" stroke-linejoin="round">${paths}</g></svg>`;
}

function fitted(strokes) {
  const points = strokes.flat();
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const extent = Math.max(right - left, bottom - top);
  const scale = extent ? SIDE / extent : 1; // a dot stays a dot
  const [x0, y0] = [(left + right) / 2, (top + bottom) / 2];
  return strokes.map((stroke) => stroke.map(([x, y]) => [(x - x0) * scale + GRID / 2, (y - y0) * scale + GRID / 2]));
}

/** Leave out what is too near to the point before; the ends stay. */
function thinned(stroke, apart = APART) {
  const kept = [stroke[0]];
  for (const point of stroke.slice(1, -1)) {
    const [x, y] = kept.at(-1);
    if (Math.hypot(point[0] - x, point[1] - y) >= apart) kept.push(point);
  }
  return [...kept, stroke.at(-1)];
}

/** A path of curves through the middles of all lines between points. */
export function smooth(stroke, apart = APART) {
  const points = thinned(stroke, apart);
  if (points.length === 2) return `M${at(points[0])}L${at(points[1])}`;
  const curves = points.slice(1, -1).map((bend, n) => {
    const next = points[n + 2];
    const end = n === points.length - 3 ? next : [(bend[0] + next[0]) / 2, (bend[1] + next[1]) / 2];
    return `Q${at(bend)} ${at(end)}`;
  });
  return `M${at(points[0])}${curves.join("")}`;
}

/** How near a point is to a stroke. */
export function distance([x, y], stroke) {
  let nearest = Infinity;
  for (let n = 0; n < stroke.length; n += 1) {
    const [[x0, y0], [x1, y1]] = [stroke[Math.max(0, n - 1)], stroke[n]];
    const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
    const along = length ? Math.min(1, Math.max(0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length)) : 0;
    nearest = Math.min(nearest, Math.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0)));
  }
  return nearest;
}
