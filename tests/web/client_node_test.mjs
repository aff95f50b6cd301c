// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does the client for Node.js make scenes, ask, follow versions and prove who it is, and are all failures CaromErrors?

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Bodies, CaromError, connect, Frame } from '@carom/client';
import { disc, distances, points, Polygons, segments, slides } from '@carom/core/questions';
import { transformSync } from 'esbuild';
import { Caromd, caromd, certificates, folderOf, fails } from './servers.mjs';

const SQUARE = [[0, 0], [2, 0], [2, 2], [0, 2]]; // prettier-ignore
const BULLET = { ax: [-1, 5], ay: [1, 5], bx: [5, 6], by: [1, 6] };

describe('scenes and questions', () => {
  let server;
  let client;
  let folder;
  before(async () => {
    const t = { after: (done) => (folder = done) };
    server = await new Caromd(folderOf(t), []).start();
    client = connect(server.address);
  });
  after(async () => {
    client.close();
    await server.kill();
    folder();
  });

  test('a scene is made, asked, edited, listed and deleted', async () => {
    const made = await client.createScene('one', [SQUARE], { ids: [7] });
    assert.deepEqual(
      { ...made, version: 0n },
      {
        name: 'scenes/one',
        version: 0n,
        polygonCount: 1,
        vertexCount: 4,
        bounds: { minX: 0, minY: 0, maxX: 2, maxY: 2 },
        base: '',
        baseVersion: 0n,
      },
    );
    const scene = client.scene('one');
    const hits = await scene.cast(BULLET);
    assert.equal(hits.version, made.version);
    assert.equal(hits.length, 2);
    assert.equal(hits.hit(1), null);
    const hit = hits.hit(0);
    assert.equal(hit.polygonId, 7n);
    assert.equal(hit.fraction, 1 / 6);
    const edited = await client.commit('one', {
      add: new Polygons([SQUARE.map(([x, y]) => [x + 3, y])], { ids: [9] }),
      remove: [7],
      editId: 'once',
    });
    assert.equal(edited.version > made.version, true);
    assert.equal((await client.commit('one', { remove: [7], editId: 'once' })).version, edited.version);
    assert.equal((await scene.cast(BULLET)).hit(0).polygonId, 9n);
    const old = await client.scene('one', { version: made.version }).cast(BULLET);
    assert.equal(old.hit(0).polygonId, 7n);
    assert.deepEqual((await client.versions('one')).map(({ editId }) => editId), ['', 'once']);
    assert.equal((await client.listScenes()).filter(({ name }) => name === 'scenes/one').length, 1);
    await client.deleteScene(edited);
    await fails(client.getScene('one'), 'NOT_FOUND', 'name');
  });

  test('questions of several kinds are one call, also against bodies', async () => {
    const { name } = await client.createScene('kinds', [SQUARE]);
    const scene = client.scene(name).withBodies(new Bodies({ shapes: disc(1), x: [10, 20], y: 1, owner: [1, 2] }));
    const bullet = segments({ ...BULLET, bx: [30, 6], ax: [5, 5], against: 'both', ignoreOwner: [1, 0] });
    const [hits, near] = await scene.evaluate(
      bullet,
      distances({ shapes: disc(0), x: [15], y: [1], against: 'bodies', maxDistance: [6], mode: 'all' }),
    );
    assert.equal(hits.isBody[0], 1);
    assert.equal(hits.hit(0).polygonId, 1n);
    assert.deepEqual([...near.distance], [4, 4]);
  });

  test('items in error have paths', async () => {
    const { name } = await client.createScene('items', [SQUARE]);
    const answers = await client.scene(name).locate({ x: [1, NaN, 3], y: [1, 1, Infinity] });
    assert.deepEqual([...answers.counts], [1, 0, 0]);
    assert.deepEqual(
      answers.errors().map(({ index, error }) => [index, error.code, error.field]),
      [
        [1, 'INVALID_ARGUMENT', 'points.x[1]'],
        [2, 'INVALID_ARGUMENT', 'points.y[2]'],
      ],
    );
  });

  test('polygons with all their options come back as they were', async () => {
    const polygons = new Polygons([[SQUARE, SQUARE.map(([x, y]) => [x / 2 + 0.5, y / 2 + 0.5])], [SQUARE], [SQUARE]], {
      ids: [3n, 2n ** 64n - 1n, 5n],
      categories: [1, 2n ** 63n, 1],
      solidity: ['solid', 'boundary', 'boundary'],
      fillRule: ['non_zero', 'even_odd', 'even_odd'],
      open: [0, 0, 1, 0],
      userData: [new Uint8Array([1, 2]), new Uint8Array(), new Uint8Array([3])],
    });
    await client.createScene('options', polygons);
    const { scene, polygons: found } = await client.exportScene('options');
    assert.equal(scene.polygonCount, 3);
    assert.deepEqual([...found.id], [3n, 5n, 2n ** 64n - 1n]); // ascending
    assert.deepEqual([...found.category], [1n, 1n, 2n ** 63n]);
    assert.deepEqual([...found.ringCount], [2, 1, 1]);
    assert.deepEqual([...found.open], [0, 0, 0, 1]);
    assert.deepEqual([...found.solidity], [1, 2, 2]);
    assert.deepEqual([...found.fillRule].map((rule) => rule || 1), [2, 1, 1]);
    assert.deepEqual([...found.userData], [1, 2, 3]);
    assert.deepEqual([...found.x.subarray(0, 8)], [...polygons.x.subarray(0, 8)]);
  });

  test('a scene larger than a message is imported and exported in pieces', async () => {
    const count = 150_000;
    const ring = (x) => Array.from({ length: count }, (_, i) => {
      const angle = (2 * Math.PI * i) / count;
      return [x + Math.cos(angle), Math.sin(angle)];
    });
    const rings = [ring(0), [[5, 0], [6, 0], [6, 1]], ring(10)]; // prettier-ignore
    await client.createScene('large', [rings, [SQUARE]], { ids: [1, 2] });
    await fails(client.importScene('large', [SQUARE]), 'ALREADY_EXISTS', 'name');
    const { polygons } = await client.exportScene('large');
    assert.deepEqual([...polygons.ringSize], [count, 3, count, 4]);
    assert.deepEqual(polygons.rings(0), rings);
    const replaced = await client.importScene('large', [SQUARE], { replace: true });
    assert.equal(replaced.vertexCount, 4);
  });

  test('polygons whose rings end where a piece does are imported as they are', async () => {
    const x = (size) => Float64Array.from({ length: size }, (_, i) => 1 + i / 7);
    for (const around of [-2, -1, 0, 1]) {
      const ringSize = Uint32Array.of(2 ** 16 + around, 4, 2 ** 16 - 4, 2, 5);
      const columns = { x: x(ringSize.reduce((a, b) => a + b)), ringSize, ringCount: Uint32Array.of(4, 1) };
      const polygons = new Polygons({ ...columns, y: columns.x.map((each) => -each) }, { open: [0, 1, 0, 1, 0] });
      await client.importScene('pieces', polygons, { replace: true });
      const { polygons: found } = await client.exportScene('pieces');
      for (const name of ['ringSize', 'ringCount', 'x', 'y', 'open', 'solidity']) {
        assert.deepEqual([...found[name]], [...polygons[name]], `${name} of ${around}`);
      }
    }
  });

  test('a watch follows versions, and ends with its scene', async () => {
    const first = await client.createScene('watched', [SQUARE]);
    const seen = [];
    await fails(
      (async () => {
        for await (const update of client.watchScene('watched', { polygons: true })) {
          seen.push(update);
          if (seen.length === 1) await client.commit('watched', { add: new Polygons([SQUARE], { ids: [4] }) });
          if (seen.length === 2) await client.commit('watched', { remove: [0, 4] });
          if (seen.length === 3) await client.deleteScene('watched');
        }
      })(),
      'NOT_FOUND',
    );
    assert.deepEqual(seen.map(({ polygons }) => [...polygons.id]), [[0n], [4n], []]);
    assert.equal(seen[0].baseVersion, 0n);
    assert.equal(seen[1].baseVersion, first.version);
    assert.deepEqual(seen[1].changes, [{ id: 4n, change: 'added', minX: 0, minY: 0, maxX: 2, maxY: 2 }]);
    assert.deepEqual(seen[2].changes.map(({ id, change }) => [id, change]), [
      [0n, 'removed'],
      [4n, 'removed'],
    ]);
  });

  test('a watch ends by its signal, and without a server after its timeout', async () => {
    await client.createScene('signalled', [SQUARE]);
    const stop = new AbortController();
    let count = 0;
    for await (const _ of client.watchScene('signalled', { signal: stop.signal })) {
      ++count;
      setTimeout(() => stop.abort(), 20);
    }
    assert.equal(count, 1);
    const nobody = connect('127.0.0.1:1');
    const watch = nobody.watchScene('x', { reconnectTimeoutMs: 200 });
    await fails(watch.next(), 'UNAVAILABLE');
    nobody.close();
  });

  test('a fork is edited by a group, whose questions see the edits', async () => {
    await client.createScene('base', [SQUARE]);
    const fork = await client.fork('base', { leaseSeconds: 60 });
    assert.equal(fork.base, 'scenes/base');
    const frame = new Frame();
    const question = frame.ask(fork, points({ x: [1], y: [1] }), { edits: { remove: [0] } });
    const answer = await client.evaluate(frame);
    assert.equal(answer.groups[0].editedVersion > fork.version, true);
    assert.deepEqual([...answer.get(question).counts], [0]);
    assert.deepEqual([...(await client.scene('base').locate({ x: [1], y: [1] })).counts], [1]);
    await fails(client.fork('absent'), 'NOT_FOUND', 'base');
  });

  test('a scene is rolled back where its versions are kept', async () => {
    await client.createScene('rolled', [SQUARE]);
    const fork = await client.fork('rolled', { name: 'rolled-fork' });
    await client.commit(fork, { remove: [0] });
    const back = await client.rollback(fork, fork.version);
    assert.equal(back.polygonCount, 1);
    await fails(client.rollback(fork, fork.version, { baseVersion: 1 }), 'ABORTED', 'base_version');
  });

  test('a question waits for a version', async () => {
    const { version } = await client.createScene('waiting', [SQUARE]);
    const next = client.scene('waiting', { minVersion: version + 1n }).locate({ x: [1], y: [1] });
    await sleep(50);
    await client.commit('waiting', { remove: [0] });
    assert.deepEqual([...(await next).counts], [0]);
    const never = client.scene('waiting', { minVersion: 2n ** 60n, deadlineMs: 300 });
    await assert.rejects(never.locate({ x: [1], y: [1] }), (error) =>
      ['DEADLINE_EXCEEDED', 'UNAVAILABLE'].includes(error.code),
    );
  });

  /** An array whose buffer was given away. */
  function detached(type) {
    const array = new type(2);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  }

  test('bad input is an error that names the field', async () => {
    const { name } = await client.createScene('bad', [SQUARE]);
    const cases = [
      [() => connect('nowhere'), 'addresses'],
      [() => connect('127.0.0.1:0'), 'addresses'],
      [() => connect([]), 'addresses'],
      [() => connect('127.0.0.1:1', { keepaliveMs: 5 }), 'keepaliveMs'],
      [() => connect('127.0.0.1:1', { deadline: 5 }), 'deadline'],
      [() => connect('10.0.0.1:1', { token: 'a' }), 'tls'],
      [() => connect('127.0.0.1:1', { token: 'two words' }), 'token'],
      [() => connect('127.0.0.1:1', { tls: { ca: '/absent' } }), 'tls.ca'],
      [() => new Frame({ budgetMs: -1 }), 'budgetMs'],
      [() => new Frame({ coherence: 'maybe' }), 'coherence'],
      [() => new Frame().group('x', { version: -1 }), 'version'],
      [() => new Frame().group({}), 'scene'],
      [() => new Frame().group('x').ask({}), 'question'],
      [() => new Frame().removeTrackers([-1]), 'tracker'],
      [() => new Frame().removeTrackers(3), 'tracker'],
      [() => new Frame().removeTrackers(detached(Uint32Array)), 'tracker'],
      [() => new Frame().defineTrackers(disc(1), { tracker: detached(Uint32Array) }), 'tracker'],
      [() => new Bodies({ shapes: disc(1), x: detached(Float64Array), y: 1 }), 'bodies.x'],
      [() => new Bodies({ shapes: disc(1), x: 1, y: 1, owner: detached(Uint32Array) }), 'bodies.owner'],
      [() => client.commit(name, { remove: detached(BigUint64Array) }), 'remove'],
      [() => new Frame(null), 'options'],
      [() => new Frame().group('x', { bodies: {} }), 'bodies'],
      [() => new Bodies(null), 'bodies'],
      [() => client.commit(name, { remove: [0], editId: 5 }), 'editId'],
      [() => client.commit(name, { remove: 1.5 }), 'remove'],
      [() => new Frame().defineTrackers(disc([1, 2]), { tracker: [1] }), 'tracker'],
      [() => client.stream({ maxInFlight: 0 }), 'maxInFlight'],
      [() => segments({ ...BULLET, ay: [1] }), 'segments.ay'],
      [() => segments({ ...BULLET, speed: 1 }), 'segments.speed'],
      [() => client.createScene(name, [[[0, 0], [NaN, 1], [1, 1]]]), 'polygons[0].rings[0].x[1]'], // prettier-ignore
      [() => client.createScene('Not a name', [SQUARE]), 'name'],
      [() => client.commit(name, { remove: [-1] }), 'remove'],
      [() => client.commit(name, { delete: [1] }), 'delete'],
      [() => client.getScene(7), 'name'],
      [() => client.fork(name, { leaseSeconds: 0 }), 'leaseSeconds'],
      [() => client.evaluate({}), 'frame'],
      [() => new Bodies({ shapes: disc(1), x: [1, 2], y: [1] }), 'bodies.y'],
      [() => new Bodies({ shapes: disc(1), x: [1], y: [1], owner: [-1] }), 'bodies.owner[0]'],
      [() => new Bodies({ shapes: disc(1), x: ['1'], y: [1] }), 'bodies.x[0]'],
      [() => new Bodies({ shapes: disc(1), x: [1] }), 'bodies.y'],
      [() => new Bodies({ shapes: disc(1), x: [1], y: [1], z: [1] }), 'bodies.z'],
      [() => client.scene(name).slide({ shapes: disc(1), x: [0], y: [0], dx: [1, 1], dy: [1] }), 'slides.dx'],
      [() => client.scene(name).sweep({ shapes: disc(-1), x: [0], y: [0], dx: [1], dy: [1] }), ''],
    ];
    for (const [i, [call, field]] of cases.entries()) {
      const why = await Promise.resolve().then(call).then(
        () => assert.fail(`case ${i} is accepted`),
        (error) => error,
      );
      assert.ok(why instanceof CaromError, `case ${i}: ${why.stack}`);
      assert.equal(why.code, 'INVALID_ARGUMENT', `case ${i}: ${why}`);
      if (field !== '') assert.equal(why.field, field, `case ${i}: ${why}`);
    }
    await fails(client.scene(name).slide({ shapes: disc(1), x: [0], y: [0], dx: [1], dy: [1], mask: 1, pushes: [9] }),
      null); // prettier-ignore
  });

  test('calls end by deadlines, signals and close', async () => {
    await client.createScene('ends', [SQUARE]);
    const slow = () => {
      const frame = new Frame({ budgetMs: 5000 });
      frame.ask('ends', points({ x: [1], y: [1] }), { minVersion: 2n ** 60n });
      return frame;
    };
    await fails(client.evaluate(slow(), { deadlineMs: 50 }), 'DEADLINE_EXCEEDED');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    await fails(client.evaluate(slow(), { signal: stop.signal }), 'CANCELLED');
    const other = connect(server.address);
    other.close();
    await fails(other.listScenes(), 'FAILED_PRECONDITION', 'client');
  });

  test('slides are the same object for a core and for a server', async () => {
    await client.createScene('slides', [SQUARE]);
    const question = slides({ shapes: disc(0.5), x: [-2], y: [1], dx: [4], dy: [0.25] });
    assert.equal(question.kind.name, 'slides');
    const answers = await client.scene('slides').ask(question);
    assert.equal(answers.question, question);
    assert.equal(answers.x[0], -0.5);
  });
});

// --- Tokens and certificates ----------------------------------------------------------------------

const [WRITER, READER] = ['w'.repeat(40), 'r'.repeat(40)];
const line = (token, tenant, role) => `token ${createHash('sha256').update(token).digest('hex')} ${tenant} ${role}\n`;

function put(path, text) {
  writeFileSync(`${path}.new`, text);
  chmodSync(`${path}.new`, 0o600);
  renameSync(`${path}.new`, path);
}

test('tokens have tenants and roles, and their file is read again', async (t) => {
  const folder = folderOf(t);
  const credentials = join(folder, 'credentials');
  put(credentials, line(WRITER, 'acme', 'writer') + line(READER, 'acme', 'reader') + line('o'.repeat(40), 'x', 'writer'));
  const server = await caromd(t, '--credentials', credentials);
  const clients = [{}, { token: WRITER }, { token: READER }, { token: 'o'.repeat(40) }];
  const [stranger, writer, reader, other] = clients.map((options) => connect(server.address, options));
  await fails(stranger.listScenes(), 'UNAUTHENTICATED');
  await fails(stranger.watchScene('arena').next(), 'UNAUTHENTICATED');
  await fails(stranger.stream().ask(new Frame()), 'UNAUTHENTICATED');
  await writer.createScene('arena', [SQUARE]);
  assert.deepEqual([...(await reader.scene('arena').locate({ x: [1], y: [1] })).counts], [1]);
  assert.equal((await reader.stream().ask(new Frame())).error, null);
  await fails(reader.commit('arena', { remove: [0] }), 'PERMISSION_DENIED');
  await fails(other.getScene('arena'), 'NOT_FOUND', 'name');
  const tokenFile = join(folder, 'token');
  put(tokenFile, 'n'.repeat(40));
  const filed = connect(server.address, { tokenFile });
  await fails(filed.listScenes(), 'UNAUTHENTICATED');
  put(tokenFile, `${WRITER}\n`);
  assert.equal((await filed.listScenes()).length, 1);
  put(tokenFile, 'two words'); // is not used
  assert.equal((await filed.listScenes()).length, 1);
  rmSync(tokenFile);
  assert.equal((await filed.listScenes()).length, 1);
  for (const client of [stranger, writer, reader, other, filed]) client.close();
});

// Deno refuses an address as the name of a server, which @grpc/grpc-js takes it for.
const noTls = 'Deno' in globalThis && 'Deno has no TLS to an address';
test('TLS with and without a client certificate, and files that change', { skip: noTls }, async (t) => {
  const keys = folderOf(t);
  certificates(keys);
  const path = (name) => join(keys, name);
  const options = ['--tls-certificate', path('server.pem'), '--tls-key', path('server.key')];
  const server = await caromd(t, ...options);
  for (const ca of [path('ca.pem'), readFileSync(path('ca.pem'))]) {
    const client = connect(server.address, { tls: { ca }, token: 'over-tls' });
    assert.deepEqual(await client.listScenes(), []);
    client.close();
  }
  for (const tls of [undefined, true]) {
    const client = connect(server.address, { deadlineMs: 1500, ...(tls ? { tls } : {}) });
    await assert.rejects(client.deleteScene('arena'), CaromError);
    client.close();
  }
  const changing = path('changing.pem');
  put(changing, readFileSync(path('server.pem'), 'utf8')); // signs nothing
  const client = connect(server.address, { tls: { ca: changing }, deadlineMs: 20_000 });
  await fails(client.deleteScene('x'), 'UNAVAILABLE');
  put(changing, readFileSync(path('ca.pem'), 'utf8'));
  await sleep(1100);
  assert.deepEqual(await client.listScenes(), []);
  client.close();
  const strict = await caromd(t, ...options, '--tls-client-ca', path('ca.pem'));
  const stranger = connect(strict.address, { tls: { ca: path('ca.pem') }, deadlineMs: 1500 });
  await assert.rejects(stranger.deleteScene('arena'), CaromError);
  stranger.close();
  const tls = { ca: path('ca.pem'), certificate: path('client.pem'), key: path('client.key') };
  const own = connect(strict.address, { tls });
  assert.equal((await own.stream().ask(new Frame())).error, null);
  own.close();
  assert.throws(() => connect(strict.address, { tls: { certificate: tls.certificate } }), { field: 'tls.key' });
  assert.throws(() => connect(strict.address, { tls: { ...tls, key: path('ca.key') } }), { field: 'tls.key' });
  assert.throws(() => connect(strict.address, { tls: { ca: path('client.key') } }), { field: 'tls.ca' });
});

// A program with `using`, which Node.js 20 does not read: esbuild writes it in older words.
const USING = `
export async function use({ connect, Frame }, address, question, fails) {
  const made = {};
  try {
    using client = connect(address);
    await using stream = client.stream();
    Object.assign(made, { client, stream });
    const frame = new Frame();
    frame.ask('other', question);
    made.counts = [...(await stream.ask(frame)).get(question).counts];
    made.waiting = stream.receive();
    made.waiting.catch(() => undefined);
    if (fails) throw new Error('on purpose');
  } catch (error) {
    if (error.message !== 'on purpose') throw error;
  }
  return made;
}`;

test('using ends a client and its streams, also if the block throws', async (t) => {
  const server = await caromd(t);
  const maker = connect(server.address);
  await maker.createScene('other', [SQUARE]);
  maker.close();
  const { code } = transformSync(USING, { target: 'es2022', format: 'esm' });
  const { use } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  for (const throws of [false, true]) {
    const { client, stream, counts, waiting } = await use({ connect, Frame }, server.address, points({ x: 1, y: 1 }), throws);
    assert.deepEqual([counts, stream.isEnded], [[1], true]);
    await fails(waiting, 'CANCELLED');
    await fails(stream.ask(new Frame()), 'CANCELLED');
    await fails(client.listScenes(), 'FAILED_PRECONDITION');
  }
});

test('worker threads have clients of their own, of which one is ended in the middle', async (t) => {
  const server = await caromd(t);
  const client = connect(server.address);
  await client.createScene('shared', [SQUARE]);
  const start = (frames) =>
    new Worker(new URL('client_worker.mjs', import.meta.url), { workerData: { address: server.address, frames } });
  const ended = start(1_000_000);
  await once(ended, 'message');
  const workers = [40, 60, 80].map((frames) => [start(frames), frames]);
  const results = workers.map(async ([worker, frames]) => {
    await once(worker, 'message');
    const [found] = await once(worker, 'message');
    assert.deepEqual(found, Array.from({ length: frames }, (_, i) => (i <= 8 ? '1,1' : '0,1')));
    await once(worker, 'exit'); // a closed client leaves nothing that keeps a thread
  });
  await ended.terminate();
  await Promise.all(results);
  assert.equal((await client.listScenes()).length, 1);
  client.close();
});
