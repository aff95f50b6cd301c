// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// By which points is the boundary of an area of sight drawn?
import type { Point } from '../draw/view';
import { PIECE_ARC } from './question';

/** The points, from the starts and kinds of the pieces; an arc is a chain of short lines. */
export function outlineOf(eye: Point, range: number, starts: readonly Point[], kind: readonly number[]): Point[] {
  return starts.flatMap((start, i) => {
    if (kind[i] !== PIECE_ARC) return [start];
    const end = starts[(i + 1) % starts.length];
    const first = Math.atan2(start.y - eye.y, start.x - eye.x);
    let turn = Math.atan2(end.y - eye.y, end.x - eye.x) - first;
    while (turn <= 0) turn += 2 * Math.PI;
    const steps = Math.ceil(turn * 16);
    return Array.from({ length: steps }, (_, k) => {
      const angle = first + (turn * k) / steps;
      return { x: eye.x + range * Math.cos(angle), y: eye.y + range * Math.sin(angle) };
    });
  });
}
