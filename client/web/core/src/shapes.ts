// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import { type Numbers, toArray, toColumn } from './columns.js';
import { refuse } from './errors.js';
import { Polygons, type PolygonsLike } from './polygons.js';

/** Columns of capsules, which are all points within `radius` of the segment from a to b; numbers count for all. */
export interface CapsuleColumns {
  ax: Numbers;
  ay: Numbers;
  bx: Numbers;
  by: Numbers;
  radius: Numbers;
}

export type ShapesLike = Shapes | PolygonsLike;

const CAPSULE_NAMES = ['ax', 'ay', 'bx', 'by', 'radius'] as const;

/**
 * An immutable list of shapes that move, described about their reference point (0, 0): first polygons, then capsules.
 *
 * `disc`, `capsule` and `box` make lists of one kind of shape.
 */
export class Shapes {
  readonly polygons: Polygons;
  readonly capsules: Readonly<Record<(typeof CAPSULE_NAMES)[number], Float64Array>>;

  constructor(polygons: PolygonsLike = [], capsules: CapsuleColumns = { ax: [], ay: [], bx: [], by: [], radius: [] }) {
    this.polygons = polygons instanceof Polygons ? polygons : new Polygons(polygons);
    let count = 0;
    let lists = 0;
    for (const name of CAPSULE_NAMES) {
      const column = toColumn(capsules[name], 'f64', `capsules.${name}`);
      if (typeof column !== 'object') continue;
      lists += 1;
      count = Math.max(count, column.length);
    }
    if (lists === 0) count = 1;
    const made = CAPSULE_NAMES.map((name) => [name, toArray(capsules[name], 'f64', `capsules.${name}`, count)]);
    this.capsules = Object.fromEntries(made);
  }

  /** The number of shapes. */
  get length(): number {
    return this.polygons.length + this.capsules.radius.length;
  }
}

/** Discs with these radii, around their reference points. */
export function disc(radius: Numbers): Shapes {
  return new Shapes([], { ax: 0, ay: 0, bx: 0, by: 0, radius });
}

/** Capsules: all points within `radius` of the segments from a to b. */
export function capsule(ax: Numbers, ay: Numbers, bx: Numbers, by: Numbers, radius: Numbers): Shapes {
  return new Shapes([], { ax, ay, bx, by, radius });
}

/** A box around its reference point. */
export function box(width: number, height: number): Shapes {
  for (const [name, value] of Object.entries({ width, height })) {
    if (typeof value !== 'number') throw refuse(name, 'must be a number');
  }
  const [x, y] = [width / 2, height / 2];
  return new Shapes([[[-x, -y], [x, -y], [x, y], [-x, y]]]); // prettier-ignore
}

/** Shapes from what `Polygons` accepts; shapes as they are. */
export function toShapes(value: ShapesLike | undefined, field: string): Shapes {
  if (value === undefined) throw refuse(field, 'is required');
  return value instanceof Shapes ? value : new Shapes(value);
}
