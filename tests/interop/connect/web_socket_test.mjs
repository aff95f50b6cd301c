// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a client of the web socket can rely on: order, trackers, tokens, and the close codes.
//
// usage: node web_socket_test.mjs OPEN_ADDRESS GUARDED_ADDRESS TOKEN OPEN_PID
//
// The guarded server requires a credential, such as TOKEN. The open server, the process OPEN_PID,
// ends streams after 5 s without a frame (`--idle-stream-seconds`), takes messages of 64 KiB
// (`--max-message-bytes`) and pages of https://game.example; the last test ends it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromBinary, fromJson, toBinary } from '@bufbuild/protobuf';
import WebSocket from 'ws';
import { StreamRequestSchema, StreamResponseSchema } from './gen/carom/v1/query_service_pb.js';

const [openAddress, guardedAddress, token, openPid] = process.argv.slice(2);
const PATH = '/carom.v1.QueryService/Stream';
const SCENE = 'scenes/web-socket';
const RESOURCE_EXHAUSTED = 8;

// A web socket whose messages and close code can be awaited.
class Socket {
  #arrived = [];
  #waiting = [];

  constructor(address, options) {
    this.socket = new WebSocket(`ws://${address}${PATH}`, 'carom.v1', options);
    this.socket.on('message', (data, isBinary) => this.#deliver({ data, isBinary }));
    this.closed = once(this.socket, 'close').then(([code, reason]) => {
      this.#deliver(undefined);
      return { code, reason: String(reason) };
    });
  }

  static async open(address, options) {
    const made = new Socket(address, options);
    await once(made.socket, 'open');
    return made;
  }

  #deliver(message) {
    const resolve = this.#waiting.shift();
    if (resolve) resolve(message);
    else this.#arrived.push(message);
  }

  sendText(message) {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  sendBinary(message) {
    this.socket.send(toBinary(StreamRequestSchema, fromJson(StreamRequestSchema, message)));
  }

  // The next message, and whether it was binary; undefined after the last.
  async next() {
    if (this.#arrived.length) return this.#arrived.shift();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  // The next message as an object.
  async answer() {
    const { data, isBinary } = await this.next();
    return isBinary
      ? fromBinary(StreamResponseSchema, data)
      : fromJson(StreamResponseSchema, JSON.parse(data));
  }
}

// Makes the scene, a square, on a server without credentials.
const made = await fetch(`http://${openAddress}/carom.v1.SceneService/CreateScene`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    name: SCENE,
    polygons: [{ id: '7', rings: [{ x: [0, 4, 4, 0], y: [0, 0, 4, 4] }] }],
  }),
});
assert.equal(made.status, 200);

test('1,000 frames are answered in order, each in its own form', async () => {
  const socket = await Socket.open(openAddress);
  const count = 1000;
  const inFlight = 12;
  let sent = 0;
  const send = () => {
    const x = [(sent % 8) + 0.5];
    const frame = { seq: String(sent), groups: [{ scene: SCENE, points: { x, y: [1] } }] };
    if (sent % 3 === 1) socket.sendText({ frame });
    else socket.sendBinary({ frame });
    ++sent;
  };
  while (sent < inFlight) send();
  for (let i = 0; i < count; ++i) {
    const { data, isBinary } = await socket.next();
    assert.equal(isBinary, i % 3 !== 1);
    const { answer, limits } = isBinary
      ? fromBinary(StreamResponseSchema, data)
      : fromJson(StreamResponseSchema, JSON.parse(data));
    assert.equal(answer.seq, BigInt(i));
    assert.deepEqual(answer.groups[0].points.polygonId, i % 8 < 4 ? [7n] : []);
    // The first answer has the limits of the stream.
    assert.equal(limits?.maxFramesInFlight, i === 0 ? 16 : undefined);
    if (sent < count) send();
  }
  socket.socket.close(1000);
  assert.deepEqual(await socket.closed, { code: 1000, reason: '' });
});

test('a tracker of one frame moves in the next, and belongs to its socket', async () => {
  const [socket, other] = [await Socket.open(openAddress), await Socket.open(openAddress)];
  const shapes = [{ capsule: { radius: 1 } }];
  socket.sendText({ frame: { trackers: [{ shapes, tracker: [3] }] } });
  assert.equal((await socket.answer()).answer.status, undefined);
  const move = (x) => ({
    frame: { groups: [{ scene: SCENE, moves: { tracker: [3], x: [x], y: [2] } }] },
  });
  for (const [x, touched] of [
    [-2, []],
    [-1, [7n]],
    [2, [7n]],
    [6, []],
  ]) {
    socket.sendBinary(move(x));
    assert.deepEqual((await socket.answer()).answer.groups[0].moves.polygonId, touched);
  }
  other.sendText(move(2));
  const [error] = (await other.answer()).answer.groups[0].moves.errors;
  assert.deepEqual([error.index, error.field], [0, 'tracker']);
  for (const opened of [socket, other]) opened.socket.close(1000);
});

test('a frame beyond the limit is refused alone, in its turn', async () => {
  const socket = await Socket.open(openAddress);
  const waiting = {
    scene: SCENE,
    minVersion: String(2n ** 60n),
    points: { x: [0], y: [0] },
  };
  const count = 24;
  for (let i = 0; i < count; ++i) {
    socket.sendText({ frame: { seq: String(i), budgetUs: '2000000', groups: [waiting] } });
  }
  let refused = 0;
  for (let i = 0; i < count; ++i) {
    const { seq, status } = (await socket.answer()).answer;
    assert.equal(seq, BigInt(i));
    if (status) {
      assert.equal(status.code, RESOURCE_EXHAUSTED);
      assert(status.retryDelayUs > 0n);
      ++refused;
    }
  }
  assert(refused > 0 && refused <= count - 16, `${refused} are refused`);
  socket.socket.close(1000);
});

test('a message may come in fragments, and pings are answered', async () => {
  const { socket, ...opened } = await Socket.open(openAddress);
  assert(opened.closed);
  const pong = once(socket, 'pong');
  socket.send('{"frame": {"se', { fin: false });
  socket.send('q": "5"}}', { fin: true });
  const [data] = await once(socket, 'message');
  assert.equal(JSON.parse(data).answer.seq, '5');
  socket.ping('there?');
  assert.equal(String((await pong)[0]), 'there?');
  socket.close(1000);
});

// --- Ends

test('a message that is no frame', async () => {
  // Text that is no frame is refused in its turn, with the reason.
  const text = await Socket.open(openAddress);
  text.sendText('{"frame": {"sequence": 1}}');
  const { status } = JSON.parse((await text.next()).data).answer;
  assert.equal(status.code, 3);
  assert.match(status.message, /sequence/);
  text.socket.close(1000);
  // Bytes that cannot be parsed are a frame that is refused, as by gRPC.
  const binary = await Socket.open(openAddress);
  binary.socket.send(Buffer.from([0xff, 0xff, 0xff]));
  assert.equal((await binary.answer()).answer.status.code, 3);
  binary.sendText({ frame: { seq: '9' } });
  assert.equal((await binary.answer()).answer.seq, 9n);
  binary.socket.close(1000);
  const notText = await Socket.open(openAddress);
  notText.socket.send(Buffer.from([0xff]), { binary: false });
  assert.equal((await notText.closed).code, 1007);
});

test('a message that is too long', async () => {
  const socket = await Socket.open(openAddress);
  socket.sendText({ frame: { groups: Array(5000).fill({ scene: SCENE }) } });
  assert.equal((await socket.closed).code, 1009);
});

test('a stream without frames', async () => {
  const socket = await Socket.open(openAddress);
  socket.sendText({});
  await socket.answer();
  assert.equal((await socket.closed).code, 4010);
});

// Returns the status of the refusal of an upgrade, or 101.
function upgrade(path, protocol, options) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${openAddress}${path}`, protocol, options);
    socket.on('unexpected-response', (request, response) => {
      request.destroy();
      resolve(response.statusCode);
    });
    socket.on('error', reject);
    socket.on('open', () => {
      socket.close();
      resolve(101);
    });
  });
}

test('an upgrade is refused with another path, protocol, origin or host', async () => {
  assert.equal(await upgrade(PATH, ['other.v1', 'carom.v1']), 101);
  assert.equal(await upgrade(PATH, 'other.v1'), 400);
  assert.equal(await upgrade(PATH, 'carom.v12'), 400);
  assert.equal(await upgrade(PATH, []), 400);
  assert.equal(await upgrade('/carom.v1.QueryService/Evaluate', 'carom.v1'), 404);
  assert.equal(await upgrade(PATH, 'carom.v1', { origin: 'https://game.example' }), 101);
  assert.equal(await upgrade(PATH, 'carom.v1', { origin: `http://${openAddress}` }), 101);
  assert.equal(await upgrade(PATH, 'carom.v1', { origin: 'https://other.example' }), 403);
  assert.equal(await upgrade(PATH, 'carom.v1', { headers: { Host: 'other.example' } }), 403);
});

// --- Tokens

test('a token is given by a header, or by the first message', async () => {
  const headers = { Authorization: `Bearer ${token}` };
  const byHeader = await Socket.open(guardedAddress, { headers });
  byHeader.sendBinary({ frame: { seq: '1' } });
  assert.equal((await byHeader.answer()).answer.seq, 1n);
  byHeader.socket.close(1000);
  const byMessage = await Socket.open(guardedAddress);
  byMessage.sendText({ authorization: `Bearer ${token}` });
  byMessage.sendBinary({ frame: { seq: '2' } });
  assert.equal((await byMessage.answer()).answer.seq, 2n);
  byMessage.socket.close(1000);
  // A server without credentials ignores the message.
  const open = await Socket.open(openAddress);
  open.sendText({ authorization: `Bearer ${token}` });
  open.sendText({ frame: { seq: '3' } });
  assert.equal((await open.answer()).answer.seq, 3n);
  open.socket.close(1000);
});

test('a wrong token, and none', async () => {
  for (const first of [
    { authorization: 'Bearer wrong' },
    { authorization: '' },
    { frame: {} },
  ]) {
    const socket = await Socket.open(guardedAddress);
    socket.sendText(first);
    assert.equal((await socket.closed).code, 4016, JSON.stringify(first));
  }
  // The header counts if there is one.
  const headers = { Authorization: 'Bearer wrong' };
  const socket = await Socket.open(guardedAddress, { headers });
  socket.sendText({ authorization: `Bearer ${token}` });
  assert.equal((await socket.closed).code, 4016);
});

// --- The last test: the server ends

test('a drain answers the frames in progress, and then closes', async () => {
  const [silent, idle, busy] = [
    await Socket.open(openAddress),
    await Socket.open(openAddress),
    await Socket.open(openAddress),
  ];
  idle.sendText({});
  await idle.answer();
  const waiting = { scene: SCENE, minVersion: String(2n ** 60n), points: { x: [0], y: [0] } };
  busy.sendText({ frame: { seq: '11', budgetUs: '600000', groups: [waiting] } });
  await sleep(200);
  process.kill(Number(openPid), 'SIGTERM');
  assert.equal((await idle.closed).code, 4014);
  assert.equal((await busy.answer()).answer.seq, 11n);
  assert.equal((await busy.closed).code, 4014);
  assert.equal((await silent.closed).code, 4014); // it has sent nothing yet
});
