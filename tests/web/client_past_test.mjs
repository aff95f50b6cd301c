// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are items answered as of their moments, also after a stream broke, over gRPC and over a web socket?

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as node from '@carom/client';
import * as web from '@carom/client/web';
import * as questions from '@carom/core/questions';
import { BodySets } from '../../../client/web/client/dist/stream/body_sets.js';
import { caromd, fails } from './servers.mjs';

const { Bodies, Frame } = node;
const { box, disc, Polygons, Shapes } = questions;
const SQUARE = [[100, 100], [104, 100], [104, 104]]; // prettier-ignore
const [FIRST, TICKS, BODIES] = [100, 4, 70];

/** Pseudo-random numbers in [0, 1), the same in every run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const WALLS = new Polygons(
  Array.from({ length: 40 }, (_, i) => {
    const [x, y] = [(i % 8) * 4, Math.floor(i / 8) * 4];
    return [[x, y], [x + 2, y], [x + 2 - (i % 3) / 2, y + 2], [x, y + 1]]; // prettier-ignore
  }),
);
const SHAPES = new Shapes(box(0.5, 0.75).polygons, disc([0.5, 1]).capsules);

/** Arguments of each kind that has moments, for `n` items. */
function asked(next, n) {
  const column = (most = 32) => Float64Array.from({ length: n }, () => Math.round(next() * most * 4) / 4);
  const line = () => ({ ax: column(), ay: column(20), bx: column(), by: column(20) });
  const place = () => ({ x: column(), y: column(20) });
  const moved = () => ({ shapes: disc(0.5), ...place() });
  return {
    segments: line(),
    points: place(),
    circles: { ...place(), radius: column(2) },
    polygons: { shapes: box(1, 1), ...place() },
    rays: { ...place(), dx: column(), dy: 1 },
    capsules: { ...line(), radius: 0.5 },
    boxes: { minX: 1, minY: 1, maxX: column().map((x) => x + 1), maxY: 9 },
    distances: { ...moved(), maxDistance: 4 },
    contacts: { shapes: box(1, 1), ...place() },
    sweeps: { ...moved(), dx: column(), dy: 1 },
    arcs: { ...place(), vx: 4, vy: 2, ax: 0, ay: -1, duration: 4 },
    sights: line(),
    fans: { ...place(), angle: 0, fov: 3, beams: 5, range: 8 },
    slides: { ...moved(), dx: column(), dy: 1 },
    areas: { ...place(), range: 5 },
    sees: { ...place(), range: 12, margin: 0.25 },
  };
}

/** The columns of answers as text. */
function bitsOf(answers) {
  const names = answers.constructor.columnNames ?? Object.getOwnPropertyNames(Object.getPrototypeOf(answers));
  return names
    .filter((name) => ArrayBuffer.isView(answers[name]))
    .map((name) => `${name} ${[...answers[name]].map(String).join()}`);
}

/** Poses at a tick, of which some are no floats. */
function posesOf(next, kind) {
  const column = (scale) => Float64Array.from({ length: BODIES }, () => Math.round(next() * 64) * scale);
  const x = column(next() < 0.5 ? 0.5 : 0.1);
  const y = column(0.25);
  const angle = column(0.1);
  const turned = { none: {}, angle: { angle }, cosine: { c: angle.map(Math.cos), s: angle.map(Math.sin) } }[kind];
  return { x, y, ...turned, alive: Array.from(x, () => next() < 0.8), teleported: Array.from(x, () => next() < 0.2) };
}

describe('the law: as of a tick, a question has the answers of a group with the poses of the tick', () => {
  for (const kind of ['none', 'angle', 'cosine']) {
    test(`rotations: ${kind}`, async (t) => {
      const server = await caromd(t);
      const client = node.connect(server.address);
      await client.createScene('a', WALLS);
      const next = random(kind.length);
      const shape = Uint32Array.from({ length: BODIES }, () => Math.floor(next() * SHAPES.length));
      const category = BigUint64Array.from(shape, () => (next() < 0.7 ? 1n : 2n));
      const owner = shape.map(() => Math.floor(next() * 4));
      const ticks = Array.from({ length: TICKS }, () => posesOf(next, kind));
      for (const [index, { alive, teleported, ...poses }] of ticks.entries()) {
        const frame = new Frame();
        frame.defineBodySet(3, SHAPES, { shape, category, owner });
        ticks.forEach((each, i) => frame.addPoses(3, { tick: FIRST + i, ...each }));
        assert.equal(teleported.length, BODIES);
        const met = category.map((bits, i) => (alive[i] ? bits : 0n));
        const bodies = new Bodies({ shapes: SHAPES, shape, owner, category: met, ...poses });
        const [past, now] = [frame.group('a', { bodySet: 3 }), frame.group('a', { bodies })];
        const pairs = Object.entries(asked(next, 12)).map(([name, given]) => {
          const scope = { against: 'both', ignoreOwner: Uint32Array.from({ length: 12 }, () => Math.floor(next() * 4)) };
          const own = name === 'sees' ? { ...scope, against: 'scene' } : scope;
          const make = (more) => questions[name]({ ...given, ...own, ...more });
          return [name, past.ask(make({ asOf: FIRST + index })), now.ask(make({}))];
        });
        const answer = await client.evaluate(frame);
        let seen = 0;
        for (const [name, one, other] of pairs) {
          const expected = bitsOf(answer.get(other));
          assert.ok(expected.length > 0, name);
          assert.deepEqual(bitsOf(answer.get(one)), expected, name);
          seen += expected.join().length;
        }
        assert.ok(seen > 1000);
      }
      client.close();
    });
  }
});

/** A frame that asks what is at (x, 0) at moments. */
function askAt(scene, x, asOf, options = {}) {
  const frame = new Frame();
  const at = { x: asOf.map(() => x), y: asOf.map(() => 0), against: 'both', asOf };
  frame.group(scene, { bodySet: 5, ...options }).ask(questions.points(at));
  return frame;
}

/** Defines a set of one disc of radius 1, and adds ticks at which it is at (x, 0). */
function addDisc(frame, ticks, { bodySet = 5, keepTicks = 4, ...options } = {}) {
  frame.defineBodySet(bodySet, disc(1), { keepTicks, ...options });
  for (const [tick, x] of ticks) frame.addPoses(bodySet, { tick, x: [x], y: [0] });
}

function countsOf(answer) {
  answer.check();
  return [...answer.groups[0].get(answer.groups[0].questions[0]).counts];
}

async function restart(server, name = 'a') {
  await server.kill();
  await server.start();
  const client = node.connect(server.address);
  await client.createScene(name, [SQUARE]);
  client.close();
}

const CLIENTS = { gRPC: [node.connect, 'address'], 'a web socket': [web.connect, 'url'] };

for (const [how, [connect, address]] of Object.entries(CLIENTS)) {
  describe(`streams over ${how}`, () => {
    const start = async (t) => {
      const server = await caromd(t);
      const client = connect(server[address]);
      await client.createScene('a', [SQUARE]);
      t.after(() => client.close());
      return { server, client, stream: client.stream() };
    };

    test('send their sets and the ticks that these keep again', async (t) => {
      const { server, stream } = await start(t);
      const define = new Frame();
      addDisc(define, []);
      (await stream.ask(define)).check();
      for (let tick = 1; tick <= 9; ++tick) {
        const frame = new Frame();
        frame.addPoses(5, { tick, x: tick, y: 0 });
        (await stream.ask(frame)).check();
      }
      const asOf = [5, 6, 6.5, 7.5, 9];
      for (const reconnects of [0, 1]) {
        const answer = await stream.ask(askAt('a', 7.5, asOf));
        assert.deepEqual(countsOf(answer), [0, 0, 1, 1, 0]);
        const errors = answer.groups[0].get(answer.groups[0].questions[0]).errors();
        assert.deepEqual(errors.map(({ error }) => error.field), ['points.asOf[0]']); // tick 5 was dropped
        assert.equal(stream.reconnects, reconnects);
        await restart(server);
      }
      const remove = new Frame();
      remove.removeBodySets([5]);
      (await stream.ask(remove)).check();
      await restart(server);
      const { error } = (await stream.ask(askAt('a', 7.5, asOf))).groups[0];
      assert.deepEqual([error.code, error.field], ['INVALID_ARGUMENT', 'body_set']);
    });

    // Story: one fork was gone after a restart, and with it the stream ended, though only its sets could not come back.
    // Then the stream dropped these sets, also if the client that had made the fork made it again a moment later.
    test('outlive a fork that is gone, whose sets wait for it', async (t) => {
      const { server, client, stream } = await start(t);
      const host = node.connect(server.address);
      t.after(() => host.close());
      for (const name of ['f', 'g']) await host.fork('a', { name }); // which this client does not make again
      const frame = new Frame();
      addDisc(frame, [[1, 0]], { bodySet: 4, fork: 'f' });
      addDisc(frame, [[1, 0]]);
      addDisc(frame, [[1, 0]], { bodySet: 6, fork: 'g' });
      (await stream.ask(frame)).check();
      await restart(server);
      await client.fork('a', { name: 'g' });
      assert.deepEqual(countsOf(await stream.ask(askAt('a', 0, [1]))), [1]);
      const { error } = (await stream.ask(askAt('a', 0, [1], { bodySet: 4 }))).groups[0];
      assert.deepEqual([error.code, error.field], ['NOT_FOUND', 'body_set']);
      assert.deepEqual(countsOf(await stream.ask(askAt('g', 0, [1], { bodySet: 6 }))), [1]);
      await host.fork('a', { name: 'f' });
      assert.deepEqual(countsOf(await stream.ask(askAt('f', 0, [1, 2], { bodySet: 4 }))), [1, 0]);
      assert.equal(stream.reconnects, 1);
    });

    // Story: the fork of a match was made anew for the next one, with another set or with the same.
    for (const [keep, first] of [[[4, 3], [1, 1]], [[4, 4], [997, 1]]]) { // prettier-ignore
      test(`have none of the ticks of an earlier fork of a name: ${first}`, async (t) => {
        const { server, client, stream } = await start(t);
        for (const i of [0, 1]) {
          await client.fork('a', { name: 'f' });
          const frame = new Frame();
          const ticks = Array.from({ length: keep[i] }, (_, k) => [first[i] + k, 10 * keep[i]]);
          addDisc(frame, ticks, { keepTicks: keep[i], fork: 'f' });
          (await stream.ask(frame)).check();
          if (i === 0) await client.deleteScene('f');
        }
        for (let i = 0; i < 2; ++i) {
          assert.deepEqual(countsOf(await stream.ask(askAt('f', 10 * keep[1], [1, keep[1], 997]))), [1, 1, 0]);
          await restart(server);
        }
      });
    }

    test('have the sets of a fork again with the fork, without its walls', async (t) => {
      const { server, client, stream } = await start(t);
      await client.fork('a', { name: 'f' });
      const walls = () => askAt('f', 2, [1.5], { versionAtTick: 2, rotation: 'linear' });
      const frame = walls();
      addDisc(frame, [[1, 0], [2, 4]], { fork: 'f' }); // prettier-ignore
      assert.deepEqual(countsOf(await stream.ask(frame)), [1]);
      await restart(server);
      assert.deepEqual(countsOf(await stream.ask(askAt('f', 2, [1.5]))), [1]);
      assert.equal((await stream.ask(walls())).groups[0].error.code, 'OUT_OF_RANGE');
    });
  });
}

test('version_at_tick reads the walls of the tick', async (t) => {
  const server = await caromd(t);
  const client = node.connect(server.address);
  t.after(() => client.close());
  await client.createScene('doors', [[[0, -1], [4, -1], [4, 3]]], { ids: [7] }); // prettier-ignore
  const fork = await client.fork('doors');
  const stream = client.stream();
  const frame = new Frame();
  addDisc(frame, [[1, 50]], { fork });
  (await stream.ask(frame)).check();
  const edit = new Frame();
  edit.group(fork, { edits: { remove: [7] } });
  edit.addPoses(5, { tick: 2n, x: [50], y: [0] });
  (await stream.ask(edit)).check();
  const last = new Frame();
  last.addPoses(5, { tick: 3, x: [50], y: [0] });
  const groups = [1, 2n, 3].map((versionAtTick) => last.ask(fork, questions.points({ x: 3, y: 0 }), { bodySet: 5, versionAtTick }));
  const answer = await stream.ask(last);
  assert.deepEqual(groups.map((question) => answer.get(question).counts[0]), [1, 1, 0]);
});

test('arguments that are not accepted', async (t) => {
  const frame = new Frame();
  const refused = (field, call) => assert.throws(call, { code: 'INVALID_ARGUMENT', field });
  for (const handle of [-1, 65536, 1.5, '1', undefined]) refused('bodySet', () => frame.defineBodySet(handle, disc(1)));
  refused('keepTicks', () => frame.defineBodySet(1, disc(1), { keepTicks: 257 }));
  refused('keep', () => frame.defineBodySet(1, disc(1), { keep: 1 }));
  refused('bodySet.shape[1]', () => frame.defineBodySet(1, disc(1), { shape: [0, 1] }));
  refused('bodySet.owner', () => frame.defineBodySet(1, disc(1), { owner: [1, 2] }));
  refused('bodySet', () => frame.removeBodySets(5));
  for (const tick of [-1, 0.5, 2 ** 53 + 2, '1']) refused('poses.tick', () => frame.addPoses(1, { tick, x: [0], y: [0] }));
  refused('poses.y', () => frame.addPoses(1, { tick: 1, x: [0], y: [0, 1] }));
  refused('poses.alive', () => frame.addPoses(1, { tick: 1, x: [0], y: [0], alive: [true, false] }));
  refused('poses.alive[0]', () => frame.addPoses(1, { tick: 1, x: [0], y: [0], alive: [2] }));
  refused('poses', () => frame.addPoses(1, null));
  refused('rotation', () => frame.group('a', { rotation: 'round' }));
  refused('versionAtTick', () => frame.group('a', { versionAtTick: -1 }));
  assert.deepEqual([frame.bodySets, frame.ticks, frame.removedSets], [[], [], []]);
  const server = await caromd(t);
  const client = node.connect(server.address);
  t.after(() => client.close());
  const unknown = new Frame();
  unknown.addPoses(9, { tick: 1, x: [0], y: [0] });
  await fails(client.evaluate(unknown), 'INVALID_ARGUMENT', 'poses[0].body_set');
});

describe('what is sent again', () => {
  const framesOf = (sets, limits) => [...sets.parts(limits)].map(({ fork, frame }) => [fork, frame.body_sets.length, frame.poses.length]);
  const frameOf = (count, shapes, forkOf) => {
    const frame = new Frame();
    for (let handle = 0; handle < count; ++handle) {
      const options = { shape: [0], ...(forkOf(handle) && { fork: forkOf(handle) }) };
      frame.defineBodySet(handle, Array.from({ length: shapes }, () => SQUARE), options);
      frame.addPoses(handle, { tick: 1, x: [0], y: [0] });
    }
    return frame;
  };

  test('keeps the limits of the server, and parts forks', () => {
    const sets = new BodySets();
    sets.change(frameOf(80, 6, (handle) => (handle % 40 < 20 ? '' : 'f')));
    const parts = framesOf(sets);
    assert.ok(parts.every(([, count]) => count <= 16));
    for (const fork of ['', 'scenes/f']) {
      const own = parts.filter(([each]) => each === fork);
      assert.deepEqual([1, 2].map((k) => own.reduce((sum, each) => sum + each[k], 0)), [40, 40]);
    }
    assert.ok(framesOf(sets, { maxQueriesPerFrame: 8 }).every(([, count]) => count <= 1));
    assert.ok(framesOf(sets, { maxFrameBytes: 100 }).every(([, count, ticks]) => count + ticks === 1));
    const left = [];
    for (const { fork } of sets.parts()) {
      left.push(fork);
      if (fork !== '') sets.dropFork(fork); // which the server has refused
    }
    assert.deepEqual([...new Set(left)], ['', 'scenes/f']);
    assert.equal(left.filter((fork) => fork !== '').length, 1);
    assert.ok(framesOf(sets).every(([fork]) => fork === ''));
  });

  test('is what the set keeps', () => {
    const sets = new BodySets();
    const ticksOf = () => [...sets.parts()].map(({ frame }) => frame.poses.length);
    const change = (...ticks) => {
      const frame = new Frame();
      for (const [tick, x] of ticks) frame.addPoses(5, { tick, x: [x], y: [0] });
      sets.change(frame);
    };
    const define = (options) => {
      const frame = new Frame();
      addDisc(frame, [], options);
      sets.change(frame);
    };
    define();
    change(...Array.from({ length: 7 }, (_, tick) => [tick, 0]));
    assert.deepEqual(ticksOf(), [4]);
    change([1, 9], [6, 0]); // late, and as before
    assert.deepEqual(ticksOf(), [4]);
    define({ category: [1], owner: 0, shape: [0] }); // the same, written out
    assert.deepEqual(ticksOf(), [4]);
    change([6, 0], [1, 9], [2, 9]); // the fork was made again, and its set had no ticks
    assert.deepEqual(ticksOf(), [2]);
    define({ keepTicks: 3 }); // another set
    assert.deepEqual(ticksOf(), [0]);
  });
});
