// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges of the view get a number, and where? Those that are long on the screen, as long as they are few.
import { type Box, RUN, type SceneStore } from '../scene/store';
import type { EdgeLabel } from './messages';
import { toScene, toScreen, visibleBox, type View } from './view';

const LEAST_PIXELS = 84;
/** Pixels between an edge and the middle of its number. */
const BESIDE_PIXELS = 10;
const MAX_LABELS = 90;
const MAX_EDGES = 6000;

/**
 * Labels `edge`, or `ring.edge` in a polygon of several rings; none where the view holds too many edges. Polygons of
 * `hidden` categories have none.
 */
export function edgeLabels(store: SceneStore, view: View, hidden: ReadonlySet<bigint>): EdgeLabel[] {
  const labels: EdgeLabel[] = [];
  let seen = 0;
  const box = visibleBox(view);
  for (const slot of store.search(box)) {
    if (hidden.has(store.categories[slot])) continue;
    const first = store.firstRing[slot];
    for (let k = 0; k < store.ringCount[slot]; ++k) {
      const ring = first + k;
      const length = store.ringLength[ring];
      const edges = store.ringOpen[ring] || length === 1 ? length - 1 : length;
      let side = 0;
      for (let i = 0; i < edges; ++i) {
        // The box of a run has its edges, but not the edge that closes the ring.
        if (i % RUN === 0 && i + RUN < edges && !meets(store.runBoxes, store.ringRun[ring] + i / RUN, box)) {
          i += RUN - 1;
          continue;
        }
        const a = (store.ringStart[ring] + i) * 2;
        const b = (store.ringStart[ring] + ((i + 1) % length)) * 2;
        if (!edgeMeets(store.xy, a, b, box)) continue;
        if (++seen > MAX_EDGES) return [];
        side ||= sideOf(store, ring, k === 0);
        const label = labelOf(view, store.xy.subarray(a, a + 2), store.xy.subarray(b, b + 2), side);
        if (!label) continue;
        labels.push({ ...label, text: store.ringCount[slot] > 1 ? `${k}.${i}` : `${i}` });
        if (labels.length > MAX_LABELS) return [];
      }
    }
  }
  return labels;
}

function meets(boxes: Float64Array, run: number, { minX, minY, maxX, maxY }: Box): boolean {
  const at = run * 4;
  return boxes[at] <= maxX && boxes[at + 2] >= minX && boxes[at + 1] <= maxY && boxes[at + 3] >= minY;
}

/** Whether the box of an edge meets the box. */
function edgeMeets(xy: Float64Array, a: number, b: number, { minX, minY, maxX, maxY }: Box): boolean {
  return (
    Math.min(xy[a], xy[b]) <= maxX &&
    Math.max(xy[a], xy[b]) >= minX &&
    Math.min(xy[a + 1], xy[b + 1]) <= maxY &&
    Math.max(xy[a + 1], xy[b + 1]) >= minY
  );
}

/**
 * Returns the side of its edges on which a ring has their numbers: 1 for the left, -1 for the right. The numbers of the
 * first ring are outside of the ring, so that those of the two sides of a thin wall do not overlap. The numbers of
 * further rings, which are mostly holes, are inside of them.
 */
function sideOf(store: SceneStore, ring: number, isOutside: boolean): number {
  const { xy } = store;
  const first = store.ringStart[ring] * 2;
  const last = first + (store.ringLength[ring] - 1) * 2;
  const [x, y] = [xy[first], xy[first + 1]];
  let area = 0;
  for (let i = first; i < last; i += 2) area += (xy[i] - x) * (xy[i + 3] - y) - (xy[i + 2] - x) * (xy[i + 1] - y);
  return (area > 0) === isOutside ? -1 : 1;
}

function labelOf(view: View, from: Float64Array, to: Float64Array, side: number): Omit<EdgeLabel, 'text'> | null {
  const a = toScreen(view, from[0], from[1]);
  const b = toScreen(view, to[0], to[1]);
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  if (!(length >= LEAST_PIXELS)) return null;
  // The part of the edge on the screen, so that a long edge has its number in view.
  let low = 0;
  let high = 1;
  for (const [p, q, max] of [
    [a.x, b.x, view.width],
    [a.y, b.y, view.height],
  ]) {
    if (p === q) {
      if (p < 0 || p > max) return null;
      continue;
    }
    low = Math.max(low, Math.min(-p / (q - p), (max - p) / (q - p)));
    high = Math.min(high, Math.max(-p / (q - p), (max - p) / (q - p)));
  }
  if (low >= high || (high - low) * length < LEAST_PIXELS / 2) return null;
  const t = (low + high) / 2;
  const middle = toScene(view, a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t);
  const away = (side * BESIDE_PIXELS) / length;
  return { ...middle, dx: (b.y - a.y) * away, dy: (a.x - b.x) * away };
}
