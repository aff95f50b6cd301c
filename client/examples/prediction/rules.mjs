// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The rules of the game, which the page and its server share: an input of one tick becomes questions, and their answers
// become the next state.

import { disc, segments, slides } from '@carom/core/questions';

export const TICKS_PER_SECOND = 60;
export const START = { x: 2, y: 2 };
const SPEED = 7 / TICKS_PER_SECOND; // world lengths a tick
const RANGE = 30;
const PLAYER = disc(0.45);

/** Walls, pillars and, by their ids, two doors. */
const box = (x, y, width, height) => [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]; // prettier-ignore
export const WALLS = [
  box(-1, -1, 34, 1),
  box(-1, 20, 34, 1),
  box(-1, 0, 1, 20),
  box(32, 0, 1, 20),
  box(10, 0, 0.5, 8),
  box(10, 11, 0.5, 9),
  box(21, 0, 0.5, 12),
  box(21, 15, 0.5, 5),
  [[15, 6], [17, 8], [15, 10], [14, 8]], // prettier-ignore
  [[26, 4], [28, 5], [27, 8]], // prettier-ignore
  [[4, 12], [7, 13], [6, 16], [3, 15]], // prettier-ignore
];
export const DOORS = new Map([
  [100, box(10, 8, 0.5, 3)],
  [101, box(21, 12, 0.5, 3)],
]);

/** Returns the questions of one tick. input: where the player walks to, and what it shoots at, if it does */
export function questionsOf({ x, y }, { dx, dy, aim }) {
  const length = Math.sqrt(dx * dx + dy * dy) || 1;
  const step = slides({ shapes: PLAYER, x: [x], y: [y], dx: [(dx / length) * SPEED], dy: [(dy / length) * SPEED] });
  if (aim === null) return [step];
  const [u, v] = [aim.x - x, aim.y - y];
  const scale = RANGE / (Math.sqrt(u * u + v * v) || 1);
  return [step, segments({ ax: [x], ay: [y], bx: [x + u * scale], by: [y + v * scale], detail: 'fraction' })];
}

/** Returns the state after a tick: where the player is, and what its bullet hit. */
export function stateAfter([moved, shot]) {
  const hit = shot?.hit(0) ?? null;
  return {
    x: moved.x[0],
    y: moved.y[0],
    hit: hit === null ? null : { polygon: String(hit.polygonId), fraction: hit.fraction },
  };
}

/** Whether two states are the same, to the last bit. */
export function isSame(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
