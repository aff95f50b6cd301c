// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is what @carom/core refuses named, is the module usable afterwards, and is its memory freed?

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  Bodies, CaromError, Core, Polygons, Scene, Shapes, Trackers, box, capsule, digestOf, disc, load,
} from '@carom/core'; // prettier-ignore
import * as carom from '@carom/core';
import * as ask from '@carom/core/questions';
import { digestLines } from './digest.mjs';

const SQUARE = [[0, 0], [4, 0], [4, 3], [0, 3]]; // prettier-ignore
const BULLET = { ax: -2, ay: 1, bx: 6, by: 1 };
const MEBIBYTE = 2 ** 20;
const main = await load();

/** A call must throw a CaromError with this code and field. */
function refused(code, field, call) {
  assert.throws(call, (error) => {
    assert.ok(error instanceof CaromError, String(error));
    assert.deepEqual([error.code, error.field], [code, field], error.message);
    return true;
  });
}

/** A grid of squares as columns. */
function grid(count) {
  const x = new Float64Array(4 * count);
  const y = new Float64Array(4 * count);
  for (let i = 0; i < count; ++i) {
    const [left, low] = [3 * (i % 1000), 3 * Math.floor(i / 1000)];
    x.set([left, left + 1, left + 1, left], 4 * i);
    y.set([low, low, low + 1, low + 1], 4 * i);
  }
  return { x, y, ringSize: new Uint32Array(count).fill(4) };
}

const works = (scene) => assert.equal(scene.cast(BULLET).hit(0).fraction, 0.25);

/** A column whose buffer was given away. */
function detached(type = Float64Array) {
  const array = new type(2);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

describe('bad arguments', () => {
  const scene = Scene.fromPolygons([SQUARE]);

  test('of questions have the path of the argument', () => {
    const cases = [
      ['segments.by', { ...BULLET, by: undefined }],
      ['segments.ay', { ...BULLET, ax: [1], ay: [1, 2] }],
      ['segments.ax[1]', { ...BULLET, ax: [1, 'x'] }],
      ['segments.ax', { ...BULLET, ax: 'x' }],
      ['segments.ax', { ...BULLET, ax: detached() }],
      ['segments.ax', { ...BULLET, ax: new DataView(new ArrayBuffer(8)) }],
      ['segments.mode', { ...BULLET, mode: 'first' }],
      ['segments.maxHits', { ...BULLET, maxHits: 1.5 }],
      ['segments.maxHits', { ...BULLET, maxHits: 65537 }],
      ['segments.mask', { ...BULLET, mask: 0 }],
      ['segments.masks[0]', { ...BULLET, masks: [-1] }],
      ['segments.masks[0]', { ...BULLET, masks: [2n ** 64n] }],
      ['segments.range', { ...BULLET, range: 1 }],
    ];
    for (const [field, given] of cases) refused('INVALID_ARGUMENT', field, () => scene.cast(given));
    const placed = { shapes: disc(1), x: 0, y: 0 };
    refused('INVALID_ARGUMENT', 'sweeps.shapes', () => scene.sweep({ x: 0, y: 0, dx: 1, dy: 1 }));
    refused('INVALID_ARGUMENT', 'polygons.shapes', () => scene.overlap(placed));
    refused('INVALID_ARGUMENT', 'slides.dx', () => scene.slide({ ...placed, dx: 1, dy: 1, pushes: [1] }));
    refused('INVALID_ARGUMENT', 'fans.fov', () => scene.fans({ x: 0, y: 0, angle: 0, beams: 3, range: 1 }));
    refused('INVALID_ARGUMENT', 'capsules.radius[0]', () => scene.sweep({ ...placed, shapes: disc(-1), dx: 1, dy: 1 }));
    refused('INVALID_ARGUMENT', 'question', () => scene.ask({ kind: 'segments' }));
    refused('INVALID_ARGUMENT', 'out', () => scene.cast(BULLET, scene.locate({ x: 0, y: 0 })));
    works(scene);
  });

  test('that are NaN are errors of their item', () => {
    const hits = scene.cast({ ...BULLET, ax: [-2, NaN, -2, -Infinity], ay: [1, 1, 2 ** 54, 1] });
    assert.deepEqual(hits.errors().map(({ index, error }) => [index, error.code, error.field]), [
      [1, 'INVALID_ARGUMENT', 'segments.ax[1]'],
      [2, 'INVALID_ARGUMENT', 'segments.ay[2]'],
      [3, 'INVALID_ARGUMENT', 'segments.ax[3]'],
    ]); // prettier-ignore
    assert.equal(hits.error(0), null);
    assert.equal(hits.hit(0).fraction, 0.25);
    refused('INVALID_ARGUMENT', 'segments.ax[1]', () => hits.check());
    refused('INVALID_ARGUMENT', 'item', () => hits.hit(4));
  });

  test('of polygons have their place', () => {
    const make = (polygons, options) => () => Scene.fromPolygons(polygons, options);
    const nan = [SQUARE, [[0, 0], [1, NaN], [1, 1]]]; // prettier-ignore
    refused('INVALID_ARGUMENT', 'polygons[1].rings[0].y[1]', make(nan));
    refused('INVALID_ARGUMENT', 'polygons[0][1]', make([[[0, 0], [1]]]));
    refused('INVALID_ARGUMENT', 'polygons', make(7));
    refused('INVALID_ARGUMENT', 'ids', make([SQUARE], { ids: [1, 2] }));
    refused('INVALID_ARGUMENT', 'polygons[1].id', make([SQUARE, SQUARE], { ids: [1, 1] }));
    refused('INVALID_ARGUMENT', 'solidity', make([SQUARE], { solidity: 'solids' }));
    refused('INVALID_ARGUMENT', 'polygons.y', make({ x: [1, 2, 3], y: [1, 2] }));
    refused('INVALID_ARGUMENT', 'polygons.x', make({ x: [1, 2], y: [1, 2], ringSize: [3] }));
    refused('INVALID_ARGUMENT', 'version', make([SQUARE], { version: -1 }));
    refused('NOT_FOUND', 'edits[0].remove', () => scene.commit({ remove: 9 }));
    refused('ALREADY_EXISTS', 'edits[0].add.id', () => scene.commit({ add: [SQUARE] }));
    works(scene);
  });

  // Columns were taken out of the module's memory before it grew: removals were dropped, and bodies were none.
  test('that are detached have their field, in every place', () => {
    const [words, longs, bytes] = [Uint32Array, BigUint64Array, Uint8Array].map((type) => detached(type));
    const invalid = (field, call) => refused('INVALID_ARGUMENT', field, call);
    invalid('remove', () => scene.commit({ remove: longs }));
    invalid('remove', () => new Trackers().remove(words));
    invalid('remove', () => new Trackers().define({ shapes: disc(1), remove: words }));
    invalid('bundle', () => Scene.fromBundle(bytes));
    invalid('bundle', () => Scene.fromBundle(bytes.buffer));
    invalid('polygons.x', () => new Polygons({ x: detached(), y: detached() }));
    invalid('polygons.ringSize', () => new Polygons({ x: new Float64Array(4), y: new Float64Array(4), ringSize: words }));
    invalid('ids', () => new Polygons([SQUARE], { ids: longs }));
    invalid('userData[0]', () => new Polygons([SQUARE], { userData: [bytes] }));
    invalid('capsules.radius', () => disc(detached()));
    invalid('bodies.x', () => new Bodies({ shapes: disc(1), x: detached(), y: 1 }));
    invalid('segments.ax', () => scene.cast({ ...BULLET, ax: { length: 2, array: detached() } }));
  });

  test('that are nothing, or larger than the memory', async () => {
    refused('INVALID_ARGUMENT', 'edits', () => scene.commit(null));
    const huge = { length: 2 ** 32 - 1 };
    assert.throws(() => scene.cast({ ...BULLET, ax: huge }), (error) => error.field?.startsWith('segments.ax'));
    const large = new Float64Array(2 ** 28); // 2 GiB, of which none is touched
    const core = await Core.load({ maxMemory: 32 * MEBIBYTE });
    const other = Scene.fromPolygons([SQUARE], { core });
    refused('RESOURCE_EXHAUSTED', '', () => other.cast({ ax: large, ay: large, bx: large, by: large }));
    works(other);
  });

  test('leave the answers that were given for others', () => {
    const out = scene.cast(BULLET);
    const ax = Float64Array.of(-2);
    const question = ask.segments({ ...BULLET, ax });
    structuredClone(ax.buffer, { transfer: [ax.buffer] });
    refused('INVALID_ARGUMENT', 'segments.ax', () => scene.ask(question, out));
    assert.equal(out.hit(0).fraction, 0.25);
  });

  test('of bundles: each cut and each changed byte is refused, or the scene is the same', () => {
    const bytes = scene.toBundle();
    for (let size = 0; size < bytes.length; ++size) {
      assert.throws(() => Scene.fromBundle(bytes.slice(0, size)), CaromError);
    }
    for (let at = 0; at < bytes.length; ++at) {
      const changed = bytes.slice();
      changed[at] ^= 0x55;
      try {
        works(Scene.fromBundle(changed));
      } catch (error) {
        assert.ok(error instanceof CaromError, String(error));
      }
    }
    refused('INVALID_ARGUMENT', 'bundle', () => Scene.fromBundle('text'));
    works(Scene.fromBundle(bytes.buffer));
  });

  test('of a disposed object', () => {
    const other = Scene.fromPolygons([SQUARE]);
    const bodies = new Bodies({ shapes: disc(1), x: [0], y: [9] });
    const both = other.withBodies(bodies);
    works(both);
    bodies.dispose();
    refused('FAILED_PRECONDITION', 'bodies', () => both.cast({ ...BULLET, against: 'both' }));
    works(other);
    other.dispose();
    other.dispose();
    refused('FAILED_PRECONDITION', 'scene', () => other.cast(BULLET));
    refused('FAILED_PRECONDITION', 'scene', () => other.version);
    refused('FAILED_PRECONDITION', 'scene', () => both.cast(BULLET));
    const answers = scene.cast(BULLET);
    assert.deepEqual([...answers.counts], [1]);
    answers.dispose();
    assert.deepEqual([...answers.counts], [1], 'a column that was read stays');
    refused('FAILED_PRECONDITION', 'answers', () => answers.fraction);
    const column = main.column(2);
    column.dispose();
    refused('FAILED_PRECONDITION', 'column', () => scene.cast({ ...BULLET, ax: column }));
  });

  test('of loading', async () => {
    const rejected = (field, options) => assert.rejects(Core.load(options), (error) => error.field === field);
    await rejected('module', { module: new Uint8Array(8) });
    await rejected('module', { module: Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) });
    await rejected('module', { module: './absent.wasm' });
    await rejected('maxMemory', { maxMemory: 1 });
    await rejected('maxMemory', { maxMemory: NaN });
  });

  test('of a module that stopped, in whose place `load` makes the default', async () => {
    const stopped = (await Core.load()).use();
    try {
      stopped.functions.malloc = () => { throw new WebAssembly.RuntimeError('unreachable'); }; // prettier-ignore
      refused('INTERNAL', 'core', () => stopped.column(1));
      refused('INTERNAL', 'core', () => Scene.fromPolygons([SQUARE]));
      const next = await load();
      assert.equal(Core.default, next);
      works(Scene.fromPolygons([SQUARE]));
    } finally {
      main.use();
    }
  });
});

describe('memory', () => {
  test('a module limited to 32 MiB refuses what does not fit, and works afterwards', async () => {
    const core = await Core.load({ maxMemory: 32 * MEBIBYTE });
    const scene = Scene.fromPolygons([SQUARE], { core });
    for (const count of [20_000, 40_000, 60_000, 80_000, 100_000, 120_000, 150_000, 200_000, 400_000, 4_000_000]) {
      try {
        Scene.fromPolygons(grid(count), { core }).dispose();
      } catch (error) {
        assert.ok(error instanceof CaromError, String(error));
        assert.equal(error.code, 'RESOURCE_EXHAUSTED', error.message);
      }
      works(scene);
    }
    refused('RESOURCE_EXHAUSTED', '', () => Scene.fromPolygons(grid(400_000), { core }));
    refused('RESOURCE_EXHAUSTED', '', () => core.column(2 ** 23));
    const many = new Float64Array(300_000).fill(-2);
    refused('RESOURCE_EXHAUSTED', '', () => scene.cast({ ax: many, ay: 1, bx: 6, by: 1 }));
    works(scene);
    assert.ok(core.memoryBytes <= 32 * MEBIBYTE);
    for (let i = 0; i < 20; ++i) Scene.fromPolygons(grid(10_000), { core }).dispose();
  });

  test('objects that are disposed of leave nothing', async () => {
    const core = await Core.load();
    const polygons = grid(5_000);
    let before = 0;
    for (let i = 0; i < 60; ++i) {
      const scene = Scene.fromPolygons(polygons, { core });
      const bodies = new Bodies({ shapes: box(1, 1), x: [1], y: [1] }, { core });
      const trackers = new Trackers({ core });
      const whole = scene.withBodies(bodies).withTrackers(trackers);
      whole.cast(BULLET).dispose();
      for (const each of [scene, bodies, trackers]) each.dispose();
      if (i === 10) before = core.memoryBytes;
    }
    assert.ok(core.memoryBytes <= before + MEBIBYTE, `${before} became ${core.memoryBytes} bytes`);
  });

  test('objects that are forgotten are freed', { skip: !globalThis.gc && 'needs --expose-gc' }, async () => {
    const core = await Core.load({ maxMemory: 64 * MEBIBYTE });
    const polygons = grid(20_000);
    for (let i = 0; i < 40; ++i) {
      Scene.fromPolygons(polygons, { core }).cast(BULLET);
      gc();
      await turn();
      await turn();
    }
  });

  /** Waits until nothing has an object any more. */
  async function forgotten(reference, what) {
    for (let i = 0; i < 8; ++i) {
      await turn();
      gc();
      await turn();
    }
    assert.ok(reference.deref() === undefined, `${what} is kept`);
  }

  // The registry of finalizers had the answers of each core, which have the core.
  test('a core that has answered is collected', { skip: !globalThis.gc && 'needs --expose-gc' }, async () => {
    const used = async () => {
      const core = await Core.load({ maxMemory: 8 * MEBIBYTE });
      const scene = Scene.fromPolygons([SQUARE], { core });
      const bodies = new Bodies({ shapes: disc(1), x: [9], y: [9] }, { core });
      scene.withBodies(bodies).cast({ ...BULLET, against: 'both' });
      core.column(3).array.fill(1);
      return new WeakRef(core);
    };
    await forgotten(await used(), 'the core');
  });

  test('a column stays as long as its array', { skip: !globalThis.gc && 'needs --expose-gc' }, async () => {
    const core = await Core.load();
    core.column(2 ** 15).dispose(); // there is room: the memory does not grow
    const arrayOf = () => core.column(4).array.fill(7);
    const array = arrayOf();
    for (let i = 0; i < 20; ++i) {
      gc();
      await turn();
      core.column(4).array.fill(i);
    }
    assert.ok(array.every((each) => each === 7), 'the memory of the array was used again');
  });

  // Caches of the module took the arrays of the caller when they were first used, the rest took them later.
  test('shapes and polygons are as they were when they were made', () => {
    const [x, y, ringSize, radius] = [[0, 4, 4, 0], [0, 0, 3, 3], [4], [1]].map((each) => Float64Array.from(each));
    const sizes = Uint32Array.from(ringSize);
    const ids = BigUint64Array.of(7n);
    const polygons = new Polygons({ x, y, ringSize: sizes }, { ids });
    const shapes = disc(radius);
    for (const each of [x, y, sizes, radius]) each.fill(99);
    ids[0] = 8n;
    const scene = Scene.fromPolygons(polygons);
    assert.equal(scene.cast(BULLET).hit(0).polygonId, 7n);
    assert.equal(shapes.capsules.radius[0], 1);
  });

  test('removals in the memory of the module are made, while it grows', async () => {
    const [count, added] = [100, 20_000];
    let core;
    let scene;
    for (const take of [(column) => column, (column) => column.array]) {
      core = await Core.load();
      scene = Scene.fromPolygons(grid(count), { core });
      const remove = core.column(count, 'u64');
      for (let i = 0; i < count; ++i) remove.array[i] = BigInt(i);
      const size = core.memoryBytes;
      const ids = BigUint64Array.from({ length: added }, (_, i) => BigInt(count + i));
      const after = scene.commit({ remove: take(remove), add: new Polygons(grid(added), { ids }) });
      assert.ok(core.memoryBytes > size, 'the memory did not grow');
      assert.equal(after.length, added);
    }
    const trackers = new Trackers({ core });
    trackers.define({ shapes: disc([1, 1]), tracker: [0, 1] });
    const handles = core.column(2 ** 21, 'u32');
    handles.array.fill(1);
    const size = core.memoryBytes;
    trackers.remove(handles);
    assert.ok(core.memoryBytes > size, 'the memory did not grow');
    const moved = trackers.move(scene, { x: [-9, -9], y: [0, 0] });
    assert.deepEqual([moved.error(0), moved.error(1)?.field], [null, 'moves.tracker[1]']);
  });

  test('eyes with numbers are answered as those without', () => {
    const trackers = new Trackers();
    const scene = Scene.fromPolygons([SQUARE]);
    const tracked = scene.withTrackers(trackers);
    for (let tick = 0; tick < 8; ++tick) {
      const eyes = { x: [-2 + tick / 1000, 9], y: [1, 1 - tick / 1000], range: 9 };
      assert.equal(digestOf(tracked.areas({ ...eyes, eye: [7, 4] })), digestOf(scene.areas(eyes)));
    }
    const { bytes } = trackers;
    trackers.forget();
    assert.ok(trackers.bytes < bytes, 'no memory was made');
    assert.equal(digestOf(tracked.areas({ x: 0, y: -2, range: 9, eye: 2 ** 32 - 1 })), digestOf(scene.areas({ x: 0, y: -2, range: 9 })));
    refused('INVALID_ARGUMENT', 'areas.eye', () => tracked.areas({ x: [0, 1], y: [0, 1], range: 1, eye: [1, 2, 3] }));
  });

  test('answers that nobody disposes of stay as they are', () => {
    const scene = Scene.fromPolygons([SQUARE]);
    const kept = Array.from({ length: 500 }, (_, i) => scene.cast({ ...BULLET, ax: -2 - i }));
    kept.forEach((answers, i) => {
      assert.equal(answers.hit(0).fraction, (2 + i) / (8 + i));
      assert.equal(answers.version, 1n);
      assert.equal(digestOf(answers), digestOf(scene.cast({ ...BULLET, ax: -2 - i })));
    });
  });

  test('a column of the module is read where it is, also after the memory grew', async () => {
    const core = await Core.load();
    const scene = Scene.fromPolygons([SQUARE], { core });
    const columns = Object.fromEntries(['ax', 'ay', 'bx', 'by'].map((name) => [name, core.column(100)]));
    const question = ask.segments(columns);
    const out = scene.ask(question);
    for (let round = 0; round < 3; ++round) {
      for (const [name, value] of Object.entries(BULLET)) columns[name].array.fill(value + (name === 'ax' ? round : 0));
      const [first, size] = [columns.ax.array, core.memoryBytes];
      assert.equal(scene.ask(question, out), out);
      assert.equal(out.hit(99).fraction, (2 - round) / (8 - round));
      core.column(MEBIBYTE);
      assert.ok(core.memoryBytes > size && first.length === 0 && columns.ax.array.length === 100);
    }
    const masks = core.column(1, 'u64');
    masks.array[0] = 2n;
    assert.equal(scene.cast({ ...BULLET, masks }).hit(0), null);
    refused('INVALID_ARGUMENT', 'segments.ax', () => scene.cast({ ...BULLET, ax: masks }));
  });
});

describe('what scenes have', () => {
  test('polygons go out as they came in', () => {
    const polygons = new Polygons([SQUARE, [[[9, 9], [10, 9]]]], {
      ids: [7, 2n ** 63n], categories: [1, 6], solidity: ['solid', 'boundary'], fillRule: 'non_zero',
      open: [false, true], userData: [Uint8Array.of(1, 2), new Uint8Array()],
    }); // prettier-ignore
    const scene = Scene.fromPolygons(polygons, { version: 2n ** 60n });
    assert.deepEqual(scene.polygons(), polygons);
    assert.deepEqual([scene.length, scene.vertexCount, scene.version], [2, 6, 2n ** 60n]);
    assert.deepEqual(scene.bounds, { minX: 0, minY: 0, maxX: 10, maxY: 9 });
    const copy = Scene.fromBundle(scene.toBundle(), { version: 5 });
    assert.deepEqual([copy.polygons(), copy.version], [polygons, 5n]);
    assert.match(scene.toSvg(), /^<svg /);
    const edited = scene.commit({ remove: [7], replace: new Polygons([SQUARE], { ids: [2n ** 63n] }) });
    assert.deepEqual([edited.length, edited.version, scene.length], [1, 2n ** 60n + 1n, 2]);
    assert.deepEqual(edited.polygons().rings(0), [SQUARE]);
  });

  test('a group has the answers of its questions', () => {
    const bodies = new Bodies({ shapes: capsule(-1, 0, 1, 0, 0.5), x: [6, 8], y: [1, 1] });
    const scene = Scene.fromPolygons([SQUARE]).withBodies(bodies);
    const questions = [
      ask.segments({ ...BULLET, bx: 12, mode: 'all', against: 'both' }),
      ask.points({ x: [1, 5], y: [1, 1] }),
      ask.bodyContacts({ body: [0, 1] }),
      ask.slides({ shapes: new Shapes([SQUARE]), x: 9, y: 9, dx: 1, dy: -9 }),
    ];
    const [hits, places, contacts, slides] = scene.evaluate(...questions);
    assert.deepEqual(hits.hits(0).map((hit) => [hit.polygonId, hit.isBody]), [[0n, false], [0n, true], [1n, true]]); // prettier-ignore
    assert.deepEqual([places.polygon(0).location, places.polygon(1)], ['inside', null]);
    assert.deepEqual(contacts.contacts(1).map((each) => each.polygonId), [0n]); // prettier-ignore
    assert.deepEqual(slides.end(0), scene.ask(questions[3]).end(0));
    refused('INVALID_ARGUMENT', 'questions', () => scene.evaluate(questions[0], questions[0]));
    assert.deepEqual(scene.evaluate(), []);
  });

  test('observers see bodies, of which there are several words', () => {
    const x = Float64Array.from({ length: 70 }, (_, i) => (i % 35) * 4 - 68);
    const y = Float64Array.from({ length: 70 }, (_, i) => (i < 35 ? 1 : 20));
    const bodies = new Bodies({ shapes: disc(0.25), x, y });
    const scene = Scene.fromPolygons([SQUARE]);
    const given = { x: [-2, 6, 2], y: [1, 1, 1], range: [9, 100, 9] };
    const answers = scene.withBodies(bodies).sees(given);
    // The square hides bodies of the first row, but for one on its side; the third eye is inside of it.
    const first = [...x.keys()].filter((i) => i < 35 && x[i] <= 0 && x[i] > -11.25);
    assert.deepEqual(answers.bodies(0), first);
    assert.ok(answers.bodies(1).some((body) => body >= 64) && answers.bodies(1).some((body) => body < 35));
    for (let item = 0; item < 3; ++item) {
      const seen = answers.bodies(item);
      assert.equal(answers.count(item), seen.length);
      assert.deepEqual([...x.keys()].filter((body) => answers.sees(item, body)), seen);
      for (const body of [-1, 0.5, NaN, 70, 128, 2 ** 32, Infinity]) assert.equal(answers.sees(item, body), false);
    }
    assert.deepEqual([answers.seen.length, [...answers.startsInside]], [6, [0, 0, 1]]);
    refused('INVALID_ARGUMENT', 'item', () => answers.bodies(3));
    refused('INVALID_ARGUMENT', 'item', () => answers.sees(-1, 0));
    // Answers that are replaced forget their bits; without bodies there are none.
    assert.equal(scene.sees(given, answers), answers);
    assert.deepEqual([answers.seen.length, answers.bodies(1), answers.sees(1, 0)], [0, [], false]);
    const none = scene.withBodies(bodies).sees({ x: [], y: [], range: [] });
    assert.deepEqual([none.length, none.seen.length], [0, 0]);
    const bad = scene.withBodies(bodies).sees({ x: [0, 6], y: [9, 1], range: [-1, 100] });
    assert.equal(bad.error(0).field, 'sees.range[0]');
    assert.deepEqual([bad.bodies(0), bad.count(1) > 0], [[], true]);
    refused('INVALID_ARGUMENT', 'sees.against', () => scene.withBodies(bodies).sees({ ...given, against: 'both' }));
    for (const each of [answers, none, bad, scene, bodies]) each.dispose();
  });

  test('trackers are defined, moved and removed', () => {
    const scene = Scene.fromPolygons([SQUARE]);
    const trackers = new Trackers({ maxTrackers: 4 });
    trackers.define({ shapes: disc([0.5, 1]), within: 0.25 });
    const pose = { x: [-0.75, -3], y: [1, 1] };
    const moved = trackers.move(scene, pose);
    assert.deepEqual([moved.isClear(0), moved.isClear(1), moved.polygon(0).polygonId], [false, true, 0n]);
    const swept = trackers.move(scene, { x: [5, 5], y: [1, 9], fromX: [-3, -3], fromY: [1, 9] });
    assert.equal(swept.touch(0).id, 0n);
    assert.equal(swept.touch(1), null);
    trackers.remove([1]);
    assert.match(trackers.move(scene, pose).error(1).message, /tracker/);
    refused('INVALID_ARGUMENT', 'trackers[0].shape[0]', () => trackers.define({ shapes: [SQUARE], shape: [1] }));
    assert.ok(trackers.bytes > 0);
    trackers.forget();
  });
});

// A program with `using`, which Node.js 20 does not read: esbuild writes it in older words.
const USING = `
export function tick({ Bodies, Trackers, disc }, core, scene, fails) {
  const made = [];
  try {
    using bodies = new Bodies({ shapes: disc(1), x: [9], y: [1] }, { core });
    using trackers = new Trackers({ core });
    using column = core.column(1);
    using next = scene.commit({ remove: [0] });
    using hits = scene.withBodies(bodies).cast({ ax: column, ay: 1, bx: 12, by: 1, against: 'both' });
    made.push(bodies, trackers, column, next, hits);
    if (hits.counts[0] !== 1) throw new Error('another answer');
    if (fails) throw new Error('on purpose');
  } catch (error) {
    if (error.message !== 'on purpose') throw error;
  }
  return made;
}`;

const { transformSync } = createRequire(join(process.env.CAROM_SOURCE_DIR, 'client/web/package.json'))('esbuild');
const { code } = transformSync(USING, { target: 'es2022', format: 'esm' });
const { tick } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

describe('using', () => {
  test('frees all that a block has made, also if it throws', async () => {
    const core = await Core.load();
    const scene = Scene.fromPolygons(grid(2_000), { core });
    for (const fails of [false, true]) {
      const [bodies, trackers, column, next, hits] = tick(carom, core, scene, fails);
      const disposed = (field, call) => refused('FAILED_PRECONDITION', field, call);
      disposed('bodies', () => scene.withBodies(bodies).cast({ ...BULLET, against: 'both' }));
      disposed('trackers', () => trackers.bytes);
      disposed('column', () => scene.cast({ ...BULLET, ax: column }));
      disposed('scene', () => next.version);
      disposed('answers', () => hits.fraction);
    }
    const before = core.memoryBytes;
    for (let i = 0; i < 500; ++i) tick(carom, core, scene, i % 2 === 1);
    assert.ok(core.memoryBytes <= before + MEBIBYTE, `${before} became ${core.memoryBytes} bytes`);
    assert.equal(scene.cast({ ax: -2, ay: 0.5, bx: 6, by: 0.5 }).hit(0).fraction, 0.25);
  });
});

describe('worker threads', () => {
  const start = (workerData) => new Worker(new URL('core_worker.mjs', import.meta.url), { workerData });

  test('have the digests of docs/digest.html, at once and by a module that the main thread compiled', async () => {
    const items = 512;
    const page = readFileSync(new URL('digest.html', import.meta.url), 'utf8');
    const expected = /<pre id="expected">([^<]*)</.exec(page)[1].trim().split('\n');
    const file = new URL('carom-simd.wasm', import.meta.resolve('@carom/core'));
    const module = await WebAssembly.compile(readFileSync(file));
    const workers = [{ simd: true }, { simd: false }, { module }].map((options) => start({ items, ...options }));
    for (const [lines] of await Promise.all(workers.map((worker) => once(worker, 'message')))) assert.deepEqual(lines, expected);
    assert.deepEqual(await digestLines(carom, main, items), expected);
  });

  test('are ended in the middle, and others go on', async () => {
    const ended = start({ items: 65_536 });
    await once(ended, 'online');
    const other = start({ items: 1 });
    await ended.terminate();
    assert.equal((await once(other, 'message'))[0].length, (await digestLines(carom, main, 1)).length);
    works(Scene.fromPolygons([SQUARE]));
  });
});
