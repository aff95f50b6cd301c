// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the clients in JavaScript share: the frames for the lines of questions.py, and the answers as
// expected.py defines them.
//
// Frames and answers have the form of protobuf's JSON: names in camel case, 64-bit integers as
// strings (a number would round), enumerations by name, and "NaN". In an answer no field with a
// default value is left out.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export const HANDLE = String(2n ** 64n - 59n); // of the scene; any uint64
const FIRST_SEQ = 2n ** 60n + 1n;
const KINDS = ['segments', 'rays', 'points', 'circles', 'moves'];
const FILL = { evenodd: 'FILL_RULE_EVEN_ODD', nonzero: 'FILL_RULE_NON_ZERO' };
const SOLIDITY = { solid: 'SOLIDITY_SOLID', boundary: 'SOLIDITY_BOUNDARY' };
const INSIDE = {
  report: 'INSIDE_POLICY_REPORT_START',
  ignore: 'INSIDE_POLICY_IGNORE',
  exit: 'INSIDE_POLICY_EXIT',
};

export const isQuestion = (line) => line.op !== 'track';
export const seqOf = (index) => String(FIRST_SEQ + BigInt(index));
const number = (x) => x ?? 'NaN';

function bits(x) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(x);
  return bytes.toString('hex');
}

// A line of JSON. Ids are put in quotes first, so that none is rounded.
const parse = (text) => JSON.parse(text.replace(/("id": *)(\d+)/g, '$1"$2"'));

const polygon = (line) => ({
  id: line.id ?? '0',
  rings: line.rings.map((ring) => ({ x: ring.map((p) => p[0]), y: ring.map((p) => p[1]) })),
  fillRule: FILL[line.fill ?? 'evenodd'],
  solidity: SOLIDITY[line.solidity ?? 'solid'],
});

// Returns the polygons of the scene, and the lines of each frame.
export function readQuestions(path) {
  const [scene, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n').map(parse);
  const frames = [];
  for (const line of lines) (frames[line.frame] ??= []).push(line);
  return { polygons: scene.polygons.map(polygon), frames };
}

// --- Questions

// Of a tracker.
const definition = (line) => ({ shapes: [{ polygon: polygon(line) }], tracker: [line.tracker] });

// Questions with the same key share a group: its scene, and the options of its columns.
function groupKey(line) {
  if (line.op !== 'segment') return `${line.scene ?? ''} report EXIT false`;
  return ` ${line.inside ?? 'report'} ${line.detail ?? 'EXIT'} ${line.as === 'floats'}`;
}

// Columns are made empty and grow by `push`.
const columns = (...names) => Object.fromEntries(names.map((name) => [name, []]));

function newGroup(key) {
  const [scene, inside, detail, floats] = key.split(' ');
  const options = {
    mode: 'CAST_MODE_ALL',
    insidePolicy: INSIDE[inside],
    detail: `CAST_DETAIL_${detail}`,
  };
  const segments = columns('ax', 'ay', 'bx', 'by');
  return {
    ...(scene ? { scene } : { sceneHandle: HANDLE }),
    segments: { ...options, ...(floats === 'true' ? { floats: segments } : segments) },
    rays: { ...options, ...columns('x', 'y', 'dx', 'dy', 'tMax') },
    points: columns('x', 'y'),
    circles: columns('x', 'y', 'radius'),
    moves: { detail: 'OVERLAP_DETAIL_EDGES', ...columns('tracker', 'x', 'y', 'c', 's') },
  };
}

function push(into, item) {
  for (const [name, value] of Object.entries(item)) into[name].push(value);
}

// Appends one item to the columns of its kind.
function add(group, line) {
  const point = (p) => ({ x: number(p[0]), y: number(p[1]) });
  if (line.op === 'point') return push(group.points, point(line.p));
  const radius = number(line.r);
  if (line.op === 'circle') return push(group.circles, { ...point(line.c), radius });
  if (line.op === 'move') {
    const { tracker, x, y, c = 1, s = 0 } = line;
    return push(group.moves, { tracker, x, y, c, s });
  }
  const [a, b] = [point(line.a), point(line.b)];
  push(group.points, a); // what holds its start?
  if (line.as === 'ray') return push(group.rays, { ...a, dx: b.x - a.x, dy: b.y - a.y, tMax: 1 });
  const item = { ax: a.x, ay: a.y, bx: b.x, by: b.y };
  return push(line.as === 'floats' ? group.segments.floats : group.segments, item);
}

// Returns the frame number `index`, for `lines`. `scene`: the name to which it binds HANDLE, if any.
export function makeFrame(index, lines, scene) {
  const groups = new Map();
  for (const line of lines.filter(isQuestion)) {
    const key = groupKey(line);
    if (!groups.has(key)) groups.set(key, newGroup(key));
    add(groups.get(key), line);
  }
  return {
    seq: seqOf(index),
    bindings: scene ? [{ handle: HANDLE, scene }] : [],
    trackers: lines.filter((line) => !isQuestion(line)).map(definition),
    groups: [...groups.values()],
  };
}

// --- Answers

// Walks the answers of one kind in one group: their items and the rows of each.
class Reader {
  item = 0;
  counted = 0;
  row = 0;
  edge = 0;

  constructor(answers) {
    this.answers = answers;
  }

  // The rows of the next item, and its error or undefined.
  next() {
    const { clear, counts, errors } = this.answers;
    const item = this.item++;
    // A move that touches nothing is a bit, and has no count.
    if (clear && (BigInt(clear[item >> 6]) >> BigInt(item & 63)) & 1n) return { rows: [] };
    const rows = Array.from({ length: counts[this.counted++] }, () => this.row++);
    return { rows, fault: errors.find((error) => error.index === item) };
  }
}

function holders({ answers }, rows, location) {
  return rows.filter((r) => answers.location[r] === location).map((r) => answers.polygonId[r]);
}

function firstHit(hit, [r]) {
  if (r === undefined) return 'miss';
  let text = `t=${bits(hit.fraction[r])} poly=${hit.polygonId[r]}`;
  // Columns that were not asked for are empty.
  if (hit.normalX.length) text += ` normal=${bits(hit.normalX[r])},${bits(hit.normalY[r])}`;
  if (hit.feature.length) {
    const known = hit.feature[r] !== 'FEATURE_UNSPECIFIED';
    text += ` edge=${known ? `${hit.ring[r]}.${hit.edge[r]}` : 'none'}`;
  }
  if (hit.exitFraction.length) text += ` exit=${bits(hit.exitFraction[r])}`;
  return text;
}

function answerText(line, readers) {
  const reader = readers[line.as === 'ray' ? 'rays' : `${line.op}s`];
  const { rows, fault } = reader.next();
  const starts = line.op === 'segment' ? readers.points.next().rows : rows;
  if (fault) return `error ${fault.code} ${fault.field}`;
  const { answers } = reader;
  const ids = rows.map((r) => answers.polygonId[r]);
  if (line.op === 'circle') {
    return `circle ids=${ids} touch=${ids.filter((_, i) => answers.touching[rows[i]])}`;
  }
  if (line.op === 'move') {
    const edges = [];
    for (const r of rows) {
      for (const end = reader.edge + answers.edgeCounts[r]; reader.edge < end; ++reader.edge) {
        const { ring, edge } = answers;
        edges.push(`${answers.polygonId[r]}.${ring[reader.edge]}.${edge[reader.edge]}`);
      }
    }
    return `move ids=${ids} edges=${edges}`;
  }
  const within = holders(readers.points, starts, 'LOCATION_INSIDE');
  const touched = holders(readers.points, starts, 'LOCATION_BOUNDARY');
  if (line.op === 'point') return `point in=${within} on=${touched}`;
  const all = rows.map((r) => `${answers.polygonId[r]}:${bits(answers.fraction[r])}`);
  return `segment ${firstHit(answers, rows)} in=${within} on=${touched} all=${all}`;
}

// Prints the answers to the questions among the lines of a frame.
export function printAnswers(lines, answer) {
  assert(!answer.status, answer.status?.message);
  const questions = lines.filter(isQuestion);
  const keys = [...new Set(questions.map(groupKey))]; // the groups, in their order
  assert.equal(answer.groups.length, keys.length);
  const readers = new Map();
  answer.groups.forEach((group, i) => {
    const kinds = Object.fromEntries(KINDS.map((kind) => [kind, new Reader(group[kind])]));
    readers.set(keys[i], { status: group.status, ...kinds });
  });
  for (const line of questions) {
    const of = readers.get(groupKey(line));
    const { status } = of;
    const refused = status && `error ${status.code} ${status.violations[0].field}`;
    process.stdout.write(`${line.q} ${refused || answerText(line, of)}\n`);
  }
}
