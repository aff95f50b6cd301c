// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A stream at a wall, which caromd records: in each tick a bullet, a slide, a tracker, bodies, and a door of a fork.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { root } from './viewer_processes.mjs';

export const TICKS = 12;
const WAIT_MS = 20_000;
const FOOT = 20; // x of the wall
const TICK_MS = 15;

const packages = (path) => import(pathToFileURL(join(root, 'client/web', path)).href);

/** Plays the stream; returns the recording in the folder, which had others before. */
export async function playWall(address, folder) {
  const { Bodies, connect, Frame } = await packages('client/dist/node/index.js');
  const q = await packages('core/dist/questions.js');
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  const client = connect(address);
  const wall = [[FOOT, 0], [30, 0], [30, 30], [FOOT, 30]]; // prettier-ignore
  await client.createScene('wall', new q.Polygons([wall], { ids: [1] }));
  const { name: fork } = await client.fork('wall', { name: 'match' });
  const stream = client.stream();
  for (let i = 0; i < TICKS; ++i) {
    const frame = new Frame();
    if (i === 0) frame.defineTrackers(q.disc(1.5), { tracker: [3] });
    const bodies = new Bodies({ shapes: new q.Shapes([[[-1, -1], [1, -1], [1, 1], [-1, 1]]], { ax: 0, ay: 0, bx: 0, by: 1.5, radius: 1 }), x: [4, 36], y: [30 - i, 4 + i], angle: [i / 9, 0], owner: [1, 2] }); // prettier-ignore
    const group = frame.group('wall', { bodies });
    group.ask(q.segments({ ax: [0], ay: [5 + i], bx: [40], by: [5 + i], against: 'both', ignoreOwner: [1] }));
    group.ask(q.slides({ shapes: q.disc(1), x: [12], y: [22], dx: [13], dy: [i * 0.29] }));
    group.ask(q.moves({ tracker: [3], x: [10 + i], y: [2] }));
    const door = new q.Polygons([[[5 + i, 10], [9 + i, 10], [9 + i, 12], [5 + i, 12]]], { ids: [50] }); // prettier-ignore
    const edited = frame.group(fork, { edits: i === 0 ? { add: door } : { replace: door } });
    edited.ask(q.sights({ ax: [0], ay: [11], bx: [15], by: [11] }));
    const answer = await stream.ask(frame);
    for (const each of answer.check().groups) each.check();
    await sleep(TICK_MS);
  }
  await stream.finish();
  while ((await stream.receive()) !== null);
  client.close();
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(20)) {
    const names = readdirSync(folder);
    const bytes = names.length === 1 ? readFileSync(join(folder, names[0])) : Buffer.alloc(0);
    if (bytes.subarray(-5).equals(Buffer.from([4, 0x22, 2, 8, 1]))) return bytes;
  }
  throw new Error(`no recording ends in ${folder}`);
}
