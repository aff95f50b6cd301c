// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does `carom eval` print for a line of docs/eval.md, said by @carom/core?
//
// Runs in Node.js and in browsers. `answerLines` asks the lines as columns, many lines at once; `difference` compares
// two answers, and doubles bit for bit.

import { Bodies, Polygons, Scene, Shapes, Trackers, capsule } from '@carom/core';
import * as ask from '@carom/core/questions';

const ALL = 65536;
const EVERY = 2n ** 64n - 1n;
const POLICIES = { report: 'report_start' };

/** Parses a line. Ids, masks and categories, which may be above 2^53, are bigints. */
export function parseLine(text) {
  const line = JSON.parse(text.replace(/"(mask|category|id|soft_mask)": *(\d+)/g, '"$1": "$2"'));
  return line;
}

const long = (value, absent) => (value === undefined ? absent : BigInt(value));
const column = (lines, name, index) => Float64Array.from(lines, (line) => line[name][index]);
const zeros = (lines) => new Float64Array(lines.length);

export function polygonsOf(entries) {
  const rings = entries.flatMap((entry) => entry.rings);
  const points = (ring) => (Array.isArray(ring) ? ring : ring.points);
  const made = new Polygons({
    x: Float64Array.from(rings.flatMap((ring) => points(ring).map(([x]) => x))),
    y: Float64Array.from(rings.flatMap((ring) => points(ring).map(([, y]) => y))),
    ringSize: Uint32Array.from(rings, (ring) => points(ring).length),
    ringCount: Uint32Array.from(entries, (entry) => entry.rings.length),
  });
  return new Polygons(made, {
    ids: BigUint64Array.from(entries, (entry) => BigInt(entry.id)),
    categories: BigUint64Array.from(entries, (entry) => long(entry.category, 1n)),
    fillRule: entries.map((entry) => (entry.fill === 'nonzero' ? 'non_zero' : 'even_odd')),
    solidity: entries.map((entry) => (entry.solidity === 'boundary' ? 'boundary' : 'solid')),
    open: rings.map((ring) => !Array.isArray(ring) && ring.open === true),
  });
}

/** Shapes as lines have them, rings or `{"circle": r}`, and the index of each among the shapes that are made. */
function shapesOf(values) {
  const circles = [];
  const polygons = [];
  const places = values.map((value) => {
    if ('circle' in value) return -circles.push(value.circle);
    return polygons.push(value.rings ?? value) - 1;
  });
  const zero = new Float64Array(circles.length);
  const shapes = new Shapes(polygons, { ax: zero, ay: zero, bx: zero, by: zero, radius: circles });
  return { shapes, shape: Uint32Array.from(places, (at) => (at >= 0 ? at : polygons.length - 1 - at)) };
}

/** The arguments for the members `against`, `mask` and `ignore_owner`. */
function scope(lines) {
  const made = { against: lines[0].against };
  const masks = BigUint64Array.from(lines, (line) => long(line.mask, EVERY));
  if (masks.some((mask) => mask !== EVERY)) made.masks = masks;
  if (['bodies', 'both'].includes(lines[0].against)) {
    made.ignoreOwner = Uint32Array.from(lines, (line) => line.ignore_owner ?? 0);
  }
  return made;
}

const ids = (rows) => rows.filter((row) => !row.isBody).map((row) => Number(row.polygonId));
const bodyIds = (rows) => rows.filter((row) => row.isBody).map((row) => Number(row.polygonId));
const bodies = (line, rows) => ((line.against ?? 'scene') === 'scene' ? {} : { bodies: bodyIds(rows) });
const normalOf = (row) => [row.normalX, row.normalY];

/** The answers of items, but for those in error. */
function each(lines, answers, answer) {
  return lines.map((line, item) => {
    const error = answers.error(item);
    return error ? { error: { message: error.detail } } : answer(line, item);
  });
}

function target(row, hasEdge) {
  const id = Number(row.polygonId);
  return { [row.isBody ? 'body' : 'poly']: id, edge: hasEdge ? [row.isBody ? null : id, row.ring, row.edge] : null };
}

function points(scene, lines, name = 'p') {
  const found = scene.locate({ x: column(lines, name, 0), y: column(lines, name, 1), ...scope(lines) });
  return each(lines, found, (line, item) => {
    const rows = found.polygons(item);
    const at = (location) => ids(rows.filter((row) => row.location === location));
    return { in: at('inside'), on: at('boundary'), ...bodies(line, rows) };
  });
}

const ends = (lines) => ({
  ax: column(lines, 'a', 0), ay: column(lines, 'a', 1), bx: column(lines, 'b', 0), by: column(lines, 'b', 1),
}); // prettier-ignore

function segments(scene, lines) {
  const insidePolicy = POLICIES[lines[0].inside ?? 'report'] ?? lines[0].inside;
  const hits = scene.cast({ ...ends(lines), mode: 'all', maxHits: ALL, insidePolicy, ...scope(lines) });
  const starts = points(scene, lines, 'a');
  const soft = softWalls(lines[0]);
  const stops = soft && scene.cast({ ...ends(lines), softLength: true, ...soft, insidePolicy, ...scope(lines) });
  return each(lines, hits, (_, item) => {
    const rows = hits.hits(item);
    const [first] = stops ? stops.hits(item) : rows;
    const start = starts[item];
    return {
      hit: first !== undefined,
      ...(first && {
        t: first.fraction, ...target(first, first.feature !== 'none'), normal: normalOf(first), exit_t: first.exitFraction,
      }), // prettier-ignore
      start_in: start.in,
      start_on: start.on,
      ...('bodies' in start && { bodies: start.bodies }),
      all: rows.map((row) =>
        row.isBody ? [null, row.fraction, Number(row.polygonId)] : [Number(row.polygonId), row.fraction],
      ),
      ...(stops && { passed: stops.passed[item], soft_length: stops.softLength[item] }),
    };
  });
}

/** The arguments for the members `soft_mask` and `soft_count`; null if a line has neither. */
function softWalls(line) {
  if (line.soft_mask === undefined && line.soft_count === undefined) return null;
  return { softMask: long(line.soft_mask, 0n), softCount: line.soft_count ?? 0 };
}

function sights(scene, lines) {
  const found = scene.sights({ ...ends(lines), ...softWalls(lines[0]), ...scope(lines) });
  return each(lines, found, (_, item) => ({ visible: found.isVisible(item) }));
}

function circles(scene, lines) {
  const radius = Float64Array.from(lines, (line) => line.r);
  const found = scene.overlapCircles({ x: column(lines, 'c', 0), y: column(lines, 'c', 1), radius, ...scope(lines) });
  return each(lines, found, (line, item) => {
    const rows = found.polygons(item);
    return { ids: ids(rows), touch: ids(rows.filter((row) => row.touching)), ...bodies(line, rows) };
  });
}

/** Shapes whose vertices are where they are asked. */
const atZero = (lines) => ({ ...shapesOf(lines.map((line) => line.rings)), x: zeros(lines), y: zeros(lines) });

function polygons(scene, lines) {
  const found = scene.overlap({ ...atZero(lines), ...scope(lines) });
  return each(lines, found, (line, item) => ({ ids: ids(found.polygons(item)), ...bodies(line, found.polygons(item)) }));
}

function distances(scene, lines) {
  const { k } = lines[0];
  const maxDistance = lines.map((line) => line.max_distance ?? Infinity);
  const given = k === undefined ? {} : { mode: 'nearest_k', k, maxDistance: Float64Array.from(maxDistance) };
  const found = scene.nearest({ ...atZero(lines), ...given, ...scope(lines) });
  return each(lines, found, (line, item) => {
    const rows = found.polygons(item);
    if (k !== undefined) {
      const name = (row, id) => (row.isBody ? [null, row.distance, id] : [id, row.distance]);
      return { nearest: rows.map((row) => name(row, Number(row.polygonId))) };
    }
    return { d: rows[0]?.distance ?? null, ids: ids(rows), ...bodies(line, rows) };
  });
}

function contacts(scene, lines) {
  const found = scene.contacts({ ...atZero(lines), ...scope(lines) });
  return each(lines, found, (_, item) => ({
    contacts: found
      .contacts(item)
      .filter((row) => row.kind === 'convex')
      .map((row) => {
        const numbers = [...normalOf(row), row.depth];
        return row.isBody ? [null, ...numbers, Number(row.polygonId)] : [Number(row.polygonId), ...numbers];
      }),
  }));
}

function castsOfShapes(scene, lines) {
  const [x, y] = 'r' in lines[0] ? [column(lines, 'c', 0), column(lines, 'c', 1)] : [];
  const shapes = x
    ? capsule(x, y, x, y, Float64Array.from(lines, (line) => line.r))
    : shapesOf(lines.map((line) => line.rings)).shapes;
  const hits = scene.sweep({
    shapes, shape: Uint32Array.from(lines, (_, i) => i), x: zeros(lines), y: zeros(lines),
    toX: column(lines, 'd', 0), toY: column(lines, 'd', 1), mode: 'all', maxHits: ALL, ...scope(lines),
  }); // prettier-ignore
  return each(lines, hits, (line, item) => {
    const rows = hits.hits(item);
    let tied = 1;
    while (rows[tied]?.ties) tied += 1;
    const first = rows.slice(0, tied);
    return { hit: rows.length > 0, ...(rows[0] && { t: rows[0].fraction, polys: ids(first), ...bodies(line, first) }) };
  });
}

function posed(lines) {
  const at = (index, absent) => Float64Array.from(lines, (line) => line.at[index] ?? absent);
  return { ...shapesOf(lines.map((line) => line.shape)), x: at(0), y: at(1), c: at(2, 1), s: at(3, 0) };
}

function sweeps(scene, lines) {
  const inside = lines[0].inside ?? 'report';
  const isBlocking = inside.startsWith('blocking');
  const common = { ...posed(lines), ...scope(lines) };
  const hits = scene.sweep({
    ...common, dx: column(lines, 'd', 0), dy: column(lines, 'd', 1), insidePolicy: POLICIES[inside] ?? inside,
    ...(isBlocking && { skin: Float64Array.from(lines, (line) => line.skin ?? 0) }),
  }); // prettier-ignore
  const start = scene.sweep({
    ...common, dx: zeros(lines), dy: zeros(lines), mode: 'all', maxHits: ALL,
    ...(isBlocking && { insidePolicy: 'blocking' }),
  }); // prettier-ignore
  return each(lines, hits, (line, item) => {
    const first = hits.hit(item);
    const safe = hits.safe(item);
    const overlapped = start.hits(item);
    return {
      hit: first !== null,
      ...(first && { t: first.fraction, ...target(first, first.hasEdge), normal: normalOf(first) }),
      start_in: ids(overlapped),
      ...bodies(line, overlapped),
      ...(isBlocking && { safe: [safe.safeX, safe.safeY] }),
    };
  });
}

function slides(scene, lines) {
  const pushes = lines.flatMap((line) => line.d);
  const slid = scene.slide({
    ...posed(lines), ...scope(lines), dx: pushes.map(([dx]) => dx), dy: pushes.map(([, dy]) => dy),
    pushes: Uint32Array.from(lines, (line) => line.d.length),
    skin: Float64Array.from(lines, (line) => line.skin ?? 0), maxContacts: lines[0].max_contacts,
    insidePolicy: lines[0].inside ?? 'blocking_leave',
  }); // prettier-ignore
  return each(lines, slid, (_, item) => {
    const end = slid.end(item);
    return {
      at: [end.x, end.y],
      legs: slid.path(item).map((row) => ({
        from: [row.legX, row.legY],
        d: [row.legDx, row.legDy],
        ...(row.hasHit
          ? { t: row.fraction, [row.isBody ? 'body' : 'poly']: Number(row.polygonId), normal: normalOf(row) }
          : { t: 1, poly: null, normal: [0, 0] }),
      })),
      left: [end.leftX, end.leftY],
    };
  });
}

const legHit = (row) =>
  row.hasHit ? { hit: true, t: row.fraction, poly: Number(row.polygonId), normal: normalOf(row) } : { hit: false };

/** The mask of a kind of question that has none for each item. */
const maskOf = (lines) => (long(lines[0].mask, EVERY) === EVERY ? undefined : long(lines[0].mask));

function bounces(scene, lines) {
  const found = scene.bounce({ ...ends(lines), maxBounces: lines[0].max_bounces, mask: maskOf(lines) });
  return each(lines, found, (_, item) => ({
    legs: found.path(item).map((row) => ({ a: [row.ax, row.ay], b: [row.bx, row.by], ...legHit(row) })),
    stuck: found.isStuck(item),
  }));
}

function rayBounces(scene, lines) {
  const question = ask.rayBounces({
    x: column(lines, 'p', 0), y: column(lines, 'p', 1), dx: column(lines, 'd', 0), dy: column(lines, 'd', 1),
    tMax: lines.map((line) => line.t_max ?? Infinity), maxBounces: lines.map((line) => line.max_bounces ?? 4),
    mask: maskOf(lines),
  }); // prettier-ignore
  const found = scene.ask(question);
  return each(lines, found, (_, item) => ({
    legs: found.path(item).map((row) => ({
      p: [row.x, row.y], d: [row.dx, row.dy], t_max: Number.isFinite(row.tMax) ? row.tMax : null, ...legHit(row),
    })), // prettier-ignore
    stuck: found.isStuck(item),
  }));
}

function areas(scene, lines) {
  const cone = lines[0].cone && { from: column(lines, 'cone', 0), to: column(lines, 'cone', 1) };
  const question = ask.areas({
    x: column(lines, 'p', 0), y: column(lines, 'p', 1), range: lines.map((line) => line.r), ...cone, maxRows: ALL,
    insidePolicy: POLICIES[lines[0].inside ?? 'report'] ?? lines[0].inside, ...scope(lines),
  }); // prettier-ignore
  const found = scene.ask(question);
  return each(lines, found, (_, item) => ({
    pieces: found.pieces(item).map((row) => ({
      at: [row.startX, row.startY],
      ...(row.kind === 'edge'
        ? {
            edge: [row.isBody ? null : Number(row.polygonId), row.ring, row.edge],
            ...(row.isBody && { body: Number(row.polygonId) }),
          }
        : { [row.kind]: true }),
    })),
    area: found.seen(item).areas,
    starts_inside: found.seen(item).startsInside,
  }));
}

function sees(scene, lines) {
  const cone = lines[0].cone && { from: column(lines, 'cone', 0), to: column(lines, 'cone', 1) };
  const question = ask.sees({
    x: column(lines, 'p', 0), y: column(lines, 'p', 1), range: lines.map((line) => line.r), ...cone, margin: lines[0].margin,
    insidePolicy: POLICIES[lines[0].inside ?? 'report'] ?? lines[0].inside, ...scope(lines),
    ignoreOwner: Uint32Array.from(lines, (line) => line.ignore_owner ?? 0),
  }); // prettier-ignore
  const found = scene.ask(question);
  return each(lines, found, (_, item) => {
    const seen = found.bodies(item);
    if (seen.length !== found.count(item)) throw new Error(`${found.count(item)} bodies, not ${seen.length}`);
    return { seen, starts_inside: found.startsInside[item] === 1 };
  });
}

function moves(scene, lines) {
  const at = (name, absent) => Float64Array.from(lines, (line) => line[name] ?? absent);
  const found = scene.move({
    x: at('x', 0), y: at('y', 0), c: at('c', 1), s: at('s', 0), detail: 'edges',
    tracker: lines.map((line) => line.tracker),
  }); // prettier-ignore
  return each(lines, found, (_, item) => {
    const rows = found.polygons(item);
    return {
      ids: rows.map((row) => Number(row.polygonId)),
      edges: rows.flatMap((row) => row.edges.map(({ ring, edge }) => [Number(row.polygonId), ring, edge])),
    };
  });
}

export const ANSWERS = {
  point: points, segment: segments, sight: sights, circle: circles, polygon: polygons, distance: distances,
  contact: contacts, circle_cast: castsOfShapes, polygon_cast: castsOfShapes, sweep: sweeps, slide: slides, bounce: bounces,
  ray_bounce: rayBounces, area: areas, sees, move: moves,
}; // prettier-ignore

/** Lines with equal keys are items of one question. */
function batchKey(line) {
  const own = ['bounce', 'ray_bounce'].includes(line.op) ? line.mask : null;
  const most = line.op === 'bounce' ? line.max_bounces : null;
  const soft = [line.k, line.soft_mask, line.soft_count];
  return [line.op, line.cone !== undefined, line.inside, line.against, line.max_contacts, line.margin, own, most, ...soft].join(' ');
}

/** The scene, bodies and trackers that the lines so far have made. */
class Worlds {
  constructor(core, load) {
    this.core = core;
    this.load = load;
    this.trackers = new Trackers({ core });
    this.bodies = null;
    this.scene = Scene.fromPolygons([], { core });
  }

  /** Carries out a line that asks nothing. Returns whether the line is one. */
  change(line) {
    const { core } = this;
    if (line.op === 'scene' || line.op === 'load') {
      const entries = line.op === 'scene' ? line.polygons : this.load(line.file, line.id);
      this.scene.dispose();
      this.scene = Scene.fromPolygons(polygonsOf(entries), { core });
      this.bodies?.dispose();
      this.bodies = null;
    } else if (line.op === 'bodies') {
      this.bodies?.dispose();
      this.bodies = this.place(line);
    } else if (line.op === 'track') {
      this.trackers.define({ shapes: [line.rings], tracker: line.tracker });
    } else {
      return false;
    }
    return true;
  }

  place(line) {
    const { shapes, shape } = shapesOf(line.shapes);
    const absent = [undefined, undefined, undefined, 1, 0, 0, 1];
    const at = (index) => line.at.map((row) => row[index] ?? absent[index]);
    const which = at(0).map((i) => shape[i]);
    return new Bodies(
      { shapes, shape: which, x: at(1), y: at(2), c: at(3), s: at(4), owner: at(5), category: at(6) },
      { core: this.core },
    );
  }

  answer(lines) {
    const [{ op, against = 'scene' }] = lines;
    if (op === 'move') return ANSWERS[op](this.scene.withTrackers(this.trackers), lines);
    const asksBodies = (against !== 'scene' || op === 'sees') && this.bodies;
    return ANSWERS[op](asksBodies ? this.scene.withBodies(this.bodies) : this.scene, lines);
  }
}

/** Returns what `carom eval` prints for lines; of an error, the message alone. `load` reads `load` lines. */
export function answerLines(core, texts, load = undefined) {
  const worlds = new Worlds(core, load);
  const answers = [];
  const waiting = new Map();
  const flush = () => {
    for (const batch of waiting.values()) {
      const found = worlds.answer(batch.map(([, line]) => line));
      batch.forEach(([at, line], i) => (answers[at] = 'q' in line ? { q: line.q, ...found[i] } : found[i]));
    }
    waiting.clear();
  };
  let count = 0;
  for (const text of texts) {
    const line = parseLine(text);
    if (!(line.op in ANSWERS)) {
      flush();
      if (!worlds.change(line)) throw new Error(`no such line: ${text.slice(0, 200)}`);
      continue;
    }
    const key = batchKey(line);
    if (!waiting.has(key)) waiting.set(key, []);
    waiting.get(key).push([count++, line]);
  }
  flush();
  worlds.scene.dispose();
  worlds.bodies?.dispose();
  worlds.trackers.dispose();
  return answers;
}

/** Returns where two answers differ, as a path; null if they do not. Doubles are compared bit for bit. */
export function difference(ours, theirs, path = '') {
  if (Object.is(ours, theirs)) return null;
  if (typeof ours !== 'object' || typeof theirs !== 'object' || !ours || !theirs) {
    return `${path}: ${Object.is(ours, -0) ? '-0' : ours}, not ${Object.is(theirs, -0) ? '-0' : theirs}`;
  }
  if (ours.error && theirs.error) return difference(ours.error.message, theirs.error.message, `${path}.error.message`);
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const found = difference(ours[key], theirs[key], `${path}.${key}`);
    if (found) return found;
  }
  return null;
}
