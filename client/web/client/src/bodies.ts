// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import { refuse, Shapes, type ShapesLike } from '@carom/core/questions';

/** Where bodies are: a number counts for all. */
export interface BodyColumns {
  x: readonly number[] | Float64Array;
  y: readonly number[] | Float64Array;
  /** The index of the shape of each body; absent: body i has shape i, or all have the only shape. */
  shape?: readonly number[] | Uint32Array;
  /** Cosine and sine of the rotation, or the angle in radians; absent: no rotation. */
  c?: readonly number[] | Float64Array;
  s?: readonly number[] | Float64Array;
  angle?: readonly number[] | Float64Array;
  /** Bits that are compared with the masks of questions; absent: 1. */
  category?: readonly (number | bigint)[] | BigUint64Array;
  /** The owner, which `ignoreOwner` of a question names; 0: none. */
  owner?: readonly number[] | Uint32Array;
}

/** Shapes at poses that exist for the questions of one group: players, crates, doors. */
export class Bodies {
  readonly shapes: Shapes;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly shape: Uint32Array | null;
  readonly c: Float64Array | null;
  readonly s: Float64Array | null;
  readonly angle: Float64Array | null;
  readonly category: BigUint64Array | null;
  readonly owner: Uint32Array | null;

  constructor(shapes: ShapesLike, columns: BodyColumns) {
    this.shapes = shapes instanceof Shapes ? shapes : new Shapes(shapes);
    this.x = Float64Array.from(columns.x);
    const all = this.shapes.length === 1 && this.x.length !== 1 ? new Uint32Array(this.x.length) : null;
    this.y = Float64Array.from(columns.y);
    this.shape = columns.shape === undefined ? all : Uint32Array.from(columns.shape);
    this.c = columns.c === undefined ? null : Float64Array.from(columns.c);
    this.s = columns.s === undefined ? null : Float64Array.from(columns.s);
    this.angle = columns.angle === undefined ? null : Float64Array.from(columns.angle);
    this.category = columns.category === undefined ? null : BigUint64Array.from(columns.category, BigInt);
    this.owner = columns.owner === undefined ? null : Uint32Array.from(columns.owner);
    for (const name of ['y', 'shape', 'c', 's', 'angle', 'category', 'owner'] as const) {
      const length = this[name]?.length ?? this.x.length;
      if (length !== this.x.length) throw refuse(`bodies.${name}`, `has ${length} entries, where x has ${this.x.length}`);
    }
  }

  /** The number of bodies. */
  get length(): number {
    return this.x.length;
  }
}
