// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where was the tracker dragged? Its last positions, which an explanation repeats, and how each move was answered.
import { effect, signal } from '@preact/signals';
import type { ShapeSpec } from '../ask/question';
import { shapeOf } from '../ask/shapes';
import { optionValue, toolOf } from '../ask/tools';
import { handles, options, scene } from '../state/state';

export interface Move {
  x: number;
  y: number;
}

const MOST_MOVES = 240;

/** The last positions of the tracker, the newest last. */
export const moves = signal<Move[]>([]);
/** How the last moves were answered, as in MoveTier. */
export const tiers = signal<string[]>([]);

export function trackerShape(): ShapeSpec {
  const tracker = toolOf('tracker');
  const [at, rim] = handles.peek().tracker ?? [];
  if (!tracker || !at || !rim) return shapeOf('disc', 1, 0);
  const kind = optionValue(tracker, options.peek().tracker, 'shape') as string;
  return shapeOf(kind, rim.x - at.x, rim.y - at.y);
}

/** Adds each position of the tracker; begins anew when its shape or the scene is another one. */
export function startTracking(): void {
  let shape = '';
  effect(() => {
    const [at, rim] = handles.value.tracker ?? [];
    const name = scene.value?.name ?? '';
    const kind = String(options.value.tracker?.shape ?? '');
    if (!at || !rim) return;
    // The size up to rounding: the rim moves along with the position.
    const size = [(rim.x - at.x).toPrecision(9), (rim.y - at.y).toPrecision(9)];
    const key = [name, kind, ...size].join();
    const before = moves.peek();
    const last = before[before.length - 1];
    if (key !== shape) {
      shape = key;
      tiers.value = [];
      moves.value = [{ x: at.x, y: at.y }];
    } else if (!last || last.x !== at.x || last.y !== at.y) {
      moves.value = [...before.slice(1 - MOST_MOVES), { x: at.x, y: at.y }];
    }
  });
}
