// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How fast is @carom/core beside the native library, and beside peers in JavaScript? One thread, CPU time.
//
//   bench.mjs PACKAGE CASTS LIBRARY OUT [--quick] [FILTER]
//
// CASTS is the program of tests/bench/python/casts.c. Both sides take turns, and the median of rounds is printed. A
// figure that misses its goal makes the program fail.

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { PEERS, visibilityOf } from './peers.mjs';
import { Random, dense, framed, segments, walls } from './scenes.mjs';

const [folder, casts, library, out, ...rest] = process.argv.slice(2);
const quick = rest.includes('--quick');
const filter = rest.find((each) => !each.startsWith('-')) ?? '';
const carom = await import(pathToFileURL(join(folder, 'dist/index.js')));
const { areas, segments: ask, disc, slides } = await import(pathToFileURL(join(folder, 'dist/questions.js')));

const BATCH = 1024;
const BATCHES = quick ? 4 : 32;
const ROUNDS = quick ? 3 : 15;
const NATIVE_RATIO = 3;
const SLIDE_MS = 1;
const AREA_RATIO = 5;
const TICKS = 60;
const results = [];

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** [ns] The CPU time of this process that a function takes. */
function cpu(run) {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) * 1000;
}

function report(name, value, unit, goal = '', isMet = true) {
  results.push({ name, value, unit, goal, isMet });
  console.log(`${name.padEnd(44)} ${value.toFixed(2).padStart(10)} ${unit.padEnd(8)} ${goal} ${isMet ? '' : 'MISSED'}`);
}

/** The program that casts natively: each call casts all batches once, and returns ns and hits. */
function native(bundle, columns) {
  const child = spawn(casts, [library, bundle, columns, String(BATCHES), String(BATCH)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run() {
      child.stdin.write('\n');
      const [ns, hits] = (await lines.next()).value.split(' ').map(Number);
      return { ns, hits };
    },
    end: () => child.stdin.end(),
  };
}

/** Questions over columns in the memory of the module, as a game keeps them. */
function questionsOf(core, all) {
  return Array.from({ length: BATCHES }, (_, batch) => {
    const columns = {};
    for (const [name, values] of Object.entries(all)) {
      columns[name] = core.column(BATCH);
      columns[name].array.set(values.subarray(batch * BATCH, (batch + 1) * BATCH));
    }
    return ask(columns);
  });
}

function castAll(scene, questions, answers) {
  let hits = 0;
  for (const question of questions) {
    const found = scene.ask(question, answers.out);
    answers.out = found;
    if (found.counts.length !== BATCH) throw new Error(`${found.counts.length} counts`);
    hits += found.fraction.length; // both columns are copied out
  }
  return hits;
}

async function besideNative(name, made, all, core) {
  const scene = carom.Scene.fromPolygons(made.polygons, { core });
  const [bundle, columns] = [join(out, `${name}.bundle`), join(out, `${name}.columns`)];
  writeFileSync(bundle, scene.toBundle());
  const order = new Float64Array(4 * BATCH * BATCHES);
  for (let batch = 0; batch < BATCHES; ++batch) {
    Object.values(all).forEach((values, i) =>
      order.set(values.subarray(batch * BATCH, (batch + 1) * BATCH), (4 * batch + i) * BATCH),
    );
  }
  writeFileSync(columns, new Uint8Array(order.buffer));
  const questions = questionsOf(core, all);
  const program = native(bundle, columns);
  const [ours, theirs, ratios] = [[], [], []];
  const answers = {};
  for (let round = -2; round < ROUNDS; ++round) {
    const { ns, hits } = await program.run();
    let own = 0;
    const time = cpu(() => (own = castAll(scene, questions, answers)));
    if (own !== hits) throw new Error(`${name}: ${own} hits, not ${hits}`);
    if (round < 0) continue; // until the engine has compiled what is hot
    ours.push(time / (BATCH * BATCHES));
    theirs.push(ns / (BATCH * BATCHES));
    ratios.push(time / ns);
  }
  program.end();
  report(`${name} carom`, median(ours), 'ns');
  report(`${name} native`, median(theirs), 'ns');
  return { ratio: median(ratios), ns: median(ours), scene };
}

async function besidePeers(name, made, all, ns) {
  for (const { name: peer, goal, make, share } of PEERS) {
    const cast = await make(made.pieces);
    const count = Math.max(8, Math.floor(all.ax.length * share * (quick ? 0.25 : 1)));
    let hits = 0;
    const times = [];
    for (let round = 0; round < (quick ? 2 : 5); ++round) {
      const time = cpu(() => {
        for (let i = 0; i < count; ++i) hits += cast(all.ax[i], all.ay[i], all.bx[i], all.by[i]);
      });
      times.push(time / count);
    }
    if (!(hits >= 0)) throw new Error('no hits');
    report(`${name} ${peer}`, median(times), 'ns');
    const ratio = median(times) / ns;
    report(`${name} ${peer} / carom`, ratio, 'times', `>= ${goal}`, ratio >= goal);
  }
}

async function runCasts() {
  const scenes = { dense: () => dense(quick ? 2_500 : 100_000), walls: () => walls(quick ? 10 : 100) };
  for (const [scene, make] of Object.entries(scenes)) {
    if (!`cast_${scene}`.includes(filter)) continue;
    const made = make();
    for (const length of ['near', 'far']) {
      const name = `cast_${scene}_${length === 'near' ? 'short' : 'long'}`;
      const core = await carom.Core.load({ simd: true });
      const places = carom.Scene.fromPolygons(made.polygons, { core });
      const isFree = (x, y) => places.locate({ x, y }).count(0) === 0;
      const all = segments(made, BATCH * BATCHES, made[length], 2, isFree);
      const { ratio, ns } = await besideNative(name, made, all, core);
      const isBound = length === 'near';
      report(`${name} carom / native`, ratio, 'times', isBound ? `<= ${NATIVE_RATIO}` : '', !isBound || ratio <= NATIVE_RATIO);
      const plain = await carom.Core.load({ simd: false });
      const other = await besideNative(name, made, all, plain);
      report(`${name} carom without vectors / native`, other.ratio, 'times');
      await besidePeers(name, made, all, ns);
    }
  }
}

/** 200 players who slide along the walls of a map, each tick, and turn once a second. */
async function runSlides() {
  if (!'slides'.includes(filter)) return;
  const made = walls(quick ? 10 : 100);
  const core = await carom.Core.load({ simd: true });
  const scene = carom.Scene.fromPolygons(made.polygons, { core });
  const random = new Random(7);
  const x = [];
  const y = [];
  while (x.length < 200) {
    const [px, py] = [random.between(-made.half, made.half), random.between(-made.half, made.half)];
    if (scene.overlapCircles({ x: px, y: py, radius: 0.5 }).count(0) > 0) continue;
    x.push(px);
    y.push(py);
  }
  const columns = { x: core.column(200), y: core.column(200), dx: core.column(200), dy: core.column(200) };
  columns.x.array.set(x);
  columns.y.array.set(y);
  const question = slides({ shapes: disc(0.5), ...columns, skin: 0.01 });
  const times = [];
  let answers;
  const second = () => {
    for (let i = 0; i < 200; ++i) {
      const angle = random.between(0, 2 * Math.PI);
      columns.dx.array[i] = (10 / TICKS) * Math.cos(angle);
      columns.dy.array[i] = (10 / TICKS) * Math.sin(angle);
    }
    for (let tick = 0; tick < TICKS; ++tick) {
      answers = scene.ask(question, answers);
      columns.x.array.set(answers.x);
      columns.y.array.set(answers.y);
    }
  };
  for (let round = -2; round < ROUNDS; ++round) {
    const time = cpu(second) / 1e6 / TICKS;
    if (round >= 0) times.push(time);
  }
  report('slides_walls 200 a tick', median(times), 'ms', `<= ${SLIDE_MS}`, median(times) <= SLIDE_MS);
}

/** The areas that ten eyes see in rooms of about 1,000 edges. */
async function runAreas() {
  if (!'areas'.includes(filter)) return;
  const [EYES, REPEATS] = [10, 20];
  const made = framed(4);
  const core = await carom.Core.load({ simd: true });
  const scene = carom.Scene.fromPolygons(made.polygons, { core });
  const isFree = (x, y) => scene.locate({ x, y }).count(0) === 0;
  const { ax: x, ay: y } = segments(made, EYES, 1, 3, isFree);
  const question = areas({ x, y, range: new Float64Array(EYES).fill(4 * made.half) });
  const see = visibilityOf(made.polygons);
  const [ours, theirs] = [[], []];
  let answers;
  const repeat = (what) => {
    for (let i = 0; i < REPEATS; ++i) what();
  };
  for (let round = -2; round < ROUNDS; ++round) {
    const own = cpu(() => repeat(() => (answers = scene.ask(question, answers)))) / REPEATS / EYES;
    let sizes;
    const other = cpu(() => repeat(() => (sizes = Array.from(x, (each, i) => see(each, y[i]))))) / REPEATS / EYES;
    sizes.forEach((size, i) => {
      if (Math.abs(size - answers.areas[i]) > 1e-3 * size) throw new Error(`eye ${i}: ${answers.areas[i]}, not ${size}`);
    });
    if (round < 0) continue;
    ours.push(own);
    theirs.push(other);
  }
  report('areas_rooms carom', median(ours), 'ns');
  report('areas_rooms visibility-polygon', median(theirs), 'ns');
  const ratio = median(theirs) / median(ours);
  report('areas_rooms visibility-polygon / carom', ratio, 'times', `>= ${AREA_RATIO}`, ratio >= AREA_RATIO);
}

mkdirSync(out, { recursive: true });
await runCasts();
await runSlides();
await runAreas();
writeFileSync(join(out, 'results.json'), `${JSON.stringify(results, null, 1)}\n`);
process.exitCode = results.every((each) => each.isMet) ? 0 : 1;
