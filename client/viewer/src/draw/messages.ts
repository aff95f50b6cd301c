// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the page and the drawing worker send to each other?
import type { Packed } from '../scene/packed';
import type { View } from './view';

export type ToWorker =
  | { kind: 'start'; canvas: OffscreenCanvas; pixelRatio: number }
  | { kind: 'view'; view: View }
  | { kind: 'style'; dark: boolean; classes: { category: bigint; index: number; hidden: boolean }[] }
  /** Forgets all polygons. */
  | { kind: 'clear' }
  /** Adds or replaces polygons, and removes others. `last`: nothing more follows at once. */
  | { kind: 'polygons'; packed: Packed; removed: BigUint64Array; boxes: Float64Array | null; last: boolean };

export interface FromWorker {
  kind: 'frame';
  /** Frames drawn since the start. */
  frames: number;
  /** Duration of the last frame in milliseconds. */
  milliseconds: number;
  missing: number;
  /** Edges that are long enough on the screen for a number. */
  labels: EdgeLabel[] | null;
}

/** The number of an edge: at a point of the scene, and (dx, dy) pixels beside it. */
export interface EdgeLabel {
  x: number;
  y: number;
  dx: number;
  dy: number;
  text: string;
}
