// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A tick of 200 shooter matches in one frame (docs/shooter-tick.md).
//
// usage: node shooter_tick.mjs ADDRESS

import { Bodies, connect, Frame } from '@carom/client';
import { capsule, disc, distances, segments, sights, slides } from '@carom/core/questions';

const [BASE, MATCHES] = ['scenes/shooter-tick', 200];
const [PLATFORM, DOOR, ALL] = [2n, 4n, 2n ** 64n - 1n]; // two categories, and the mask of all categories
// Six players, of which the last one jumps: positions now and a tick ago, and 1 to 3 displacements.
const BODY = capsule(0, -5, 0, 5, 5);
const [X, PAST_X] = [[20, 90, 185, 50, 270, 70], [12, 82, 177, 42, 262, 62]]; // prettier-ignore
const [Y, OWNERS] = [[10, 10, 10, 60, 10, 25], [1, 2, 3, 4, 5, 6]]; // prettier-ignore
const DX = [12, 0, 0, 16, 0, 20, 0, 0, 25, 0, 0];
const DY = [0, -1, 6.5, 0, -7.5, 0, -1, -20, 0, -1, 30];
const PUSHES = [2, 3, 2, 1, 2, 1];
const BULLETS = {
  ax: [20, 185, 50, 270], ay: [14, 14, 60, 14], bx: [180, 300, 62, 220], by: [14, 14, 20, 60],
  ignoreOwner: [1, 3, 4, 5], mask: ALL & ~PLATFORM, against: 'both', asOf: 0,
};
// Lines of sight: from players 2, 0 and 3 to 4, 1 and 5; then from the explosion to all players.
const BLAST = { shapes: disc(0), x: [215], y: [3] };
const SIGHTS = {
  ax: [185, 20, 50, ...Array(6).fill(215)], ay: [14, 14, 64, ...Array(6).fill(3)],
  bx: [270, 90, 70, ...X], by: [14, 14, 29, ...Y],
};
const NOW = new Bodies({ shapes: BODY, x: X, y: Y, owner: OWNERS });

/** Slides of some players against walls and other players, but not their own bodies. */
function slidesOf(first, last, columns) {
  const [x, y, ignoreOwner] = [X, Y, OWNERS].map((column) => column.slice(first, last));
  return slides({ shapes: BODY, x, y, against: 'both', ignoreOwner, shape: x.map(() => 0), ...columns });
}

/** Asks a match's questions: on a fork of its own, or with a mask that excludes an open door. */
function ask(frame, match, fork) {
  const [isOpen, scene] = [match % 2 === 0, fork ?? BASE];
  const mask = fork || !isOpen ? ALL : ALL - DOOR;
  const dx = DX.map((each) => each * (1 + match / 256)); // differs by match
  const edits = fork && isOpen && { edits: { remove: [4] } }; // made before the group is answered
  const now = frame.group(scene, { bodies: NOW, ...edits });
  const bodySet = fork ? match : MATCHES + match; // what the shooters saw, at tick 0, when the door was shut
  frame.defineBodySet(bodySet, BODY, { shape: X.map(() => 0), owner: OWNERS, ...(fork && { fork }) });
  frame.addPoses(bodySet, { tick: 0, x: PAST_X, y: Y }); // a game defines a set once, and sends each tick once
  const jump = { dx: dx.slice(10), dy: DY.slice(10), mask: mask & ~PLATFORM }; // passes a platform from below
  return [
    now.ask(slidesOf(0, 5, { pushes: PUSHES.slice(0, 5), dx: dx.slice(0, 10), dy: DY.slice(0, 10), mask })),
    frame.ask(scene, slidesOf(5, 6, jump), { bodies: NOW }),
    frame.ask(scene, segments(BULLETS), { bodySet, ...(fork && { versionAtTick: 0 }) }),
    now.ask(sights({ ...SIGHTS, mask })),
    now.ask(distances({ ...BLAST, maxDistance: [60], against: 'bodies', mode: 'all' })),
  ];
}

/** Four digits, as C writes them: a number in the middle of two becomes the even one. */
function format(number) {
  const [, even] = /^(.*\.\d{3}[02468])50*$/.exec(number.toFixed(20)) ?? [];
  return even ?? number.toFixed(4);
}

function print([walks, jump, hits, views, blast]) {
  const moved = [walks, jump].flatMap((each) => Array.from({ length: each.length }, (_, i) => [each, i]));
  for (const [player, [moves, i]] of moved.entries()) {
    const up = Math.max(...moves.normalY.slice(moves.offsets[i], moves.offsets[i + 1])); // of the most upward normal
    console.log(`player ${player}: (${format(moves.x[i])}, ${format(moves.y[i])}), normal ${format(up)}`);
  }
  for (let i = 0; i < hits.length; ++i) {
    const hit = hits.hit(i);
    if (hit) console.log(`bullet ${i}: ${hit.isBody ? 'player' : 'polygon'} ${hit.polygonId} at ${format(hit.fraction)}`);
  }
  console.log(`sights: [${Array.from(views.visible, Boolean).join(' ')}]`);
  blast.polygonId.forEach((player, i) => console.log(`explosion: player ${player} at ${format(blast.distance[i])}`));
}

const [client, forks] = [connect(process.argv[2]), []];
while (forks.length < MATCHES) forks.push(await client.fork(BASE));
const stream = client.stream();
for (const sceneOf of [forks, []]) {
  const frame = new Frame();
  const asked = Array.from({ length: MATCHES }, (_, match) => ask(frame, match, sceneOf[match]));
  const answer = await stream.ask(frame);
  asked.forEach((questions, match) => {
    console.log('match', match);
    print(questions.map((question) => answer.get(question)));
  });
}
client.close();
