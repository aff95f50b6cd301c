// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The server of the game: it lets caromd decide every tick, opens and shuts the doors, and serves the page.
//
// usage: node server.mjs ADDRESS URL [PORT [KEPT_MS]]
//
// ADDRESS is that of gRPC of a caromd, URL that of HTTP: caromd --http-address 127.0.0.1:7422
// --http-allowed-origins http://127.0.0.1:8000. KEPT_MS is how late, in milliseconds, an input may be that asks about an
// older version.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect, Frame } from '@carom/client';
import { Polygons } from '@carom/core/questions';
import { build } from 'esbuild';
import { DOORS, questionsOf, START, stateAfter, WALLS } from './rules.mjs';

const [address, url, port = '8000', kept = '2000'] = process.argv.slice(2);
const DELAY_MS = 150; // of every answer, as if the players were far away
const DOOR_MS = 900;
const KEPT_MS = Number(kept);
const MOST_BYTES = 65536; // of a request

const client = connect(address);
const stream = client.stream({ maxInFlight: 64 });
await client.deleteScene('prediction').catch(() => undefined);
await client.createScene('prediction', WALLS);
const match = await client.fork('prediction', { leaseSeconds: 600 });
const replacedAt = new Map([[match.version, Infinity]]); // of the versions of the match
const players = new Map(); // the one who has played last is the last
const MOST_PLAYERS = 1000;

/** Opens and shuts the doors in turn. */
async function moveDoors() {
  for (let shut = true; ; shut = !shut) {
    const [ids, polygons] = [[...DOORS.keys()], [...DOORS.values()]];
    const { version } = await client.commit(match, shut ? { add: new Polygons(polygons, { ids }) } : { remove: ids });
    const now = performance.now();
    for (const [old, at] of replacedAt) {
      if (at === Infinity) replacedAt.set(old, now);
      else if (now - at >= KEPT_MS) replacedAt.delete(old);
    }
    replacedAt.set(version, Infinity);
    await sleep(DOOR_MS);
  }
}

/** The version that an input was made for, unless it is too old or none. */
function versionOf(text) {
  const version = /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  return performance.now() - (replacedAt.get(version) ?? -Infinity) < KEPT_MS ? version : 0n;
}

/** Plays some ticks of a player, the first of which has a number; those that are sent again are not played again. */
async function play({ player, first, inputs }) {
  const known = players.get(player) ?? { state: START, next: 0, first: 0, states: [] };
  if (first === known.first && inputs.length === known.states.length) return { states: known.states };
  if (first !== known.next) throw new Error(`the next tick is ${known.next}`);
  let { state } = known;
  const states = [];
  for (const { version, ...input } of inputs) {
    const frame = new Frame();
    const group = frame.group(match, { version: versionOf(version) });
    const asked = questionsOf(state, input).map((question) => group.ask(question));
    const answer = await stream.ask(frame);
    state = stateAfter(asked.map((question) => answer.get(question)));
    states.push(state);
  }
  players.delete(player);
  players.set(player, { state, next: first + inputs.length, first, states });
  if (players.size > MOST_PLAYERS) players.delete(players.keys().next().value);
  return { states };
}

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const page = await build({
  entryPoints: [here('page.mjs')],
  bundle: true,
  format: 'esm',
  minify: true,
  conditions: ['browser'],
  write: false,
});
const html = await readFile(here('index.html'));
const wasm = await readFile(fileURLToPath(import.meta.resolve('@carom/core/carom-simd.wasm')));
const files = new Map([
  ['/', ['text/html; charset=utf-8', html]],
  ['/page.js', ['text/javascript', page.outputFiles[0].contents]],
  ['/carom.wasm', ['application/wasm', wasm]],
  ['/game.json', ['application/json', JSON.stringify({ url, scene: match.name })]],
]);

async function body(request) {
  let text = '';
  for await (const part of request) {
    text += part;
    if (text.length > MOST_BYTES) throw new Error('the request is too long');
  }
  return JSON.parse(text);
}

const server = createServer(async (request, response) => {
  const [type, data] = files.get(new URL(request.url, 'http://x').pathname) ?? [];
  try {
    if (request.method === 'POST') {
      const given = await body(request);
      await sleep(DELAY_MS);
      response.end(JSON.stringify(await play(given)));
    } else if (type === undefined) {
      response.writeHead(404).end();
    } else {
      response.writeHead(200, { 'content-type': type }).end(data);
    }
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
await moveDoors();
