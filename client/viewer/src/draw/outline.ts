// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which path of pixels draws a ring? A ring is simplified to a pixel and cut to the picture, so that the path has only
// vertices that change the picture, and no coordinate that a canvas, which computes in floats, cannot place.
import { RUN, type SceneStore } from '../scene/store';

/** Where the scene is drawn in a picture: pixel = ((x - ax) * scale + dx, (ay - y) * scale + dy). */
export interface Placement {
  ax: number;
  ay: number;
  dx: number;
  dy: number;
  scale: number;
  width: number;
  height: number;
}

/** Vertices of a ring in a picture above which only every k-th one is drawn. */
const MAX_POINTS = 16000;
/** Pixels around the picture within which paths may lie. Wider than any line. */
const GUARD = 16;

// The points of the ring that is traced, in pixels, and the same cut by one side of the picture.
let points = new Float64Array(4096);
let cut = new Float64Array(4096);
let count = 0;

function push(x: number, y: number): void {
  if (count + 2 > points.length) {
    const wider = new Float64Array(points.length * 2);
    wider.set(points);
    points = wider;
  }
  points[count++] = x;
  points[count++] = y;
}

/**
 * Writes the vertices of a ring to `points`. A run of vertices that is out of the picture, or smaller than a pixel, is
 * replaced by the line between its ends: its box lies beside the picture, so the line does not enter the picture, and
 * the winding number of each pixel stays. `stride`: of the vertices of other runs, every stride-th one is written.
 */
function trace(store: SceneStore, ring: number, at: Placement, step: number, stride: number): boolean {
  const { xy, runBoxes } = store;
  const start = store.ringStart[ring];
  const length = store.ringLength[ring];
  const firstRun = store.ringRun[ring];
  let whole = true;
  let lastX = NaN;
  let lastY = NaN;
  count = 0;
  const visit = (i: number, keep: boolean): void => {
    const x = (xy[(start + i) * 2] - at.ax) * at.scale + at.dx;
    const y = (at.ay - xy[(start + i) * 2 + 1]) * at.scale + at.dy;
    if (!keep && Math.abs(x - lastX) < step && Math.abs(y - lastY) < step) return;
    if (x < -GUARD || y < -GUARD || x > at.width + GUARD || y > at.height + GUARD) whole = false;
    push(x, y);
    lastX = x;
    lastY = y;
  };
  for (let first = 0, run = firstRun; first < length; first += RUN, ++run) {
    const box = run * 4;
    const left = (runBoxes[box] - at.ax) * at.scale + at.dx;
    const right = (runBoxes[box + 2] - at.ax) * at.scale + at.dx;
    const top = (at.ay - runBoxes[box + 3]) * at.scale + at.dy;
    const bottom = (at.ay - runBoxes[box + 1]) * at.scale + at.dy;
    const small = right - left < step && bottom - top < step;
    const beside = right < -GUARD || bottom < -GUARD || left > at.width + GUARD || top > at.height + GUARD;
    if (length > RUN && (small || beside)) {
      visit(first, beside);
      continue;
    }
    const end = Math.min(first + RUN, length);
    for (let i = first; i < end; i += stride) visit(i, i === 0);
  }
  visit(length - 1, true);
  return whole;
}

/** Cuts the closed ring in `points` by the half-plane sign * coordinate[axis] <= bound. */
function cutBy(axis: number, sign: number, bound: number): void {
  if (cut.length < count * 2 + 8) cut = new Float64Array(count * 2 + 8);
  let kept = 0;
  for (let i = 0; i < count; i += 2) {
    const j = i === 0 ? count - 2 : i - 2;
    const a = points[j + axis] * sign - bound;
    const b = points[i + axis] * sign - bound;
    if (a > 0 !== b > 0) {
      const t = a / (a - b);
      const other = 1 - axis;
      cut[kept + axis] = bound * sign;
      cut[kept + other] = points[j + other] + (points[i + other] - points[j + other]) * t;
      kept += 2;
    }
    if (b <= 0) {
      cut[kept] = points[i];
      cut[kept + 1] = points[i + 1];
      kept += 2;
    }
  }
  [points, cut] = [cut, points];
  count = kept;
}

/** The part of the line from a to b that lies in the picture, as fractions; null if there is none. */
function visiblePart(ax: number, ay: number, bx: number, by: number, at: Placement): [number, number] | null {
  let low = 0;
  let high = 1;
  for (const [a, b, max] of [
    [ax, bx, at.width],
    [ay, by, at.height],
  ]) {
    const d = b - a;
    if (d === 0) {
      if (a < -GUARD || a > max + GUARD) return null;
      continue;
    }
    const t0 = (-GUARD - a) / d;
    const t1 = (max + GUARD - a) / d;
    low = Math.max(low, Math.min(t0, t1));
    high = Math.min(high, Math.max(t0, t1));
  }
  return low <= high ? [low, high] : null;
}

function addOpen(path: Path2D): void {
  for (let i = 0; i + 2 < count; i += 2) {
    const [ax, ay, bx, by] = points.subarray(i, i + 4);
    const part = visiblePart(ax, ay, bx, by, current);
    if (!part) continue;
    path.moveTo(ax + (bx - ax) * part[0], ay + (by - ay) * part[0]);
    path.lineTo(ax + (bx - ax) * part[1], ay + (by - ay) * part[1]);
  }
  if (count === 2) addDot(path, points[0], points[1]);
}

function addDot(path: Path2D, x: number, y: number): void {
  path.moveTo(x - 1, y);
  path.lineTo(x + 1, y);
}

/** Vertices of a small ring up to which its edges are compared with one another. */
const MOST_SMALL = 24;

/** Whether the closed ring in `points` neither crosses nor touches itself; false also where that is not known. */
function isSimple(): boolean {
  const n = count / 2;
  if (n > MOST_SMALL) return false;
  const side = (p: number, q: number, r: number): number =>
    Math.sign(
      (points[q * 2] - points[p * 2]) * (points[r * 2 + 1] - points[p * 2 + 1]) -
        (points[q * 2 + 1] - points[p * 2 + 1]) * (points[r * 2] - points[p * 2]),
    );
  for (let i = 0; i < n; ++i) {
    const j = (i + 1) % n;
    for (let k = i + 2; k < n; ++k) {
      const l = (k + 1) % n;
      if (l === i) continue;
      if (side(i, j, k) * side(i, j, l) <= 0 && side(k, l, i) * side(k, l, j) <= 0) return false;
    }
  }
  return true;
}

/**
 * Adds a closed ring to a path that is filled by the non-zero rule, if the ring is without crossings: in one sense of
 * rotation, so that rings which overlap leave no hole. Returns whether it was added. Of rings near the picture alone,
 * and smaller than some pixels.
 */
export function addSimpleRing(path: Path2D, store: SceneStore, ring: number, at: Placement, step = 0.75): boolean {
  trace(store, ring, at, step, 1);
  if (count === 2) {
    addDot(path, points[0], points[1]);
    return true;
  }
  if (count > 6 && !isSimple()) return false;
  let area = 0;
  for (let i = 0; i < count; i += 2) {
    const j = (i + 2) % count;
    area += (points[i] - points[0]) * (points[j + 1] - points[1]) - (points[j] - points[0]) * (points[i + 1] - points[1]);
  }
  path.moveTo(points[0], points[1]);
  for (let k = 2; k < count; k += 2) {
    const i = area < 0 ? count - k : k;
    path.lineTo(points[i], points[i + 1]);
  }
  path.closePath();
  return true;
}

let current: Placement;

/**
 * Adds a ring of the store to the path. Rings of solid polygons are cut to the picture as areas, so that the path may
 * be filled; `asLines` adds the edges alone. `step` is the distance in pixels below which vertices are merged.
 */
export function addRing(
  path: Path2D,
  store: SceneStore,
  ring: number,
  at: Placement,
  asLines: boolean,
  step = 0.75,
): void {
  current = at;
  let whole = trace(store, ring, at, step, 1);
  if (count > 2 * MAX_POINTS) whole = trace(store, ring, at, step, Math.ceil(count / (2 * MAX_POINTS)));
  const open = store.ringOpen[ring] === 1;
  if (asLines && (open || !whole)) {
    if (!open) push(points[0], points[1]);
    addOpen(path);
    return;
  }
  if (!whole) {
    cutBy(0, -1, GUARD);
    cutBy(0, 1, at.width + GUARD);
    cutBy(1, -1, GUARD);
    cutBy(1, 1, at.height + GUARD);
  }
  if (count === 0) return;
  if (count === 2) {
    addDot(path, points[0], points[1]);
    return;
  }
  path.moveTo(points[0], points[1]);
  for (let i = 2; i < count; i += 2) path.lineTo(points[i], points[i + 1]);
  path.closePath();
}
