// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import { checkAttached, type Integers, type Longs, type Numbers, refuse, Shapes, type ShapesLike } from '@carom/core/questions';

/** What bodies are made of: the same as for `Bodies` of @carom/core. A number counts for all. */
export interface BodiesArguments {
  /** Described about (0, 0). */
  shapes: ShapesLike;
  /** The index of the shape of each body; absent: body i has shape i, or all have the only shape. */
  shape?: Integers;
  /** [length] */
  x: Numbers;
  /** [length] */
  y: Numbers;
  /** Cosine and sine of the rotation, or the angle in radians; absent: no rotation. */
  c?: Numbers;
  s?: Numbers;
  angle?: Numbers;
  /** Bits that are compared with the masks of questions; absent: 1. */
  category?: Longs;
  /** The owner, which `ignoreOwner` of a question names; 0: none. */
  owner?: Integers;
}

const OPTIONAL = ['shape', 'c', 's', 'angle', 'category', 'owner'] as const;

type Entries = ArrayLike<number | bigint> | { readonly array: ArrayLike<number | bigint> };

/** Returns the entries of an argument; a single number as it is. */
export function entries(value: unknown, name: string, of = 'bodies'): ArrayLike<number | bigint> | number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  const given = value as Entries | null | undefined;
  const list = typeof given === 'object' && given !== null && 'array' in given ? given.array : given;
  if (typeof list !== 'object' || list === null || typeof list.length !== 'number') {
    throw refuse(`${of}.${name}`, `is ${String(value)}; a number or an array is accepted`);
  }
  checkAttached(list, `${of}.${name}`);
  return list;
}

/** Makes a column of some type, whose entries must be of it. */
export function columnOf<T extends Float64Array | Uint32Array | BigUint64Array>(
  made: T,
  value: unknown,
  name: string,
  of = 'bodies',
): T {
  const given = entries(value, name, of);
  const isList = typeof given === 'object';
  if (isList && given.length !== made.length) {
    throw refuse(`${of}.${name}`, `has ${given.length} entries, where there are ${made.length} bodies`);
  }
  for (let i = 0; i < made.length; ++i) {
    const entry = isList ? given[i] : given;
    const path = isList ? `${of}.${name}[${i}]` : `${of}.${name}`;
    if (typeof entry !== 'number' && (typeof entry !== 'bigint' || !(made instanceof BigUint64Array))) {
      throw refuse(path, `is ${String(entry)}; a number is accepted`);
    }
    if (made instanceof Float64Array) {
      made[i] = Number(entry);
      continue;
    }
    const limit = made instanceof Uint32Array ? 2 ** 32 : 2 ** 64;
    const isInteger = typeof entry === 'bigint' || Number.isSafeInteger(entry);
    if (!isInteger || entry < 0 || entry >= limit) throw refuse(path, `is ${String(entry)}; accepted is [0, ${limit})`);
    if (made instanceof Uint32Array) made[i] = Number(entry);
    else made[i] = BigInt(entry);
  }
  return made;
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

  constructor(given: BodiesArguments) {
    if (typeof given !== 'object' || given === null) throw refuse('bodies', 'is no object');
    const known = new Set(['shapes', 'x', 'y', ...OPTIONAL]);
    const other = Object.keys(given).find((name) => !known.has(name));
    if (other !== undefined) throw refuse(`bodies.${other}`, 'is not an argument of bodies');
    this.shapes = given.shapes instanceof Shapes ? given.shapes : new Shapes(given.shapes);
    const name = (['x', 'y', ...OPTIONAL] as const).find((each) => typeof given[each] === 'object');
    const first = name === undefined ? 1 : (entries(given[name], name) as ArrayLike<number>).length;
    const optional = <T extends Float64Array | Uint32Array | BigUint64Array>(
      name: (typeof OPTIONAL)[number],
      type: new (length: number) => T,
    ): T | null => (given[name] === undefined ? null : columnOf(new type(first), given[name], name));
    this.x = columnOf(new Float64Array(first), given.x, 'x');
    this.y = columnOf(new Float64Array(first), given.y, 'y');
    const all = this.shapes.length === 1 && first !== 1 ? new Uint32Array(first) : null;
    this.shape = optional('shape', Uint32Array) ?? all;
    this.c = optional('c', Float64Array);
    this.s = optional('s', Float64Array);
    this.angle = optional('angle', Float64Array);
    this.category = optional('category', BigUint64Array);
    this.owner = optional('owner', Uint32Array);
  }

  /** The number of bodies. */
  get length(): number {
    return this.x.length;
  }
}
