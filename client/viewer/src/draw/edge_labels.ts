// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges of the view get a number, and where? Those that are long on the screen, as long as they are few.
import type { SceneStore } from '../scene/store';
import type { EdgeLabel } from './messages';
import { toScene, toScreen, visibleBox, type View } from './view';

const LEAST_PIXELS = 84;
const MAX_LABELS = 90;
const MAX_VERTICES = 6000;

/** Labels `edge`, or `ring.edge` in a polygon of several rings; none where the view holds too many edges. */
export function edgeLabels(store: SceneStore, view: View): EdgeLabel[] {
  const labels: EdgeLabel[] = [];
  let visited = 0;
  for (const slot of store.search(visibleBox(view))) {
    const first = store.firstRing[slot];
    for (let k = 0; k < store.ringCount[slot]; ++k) {
      const ring = first + k;
      const length = store.ringLength[ring];
      visited += length;
      if (visited > MAX_VERTICES) return [];
      const edges = store.ringOpen[ring] || length === 1 ? length - 1 : length;
      for (let i = 0; i < edges; ++i) {
        const a = (store.ringStart[ring] + i) * 2;
        const b = (store.ringStart[ring] + ((i + 1) % length)) * 2;
        const label = labelOf(view, store.xy.subarray(a, a + 2), store.xy.subarray(b, b + 2));
        if (!label) continue;
        labels.push({ ...label, text: store.ringCount[slot] > 1 ? `${k}.${i}` : `${i}` });
        if (labels.length > MAX_LABELS) return [];
      }
    }
  }
  return labels;
}

function labelOf(view: View, from: Float64Array, to: Float64Array): Omit<EdgeLabel, 'text'> | null {
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
  return { ...middle, dx: ((b.y - a.y) / length) * 11, dy: ((a.x - b.x) / length) * 11 };
}
