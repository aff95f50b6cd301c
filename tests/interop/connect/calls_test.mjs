// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The calls of both services by connect-es: messages, streams, errors and timeouts.
//
// usage: node calls_test.mjs ADDRESS proto|json
//
// The server allows WATCHES watches at once (`--max-watches`).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { PolygonSchema } from './gen/carom/v1/geometry_pb.js';
import { QueryService } from './gen/carom/v1/query_service_pb.js';
import { PolygonChange, SceneService } from './gen/carom/v1/scene_service_pb.js';
import { BadRequestSchema, RetryInfoSchema } from './gen/google/rpc/error_details_pb.js';

const WATCHES = 4;
const [address, form] = process.argv.slice(2);
const baseUrl = `http://${address}`;
const transport = createConnectTransport({
  baseUrl,
  httpVersion: '1.1',
  useBinaryFormat: form === 'proto',
});
const scenes = createClient(SceneService, transport);
const queries = createClient(QueryService, transport);

const square = (id, x) =>
  create(PolygonSchema, { id, rings: [{ x: [x, x + 1, x + 1, x], y: [0, 0, 1, 1] }] });
const add = (value) => ({ edit: { case: 'add', value } });

// Returns the error with which `promise` fails.
async function errorOf(promise) {
  try {
    await promise;
  } catch (error) {
    return ConnectError.from(error);
  }
  return assert.fail('the call succeeds');
}

// Returns the fields at fault, and checks the code.
async function violations(promise, code) {
  const error = await errorOf(promise);
  assert.equal(Code[error.code], Code[code], error.message);
  const [details] = error.findDetails(BadRequestSchema);
  return details.fieldViolations.map(({ field, description }) => {
    assert(description, 'a violation has a description');
    return field;
  });
}

async function all(stream) {
  const messages = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

test('scenes are made, changed, listed and deleted', async () => {
  const name = 'scenes/calls';
  const made = await scenes.createScene({ name, polygons: [square(2n ** 64n - 1n, 0)] });
  assert.deepEqual(
    [made.scene.name, made.scene.polygonCount, made.scene.vertexCount, made.scene.bounds.maxX],
    [name, 1n, 4n, 1],
  );
  const commit = { name, edits: [add(square(1n, 5)), add(square(2n, 7))], editId: 'once' };
  const { scene } = await scenes.commitEdits(commit);
  assert.equal(scene.polygonCount, 3n);
  assert(scene.version > made.scene.version);
  assert.equal((await scenes.commitEdits(commit)).scene.version, scene.version);
  assert.equal((await scenes.getScene({ name })).scene.bounds.maxX, 8);
  const versions = (await scenes.listSceneVersions({ name })).versions;
  assert.equal(versions.at(-1).editId, 'once');
  for (const extra of ['scenes/calls-2', 'scenes/calls-3']) await scenes.createScene({ name: extra });
  const names = [];
  for (let pageToken = ''; ; ) {
    const page = await scenes.listScenes({ pageSize: 2, pageToken });
    names.push(...page.scenes.map((listed) => listed.name));
    pageToken = page.nextPageToken;
    if (!pageToken) break;
  }
  assert.deepEqual(names, [name, 'scenes/calls-2', 'scenes/calls-3']);
  for (const listed of names) await scenes.deleteScene({ name: listed });
  assert.deepEqual((await scenes.listScenes({})).scenes, []);
});

test('a frame is answered, with the errors of its groups and items', async () => {
  const name = 'scenes/frame';
  await scenes.createScene({ name, polygons: [square(2n ** 53n + 1n, 0)] });
  const { answer } = await queries.evaluate({
    frame: {
      seq: 2n ** 64n - 1n,
      groups: [
        {
          target: { case: 'scene', value: name },
          segments: { ax: [-1, 5, -0], ay: [0.1, 5, NaN], bx: [3, 6, 1], by: [0.5, 6, 1] },
          rays: { x: [-1], y: [0.5], dx: [1], dy: [0], tMax: [Infinity] },
        },
        { target: { case: 'scene', value: 'scenes/nowhere' }, points: { x: [0], y: [0] } },
      ],
    },
  });
  assert.equal(answer.seq, 2n ** 64n - 1n);
  const [{ segments, rays }, { status }] = answer.groups;
  assert.deepEqual([segments.counts, segments.polygonId], [[1, 0, 0], [2n ** 53n + 1n]]);
  assert.deepEqual([segments.fraction, segments.exitFraction], [[0.25], [0.5]]);
  assert.deepEqual([segments.errors[0].index, segments.errors[0].field], [2, 'ay']);
  assert.deepEqual(rays.fraction, [1]);
  assert.deepEqual([status.code, status.violations[0].field], [Code.NotFound, 'scene']);
  assert(answer.stats.workUnits > 0n);
  await scenes.deleteScene({ name });
});

test('errors have their code and name the field', async () => {
  const name = 'scenes/errors';
  await scenes.createScene({ name });
  const refused = async (promise, code, fields) =>
    assert.deepEqual(await violations(promise, code), fields);
  await refused(scenes.createScene({ name }), Code.AlreadyExists, ['name']);
  await refused(scenes.getScene({ name: 'scenes/nowhere' }), Code.NotFound, ['name']);
  await refused(scenes.getScene({ name: 'Nowhere' }), Code.InvalidArgument, ['name']);
  await refused(scenes.getScene({ name, version: 9999n }), Code.OutOfRange, ['version']);
  await refused(scenes.commitEdits({ name, baseVersion: 9999n }), Code.Aborted, ['base_version']);
  const bad = create(PolygonSchema, { id: 1n, rings: [{ x: [0, 1, NaN], y: [0, 0, Infinity] }] });
  await refused(scenes.commitEdits({ name, edits: [add(bad)] }), Code.InvalidArgument, [
    'edits[0].add.rings[0].x[2]',
    'edits[0].add.rings[0].y[2]',
  ]);
  await refused(queries.evaluate({ frame: { budgetUs: 70000000n } }), Code.InvalidArgument, [
    'budget_us',
  ]);
  await refused(all(scenes.exportScene({ name: 'scenes/nowhere' })), Code.NotFound, ['name']);
  await refused(all(scenes.watchScene({ name: 'scenes/nowhere' })), Code.NotFound, ['name']);
  assert.equal((await scenes.lintScene({ name })).truncated, false);
  await refused(queries.explain({}), Code.InvalidArgument, ['scene']);
  const group = { points: { x: [0], y: [0] } };
  assert.equal((await queries.explain({ scene: name, group })).explanation.kind, 'points');
  await scenes.deleteScene({ name });
});

test('a scene is exported in chunks, as it was made', async () => {
  const name = 'scenes/export';
  const polygons = Array.from({ length: 4000 }, (_, i) => square(BigInt(i), i + 0.1));
  await scenes.createScene({ name, polygons });
  const chunks = await all(scenes.exportScene({ name }));
  assert(chunks.length > 1, `${chunks.length} chunks`);
  assert.equal(chunks[0].scene.polygonCount, 4000n);
  const got = chunks.flatMap((chunk) => chunk.polygons);
  assert.equal(got.length, polygons.length);
  for (const [i, polygon] of polygons.entries()) {
    assert.deepEqual([got[i].id, got[i].rings[0].x], [polygon.id, polygon.rings[0].x]);
  }
  // A client that stops in the middle.
  for await (const chunk of scenes.exportScene({ name })) {
    assert(chunk.scene);
    break;
  }
  await scenes.deleteScene({ name });
});

test('a watch sends each version, until the scene is deleted', async () => {
  const name = 'scenes/watch';
  const { scene } = await scenes.createScene({ name });
  const watch = scenes.watchScene({ name, polygons: true })[Symbol.asyncIterator]();
  const first = (await watch.next()).value;
  assert.deepEqual([first.scene.version, first.baseVersion], [scene.version, 0n]);
  for (let id = 1n; id <= 20n; ++id) {
    const polygon = square(id, Number(id) / 3);
    const made = await scenes.commitEdits({ name, edits: [add(polygon)] });
    const { value } = await watch.next();
    assert.equal(value.scene.version, made.scene.version);
    assert.deepEqual([value.polygonId, value.change], [[id], [PolygonChange.ADDED]]);
    assert.deepEqual(value.polygons[0].rings[0].x, polygon.rings[0].x);
  }
  await scenes.deleteScene({ name });
  assert.equal((await errorOf(watch.next())).code, Code.NotFound);
});

// Begins a watch and returns its iterator after the first message. Another watch that was cancelled
// may not have ended yet.
async function beginWatch(name, options) {
  for (let attempt = 0; ; ++attempt) {
    const watch = scenes.watchScene({ name }, options)[Symbol.asyncIterator]();
    try {
      await watch.next();
      return watch;
    } catch (error) {
      if (error.code !== Code.ResourceExhausted || attempt === 50) throw error;
      await sleep(100);
    }
  }
}

test('a watch that the client cancels ends in the server', async () => {
  const name = 'scenes/cancel';
  await scenes.createScene({ name });
  for (let i = 0; i < 3 * WATCHES; ++i) {
    const abort = new AbortController();
    const watch = await beginWatch(name, { signal: abort.signal });
    abort.abort();
    assert.equal((await errorOf(watch.next())).code, Code.Canceled);
  }
  // All at once: one more is refused, with the time after which it may be accepted.
  const abort = new AbortController();
  const watches = [];
  for (let i = 0; i < WATCHES; ++i) watches.push(await beginWatch(name, { signal: abort.signal }));
  const error = await errorOf(all(scenes.watchScene({ name })));
  assert.equal(error.code, Code.ResourceExhausted, error.message);
  const [{ retryDelay }] = error.findDetails(RetryInfoSchema);
  assert(retryDelay.seconds > 0n || retryDelay.nanos > 0);
  abort.abort();
  for (const watch of watches) assert.equal((await errorOf(watch.next())).code, Code.Canceled);
  await scenes.deleteScene({ name });
});

test('many calls at once are answered', async () => {
  const name = 'scenes/many';
  await scenes.createScene({ name, polygons: [square(1n, 0)] });
  const ask = async (i) => {
    const group = { target: { case: 'scene', value: name }, points: { x: [i / 100], y: [0.5] } };
    const { answer } = await queries.evaluate({ frame: { seq: BigInt(i), groups: [group] } });
    assert.equal(answer.seq, BigInt(i));
    assert.deepEqual(answer.groups[0].points.counts, [i <= 100 ? 1 : 0]);
  };
  await Promise.all(Array.from({ length: 200 }, (_, i) => ask(i)));
  await scenes.deleteScene({ name });
});

// --- Timeouts

// A frame that waits for a version that is never made.
const waiting = (value) => ({
  budgetUs: 20000000n,
  groups: [{ target: { case: 'scene', value }, minVersion: 2n ** 60n, points: { x: [0], y: [0] } }],
});

test('a call ends at its timeout', async () => {
  const name = 'scenes/timeout';
  await scenes.createScene({ name });
  const since = performance.now();
  const timeoutMs = 300;
  let error = await errorOf(queries.evaluate({ frame: waiting(name) }, { timeoutMs }));
  assert.equal(Code[error.code], Code[Code.DeadlineExceeded]);
  error = await errorOf(all(scenes.watchScene({ name }, { timeoutMs })));
  assert.equal(Code[error.code], Code[Code.DeadlineExceeded]);
  assert(performance.now() - since < 5000);
  await scenes.deleteScene({ name });
});

// Without a timeout of the client's own: the server ends the call.
async function post(path, type, body, headers) {
  const request = { method: 'POST', headers: { 'Content-Type': type, ...headers }, body };
  const since = performance.now();
  const response = await fetch(`${baseUrl}/carom.v1.${path}`, request);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { response, bytes, milliseconds: performance.now() - since };
}

function envelope(json) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(Buffer.byteLength(json), 1);
  return Buffer.concat([head, Buffer.from(json)]);
}

test('the server obeys Connect-Timeout-Ms', async () => {
  const name = 'scenes/timeout';
  await scenes.createScene({ name });
  const timeout = { 'Connect-Timeout-Ms': '300' };
  const group = { scene: name, minVersion: String(2n ** 60n), points: { x: [0], y: [0] } };
  const frame = JSON.stringify({ frame: { budgetUs: 20000000, groups: [group] } });
  const unary = await post('QueryService/Evaluate', 'application/json', frame, timeout);
  assert.equal(unary.response.status, 504);
  assert.equal(JSON.parse(unary.bytes).code, 'deadline_exceeded');
  assert(unary.milliseconds > 250 && unary.milliseconds < 5000, `${unary.milliseconds} ms`);

  const watch = await post(
    'SceneService/WatchScene',
    'application/connect+json',
    envelope(JSON.stringify({ name })),
    timeout,
  );
  assert.equal(watch.response.status, 200);
  // The first message, and then the end of the stream.
  const end = watch.bytes.subarray(5 + watch.bytes.readUInt32BE(1));
  assert.deepEqual([watch.bytes[0], end[0]], [0, 2]);
  assert.equal(JSON.parse(end.subarray(5)).error.code, 'deadline_exceeded');
  assert(watch.milliseconds > 250 && watch.milliseconds < 5000, `${watch.milliseconds} ms`);

  const wrong = { 'Connect-Timeout-Ms': '1.5' };
  const refused = await post('QueryService/Evaluate', 'application/json', '{}', wrong);
  assert.equal(refused.response.status, 400);
  assert.equal(JSON.parse(refused.bytes).code, 'invalid_argument');
  await scenes.deleteScene({ name });
});
