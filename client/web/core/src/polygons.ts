// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import { checkAttached, type Flags, type Longs, ownList, shown, toArray } from './columns.js';
import { refuse } from './errors.js';

export type Point = readonly [number, number] | { readonly x: number; readonly y: number };
export type Ring = readonly Point[];

/** Polygons as columns: those of `carom_polygons` in carom.h. */
export interface PolygonColumns {
  /** [length] The vertices of all rings. */
  x: Float64Array;
  y: Float64Array;
  /** Vertices of each ring; one ring in all if absent. */
  ringSize?: Uint32Array;
  /** Rings of each polygon; one if absent. */
  ringCount?: Uint32Array;
}

/** One list of points, or one list of rings, a polygon; or columns. */
export type PolygonsLike = Polygons | readonly (Ring | readonly Ring[])[] | PolygonColumns;

export interface PolygonOptions {
  /** One a polygon, different; 0, 1, 2 and so on if absent. */
  ids?: Longs;
  /** Bits that are compared with the masks of questions; for all, or one a polygon; 1 if absent. */
  categories?: Longs;
  /** `boundary` makes hollow polygons, walls without an inside; for all, or one a polygon. */
  solidity?: Solidity | readonly Solidity[] | undefined;
  /** Which points are filled; for all, or one a polygon. */
  fillRule?: FillRule | readonly FillRule[] | undefined;
  /** Whether rings are open chains; for all, or one a ring. Their polygons are hollow unless `solidity` is given. */
  open?: Flags;
  /** Bytes of each polygon, which scenes keep and never read. */
  userData?: readonly Uint8Array[];
}

const SOLIDITIES = { solid: 1, boundary: 2 } as const;
const FILL_RULES = { even_odd: 1, non_zero: 2 } as const;
export type Solidity = keyof typeof SOLIDITIES;
export type FillRule = keyof typeof FILL_RULES;

function named(value: unknown, names: Record<string, number>, field: string): unknown {
  const numberOf = (each: unknown, path: string): number => {
    if (typeof each === 'string' && Object.hasOwn(names, each)) return names[each] as number;
    if (typeof each === 'number' && Object.values(names).includes(each)) return each;
    throw refuse(path, `is ${shown(each)}; accepted are ${Object.keys(names).join(', ')}`);
  };
  if (Array.isArray(value)) return value.map((each, i) => numberOf(each, `${field}[${i}]`));
  return value instanceof Uint8Array ? value : numberOf(value, field);
}

/** Appends the coordinates of the points of a ring. */
function addPoints(x: number[], y: number[], ring: ArrayLike<unknown>, path: string): void {
  for (let i = 0; i < ring.length; ++i) {
    const point = ring[i] as { x?: unknown; y?: unknown; 0?: unknown; 1?: unknown } | null;
    const px = point?.x ?? point?.[0];
    const py = point?.y ?? point?.[1];
    if (typeof px !== 'number' || typeof py !== 'number') {
      throw refuse(`${path}[${i}]`, `is ${shown(point)}; a point [x, y] or {x, y} is accepted`);
    }
    x.push(px);
    y.push(py);
  }
}

function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** Whether a value is a list of rings, and not a list of points. */
function isRings(value: ArrayLike<unknown>): value is ArrayLike<ArrayLike<unknown>> {
  const first = value[0];
  if (!isList(first)) return false;
  const inner = first[0];
  return isList(inner) || (typeof inner === 'object' && inner !== null);
}

/**
 * An immutable list of polygons, each with an id, rings, a category and bytes of user data.
 *
 * Throws a `CaromError` that names the place, such as `polygons[3][1]`. Not checked here, but by the scene: NaN, which
 * it names `polygons[3].rings[0].x[1]`, equal ids, and limits.
 */
export class Polygons {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly ringSize: Uint32Array;
  readonly ringCount: Uint32Array;
  /** Empty, as those below, where all polygons have the default. */
  readonly id: BigUint64Array;
  readonly category: BigUint64Array;
  readonly open: Uint8Array;
  readonly fillRule: Uint8Array;
  readonly solidity: Uint8Array;
  readonly userDataSize: Uint32Array;
  readonly userData: Uint8Array;

  constructor(polygons: PolygonsLike, options: PolygonOptions = {}) {
    const made = polygons instanceof Polygons ? polygons : Polygons.read(polygons);
    this.x = made.x;
    this.y = made.y;
    this.ringSize = made.ringSize;
    this.ringCount = made.ringCount;
    const before = polygons instanceof Polygons ? polygons : undefined;
    const count = this.ringCount.length;
    const { ids, categories, open, solidity, fillRule, userData } = options;
    this.id = ids === undefined ? (before?.id ?? new BigUint64Array()) : toArray(ids, 'u64', 'ids', count);
    this.category =
      categories === undefined
        ? (before?.category ?? new BigUint64Array())
        : toArray(categories, 'u64', 'categories', count);
    this.open =
      open === undefined ? (before?.open ?? new Uint8Array()) : toArray(open, 'u8', 'open', this.ringSize.length);
    this.fillRule =
      fillRule === undefined
        ? (before?.fillRule ?? new Uint8Array())
        : toArray(named(fillRule, FILL_RULES, 'fillRule'), 'u8', 'fillRule', count);
    if (solidity !== undefined) {
      this.solidity = toArray(named(solidity, SOLIDITIES, 'solidity'), 'u8', 'solidity', count);
    } else if (open !== undefined && this.open.includes(1)) {
      this.solidity = new Uint8Array(count).fill(SOLIDITIES.boundary);
    } else {
      this.solidity = before?.solidity ?? new Uint8Array();
    }
    if (userData !== undefined) {
      const parts = Polygons.readUserData(userData, count);
      this.userDataSize = parts.size;
      this.userData = parts.bytes;
    } else {
      this.userDataSize = before?.userDataSize ?? new Uint32Array();
      this.userData = before?.userData ?? new Uint8Array();
    }
  }

  /** The number of polygons. */
  get length(): number {
    return this.ringCount.length;
  }

  /** The rings of a polygon, each a list of points [x, y]. O(rings of all polygons). */
  rings(index: number): [number, number][][] {
    if (!(index >= 0 && index < this.length)) throw refuse('index', `is ${shown(index)} of ${this.length} polygons`);
    let ring = 0;
    for (let i = 0; i < index; ++i) ring += this.ringCount[i] as number;
    let at = 0;
    for (let i = 0; i < ring; ++i) at += this.ringSize[i] as number;
    const result: [number, number][][] = [];
    for (const end = ring + (this.ringCount[index] as number); ring < end; ++ring) {
      const points: [number, number][] = [];
      for (const last = at + (this.ringSize[ring] as number); at < last; ++at) {
        points.push([this.x[at] as number, this.y[at] as number]);
      }
      result.push(points);
    }
    return result;
  }

  private static read(value: Exclude<PolygonsLike, Polygons>): Pick<Polygons, 'x' | 'y' | 'ringSize' | 'ringCount'> {
    if (isList(value)) return Polygons.readLists(value);
    if (typeof value !== 'object' || value === null || !('x' in value) || !('y' in value)) {
      throw refuse('polygons', `is ${shown(value)}; a list of polygons, or columns with x and y, are accepted`);
    }
    if (typeof value.x !== 'object') throw refuse('polygons.x', 'is no array');
    const x = ownList(value.x, 'f64', 'polygons.x');
    const y = toArray(value.y, 'f64', 'polygons.y', x.length);
    const sizes = value.ringSize ?? (x.length > 0 ? [x.length] : []);
    const ringSize = ownList(sizes, 'u32', 'polygons.ringSize');
    const counts = value.ringCount ?? new Uint32Array(ringSize.length).fill(1);
    return { x, y, ringSize, ringCount: ownList(counts, 'u32', 'polygons.ringCount') };
  }

  private static readLists(list: ArrayLike<unknown>): Pick<Polygons, 'x' | 'y' | 'ringSize' | 'ringCount'> {
    const x: number[] = [];
    const y: number[] = [];
    const sizes: number[] = [];
    const counts: number[] = [];
    for (let i = 0; i < list.length; ++i) {
      const polygon = list[i];
      const path = `polygons[${i}]`;
      if (!isList(polygon)) throw refuse(path, `is ${shown(polygon)}; a list of points or of rings is accepted`);
      const rings = isRings(polygon) ? polygon : [polygon];
      for (let j = 0; j < rings.length; ++j) {
        const ring = rings[j] as ArrayLike<unknown>;
        const place = rings === polygon ? `${path}[${j}]` : path;
        if (!isList(ring)) throw refuse(place, `is ${shown(ring)}; a list of points is accepted`);
        addPoints(x, y, ring, place);
        sizes.push(ring.length);
      }
      counts.push(rings.length);
    }
    return {
      x: Float64Array.from(x),
      y: Float64Array.from(y),
      ringSize: Uint32Array.from(sizes),
      ringCount: Uint32Array.from(counts),
    };
  }

  private static readUserData(userData: readonly Uint8Array[], count: number): { size: Uint32Array; bytes: Uint8Array } {
    if (!Array.isArray(userData) || userData.length !== count) {
      throw refuse('userData', `must be a list with an entry for each of ${count} polygons`);
    }
    let total = 0;
    userData.forEach((each, i) => {
      if (!(each instanceof Uint8Array)) throw refuse(`userData[${i}]`, `is ${shown(each)}; a Uint8Array is accepted`);
      checkAttached(each, `userData[${i}]`);
      total += each.length;
    });
    const bytes = new Uint8Array(total);
    let at = 0;
    for (const each of userData) {
      bytes.set(each, at);
      at += each.length;
    }
    return { size: Uint32Array.from(userData, (each) => each.length), bytes };
  }
}
