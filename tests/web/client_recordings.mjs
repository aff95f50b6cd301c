// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A stream with every kind of question, bodies, trackers and a fork that is edited, for tests of its recording.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bodies, connect, Frame } from '@carom/client';
import * as q from '@carom/core/questions';

export const ITEMS = 6;
const WAIT_MS = 20_000;

/** Pseudo-random numbers in [0, 1), the same in every run. */
export function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function worldOf(next) {
  return new q.Polygons(
    Array.from({ length: 60 }, () => {
      const [x, y] = [next() * 40, next() * 40];
      return Array.from({ length: 3 + Math.floor(next() * 4) }, () => [x + next() * 4, y + next() * 4]);
    }),
    { categories: Array.from({ length: 60 }, (_, i) => 1 + (i % 3)) },
  );
}

/** One question of each kind, with other options in each frame. */
export function questionsOf(next, i) {
  // Values of floats, so that a test can send them as such.
  const column = (scale = 40, low = 0) => Float64Array.from({ length: ITEMS }, () => Math.fround(low + next() * scale));
  const all = (value) => new Float64Array(ITEMS).fill(value);
  const [x, y, bx, by] = [column(), column(), column(), column()];
  const [dx, dy] = [column(20, -10), column(20, -10)];
  const capsule = { ax: [-1, 0], ay: [0, 0], bx: [1, 0], by: [0, 0], radius: [0.5, 0.75] };
  const shapes = new q.Shapes([[[-1, -1], [1, -1], [0, 1.5]]], capsule); // prettier-ignore
  const shape = Uint32Array.from({ length: ITEMS }, (_, j) => (i + j) % 3);
  const against = ['scene', 'bodies', 'both'][i % 3];
  const odd = i % 2 === 1;
  const movers = { shapes, shape, x, y, ...(odd ? { angle: column(6) } : {}) };
  const mode = ['any', 'closest', 'all', 'all_passages'][i % 4];
  const edges = odd ? { detail: 'edges' } : {};
  const detail = ['fraction', 'normal', 'edge', 'exit'][i % 4];
  return [
    q.segments({ ax: x, ay: i % 5 === 0 ? [NaN, ...y.slice(1)] : y, bx, by, mode, reflect: odd, detail, against }),
    q.points({ x, y, masks: BigUint64Array.from({ length: ITEMS }, (_, j) => BigInt(j)), against }),
    q.circles({ x, y, radius: all(1), against, ...edges }),
    q.polygons({ shapes: [[[0, 0], [2, 0], [1, 2]]], x, y, against, ...edges }), // prettier-ignore
    q.rays({
      x,
      y,
      dx,
      dy,
      tMax: all(3),
      mode,
      maxHits: 3,
      insidePolicy: odd ? 'ignore' : 'exit',
      target: odd ? 'bounds' : 'polygons',
    }),
    q.capsules({ ax: x, ay: y, bx, by, radius: all(0.25), ...edges }),
    q.boxes({ minX: x, minY: y, maxX: x.map((each) => each + 3), maxY: y.map((each) => each + 2), against }),
    q.distances({ ...movers, maxDistance: all(5), mode: ['nearest', 'all', 'within'][i % 3], against }),
    q.contacts({ ...movers, mass: all(2), polygonMass: all(3), against }),
    q.depenetrations({ ...movers, maxSteps: 4, mask: 3 }),
    q.sweeps({
      ...movers,
      dx,
      dy,
      ...(odd ? { skin: all(0.01), insidePolicy: 'blocking' } : { mode: 'all' }),
      against,
    }),
    q.rotatingSweeps({
      ...movers,
      toX: bx,
      toY: by,
      toAngle: all(1),
      ...(odd ? {} : { angle: all(0) }),
      tolerance: all(0.01),
    }),
    q.arcs({ x, y, vx: dx, vy: dy, ax: all(0), ay: all(-9), duration: all(2), mode: odd ? 'closest' : 'all', against }),
    q.sights({ ax: x, ay: y, bx, by, mask: 1 + (i % 3) }),
    q.fans({ x, y, angle: dx, step: all(0.1), range: all(9), beams: new Uint32Array(ITEMS).fill(9), against }),
    q.moves({
      tracker: [0, 1, 2, 9, 1, 2],
      x,
      y,
      ...(odd ? { fromX: bx, fromY: by } : {}),
      quietRadii: !odd,
      ...edges,
    }),
    q.slides({
      ...movers,
      dx,
      dy,
      skin: all(0.01),
      against: i % 3 === 1 ? 'both' : against,
      ignoreOwner: new Uint32Array(ITEMS).fill(2),
    }),
    q.bounces({ ax: x, ay: y, bx, by, maxBounces: 3 }),
    q.bodyContacts({ body: Uint32Array.of(0, 1, 2) }),
    q.areas({ x, y, range: all(odd ? 9 : 30), insidePolicy: odd ? 'ignore' : 'report_start', against }),
    q.sees({ x, y, range: all(odd ? 30 : 60), ...(odd ? { from: all(-2), to: all(3) } : {}), insidePolicy: 'ignore', margin: i % 3 }),
    q.rayBounces({ x, y, dx, dy, tMax: all(30), maxBounces: new Uint32Array(ITEMS).fill(4) }),
  ];
}

/** Plays the stream; returns the number of frames. */
export async function play(address, frames, seed = 7) {
  const next = random(seed);
  const client = connect(address);
  await client.createScene('arena', worldOf(next));
  const { name: fork } = await client.fork('arena', { name: 'match' });
  const stream = client.stream();
  for (let i = 0; i < frames; ++i) {
    const frame = new Frame();
    if (i % 8 === 0) {
      if (i > 0) frame.removeTrackers([1]);
      frame.defineTrackers(new q.Shapes([[[0, 0], [1, 0], [0, 1]]], { ax: -1, ay: 0, bx: 1, by: 0, radius: 0.5 }), { within: 0.25 }); // prettier-ignore
      if (i % 16 === 0) frame.defineTrackers(q.disc(1), { tracker: [2], mask: 3 });
    }
    const place = () => Float64Array.from({ length: 4 }, () => next() * 40);
    const shapes = new q.Shapes([[[-1, -1], [1, -1], [1, 1], [-1, 1]]], { ax: 0, ay: 0, bx: 0, by: 0, radius: [3, 5] }); // prettier-ignore
    const bodies = new Bodies({
      shapes,
      shape: [1, 0, 2, 1],
      x: place(),
      y: place(),
      owner: [1, 2, 3, 0],
      category: [1, 2, 3, 4],
    });
    const group = frame.group('arena', { bodies });
    for (const question of questionsOf(next, i)) group.ask(question);
    const door = new q.Polygons([[[i % 9, 5], [i % 9 + 4, 5], [i % 9, 9]]], { ids: [1000] }); // prettier-ignore
    const edits = i === 0 ? { add: door } : { replace: door };
    const edited = frame.group(fork, i % 3 === 0 ? { edits } : {});
    for (const question of questionsOf(next, i + 1).slice(0, 2)) edited.ask(question);
    if (i === 5) frame.ask('absent', q.points({ x: [1], y: [1] }));
    const answer = await stream.ask(frame);
    assert.equal(answer.error, null);
    assert.equal(answer.groups[0].error, null);
    assert.equal(answer.groups[1].error, null);
  }
  const refused = new Frame();
  refused.defineTrackers(q.disc([1, 1]), { tracker: [1, 1] });
  assert.notEqual((await stream.ask(refused)).error, null);
  await stream.finish();
  while ((await stream.receive()) !== null);
  client.close();
  return frames + 1;
}

/** Returns the bytes of the only recording in a folder, when its stream has ended. */
export async function recordingIn(folder) {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(20)) {
    const names = readdirSync(folder).filter((name) => name.endsWith('.carec'));
    if (names.length !== 1) continue;
    const bytes = readFileSync(join(folder, names[0]));
    // The last entry: 4 bytes of an end with its reason, after their size.
    if (bytes.length > 5 && bytes.subarray(-5, -2).equals(Buffer.from([4, 0x22, 2]))) return new Uint8Array(bytes);
  }
  throw new Error(`no recording ends in ${folder}`);
}
