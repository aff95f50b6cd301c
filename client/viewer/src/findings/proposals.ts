// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edit repairs a finding? A proposal, which goes to the draft of edits, where one sees the difference first.
import type { Ring, Shape } from '../scene/packed';
import type { Finding } from './findings';

/** What becomes of the polygon of the finding: `remove`, a polygon, or null where the page has no proposal. */
export type Proposal = { remove: true } | { shape: Shape } | null;

function withRing(shape: Shape, index: number, xy: Float64Array): Shape {
  return { ...shape, rings: shape.rings.map((ring, k) => (k === index ? { ...ring, xy } : ring)) };
}

function without(ring: Ring, vertex: number): Float64Array {
  return Float64Array.from([...ring.xy].filter((_, i) => i >> 1 !== vertex));
}

function moved(ring: Ring, vertex: number, x: number, y: number): Float64Array {
  const xy = ring.xy.slice();
  xy[vertex * 2] = x;
  xy[vertex * 2 + 1] = y;
  return xy;
}

function reversed({ xy }: Ring): Float64Array {
  const count = xy.length / 2;
  return Float64Array.from(xy, (_, i) => xy[(count - 1 - (i >> 1)) * 2 + (i & 1)]);
}

/** The repair of a finding of the polygon `shape`. */
export function propose(found: Finding, shape: Shape): Proposal {
  const ring = shape.rings[found.ring];
  if (!ring) return null;
  switch (found.kind) {
    case 'DUPLICATE_POLYGON':
      return { remove: true };
    case 'DUPLICATE_VERTEX':
    case 'NEAR_VERTEX':
    case 'SPIKE':
      return ring.xy.length > 2 ? { shape: withRing(shape, found.ring, without(ring, found.edge)) } : null;
    case 'WINDING':
      return { shape: withRing(shape, found.ring, reversed(ring)) };
    case 'OFF_LATTICE':
    case 'NEAR_JUNCTION':
      return { shape: withRing(shape, found.ring, moved(ring, found.edge, found.other.x, found.other.y)) };
    default:
      return null;
  }
}
