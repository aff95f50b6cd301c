// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are predictions equal to the answers of the server, also while the scene changes, and are they different after a bundle
// was changed, and then alone?

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bodies, connect, Frame } from '@carom/client';
import { followScene, predict } from '@carom/client/prediction';
import { load, Scene } from '@carom/core';
import * as q from '@carom/core/questions';
import { caromd, fails } from './servers.mjs';

const SQUARE = [[0, 0], [2, 0], [2, 2], [0, 2]]; // prettier-ignore
const DOOR = 1000;
const STEPS = process.env.CAROM_LONG === '1' ? 2000 : 150;

await load();

/** Pseudo-random numbers in [0, 1), the same in every run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function worldOf(next) {
  return new q.Polygons(
    Array.from({ length: 100 }, () => {
      const [x, y] = [next() * 40, next() * 40];
      return Array.from({ length: 3 + Math.floor(next() * 4) }, () => [x + next() * 4, y + next() * 4]);
    }),
    { categories: Array.from({ length: 100 }, (_, i) => 1 + (i % 3)) },
  );
}

/** A question of each kind in turn. */
function questionOf(next, i) {
  const column = (scale = 40) => Float64Array.from({ length: 8 }, () => next() * scale);
  const [x, y, bx, by] = [column(), column(), column(), column()];
  const [dx, dy] = [column(20).map((each) => each - 10), column(20).map((each) => each - 10)];
  const shapes = i % 2 ? q.disc(0.75) : q.box(1, 2);
  const makers = [
    () => q.segments({ ax: x, ay: y, bx, by, mode: 'all', reflect: true }),
    () => q.slides({ shapes, x, y, dx, dy, mask: 3 }),
    () => q.points({ x, y }),
    () => q.sights({ ax: x, ay: y, bx, by }),
    () => q.sweeps({ shapes, x, y, dx, dy, skin: 0.01, insidePolicy: 'blocking' }),
    () => q.distances({ shapes, x, y, maxDistance: new Float64Array(8).fill(5) }),
    () => q.contacts({ shapes, x, y }),
    () => q.fans({ x, y, angle: dx, step: new Float64Array(8).fill(0.1), range: bx, beams: new Uint32Array(8).fill(9) }),
    () => q.circles({ x, y, radius: new Float64Array(8).fill(1) }),
    () => q.rays({ x, y, dx, dy, detail: 'fraction' }),
    () => q.depenetrations({ shapes, x, y }),
    () => q.bounces({ ax: x, ay: y, bx, by, maxBounces: 3 }),
    () => q.segments({ ax: x, ay: [NaN, ...y.slice(1)], bx, by, against: 'both' }),
    () => q.sees({ x, y, range: bx.map((each) => each + 1), margin: 0.5 }),
  ];
  return makers[i % makers.length]();
}

const never = (error) => assert.fail(`a prediction differs: ${error}`);

test('predictions are equal while the scene and its doors change', async (t) => {
  const server = await caromd(t);
  const client = connect(server.address);
  const next = random(5);
  await client.createScene('arena', worldOf(next));
  const versions = [];
  const scene = await followScene(client, 'arena', { onMismatch: never, onVersion: (update) => versions.push(update) });
  const bodies = new Bodies({ shapes: q.disc(1), x: [5, 20, 35], y: [5, 20, 35], owner: [1, 2, 3] });
  const outcomes = [];
  for (let i = 0; i < STEPS; ++i) {
    const question = questionOf(next, i);
    const { answers, outcome } = predict(scene, question, i % 3 === 0 ? { bodies } : {});
    assert.equal(answers.version, scene.version);
    outcomes.push(outcome);
    if (i % 10 === 0) {
      const square = (x) => [SQUARE.map(([u, v]) => [u + x, v + x])];
      const polygons = (id) => new q.Polygons([square(next() * 30)], { ids: [id] });
      if (i % 30 === 0) await client.commit('arena', { add: polygons(DOOR + i), replace: polygons(i % 100) });
      else await client.commit('arena', i % 30 === 10 ? { replace: polygons(7) } : { remove: [DOOR + i - 20] });
    }
    if (i % 16 === 0) await Promise.all(outcomes);
  }
  assert.deepEqual(new Set(await Promise.all(outcomes)), new Set(['equal']));
  assert.deepEqual(scene.counts, { equal: STEPS, different: 0, unknown: 0 });
  await until('versions are missing', () => versions.length > STEPS / 10);
  const exported = await client.exportScene('arena', { version: scene.version });
  assert.equal(exported.polygons.length, versions.at(-1).scene.polygonCount);
  assert.ok(versions[0].bundle.length > 0 && versions[0].polygons === null);
  const { scene: summary, bundle } = await client.exportBundle('arena', { version: scene.version });
  assert.equal(summary.version, scene.version);
  const opened = Scene.fromBundle(bundle, { version: summary.version });
  const question = q.points({ x: [1, 7, 30], y: [1, 7, 30] });
  assert.deepEqual(opened.ask(question).counts, scene.scene.ask(question).counts);
  opened.dispose();
  await assert.rejects(client.exportBundle('nothing'), { code: 'NOT_FOUND', field: 'name' });
  scene.dispose();
  assert.throws(() => predict(scene, questionOf(next, 0)), { code: 'FAILED_PRECONDITION', field: 'scene' });
  client.close();
});

test('a fork is followed, with the edits of frames', async (t) => {
  const server = await caromd(t);
  const client = connect(server.address);
  await client.createScene('base', [SQUARE]);
  const fork = await client.fork('base');
  const scene = await followScene(client, fork, { onMismatch: never });
  const inside = q.points({ x: [1], y: [1] });
  const stream = client.stream();
  for (let i = 0; i < 20; ++i) {
    const edits = i % 2 ? { add: new q.Polygons([SQUARE], { ids: [0] }) } : { remove: [0] };
    const frame = new Frame();
    frame.group(fork, { edits });
    const { editedVersion } = (await stream.ask(frame)).groups[0];
    while (scene.version < editedVersion) await new Promise((resolve) => setTimeout(resolve, 1));
    const { answers, outcome } = predict(scene, inside);
    assert.deepEqual([...answers.counts], [i % 2]);
    assert.equal(await outcome, 'equal');
  }
  client.close();
});

test('a bundle is a beginning, and one that was changed is found out', async (t) => {
  const server = await caromd(t);
  const client = connect(server.address);
  const next = random(9);
  await client.createScene('arena', worldOf(next));
  const first = await followScene(client, 'arena', { onMismatch: never });
  const bundle = first.toBundle();
  const { version } = first;
  first.dispose();
  await client.commit('arena', { add: new q.Polygons([SQUARE], { ids: [DOOR] }) });
  const again = await followScene(client, 'arena', { onMismatch: never, bundle });
  assert.ok(again.version >= version);
  for (let i = 0; i < 26; ++i) assert.equal(await predict(again, questionOf(next, i)).outcome, 'equal');
  await until('the edit did not arrive', () => again.version > version);
  again.dispose();

  // One vertex of one wall is elsewhere, as a player may do who wants to shoot through it.
  const honest = Scene.fromBundle(bundle);
  const wall = new q.Polygons([SQUARE.map(([x, y]) => [x + 100, y])], { ids: [3] });
  const changed = honest.commit({ replace: wall, version }).toBundle();
  const errors = [];
  const cheat = await followScene(client, 'arena', { onMismatch: (error) => errors.push(error), bundle: changed });
  const seen = [];
  for (let i = 0; i < 130; ++i) seen.push(await predict(cheat, questionOf(next, i)).outcome);
  assert.ok(errors.length > 0 && seen.includes('different'), 'the changed wall is not found out');
  assert.equal(cheat.counts.different, errors.length);
  assert.ok(errors.every(({ code, field }) => code === 'DATA_LOSS' && /^\w+\.\w+$/.test(field)), String(errors[0]));

  // A damaged bundle is refused.
  const damaged = Uint8Array.from(bundle);
  damaged[damaged.length - 9] ^= 1;
  await fails(followScene(client, 'arena', { onMismatch: never, bundle: damaged }), 'DATA_LOSS');
  await fails(followScene(client, 'arena', { onMismatch: never, bundle: new Uint8Array(5) }), null);
  client.close();
});

test('the end of a scene ends the following', async (t) => {
  const server = await caromd(t);
  const client = connect(server.address);
  await client.createScene('ending', [SQUARE]);
  let ended;
  const end = new Promise((resolve) => (ended = resolve));
  const scene = await followScene(client, 'ending', { onMismatch: never, onError: ended });
  await client.deleteScene('ending');
  assert.equal((await end).code, 'NOT_FOUND');
  assert.throws(() => predict(scene, q.points({ x: [1], y: [1] })), { code: 'NOT_FOUND' });
  await fails(followScene(client, 'ending', { onMismatch: never }), 'NOT_FOUND');
  assert.throws(() => followScene(client, 'ending', {}), { code: 'INVALID_ARGUMENT', field: 'onMismatch' });
  client.close();
});

test('a server that is gone leaves predictions, whose outcome is unknown', async (t) => {
  const server = await caromd(t);
  const client = connect(server.address);
  await client.createScene('lonely', [SQUARE]);
  const scene = await followScene(client, 'lonely', { onMismatch: never });
  await server.kill();
  const { answers, outcome } = predict(scene, q.points({ x: [1], y: [1] }));
  assert.deepEqual([...answers.counts], [1]);
  scene.dispose();
  assert.equal(await outcome, 'unknown');
  client.close();
});

/** Waits until a condition holds. */
async function until(what, condition) {
  for (const end = Date.now() + 20_000; !condition(); ) {
    assert.ok(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

// Versions of a server that keeps nothing count anew, and no server but the first had the fork.
test('a scene and a fork are followed to another server, whose versions count anew', async (t) => {
  const servers = [await caromd(t), await caromd(t)];
  const square = (x, id) => new q.Polygons([SQUARE.map(([u, v]) => [u + x, v])], { ids: [id] });
  for (const server of servers) {
    const direct = connect(server.address);
    await direct.createScene('base', [SQUARE]);
    direct.close();
  }
  const client = connect(servers.map(({ address }) => address));
  const fork = await client.fork('base');
  const errors = [];
  const options = { onMismatch: never, onError: (error) => errors.push(error) };
  const [scene, copy] = await Promise.all(['base', fork].map((each) => followScene(client, each, options)));
  for (const name of ['base', fork]) {
    for (let i = 0; i < 3; ++i) await client.commit(name, { add: square(10 * (i + 1), 10 + i) });
  }
  await until('the edits did not arrive', () => scene.scene.length === 4 && copy.scene.length === 4);
  await servers[0].kill();
  await until('the other server has no edits of the base', () => errors.length > 0 || scene.scene.length === 1);
  await until('the fork was not made again', () => errors.length > 0 || copy.version < 4n);
  assert.deepEqual([errors, copy.scene.length], [[], 4]);
  const { version } = await client.commit(fork, { remove: [0] });
  await until('the fork is not followed', () => errors.length > 0 || copy.version === version);
  assert.equal(await predict(copy, q.points({ x: [1, 11], y: [1, 1] })).outcome, 'equal');
  assert.equal(await predict(scene, q.points({ x: [1, 11], y: [1, 1] })).outcome, 'equal');
  assert.equal(copy.toBundle().length > 0, true);
  assert.deepEqual(errors, []);
  client.close();
});

/** A client whose server sends what a test says. */
function clientOf(watch, ask) {
  const made = { streams: 0, from: [] };
  made.stream = () => {
    ++made.streams;
    const stream = { isEnded: false, cancel: () => undefined, ask: (frame) => ask(stream, frame) };
    return stream;
  };
  made.watchScene = async function* (_, { fromVersion }) {
    made.from.push(fromVersion);
    yield* watch(fromVersion);
  };
  return made;
}

const update = (version, baseVersion) => ({
  scene: { version }, baseVersion, changes: [], polygons: new q.Polygons(baseVersion === 0n ? [SQUARE] : []), bundle: null,
}); // prettier-ignore

test('a stream of predictions that ended is reported once, and replaced', async () => {
  const client = clientOf(
    async function* () {
      yield update(1n, 0n);
      await new Promise(() => undefined);
    },
    async (stream) => {
      stream.isEnded = true;
      throw new q.CaromError('PERMISSION_DENIED', '', 'no');
    },
  );
  const errors = [];
  const scene = await followScene(client, 'arena', { onMismatch: never, onError: ({ code }) => errors.push(code) });
  const ask = () => predict(scene, q.points({ x: [1], y: [1] })).outcome;
  assert.deepEqual(await Promise.all([ask(), ask()]), ['unknown', 'unknown']);
  assert.deepEqual([errors, client.streams], [['PERMISSION_DENIED'], 1]);
  assert.equal(await ask(), 'unknown');
  assert.equal(client.streams, 2);
});

test('updates that were read too slowly are followed by the next ones', async () => {
  let ended;
  const end = new Promise((resolve) => (ended = resolve));
  const client = clientOf(async function* (from) {
    if (from < 3n) yield update(from + 1n, from);
    throw new q.CaromError('RESOURCE_EXHAUSTED', '', 'too slow');
  });
  const seen = [];
  const onVersion = ({ scene }) => seen.push(scene.version);
  await followScene(client, 'arena', { onMismatch: never, onError: ended, onVersion });
  assert.equal((await end).code, 'RESOURCE_EXHAUSTED', 'without an update there is no other watch');
  assert.deepEqual([client.from, seen], [[0n, 1n, 2n, 3n], [1n, 2n, 3n]]);
});
