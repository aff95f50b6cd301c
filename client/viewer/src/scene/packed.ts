// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In which form do polygons travel between the page and its workers? As columns, which are transferred or copied as
// whole buffers, without an object for each polygon.

/** A set of polygons as columns. Vertices of a ring, rings of a polygon and polygons follow one another. */
export interface Packed {
  ids: BigUint64Array;
  categories: BigUint64Array;
  /** Bit 0: the fill rule is NON_ZERO. Bit 1: the polygon is hollow. */
  flags: Uint8Array;
  /** Number of rings of each polygon. */
  rings: Uint32Array;
  /** Number of vertices of each ring. */
  lengths: Uint32Array;
  /** 1 for an open chain. */
  open: Uint8Array;
  /** x and y of each vertex in turn. */
  xy: Float64Array;
}

export const NON_ZERO = 1;
export const HOLLOW = 2;

export interface Ring {
  /** x and y of each vertex in turn. */
  xy: Float64Array;
  open: boolean;
}

/** One polygon as an object: what the page edits, copies and draws above the map. */
export interface Shape {
  id: bigint;
  category: bigint;
  nonZero: boolean;
  hollow: boolean;
  rings: Ring[];
}

/** Columns of the given polygons. */
export function pack(shapes: readonly Shape[]): Packed {
  const rings = shapes.flatMap((shape) => shape.rings);
  const xy = new Float64Array(rings.reduce((sum, ring) => sum + ring.xy.length, 0));
  let at = 0;
  for (const ring of rings) {
    xy.set(ring.xy, at);
    at += ring.xy.length;
  }
  return {
    ids: BigUint64Array.from(shapes, (shape) => shape.id),
    categories: BigUint64Array.from(shapes, (shape) => shape.category),
    flags: Uint8Array.from(shapes, (shape) => (shape.nonZero ? NON_ZERO : 0) | (shape.hollow ? HOLLOW : 0)),
    rings: Uint32Array.from(shapes, (shape) => shape.rings.length),
    lengths: Uint32Array.from(rings, (ring) => ring.xy.length / 2),
    open: Uint8Array.from(rings, (ring) => (ring.open ? 1 : 0)),
    xy,
  };
}

/** The buffers of the columns, for postMessage to transfer. */
export function buffersOf(packed: Packed): ArrayBuffer[] {
  return Object.values(packed).map((column) => (column as Uint8Array).buffer as ArrayBuffer);
}

/** A copy of the columns, whose buffers can be transferred. */
export function copyOf(packed: Packed): Packed {
  return Object.fromEntries(
    Object.entries(packed).map(([name, column]) => [name, (column as Uint8Array).slice()]),
  ) as unknown as Packed;
}
