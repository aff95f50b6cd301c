// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is an answer of the page that of `carom eval`, or of QueryService.Evaluate where `carom eval` has no such question?
// Numbers are compared as they are, without a tolerance.
import assert from 'node:assert/strict';

const number = (value) => (typeof value === 'string' ? Number(value) : value);

/** What `carom eval` prints for the answer `columns` of the page, as far as both have it. */
export function asEval(kind, columns) {
  const { polygonId = [], fraction = [], normalX = [], normalY = [] } = columns;
  const ids = polygonId.map(number);
  const normal = (i) => [normalX[i], normalY[i]];
  switch (kind) {
    case 'points':
      return {
        in: ids.filter((_, i) => columns.location[i] === 2),
        on: ids.filter((_, i) => columns.location[i] === 1),
      };
    case 'segments': {
      const first = new Map();
      ids.forEach((id, i) => first.has(id) || first.set(id, fraction[i]));
      const made = { hit: ids.length > 0, all: [...first] };
      if (ids.length === 0) return made;
      return { ...made, t: fraction[0], poly: ids[0], normal: normal(0), exit_t: columns.exitFraction[0] };
    }
    case 'rayBounces':
      return {
        legs: columns.hasHit.map((hit, i) => ({
          p: [columns.x[i], columns.y[i]],
          d: [columns.dx[i], columns.dy[i]],
          hit: Boolean(hit),
          ...(hit ? { t: fraction[i], poly: ids[i], normal: normal(i) } : {}),
        })),
        stuck: columns.stuck.length > 0,
      };
    case 'areas':
      return {
        pieces: columns.kind.map((kind, i) => ({
          at: [columns.startX[i], columns.startY[i]],
          ...(kind === 0 ? { edge: [ids[i], columns.ring[i], columns.edge[i]] } : { [kind === 1 ? 'arc' : 'sight']: true }),
        })),
        area: columns.areas[0],
        starts_inside: Boolean(columns.startsInside[0]),
      };
    case 'circles':
      return { ids, touch: ids.filter((_, i) => columns.touching[i]) };
    case 'polygons':
      return { ids };
    case 'distances':
      return { d: columns.distance[0], ids };
    case 'contacts':
      // Without contacts that are not between convex shapes.
      return {
        contacts: ids.flatMap((id, i) => (columns.kind[i] === 0 ? [[id, normalX[i], normalY[i], columns.depth[i]]] : [])),
      };
    case 'sweeps':
      if (ids.length === 0) return { hit: false };
      return { hit: true, t: fraction[0], poly: ids[0], normal: normal(0) };
    case 'slides':
      return {
        at: [columns.x[0], columns.y[0]],
        left: [columns.leftX[0], columns.leftY[0]],
        legs: columns.hasHit.map((hit, i) => ({
          from: [columns.legX[i], columns.legY[i]],
          d: [columns.legDx[i], columns.legDy[i]],
          ...(hit ? { t: fraction[i], poly: ids[i], normal: normal(i) } : { poly: null }),
        })),
      };
    default:
      throw new Error(`no eval for ${kind}`);
  }
}

/** Asserts that what `expected` has of the members of `made` is equal. */
export function assertPart(made, expected, why) {
  if (Array.isArray(made)) {
    assert.equal(made.length, expected?.length, why);
    made.forEach((entry, i) => assertPart(entry, expected[i], why));
  } else if (made !== null && typeof made === 'object') {
    for (const [name, value] of Object.entries(made)) assertPart(value, expected?.[name], `${why}, ${name}`);
  } else {
    assert.equal(made, expected, why);
  }
}

const RENAMED = { areas: { areas: 'area' }, fans: { hits: 'hit', distances: 'distance' } };

/** Asserts that the columns of the page are those of a group of QueryService.Evaluate in JSON. */
export function assertColumns(kind, columns, group, why) {
  const message = group[kind] ?? {};
  let compared = 0;
  for (const [name, values] of Object.entries(columns)) {
    const there = message[RENAMED[kind]?.[name] ?? name];
    if (!Array.isArray(there) || ['feature', 'kind'].includes(name)) continue;
    assert.deepEqual(
      values.map((value) => (typeof value === 'string' ? BigInt(value) : Number(value))),
      there.map((value) => (typeof values[0] === 'string' ? BigInt(value) : Number(value))),
      `${why}, ${name}`,
    );
    compared += 1;
  }
  assert.ok(compared > 0, `${why}: nothing to compare`);
}
