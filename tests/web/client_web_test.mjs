// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does the client for browsers make the same calls over the port for HTTP, with the same errors? Here it runs in Node.js,
// with --experimental-websocket where that has no WebSocket of its own; prediction_page_test.mjs runs it in Chromium.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, Frame } from '@carom/client/web';
import { disc, moves, points, Polygons, segments } from '@carom/core/questions';
import { caromd, cutProxy, fails, folderOf } from './servers.mjs';

const SQUARE = [[0, 0], [2, 0], [2, 2], [0, 2]]; // prettier-ignore

test('scenes, questions, versions and errors are those of gRPC', async (t) => {
  const server = await caromd(t);
  const client = connect(server.url);
  const made = await client.createScene('arena', [SQUARE], { ids: [7] });
  assert.equal(made.polygonCount, 1);
  const hits = await client.scene('arena').cast({ ax: [-1], ay: [1], bx: [3], by: [1] });
  assert.equal(hits.hit(0).polygonId, 7n);
  assert.equal(hits.version, made.version);
  await fails(client.getScene('absent'), 'NOT_FOUND', 'name');
  await fails(client.createScene('bad', [[[0, 0], [NaN, 1], [1, 1]]]), 'INVALID_ARGUMENT', 'polygons[0].rings[0].x[1]'); // prettier-ignore
  const seen = [];
  for await (const update of client.watchScene('arena', { polygons: true })) {
    seen.push([...update.polygons.id]);
    if (seen.length === 2) break;
    await client.commit('arena', { add: new Polygons([SQUARE], { ids: [8] }) });
  }
  assert.deepEqual(seen, [[7n], [8n]]);
  const fork = await client.fork('arena');
  const { scene, polygons } = await client.exportScene(fork);
  assert.deepEqual([scene.name, [...polygons.id]], [fork.name, [7n, 8n]]);
  await client.deleteScene(fork);
  const frame = new Frame({ budgetMs: 5000 });
  frame.ask('arena', points({ x: [1], y: [1] }), { minVersion: 2n ** 60n });
  await fails(client.evaluate(frame, { deadlineMs: 60 }), 'DEADLINE_EXCEEDED');
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 20);
  await fails(client.evaluate(frame, { signal: stop.signal }), 'CANCELLED');
  client.close();
  await fails(client.listScenes(), 'FAILED_PRECONDITION', 'client');
});

test('a stream over a web socket resumes when its server is killed', async (t) => {
  const servers = [await caromd(t), await caromd(t)];
  for (const server of servers) {
    const client = connect(server.url);
    await client.createScene('arena', [SQUARE]);
    client.close();
  }
  const client = connect(servers.map(({ url }) => url));
  const stream = client.stream({ maxInFlight: 4 });
  const define = new Frame();
  define.defineTrackers(disc([0.5]));
  assert.equal((await stream.ask(define)).error, null);
  assert.equal(stream.limits.maxFramesInFlight, 16);
  const frame = new Frame();
  const move = frame.ask('arena', moves({ x: [2.25], y: [1] }));
  const shot = frame.ask('arena', segments({ ax: [-1], ay: [1], bx: [3], by: [1] }));
  for (let i = 0; i < 30; ++i) {
    const answers = Array.from({ length: 6 }, () => stream.ask(frame));
    if (i === 10) await servers[0].kill();
    for (const answer of await Promise.all(answers)) {
      assert.deepEqual([...answer.get(move).counts], [1]);
      assert.equal(answer.get(shot).hit(0).fraction, 0.25);
    }
  }
  assert.equal(stream.reconnects, 1);
  await stream.finish();
  await fails(stream.ask(frame), 'FAILED_PRECONDITION', 'stream');
  client.close();
});

test('web sockets that are cut at any byte lose nothing', async (t) => {
  const server = await caromd(t);
  const direct = connect(server.url);
  await direct.createScene('arena', [SQUARE]);
  const sizes = Array.from({ length: 30 }, (_, i) => 400 + ((i * 7919) % 6000));
  const proxy = await cutProxy(t, server.ports[1], sizes);
  const client = connect(`http://${proxy.address}`);
  const stream = client.stream({ maxInFlight: 3 });
  const frames = Array.from({ length: 100 }, (_, i) => {
    const frame = new Frame();
    return { frame, shot: frame.ask('arena', segments({ ax: [-1 - i], ay: [1], bx: [3], by: [1] })) };
  });
  const answers = await Promise.all(frames.map(({ frame }) => stream.ask(frame)));
  answers.forEach((answer, i) => assert.equal(answer.get(frames[i].shot).hit(0).fraction, (1 + i) / (4 + i)));
  assert.ok(proxy.cuts > 3, `${proxy.cuts} cuts`);
  client.close();
  direct.close();
});

// Each call with a signal left a listener on the signal of the client.
test('calls leave no listener', async (t) => {
  const server = await caromd(t);
  const client = connect(server.url);
  const { signal } = new AbortController();
  await client.createScene('one', [SQUARE]);
  for (let i = 0; i < 5; ++i) {
    await client.listScenes({ signal });
    await client.exportScene('one', { signal });
  }
  for (const each of [signal, client.transport.closing.signal]) assert.equal(getEventListeners(each, 'abort').length, 0);
  client.close();
});

test('tokens, and origins that are not allowed', async (t) => {
  const folder = folderOf(t);
  const file = join(folder, 'credentials');
  const token = 't'.repeat(40);
  writeFileSync(file, `token ${createHash('sha256').update(token).digest('hex')} acme writer\n`);
  chmodSync(file, 0o600);
  const server = await caromd(t, '--credentials', file);
  const stranger = connect(server.url);
  await fails(stranger.listScenes(), 'UNAUTHENTICATED');
  await fails(stranger.watchScene('x').next(), 'UNAUTHENTICATED');
  await fails(stranger.stream().ask(new Frame()), 'UNAUTHENTICATED');
  const client = connect(server.url, { token });
  assert.deepEqual(await client.listScenes(), []);
  const stream = client.stream();
  assert.equal((await stream.ask(new Frame())).error, null);
  const waiting = stream.receive();
  setTimeout(() => client.close(), 20);
  await fails(waiting, 'CANCELLED');
  stranger.close();
  for (const [addresses, options, field] of [
    ['ftp://x', {}, 'addresses'],
    ['nowhere', {}, 'addresses'],
    [[], {}, 'addresses'],
    ['http://10.0.0.1', { token }, 'addresses'],
    [server.url, { token: 'two words' }, 'token'],
    [server.url, { tls: true }, 'tls'],
  ]) {
    assert.throws(() => connect(addresses, options), { code: 'INVALID_ARGUMENT', field });
  }
  await sleep(10);
});
