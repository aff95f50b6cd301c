// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the columns of polygons and shapes become messages, and messages columns? A polygon that is larger than a
// message arrives in pieces: the first ring of a piece continues the last ring of the piece before it.

import { create, toBinary } from '@bufbuild/protobuf';
import { CaromError, Polygons, type Shapes } from '@carom/core/questions';
import { type Polygon, PolygonSchema, ShapeSchema } from '../generated/carom/v1/geometry_pb.js';

/** Returns each polygon as a message; those of shapes that move have neither ids nor categories nor user data. */
export function polygonMessages(polygons: Polygons, isShape = false): Polygon[] {
  const { id, category, fillRule, solidity, userDataSize } = polygons;
  let [ring, at, byte] = [0, 0, 0];
  return Array.from(polygons.ringCount, (count, i) => {
    const rings = Array.from(polygons.ringSize.subarray(ring, ring + count), (size, j) => {
      const begin = at;
      at += size;
      const open = polygons.open[ring + j] === 1;
      return { x: Array.from(polygons.x.subarray(begin, at)), y: Array.from(polygons.y.subarray(begin, at)), open };
    });
    ring += count;
    const made = create(PolygonSchema, { rings, fillRule: fillRule[i] ?? 0, solidity: solidity[i] ?? 0 });
    if (isShape) return made;
    made.id = id.length > 0 ? id[i]! : BigInt(i);
    const bits = category[i] ?? 1n;
    if (bits !== 1n) made.category = bits;
    const size = userDataSize[i] ?? 0;
    if (size > 0) made.userData = polygons.userData.slice(byte, byte + size);
    byte += size;
    return made;
  });
}

/** Returns each shape as bytes. */
export function shapeMessages(shapes: Shapes): Uint8Array[] {
  const made = polygonMessages(shapes.polygons, true).map((polygon) =>
    toBinary(ShapeSchema, create(ShapeSchema, { kind: { case: 'polygon', value: polygon } })),
  );
  const { ax, ay, bx, by, radius } = shapes.capsules;
  for (let i = 0; i < radius.length; ++i) {
    const value = { ax: ax[i]!, ay: ay[i]!, bx: bx[i]!, by: by[i]!, radius: radius[i]! };
    made.push(toBinary(ShapeSchema, create(ShapeSchema, { kind: { case: 'capsule', value } })));
  }
  return made;
}

/** A chunk of an import or an export. */
export interface Chunk {
  polygons: Polygon[];
  /** Whether the next chunk continues the last polygon. */
  continues: boolean;
}

function broken(what: string): CaromError {
  return new CaromError('INTERNAL', '', `the server sent ${what}`);
}

/** Polygons that arrive chunk after chunk. */
export class Joiner {
  private readonly polygons: Polygon[] = [];
  private continues = false; // whether the next polygon is a piece of the last one

  add(chunk: Chunk): void {
    if (chunk.polygons.length === 0 && (chunk.continues || this.continues)) {
      throw broken('a piece of a polygon without the next one');
    }
    for (const polygon of chunk.polygons) {
      for (const ring of polygon.rings) {
        if (ring.x.length !== ring.y.length) throw broken('a ring with columns of unequal length');
      }
      if (this.continues) this.append(polygon);
      else this.polygons.push(polygon);
      this.continues = false;
    }
    this.continues = chunk.continues;
  }

  private append(piece: Polygon): void {
    const whole = this.polygons[this.polygons.length - 1]!;
    const last = whole.rings[whole.rings.length - 1];
    const [first, ...others] = piece.rings;
    if (piece.id !== whole.id || last === undefined) throw broken('a piece of another polygon');
    for (const x of first?.x ?? []) last.x.push(x);
    for (const y of first?.y ?? []) last.y.push(y);
    whole.rings.push(...others);
  }

  /** Returns the polygons. */
  finish(): Polygons {
    const list = this.polygons;
    const rings = list.flatMap((polygon) => polygon.rings);
    if (this.continues || list.some((each) => each.rings.length === 0) || rings.some((ring) => ring.x.length === 0)) {
      throw broken('a polygon without its end, or a ring without vertices');
    }
    const x = new Float64Array(rings.reduce((sum, ring) => sum + ring.x.length, 0));
    const y = new Float64Array(x.length);
    let at = 0;
    for (const ring of rings) {
      x.set(ring.x, at);
      y.set(ring.y, at);
      at += ring.x.length;
    }
    const ringSize = Uint32Array.from(rings, (ring) => ring.x.length);
    const ringCount = Uint32Array.from(list, (polygon) => polygon.rings.length);
    const numbers = (of: (polygon: Polygon) => number) => {
      const made = Uint8Array.from(list, of);
      return made.some((each) => each !== 0) ? made : undefined;
    };
    const open = Uint8Array.from(rings, (ring) => (ring.open ? 1 : 0));
    const solidity = numbers((polygon) => polygon.solidity);
    const fillRule = numbers((polygon) => polygon.fillRule);
    return new Polygons(
      { x, y, ringSize, ringCount },
      {
        ids: BigUint64Array.from(list, (polygon) => polygon.id),
        categories: BigUint64Array.from(list, (polygon) => polygon.category ?? 1n),
        ...(open.includes(1) ? { open } : {}),
        ...(solidity ? { solidity: solidity as never } : {}),
        ...(fillRule ? { fillRule: fillRule as never } : {}),
        ...(list.some((each) => each.userData.length > 0) ? { userData: list.map((each) => each.userData) } : {}),
      },
    );
  }
}
