// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which part of a figure is near the screen? Outlines that are cut to a part of the plane of pixels, and the outlines of
// discs and capsules that are far larger than the screen: a canvas computes in floats.
import type { Box } from '../scene/store';
import type { Point } from './view';

/** The part of an area that lies in the box; its outline runs along the sides of the box where it was cut. */
export function clipped(outline: readonly Point[], box: Box): Point[] {
  let points = [...outline];
  for (const [axis, sign, bound] of [
    ['x', -1, -box.minX],
    ['x', 1, box.maxX],
    ['y', -1, -box.minY],
    ['y', 1, box.maxY],
  ] as const) {
    const other = axis === 'x' ? 'y' : 'x';
    const kept: Point[] = [];
    points.forEach((to, i) => {
      const from = points[(i + points.length - 1) % points.length];
      const a = from[axis] * sign - bound;
      const b = to[axis] * sign - bound;
      if (a > 0 !== b > 0) {
        const along = from[other] + (to[other] - from[other]) * (a / (a - b));
        kept.push({ [axis]: bound * sign, [other]: along } as unknown as Point);
      }
      if (b <= 0) kept.push(to);
    });
    points = kept;
  }
  return points;
}

const PARTS = 128;

/**
 * Points of the arc about `center` from the angle `from` to the greater angle `to`. Within `reach` of the point `near`,
 * which is that far from all that is seen, the chords are short; others do not come near it.
 */
export function arcPoints(
  center: Point,
  radius: number,
  from: number,
  to: number,
  near: Point,
  reach: number,
): Point[] {
  const distance = Math.hypot(near.x - center.x, near.y - center.y);
  const toward = distance > 0 ? Math.atan2(near.y - center.y, near.x - center.x) : from;
  const [ux, uy] = [Math.cos(toward), Math.sin(toward)];
  // From the foot of `near` on the circle, so that no large numbers cancel.
  const foot = { x: near.x + (radius - distance) * ux, y: near.y + (radius - distance) * uy };
  const at = (turn: number): Point => {
    const along = radius * Math.sin(turn);
    const back = 2 * radius * Math.sin(turn / 2) ** 2;
    return { x: foot.x - back * ux - along * uy, y: foot.y - back * uy + along * ux };
  };
  const fine = Math.min(reach / radius, Math.PI);
  const turns = Array.from({ length: PARTS + 1 }, (_, i) => ((2 * i) / PARTS - 1) * fine);
  for (let turn = fine * 1.15; turn < Math.PI; turn *= 1.15) turns.push(turn, -turn);
  // In the order of the arc, whose turns from `toward` begin with `begin`; small turns keep their digits.
  const begin = from - toward;
  const places = turns.map((turn) => ({ turn, place: turn + Math.ceil((begin - turn) / (2 * Math.PI)) * 2 * Math.PI }));
  const inside = places.filter(({ place }) => place > begin && place < to - toward);
  inside.sort((a, b) => a.place - b.place || a.turn - b.turn);
  return [begin, ...inside.map(({ turn }) => turn), to - toward].map(at);
}
