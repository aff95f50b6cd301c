// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do polygons look in messages, and how as columns?
import { HOLLOW, NON_ZERO, type Packed, type Shape } from '../scene/packed';

/** A polygon as protobuf's JSON writes it. */
export interface PolygonJson {
  id?: string;
  rings?: { x?: number[]; y?: number[]; open?: boolean }[];
  fillRule?: string;
  solidity?: string;
  category?: string;
  userData?: string;
}

const number = (value: unknown): number => Number(value ?? 0);

/** Collects polygons that arrive in chunks, with pieces of large polygons, and makes columns of them. */
export class PolygonCollector {
  private waiting: PolygonJson[] = [];
  private open = false;
  vertices = 0;

  constructor(private readonly userData: Map<bigint, string>) {}

  /** Takes a chunk; `continues`: its last polygon goes on in the next chunk. */
  add(polygons: readonly PolygonJson[], continues: boolean): void {
    polygons.forEach((polygon, i) => {
      this.vertices += (polygon.rings ?? []).reduce((sum, ring) => sum + (ring.x?.length ?? 0), 0);
      if (i === 0 && this.open) this.join(polygon);
      else this.waiting.push(polygon);
    });
    this.open = continues;
  }

  /** Columns of the polygons that are complete. */
  take(): Packed {
    const complete = this.open ? this.waiting.slice(0, -1) : this.waiting;
    this.waiting = this.open ? this.waiting.slice(-1) : [];
    for (const polygon of complete) {
      const id = BigInt(polygon.id ?? 0);
      if (polygon.userData) this.userData.set(id, polygon.userData);
      else this.userData.delete(id);
    }
    return packJson(complete);
  }

  private join(piece: PolygonJson): void {
    const polygon = this.waiting[this.waiting.length - 1];
    const rings = polygon.rings ?? [];
    const [first, ...others] = piece.rings ?? [];
    const last = rings[rings.length - 1];
    if (first && last) {
      last.x = [...(last.x ?? []), ...(first.x ?? [])];
      last.y = [...(last.y ?? []), ...(first.y ?? [])];
    }
    polygon.rings = [...rings, ...others];
  }
}

function packJson(polygons: readonly PolygonJson[]): Packed {
  const rings = polygons.flatMap((polygon) => polygon.rings ?? []);
  const xy = new Float64Array(rings.reduce((sum, ring) => sum + (ring.x?.length ?? 0) * 2, 0));
  let at = 0;
  for (const { x = [], y = [] } of rings) {
    for (let i = 0; i < x.length; ++i) {
      xy[at++] = number(x[i]);
      xy[at++] = number(y[i]);
    }
  }
  return {
    ids: BigUint64Array.from(polygons, (polygon) => BigInt(polygon.id ?? 0)),
    categories: BigUint64Array.from(polygons, (polygon) => BigInt(polygon.category ?? 1)),
    flags: Uint8Array.from(
      polygons,
      ({ fillRule, solidity }) =>
        (fillRule === 'FILL_RULE_NON_ZERO' ? NON_ZERO : 0) | (solidity === 'SOLIDITY_BOUNDARY' ? HOLLOW : 0),
    ),
    rings: Uint32Array.from(polygons, (polygon) => polygon.rings?.length ?? 0),
    lengths: Uint32Array.from(rings, (ring) => ring.x?.length ?? 0),
    open: Uint8Array.from(rings, (ring) => (ring.open ? 1 : 0)),
    xy,
  };
}

/** A polygon as the server reads it. */
export function polygonJson(shape: Shape, userData?: string): PolygonJson {
  return {
    id: String(shape.id),
    rings: shape.rings.map(({ xy, open }) => ({
      x: Array.from({ length: xy.length / 2 }, (_, i) => xy[i * 2]),
      y: Array.from({ length: xy.length / 2 }, (_, i) => xy[i * 2 + 1]),
      ...(open ? { open } : {}),
    })),
    ...(shape.nonZero ? { fillRule: 'FILL_RULE_NON_ZERO' } : {}),
    ...(shape.hollow ? { solidity: 'SOLIDITY_BOUNDARY' } : {}),
    category: String(shape.category),
    ...(userData ? { userData } : {}),
  };
}

/** A polygon as `carom scene import` reads it: a line of a map. */
export function mapLine(shape: Shape, userData?: string): string {
  const rings = shape.rings.map(({ xy, open }) => {
    const points = Array.from({ length: xy.length / 2 }, (_, i) => [xy[i * 2], xy[i * 2 + 1]]);
    return open ? { points, open: true } : points;
  });
  const members = [
    `"id":${shape.id}`,
    `"rings":${JSON.stringify(rings)}`,
    ...(shape.nonZero ? ['"fill":"nonzero"'] : []),
    ...(shape.hollow ? ['"solidity":"boundary"'] : []),
    ...(shape.category !== 1n ? [`"category":${shape.category}`] : []),
    ...(userData ? [`"user_data":${JSON.stringify(userData)}`] : []),
  ];
  return `{${members.join(',')}}`;
}
