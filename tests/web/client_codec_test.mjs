// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does the client write the bytes that protobuf-es writes, read what protobuf-es writes, and refuse all other bytes?
// protobuf-es has the messages of the .proto files in `gen`; it shares no table with the client.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Bodies, CaromError, Frame, FrameAnswer } from '@carom/client';
import { capsule, KINDS, Polygons, Question, sees, Shapes } from '@carom/core/questions';
import { ask } from '../../../client/web/client/dist/codec/frames.js';
import { TABLES } from '../../../client/web/client/dist/codec/tables.js';
import { readQuestion } from '../../../client/web/client/dist/recording/questions.js';
import { Session } from '../../../client/web/client/dist/stream/session.js';
import { ENUMS } from '../../../client/web/client/dist/generated/tables.js';
import { StreamRequestSchema, StreamResponseSchema } from './gen/carom/v1/query_service_pb.js';
import { PlacedShapesSchema } from './gen/carom/v1/batch_pb.js';
import { ShapeSchema } from './gen/carom/v1/geometry_pb.js';

const ROUNDS = process.env.CAROM_LONG === '1' ? 3000 : 200;
const SCENE = 'scenes/fuzz';
const SCENES = [SCENE, 'scenes/other', 'scenes/' + 'long'.repeat(40), 'scenes/third'];
const ALL = Object.values(KINDS);
const tableOf = (kind) => TABLES.get(kind.number);
const GROUP = StreamRequestSchema.fields[0].message.fields.find(({ localName }) => localName === 'groups').message;
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const lastOf = (path) => path.slice(path.lastIndexOf('.') + 1);

/** Pseudo-random numbers, the same in every run. */
class Random {
  constructor(seed) {
    this.state = seed;
  }
  bits() {
    this.state = (Math.imul(this.state ^ (this.state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return (this.state ^ (this.state >>> 13)) >>> 0;
  }
  below(limit) {
    return this.bits() % limit;
  }
  pick(values) {
    return values[this.below(values.length)];
  }
  double() {
    const special = [0, -0, 1, -1, NaN, Infinity, -Infinity, 5e-324, 2 ** 53, Math.PI];
    return this.below(3) === 0 ? this.pick(special) : (this.bits() / 2 ** 32 - 0.5) * 2 ** (this.below(80) - 20);
  }
  integer() {
    return this.pick([0, 1, 127, 128, 16383, 16384, 2 ** 21, 2 ** 28, 2 ** 32 - 1, this.bits(), this.bits() >>> 24]);
  }
  long() {
    return (BigInt(this.integer()) << BigInt(this.pick([0, 7, 32]))) & (2n ** 64n - 1n);
  }
  column(type, length) {
    const make = { f64: Float64Array, u64: BigUint64Array, u32: Uint32Array, u8: Uint8Array }[type];
    const entry = { f64: () => this.double(), u64: () => this.long(), u32: () => this.integer(), u8: () => this.below(2) };
    return make.from({ length }, entry[type]);
  }
  shapes(mayBeCapsules) {
    const ring = () => Array.from({ length: 1 + this.below(6) }, () => [this.double(), this.double()]);
    const polygons = Array.from({ length: this.below(4) }, () => Array.from({ length: 1 + this.below(3) }, ring));
    const count = mayBeCapsules ? this.below(3) : 0;
    const column = () => this.column('f64', count);
    const options = this.below(2) ? { solidity: 'boundary', fillRule: 'non_zero' } : {};
    const { capsules } = capsule(column(), column(), column(), column(), column());
    return new Shapes(new Polygons(polygons, options), capsules);
  }
}

/** Edits of a group, as the client takes them and as protobuf-es does. */
function randomEdits(random) {
  const edits = { editId: random.pick(['', 'e', 'edit '.repeat(12)]), baseVersion: random.long() };
  const message = { editId: edits.editId, baseVersion: edits.baseVersion, edits: [] };
  for (const name of ['add', 'replace'].filter(() => random.below(2))) {
    const count = random.below(4);
    const { polygons } = random.shapes(false);
    const length = Math.min(count, polygons.length);
    const rings = Array.from({ length }, (_, i) => polygons.rings(i));
    const [ids, categories] = [random.column('u64', length), random.column('u64', length)];
    const userData = Array.from({ length }, () => Uint8Array.from({ length: random.below(5) }, () => random.below(256)));
    const [solidity, fillRule] = random.below(2) ? ['boundary', 'non_zero'] : ['solid', 'even_odd'];
    edits[name] = new Polygons(rings, { ids, categories, userData, solidity, fillRule });
    rings.forEach((each, i) => {
      const value = { id: ids[i], rings: each.map((ring) => ({ x: ring.map(([x]) => x), y: ring.map(([, y]) => y) })) };
      if (categories[i] !== 1n) value.category = categories[i];
      value.fillRule = edits[name].fillRule[i] ?? 0;
      value.solidity = edits[name].solidity[i] ?? 0;
      message.edits.push({ edit: { case: name, value: { ...value, userData: userData[i] } } });
    });
  }
  if (random.below(2)) {
    edits.remove = random.column('u64', random.below(4));
    for (const value of edits.remove) message.edits.push({ edit: { case: 'remove', value } });
  }
  return { edits, message };
}

/** The handles of scenes that a stream has bound, and those that its next frame binds. */
function randomHandles(random) {
  const [handles, bindings] = [new Map(), new Map()];
  for (const scene of SCENES) {
    const known = random.pick([handles, bindings, null]);
    known?.set(scene, 1 + (random.integer() >>> 1));
  }
  return { handles, bindings };
}

function randomQuestion(random, kind) {
  const items = random.pick([0, 1, 2, 3, 20, 200]);
  const given = {};
  for (const { name, type, optional } of kind.question.columns) {
    if (!optional || random.below(2)) given[name] = random.column(type, items);
  }
  for (const { name, type, choices } of kind.question.options) {
    if (name === 'coherence' || random.below(2)) continue;
    if (choices !== null) given[name] = random.pick(Object.keys(choices));
    else given[name] = type === 'f64' ? random.double() : type === 'u64' ? random.long() | 1n : random.integer();
  }
  if (kind.question.shapes >= 0) given.shapes = random.shapes(kind.name !== 'polygons');
  return new Question(kind, given);
}

// --- Questions ------------------------------------------------------------------------------------

function shapeMessages({ polygons, capsules }) {
  const made = Array.from({ length: polygons.length }, (_, i) => ({
    kind: {
      case: 'polygon',
      value: {
        rings: polygons.rings(i).map((ring) => ({ x: ring.map(([x]) => x), y: ring.map(([, y]) => y) })),
        fillRule: polygons.fillRule[i] ?? 0,
        solidity: polygons.solidity[i] ?? 0,
      },
    },
  }));
  capsules.radius.forEach((radius, i) => {
    const [ax, ay, bx, by] = ['ax', 'ay', 'bx', 'by'].map((name) => capsules[name][i]);
    made.push({ kind: { case: 'capsule', value: { ax, ay, bx, by, radius } } });
  });
  return made;
}

const BOOLS = new Set(['reflect', 'quietRadii', 'softLength']);

/** The message of a question, as protobuf-es takes it. */
function questionMessage(question) {
  const { kind, shapes } = question;
  const made = {};
  const hasMovers = kind.question.columns.some(({ path }) => path.startsWith('movers.')) && kind.name !== 'polygons';
  if (hasMovers) made.movers = { shapes: shapeMessages(shapes) };
  else if (shapes !== null) made.shapes = shapeMessages(shapes).map((shape) => shape.kind.value);
  kind.question.columns.forEach(({ path }, i) => {
    const column = question.arrays()[i];
    const target = hasMovers && path.startsWith('movers.') ? made.movers : made;
    if (column !== null) target[camel(lastOf(path))] = [...column];
  });
  kind.question.options.forEach(({ path, name }, i) => {
    const value = question.options[i];
    if (name === 'coherence' || value === 0n) return; // of the frame; absent, which means all bits
    made[camel(lastOf(path))] = BOOLS.has(name) ? value !== 0 : value;
  });
  return made;
}

test('questions have the bytes of protobuf-es', () => {
  for (let round = 0; round < ROUNDS; ++round) {
    const random = new Random(1000 + round);
    const seq = random.long();
    const frame = new Frame({ seq, supersede: random.below(2) === 1, budgetMs: random.below(1000) });
    const message = { seq, groups: [], supersede: frame.options.supersede, budgetUs: BigInt(frame.options.budgetMs) * 1000n };
    const { handles, bindings } = randomHandles(random);
    message.bindings = [...bindings].map(([scene, handle]) => ({ scene, handle: BigInt(handle) }));
    for (let i = random.below(4); i > 0; --i) {
      const scene = random.pick(SCENES);
      const handle = handles.get(scene) ?? bindings.get(scene);
      const target = handle === undefined ? { case: 'scene', value: scene } : { case: 'sceneHandle', value: BigInt(handle) };
      const own = { target };
      const options = {};
      if (random.below(2)) own.version = options.version = random.long();
      if (random.below(2)) own.minVersion = options.minVersion = random.long();
      if (random.below(2)) {
        const shapes = random.shapes(true);
        const [x, y] = [random.column('f64', 3), random.column('f64', 3)];
        const columns = { x, y, shape: random.column('u32', 3), angle: random.column('f64', 3) };
        options.bodies = new Bodies({ shapes, ...columns, owner: random.column('u32', 3), category: random.column('u64', 3) });
        const placed = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, [...column]]));
        const { category, owner } = options.bodies;
        own.bodies = {
          placed: create(PlacedShapesSchema, { shapes: shapeMessages(shapes), ...placed }),
          category: [...category],
          owner: [...owner],
        };
      }
      if (random.below(2)) {
        const made = randomEdits(random);
        options.edits = made.edits;
        own.edits = made.message;
      }
      const group = frame.group(scene, options);
      for (const kind of ALL.filter(() => random.below(4) === 0)) {
        const question = group.ask(randomQuestion(random, kind));
        own[kind.name] = questionMessage(question);
      }
      message.groups.push(own);
    }
    const removed = Array.from({ length: random.below(4) }, () => random.integer());
    frame.removeTrackers(removed);
    message.removedTrackers = removed;
    if (random.below(2)) {
      const shapes = random.shapes(true);
      const tracker = Array.from({ length: shapes.length }, () => random.integer());
      const [mask, within] = [random.long() | 1n, Math.abs(random.double())];
      frame.defineTrackers(shapes, { tracker, mask, within });
      const shape = shapes.length === 1 ? [0] : [];
      message.trackers = [{ shapes: shapeMessages(shapes), tracker, mask, within, shape }];
    }
    const expected = toBinary(StreamRequestSchema, create(StreamRequestSchema, { frame: message }));
    const { data } = ask(frame, 0n, handles, bindings);
    if (Buffer.compare(data, expected) !== 0) {
      assert.deepEqual(fromBinary(StreamRequestSchema, data), fromBinary(StreamRequestSchema, expected), `round ${round}`);
      const at = data.findIndex((byte, i) => i > 8 && byte !== expected[i + expected.length - data.length]);
      const around = (bytes) => Buffer.from(bytes.subarray(Math.max(at - 12, 0), at + 16)).toString('hex');
      assert.fail(`round ${round}: other bytes of an equal message at ${at}: ${around(data)}, not ${around(expected)}`);
    }
  }
});

test('questions of protobuf-es are read, and written as they were', () => {
  for (let round = 0; round < ROUNDS; ++round) {
    const random = new Random(2000 + round);
    for (const kind of ALL.filter(() => random.below(4) === 0)) {
      const frame = new Frame();
      const question = frame.ask(SCENE, randomQuestion(random, kind));
      const groups = [{ target: { case: 'scene', value: SCENE }, [kind.name]: questionMessage(question) }];
      const expected = create(StreamRequestSchema, { frame: { groups } });
      const schema = expected.frame.groups[0][kind.name];
      const bytes = toBinary(GROUP.fields.find(({ localName }) => localName === kind.name).message, schema);
      const again = new Frame();
      again.ask(SCENE, readQuestion(kind, bytes));
      assert.deepEqual(fromBinary(StreamRequestSchema, ask(again).data), expected, `round ${round}: ${kind.name}`);
    }
  }
});

// --- Replays --------------------------------------------------------------------------------------

/** What a server knows of a stream, by the messages of protobuf-es. */
class Known {
  scenes = new Map();
  trackers = new Map();

  take(data) {
    const { frame } = fromBinary(StreamRequestSchema, data);
    for (const { scene, handle } of frame.bindings) this.scenes.set(scene, handle);
    for (const handle of frame.removedTrackers) this.trackers.delete(handle);
    for (const { shapes, shape, tracker, firstTracker, within, mask } of frame.trackers) {
      const bytes = shapes.map((each) => Buffer.from(toBinary(ShapeSchema, each)).toString('hex'));
      const places = shape.length > 0 ? shape : bytes.map((_, i) => i);
      places.forEach((place, i) => {
        assert.ok(place < bytes.length);
        this.trackers.set(tracker.length > 0 ? tracker[i] : firstTracker + i, `${bytes[place]} ${within} ${mask}`);
      });
    }
    return frame;
  }
}

/** Definitions whose handles differ. */
function defineRandom(random, frame) {
  const free = Array.from({ length: 40 }, (_, i) => i * 7).filter(() => random.below(2));
  for (let lists = random.below(4); lists > 0; --lists) {
    const shapes = random.shapes(true);
    const tracker = shapes.length === 0 ? [] : free.splice(0, random.below(12));
    const shape = tracker.map(() => random.below(shapes.length));
    const options = { shape, tracker, within: random.pick([0, 0, 0.5, Math.abs(random.double())]) };
    if (random.below(2)) options.mask = random.pick([1n, 2n ** 63n]);
    if (tracker.length > 0) frame.defineTrackers(shapes, options);
  }
}

test('a replay defines what the frames of a stream have defined, within the limits of a server', () => {
  let messages = 0;
  for (let round = 0; round < ROUNDS; ++round) {
    const random = new Random(3000 + round);
    const session = new Session();
    const [known, replayed] = [new Known(), new Known()];
    for (let frames = random.below(6); frames > 0; --frames) {
      const frame = new Frame();
      frame.removeTrackers(Array.from({ length: random.below(4) }, () => random.below(40) * 7));
      defineRandom(random, frame);
      const bindings = new Map(Array.from({ length: random.below(9) }, () => [`scenes/s${random.below(30)}`, 1 + random.below(99)]));
      const asked = ask(frame, 1n, session.scenes, bindings);
      known.take(asked.data);
      session.apply(bindings, asked);
    }
    const limits = { maxFrameBytes: random.pick([0, 4096, 2 ** 20]), maxGroupsPerFrame: random.pick([0, 1, 3]), maxQueriesPerFrame: random.pick([0, 1, 5]) };
    for (const { data } of session.replay(random.below(4) ? limits : undefined)) {
      const frame = replayed.take(data);
      ++messages;
      assert.deepEqual([frame.seq, frame.groups], [0n, []]);
    }
    for (const { data } of session.replay(limits)) {
      const { bindings, trackers } = replayed.take(data);
      const shapes = trackers.reduce((count, each) => count + each.shapes.length, 0);
      assert.ok(trackers.length <= (limits.maxGroupsPerFrame || Infinity), `round ${round}: ${trackers.length} lists`);
      assert.ok(shapes <= (limits.maxQueriesPerFrame || Infinity), `round ${round}: ${shapes} shapes`);
      assert.ok(data.length <= (limits.maxFrameBytes || Infinity), `round ${round}: ${data.length} bytes`);
      assert.ok(bindings.length === 0 || trackers.length === 0);
    }
    assert.deepEqual(replayed.scenes, known.scenes, `round ${round}`);
    assert.deepEqual(replayed.trackers, known.trackers, `round ${round}`);
  }
  assert.ok(messages > ROUNDS, `${messages} messages`);
});

// --- Answers --------------------------------------------------------------------------------------

/** The field of protobuf-es that a column has. */
function fieldOf(table, path) {
  const number = table.columns[path].field;
  const schema = StreamResponseSchema.fields[0].message.field.groups.message;
  const message = schema.fields.find((field) => field.number === table.answer).message;
  return message.fields.find((field) => field.number === number);
}

/** Words of bits, as many for each item, of which `counts` become the numbers. */
function randomBits(random, counts) {
  const words = random.below(4);
  const bits = [];
  for (let i = 0; i < counts.length; ++i) {
    const own = Array.from({ length: words }, () => random.long());
    counts[i] = own.reduce((sum, word) => sum + word.toString(2).replaceAll('0', '').length, 0);
    bits.push(...own);
  }
  return bits;
}

/** Random answers that fit a number of items: the message, and the columns that the client reads. */
function randomAnswers(random, table, items) {
  const message = {};
  const columns = {};
  const { counts } = table;
  const isUnclear = table.message === 'MoveAnswers';
  const clear = isUnclear ? Array.from({ length: items }, () => random.below(2)) : [];
  const unclear = items - clear.filter(Boolean).length;
  const each = Array.from({ length: isUnclear ? unclear : items }, () => random.pick([0, 1, 1, 2, random.below(40) ? 1 : 130]));
  const bits = table.message === 'SeeAnswers' ? randomBits(random, each) : [];
  const rows = counts === '' || table.rows === '' ? 0 : each.reduce((a, b) => a + b, 0);
  const edgeCounts = Array.from({ length: rows }, () => random.below(4));
  const pointCounts = Array.from({ length: rows }, () => 1 + random.below(2));
  const lengths = {
    i: items,
    e: rows,
    u: unclear,
    g: edgeCounts.reduce((a, b) => a + b, 0),
    l: Math.min(items, 2),
  };
  const points = pointCounts.reduce((a, b) => a + b, 0);
  const set = (path, sent, read) => {
    message[fieldOf(table, path).localName] = sent;
    columns[path] = read ?? sent;
  };
  const absent = (leader) => leader !== '' && message[fieldOf(table, leader).localName] === undefined;
  for (const [path, { type, level, names: enumeration, point, leader, isZero }] of Object.entries(table.columns)) {
    const length = lengths[level];
    if (path === 'clear') {
      const words = Array.from({ length: Math.ceil(items / 64) }, () => 0n);
      clear.forEach((bit, i) => (words[i >> 6] |= BigInt(bit) << BigInt(i % 64)));
      set(path, words);
    } else if (level === 'w') set(path, bits);
    else if (path === counts) set(path, each);
    else if (path === 'edge_counts') {
      if (random.below(4)) set(path, edgeCounts);
    } else if (path === 'point_counts') set(path, pointCounts);
    else if (level === 'g' && message.edgeCounts === undefined) set(path, []);
    else if (leader === path ? random.below(2) === 0 : absent(leader)) {
      columns[path] = isZero && !(level === 'u' && !message.touches) ? Array(length).fill(type === 'Q' ? 0n : 0) : [];
    } else if (point === 2) {
      const first = columns[path.replace('second_', '')];
      const sent = message[fieldOf(table, path).localName];
      let at = 0;
      columns[path] = pointCounts.map((count) => ((at += count), count === 2 ? sent[at - 1] : type === 'Q' ? 0n : 0));
      assert.equal(first.length, rows);
    } else {
      const numbers = enumeration === '' ? [] : ENUMS[enumeration].flatMap((own, number) => (own === 255 ? [] : [number]));
      const entry = () =>
        type === 'd' ? random.double() : type === 'Q' ? random.long() : type === 'I' ? random.integer()
          : enumeration === '' ? random.below(2) : random.pick(numbers); // prettier-ignore
      const sent = Array.from({ length: point === 1 ? points : length }, entry);
      let read = enumeration === '' ? sent : sent.map((number) => ENUMS[enumeration][number]);
      if (point === 1) {
        let at = 0;
        read = pointCounts.map((count) => ((at += count), read[at - count]));
      }
      set(path, type === 'B' && enumeration === '' ? sent.map(Boolean) : sent, read);
    }
  }
  return { message, columns };
}

/** A random response, and what is in it. */
function randomResponse(random) {
  const frame = new Frame({ seq: 5 });
  const group = frame.group(SCENE);
  const answer = { version: random.long() };
  const expected = new Map();
  for (const kind of ALL.filter(() => random.below(3) === 0)) {
    const question = group.ask(randomQuestion(random, kind));
    const { message, columns } = randomAnswers(random, tableOf(kind), question.items);
    answer[kind.name] = message;
    expected.set(question, columns);
  }
  const response = create(StreamResponseSchema, { answer: { seq: 5n, groups: [answer] } });
  return { frame, answer, expected, data: toBinary(StreamResponseSchema, response) };
}

/** Reads everything in an answer. */
function readAll(frame, data, visit = () => undefined) {
  const answer = new FrameAnswer(ask(frame), data);
  for (const question of frame.groups.flatMap(({ questions }) => questions)) {
    const answers = answer.get(question);
    for (const spec of answers.specs) visit(question, spec, answers.source.column(spec));
    answers.errors();
  }
  void answer.stats;
  return answer;
}

/** The bytes of field 1, whose message has fewer than 2^28 bytes. */
function inner(data) {
  let at = 1;
  while (data[at] >= 128) ++at;
  return data.subarray(at + 1);
}

test('answers of protobuf-es are read as they were', () => {
  for (let round = 0; round < ROUNDS; ++round) {
    const { frame, answer, expected, data } = randomResponse(new Random(5000 + round));
    const seen = new Set();
    const read = readAll(frame, inner(data), (question, { path, type }, column) => {
      const wanted = expected.get(question)[path] ?? [];
      const make = { f64: Float64Array, u64: BigUint64Array, u32: Uint32Array, u8: Uint8Array }[type];
      assert.deepEqual(column, make.from(wanted), `round ${round}: ${question.kind.name}.${path}`);
      seen.add(path);
    });
    assert.equal(read.groups[0].version, answer.version);
    assert.equal(seen.size > 0, expected.size > 0);
  }
});

test('bits of bodies are as many for each observer, and as their counts say', () => {
  const inside = [false, true];
  for (const [column, counts, seen, startsInside] of [
    ['', [1, 2], [1n << 63n, 3n], inside],
    ['', [0, 0], [], inside], // no bodies
    ['seen', [1, 2], [1n, 3n, 0n], inside],
    ['seen', [1, 2], [1n], inside],
    ['seen', [2, 1], [1n, 3n], inside],
    ['seen', [1, 0], [], inside],
    ['counts', [1], [1n, 0n], inside],
    ['counts', [1, 0, 0], [1n, 0n], inside],
    ['starts_inside', [1, 0], [1n, 0n], [false]],
  ]) {
    const frame = new Frame({ seq: 5 });
    frame.ask(SCENE, sees({ x: [0, 1], y: [0, 1], range: [9, 9] }));
    const groups = [{ sees: { counts, seen, startsInside } }];
    const data = toBinary(StreamResponseSchema, create(StreamResponseSchema, { answer: { seq: 5n, groups } }));
    const read = () => readAll(frame, inner(data));
    if (column === '') read();
    else {
      assert.throws(read, (error) => {
        assert.deepEqual([error.code, error.field.split('.').at(-1)], ['INTERNAL', column], error.message);
        return true;
      });
    }
  }
});

test('bytes that are changed are read, or are INTERNAL errors', () => {
  let refused = 0;
  let kept;
  for (let round = 0; round < ROUNDS * 5; ++round) {
    const random = new Random(9000 + Math.floor(round / 50));
    const { frame, data } = round % 50 === 0 ? randomResponse(random) : kept;
    kept = { frame, data };
    const changed = Uint8Array.from(inner(data));
    if (changed.length === 0) continue;
    const changes = new Random(round);
    for (let i = 1 + changes.below(3); i > 0; --i) changed[changes.below(changed.length)] = changes.bits() & 255;
    const cut = changes.below(4) === 0 ? changed.subarray(0, changes.below(changed.length)) : changed;
    try {
      readAll(frame, cut);
    } catch (error) {
      // A status that is made by chance has any code.
      assert.ok(error instanceof CaromError, `round ${round}: ${error.stack}`);
      ++refused;
    }
  }
  assert.ok(refused > ROUNDS / 2, `${refused} are refused`);
});

test('the columns of answers have fields, and fields of answers columns', () => {
  for (const kind of ALL) {
    const table = tableOf(kind);
    for (const path of Object.keys(table.columns)) assert.ok(fieldOf(table, path), `${kind.name}.${path}`);
  }
});
