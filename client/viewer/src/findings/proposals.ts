// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edit repairs a finding? A proposal, which goes to the draft of edits, where one sees the difference first. The
// repairs are those of `carom scene lint --fix`, and gaps are closed as ends that nearly meet are.
//
// A finding names vertices and edges of the server's version by numbers, which edits of the draft shift. So a repair
// looks for them in the draft by their coordinates, and there is none where the draft has them no longer.
import { sameShape, shapeNow, draft } from '../edit/draft';
import type { Point } from '../draw/view';
import { scene, stored } from '../state/state';
import type { Ring, Shape } from '../scene/packed';
import { type Finding, findings } from './findings';

/** Polygons as they are to be, null: removed; or why the page proposes nothing. */
export type Proposal = { changes: [bigint, Shape | null][] } | { why: string };

/** Why a kind of findings has no repair. */
const NO_REPAIR: Record<string, string> = {
  CROSSING: 'No repair is proposed: where a ring that crosses itself is to part depends on what it should be.',
  POCKET: 'No repair is proposed: a place may be opened or filled, and that is a choice.',
  OVERLAP: 'No repair is proposed: which of the two edges is one too many depends on what the ring should be.',
  ZERO_AREA: 'No repair is proposed: the ring may be a mistake or a wall without thickness.',
  INSIDE: 'No repair is proposed: the inner polygon may be one too many, or a hole may be missing.',
};
const CHANGED = 'No repair is proposed: the edits have changed this part already.';
const OLD = 'The scene has changed; the search goes on.';

const count = ({ xy }: Ring): number => xy.length / 2;
const isAt = ({ xy }: Ring, i: number, { x, y }: Point): boolean => xy[i * 2] === x && xy[i * 2 + 1] === y;

function pointOf({ xy }: Ring, i: number): Point {
  return { x: xy[i * 2], y: xy[i * 2 + 1] };
}

/** Index of the vertex after vertex i; of the last vertex of an open chain, none. */
function after(ring: Ring, i: number): number | null {
  if (i + 1 < count(ring)) return i + 1;
  return ring.open || count(ring) < 2 ? null : 0;
}

/** Index of the vertex that is at `a` and whose next vertex is at `b`; -1: there is none. */
function edgeAt(ring: Ring, a: Point, b: Point): number {
  for (let i = 0; i < count(ring); ++i) {
    const next = after(ring, i);
    if (next !== null && isAt(ring, i, a) && isAt(ring, next, b)) return i;
  }
  return -1;
}

/** Index of the vertex at `at` that has a vertex at `other` before or after it, but for equal ones; -1: there is none. */
function tipAt(ring: Ring, at: Point, other: Point): number {
  const n = count(ring);
  for (let i = 0; i < n; ++i) {
    if (!isAt(ring, i, at)) continue;
    for (const step of [1, n - 1]) {
      let k = (i + step) % n;
      while (k !== i && isAt(ring, k, at)) k = (k + step) % n;
      if (isAt(ring, k, other)) return i;
    }
  }
  return -1;
}

/**
 * Index before which `at` belongs in the ring, between the vertices a and b of an edge: the next one, or behind points
 * that other repairs have inserted. -1: the ring has no such edge.
 */
function placeIn(ring: Ring, a: Point, b: Point, at: Point): number {
  const n = count(ring);
  const far = (p: Point): number => Math.hypot(p.x - a.x, p.y - a.y);
  const length = far(b);
  const isBetween = (p: Point): boolean =>
    Math.abs((p.x - a.x) * (b.y - a.y) - (p.y - a.y) * (b.x - a.x)) <= 1e-9 * length * length && far(p) < length;
  for (let i = 0; i < n; ++i) {
    if (!isAt(ring, i, a)) continue;
    let place = i + 1;
    for (let steps = 1; steps <= n && (!ring.open || i + steps < n); ++steps) {
      const k = (i + steps) % n;
      if (isAt(ring, k, b)) return place;
      const p = pointOf(ring, k);
      if (!isBetween(p)) break;
      if (far(p) < far(at)) place = k + 1;
    }
  }
  return -1;
}

function withRing(shape: Shape, index: number, xy: Float64Array): Shape {
  return { ...shape, rings: shape.rings.map((ring, k) => (k === index ? { ...ring, xy } : ring)) };
}

function without(ring: Ring, vertex: number): Float64Array {
  return ring.xy.filter((_, i) => i >> 1 !== vertex);
}

/** The ring in the other direction; the first vertex of a closed ring stays the first. */
function reversed({ xy, open }: Ring): Float64Array {
  const n = xy.length / 2;
  return Float64Array.from(xy, (_, i) => xy[((n - (open ? 1 : 0) - (i >> 1)) % n) * 2 + (i & 1)]);
}

function isCounterClockwise({ xy }: Ring): boolean {
  let area = 0;
  for (let i = 0; i < xy.length; i += 2) {
    const j = (i + 2) % xy.length;
    area += (xy[i] - xy[0]) * (xy[j + 1] - xy[1]) - (xy[j] - xy[0]) * (xy[i + 1] - xy[1]);
  }
  return area > 0;
}

/** Moves the vertices at a place to another one. Returns null if the polygon has none there. */
function moved(shape: Shape, from: Point, to: Point): Shape | null {
  let some = false;
  const rings = shape.rings.map((ring) => {
    const xy = ring.xy.slice();
    for (let i = 0; i < count(ring); ++i) {
      if (!isAt(ring, i, from)) continue;
      some = true;
      xy.set([to.x, to.y], i * 2);
    }
    return { ...ring, xy };
  });
  return some ? { ...shape, rings } : null;
}

/** Polygons of the draft that may have a vertex at the point. */
function polygonsAt({ x, y }: Point): bigint[] {
  const store = stored.scene;
  const found = store ? store.search({ minX: x, minY: y, maxX: x, maxY: y }).map((slot) => store.ids[slot]) : [];
  return [...new Set([...found, ...draft.value.keys()])];
}

/** Moves all vertices at the place to the nearest point of the other edge, and inserts that point into the edge. */
function joined(found: Finding): Proposal {
  const edge = stored.scene?.shape(found.otherId)?.rings[found.otherRing];
  const last = edge && after(edge, found.otherEdge);
  const other = shapeNow(found.otherId);
  const changes = new Map<bigint, Shape | null>();
  if (!edge || typeof last !== 'number' || !other?.rings[found.otherRing]) return { why: CHANGED };
  const [a, b] = [pointOf(edge, found.otherEdge), pointOf(edge, last)];
  const ends = [a, b].some(({ x, y }) => x === found.other.x && y === found.other.y);
  const ring = other.rings[found.otherRing];
  const place = placeIn(ring, a, b, found.other);
  if (place < 0) return { why: CHANGED };
  if (!ends) {
    const xy = [...ring.xy];
    xy.splice(place * 2, 0, found.other.x, found.other.y);
    changes.set(found.otherId, withRing(other, found.otherRing, Float64Array.from(xy)));
  }
  let some = false;
  for (const id of polygonsAt(found.at)) {
    const shape = changes.get(id) ?? shapeNow(id);
    const next = shape && moved(shape, found.at, found.other);
    if (!next) continue;
    some = true;
    changes.set(id, next);
  }
  return some ? { changes: [...changes] } : { why: CHANGED };
}

/** The repair of one ring, or null where the draft has another ring than the finding is about. */
function ringRepair(found: Finding, shape: Shape): Shape | null {
  const ring = shape.rings[found.ring];
  const before = stored.scene?.shape(found.id)?.rings[found.ring];
  if (!ring || !before) return null;
  const drop = (vertex: number | null): Shape | null =>
    vertex === null || vertex < 0 || count(ring) < 2 ? null : withRing(shape, found.ring, without(ring, vertex));
  switch (found.kind) {
    case 'DUPLICATE_VERTEX':
    case 'NEAR_VERTEX': {
      const first = edgeAt(ring, found.at, found.kind === 'NEAR_VERTEX' ? found.other : found.at);
      return first < 0 ? null : drop(after(ring, first));
    }
    case 'SPIKE':
      return drop(tipAt(ring, found.at, found.other));
    case 'WINDING':
      return isCounterClockwise(ring) === isCounterClockwise(before) ? withRing(shape, found.ring, reversed(ring)) : null;
    default: {
      // OFF_LATTICE
      const at = Array.from({ length: count(ring) }, (_, i) => i).find((i) => isAt(ring, i, found.at));
      if (at === undefined) return null;
      const xy = ring.xy.slice();
      xy.set([found.other.x, found.other.y], at * 2);
      return withRing(shape, found.ring, xy);
    }
  }
}

/** The repair of a finding, for the draft as it is. */
export function propose(found: Finding): Proposal {
  const made = findings.value;
  if (made.state !== 'ready' || made.version !== scene.value?.version) return { why: OLD };
  if (NO_REPAIR[found.kind]) return { why: NO_REPAIR[found.kind] };
  const shape = shapeNow(found.id);
  if (!shape) return { why: CHANGED };
  switch (found.kind) {
    case 'DUPLICATE_POLYGON': {
      const same = [found.id, found.otherId].every((id) => sameShape(shapeNow(id), stored.scene?.shape(id) ?? null));
      return same ? { changes: [[found.id, null]] } : { why: CHANGED };
    }
    case 'GAP':
    case 'NEAR_JUNCTION':
      return joined(found);
    case 'DUPLICATE_VERTEX':
    case 'NEAR_VERTEX':
    case 'SPIKE':
    case 'WINDING':
    case 'OFF_LATTICE': {
      const next = ringRepair(found, shape);
      return next ? { changes: [[found.id, next]] } : { why: CHANGED };
    }
    default:
      return { why: 'This page knows no repair of such findings.' };
  }
}
