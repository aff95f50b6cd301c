// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Edits, repairs and drawing of the page where digits, numbers of edges or sizes are unusual. Arguments choose tests by
// their names; without arguments all run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, random, Stage } from './viewer_kit.mjs';
import { readPng } from './viewer_pixels.mjs';
import { load, root } from './viewer_processes.mjs';

const tests = {};
const FAR = 2 ** 53;
const square = (x, y, size) => ({ x: [x, x + size, x + size, x], y: [y, y, y + size, y + size] });

/** A module of the page, for tests of functions. */
async function module(path) {
  const { outputFiles } = await load('esbuild').build({
    entryPoints: [join(root, 'client/viewer/src', path)],
    bundle: true,
    format: 'esm',
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** Runs `body` with a page that shows the polygons. */
async function withScene(polygons, fragment, body) {
  const stage = await Stage.open();
  try {
    await call(stage.server, 'SceneService/CreateScene', { name: 'scenes/map', polygons });
    const tab = await stage.tab(`#scene=scenes/map${fragment}`);
    await stage.settled(tab);
    await body(stage, tab);
    await stage.check(tab);
  } finally {
    await stage.close();
  }
}

/** Rings of the polygons on the server, by id: lists of points. */
function rings(stage) {
  const { polygons } = JSON.parse(stage.server.carom(['scene', 'export', 'scenes/map']));
  const points = (ring) => ring.points ?? ring;
  return Object.fromEntries(polygons.map(({ id, rings: list, category }) => [id, { rings: list.map(points), category }]));
}

const view = async (stage, tab, x, y, scale) => {
  await tab.evaluate((to) => window.carom.setView(...to), [x, y, scale]);
  await tab.waitForTimeout(400);
  await stage.settled(tab);
};

/** Chooses the polygon at a point for edits. */
async function edit(stage, tab, x, y) {
  await tab.locator('[data-tool=edit]').click();
  const at = await stage.at(tab, x, y);
  await tab.mouse.click(at.x, at.y);
  await tab.waitForSelector('#delete-polygon');
}

async function commit(tab) {
  const before = await tab.evaluate(() => String(window.carom.version()));
  await tab.locator('#commit').click();
  await tab.waitForFunction((old) => String(window.carom.version()) !== old, before);
}

/** The colours of the page at points of the scene. */
async function colours(stage, tab, ...points) {
  const png = readPng(await tab.screenshot());
  const made = [];
  for (const [x, y] of points) {
    const at = await stage.at(tab, x, y);
    made.push(png.at(Math.round(at.x), Math.round(at.y)));
  }
  return made;
}
const differ = (a, b, by = 8) => Math.max(...a.map((value, i) => Math.abs(value - b[i]))) > by;

// --- Repairs ------------------------------------------------------------------------------------

// A repair took the number of a vertex from the server's version: after one repair, the next one of the ring removed a
// vertex beside its spike.
tests.repairs = () =>
  withScene([{ id: 1, rings: [{ x: [0, 10, 10, 10, -5, 0], y: [0, 0, -5, 10, 10, 10] }] }], '&panel=findings', async (stage, tab) => {
    for (const index of [0, 1]) {
      await tab.locator('#tab-findings').click();
      await tab.getByRole('button', { name: /^Spike, polygon 1/ }).nth(index).click();
      await tab.locator('#repair').click();
    }
    await tab.locator('#tab-findings').click();
    assert.match(await tab.textContent('#no-repair'), /the edits have changed this part already/);
    assert.ok(await tab.locator('#repair').isDisabled());
    await tab.locator('#tab-edit').click();
    await commit(tab);
    assert.deepEqual(rings(stage)[1].rings, [[[0, 0], [10, 0], [10, 10], [0, 10]]]); // prettier-ignore
  });

// Gaps are closed at both corners; pockets have no repair, and the page says why. The disc is changed by mouse and keys.
tests.gaps = () =>
  withScene(
    [
      { id: 1, rings: [{ x: [0, 10, 10, 0], y: [0, 0, 2, 2] }] },
      { id: 2, rings: [{ x: [10.5, 20, 20, 10.5], y: [-5, -5, 7, 7] }] },
      { id: 3, rings: [square(40, 0, 20), square(45, 5, 10)] },
    ],
    '&tool=lint&q=-10,-10,-9.9,-10&panel=findings',
    async (stage, tab) => {
      await view(stage, tab, 20, 0, 10);
      const radius = async () => Number(await tab.locator('#radius').inputValue());
      assert.ok(Math.abs((await radius()) - 0.1) < 1e-9);
      await tab.locator('#radius').fill('3');
      await tab.keyboard.press('Enter');
      await tab.waitForFunction(() => /Gap, polygon 1/.test(document.querySelector('#findings')?.textContent ?? ''));
      await stage.drag(tab, [-7, -10], [-6, -10]);
      assert.ok(Math.abs((await radius()) - 4) < 0.1, `${await radius()}`);
      await tab.locator('#map').focus();
      await tab.keyboard.press('Shift+ArrowLeft');
      await tab.waitForFunction(() => Math.abs(Number(document.querySelector('#radius').value) - 3) < 0.1);
      await tab.getByRole('button', { name: /^Pocket, polygon 3/ }).click();
      assert.match(await tab.textContent('#no-repair'), /may be opened or filled/);
      assert.ok(await tab.locator('#repair').isDisabled());
      for (const index of [0, 1]) {
        await tab.locator('#tab-findings').click();
        await tab.getByRole('button', { name: /^Gap, polygon 1, 0.5/ }).nth(index).click();
        await tab.locator('#repair').click();
      }
      await commit(tab);
      const made = rings(stage);
      assert.deepEqual(made[1].rings, [[[0, 0], [10.5, 0], [10.5, 2], [0, 2]]]); // prettier-ignore
      assert.deepEqual(made[2].rings, [[[10.5, -5], [20, -5], [20, 7], [10.5, 7], [10.5, 2], [10.5, 0]]]); // prettier-ignore
    },
  );

// --- Digits -------------------------------------------------------------------------------------

const X = 0.1 + 0.2;

// An edit in y wrote x with 15 digits; at 2^53 it moved a vertex by tens.
tests.digits = () =>
  withScene(
    [
      { id: 1, rings: [{ x: [X, 10, 10, X], y: [0.1, 0, 10, 10] }] },
      { id: 2, rings: [square(FAR - 8, FAR - 8, 8)] },
    ],
    '',
    async (stage, tab) => {
      await view(stage, tab, 5, 5, 20);
      await edit(stage, tab, 4, 4);
      await tab.locator('#map').focus();
      await tab.keyboard.press('Enter');
      await tab.keyboard.press('ArrowUp');
      // A drag straight up.
      await stage.drag(tab, [X, 10], [X, 12]);
      await commit(tab);
      const [[first, , , last]] = rings(stage)[1].rings;
      assert.deepEqual([first[0], last[0]], [X, X]);
      assert.ok(first[1] > 0.1 && first[1] < 2 && last[1] > 11.5, `${first}; ${last}`);
      await view(stage, tab, FAR - 4, FAR - 4, 20);
      await edit(stage, tab, FAR - 4, FAR - 4);
      await tab.getByText('Snapping', { exact: true }).click();
      await tab.locator('#step').fill('1');
      await tab.keyboard.press('Enter');
      await tab.locator('#map').focus();
      await tab.keyboard.press('Enter');
      await tab.keyboard.press('ArrowRight');
      await stage.drag(tab, [FAR, FAR], [FAR - 2, FAR - 1]);
      await commit(tab);
      assert.deepEqual(rings(stage)[2].rings, [[[FAR - 7, FAR - 8], [FAR, FAR - 8], [FAR - 2, FAR - 1], [FAR - 8, FAR]]]); // prettier-ignore
      // The status bar tells neighbours apart, and a tool begins in the view.
      const box = await tab.locator('#map').boundingBox();
      const texts = [];
      for (const x of [FAR - 6, FAR - 5]) {
        const at = await stage.at(tab, x, FAR - 4);
        await tab.mouse.move(at.x, at.y);
        await tab.waitForTimeout(50);
        texts.push(await tab.textContent('#coordinates'));
      }
      assert.notEqual(texts[0], texts[1]);
      await tab.keyboard.press('2');
      await tab.getByText('Coordinates', { exact: true }).click();
      await tab.getByRole('button', { name: 'Bring into view' }).click();
      for (const name of ['start', 'end']) {
        const [x, y] = await Promise.all(['x', 'y'].map((axis) => tab.getByLabel(`${name}, ${axis}`).inputValue()));
        const at = await stage.at(tab, Number(x), Number(y));
        assert.ok(at.x > box.x && at.x < box.x + box.width && at.y > box.y && at.y < box.y + box.height, `${x}, ${y}`);
      }
    },
  );

tests.coordinates = async () => {
  const { formatCoordinate, shortened } = await module('draw/view.ts');
  assert.equal(formatCoordinate(0.1 + 0.2, 100), '0.30');
  assert.equal(formatCoordinate(-1250, 0.02), '-1250');
  assert.equal(formatCoordinate(FAR - 1, 1), '9007199254740991');
  assert.equal(formatCoordinate(9e15, 1e-15), '9e+15');
  assert.equal(shortened(0.1 + 0.2, 1e-9), 0.3);
  assert.equal(shortened(FAR - 1, 0.001), FAR - 1);
  const next = random(7);
  for (let i = 0; i < 20000; ++i) {
    const x = 10 ** (next() * 46 - 30) * (next() < 0.5 ? -1 : 1);
    if (Math.abs(x) > FAR) continue;
    const other = x + Math.max(10 ** Math.floor(next() * 16 - 15), 2 ** -51) * Math.abs(x);
    const scale = 1 / Math.abs(other - x);
    assert.notEqual(formatCoordinate(x, scale), formatCoordinate(other, scale), `${x} and ${other}`);
  }
};

// --- Drawing ------------------------------------------------------------------------------------

tests.clip = async () => {
  const { arcPoints, clipped } = await module('draw/clip.ts');
  const box = { minX: -100, minY: -100, maxX: 100, maxY: 100 };
  // The half-plane y > 2 x, as a triangle with far vertices.
  const half = clipped([{ x: -1e12, y: -2e12 }, { x: 1e12, y: 2e12 }, { x: -1e12, y: 2e12 }], box); // prettier-ignore
  assert.ok(half.every(({ x, y }) => y - 2 * x > -0.01 && Math.max(Math.abs(x), Math.abs(y)) <= 100.01));
  assert.equal(clipped([{ x: 200, y: 0 }, { x: 300, y: 0 }, { x: 300, y: 9 }], box).length, 0); // prettier-ignore
  for (const radius of [5e3, 1e7, 1e12]) {
    for (const turn of [0, 1, 2.5, 4, 6]) {
      const center = { x: radius * Math.cos(turn), y: radius * Math.sin(turn) };
      const arc = arcPoints(center, radius, 0, 2 * Math.PI, { x: 0, y: 0 }, 2000);
      const near = arc.filter(({ x, y }) => Math.hypot(x, y) < 1000);
      assert.ok(near.length > 20, `${radius}: ${near.length}`);
      // Distances from the circle, to first order, where they would cancel.
      for (const { x, y } of near) {
        const off = x * Math.cos(turn) + y * Math.sin(turn) - (x * x + y * y) / (2 * radius);
        assert.ok(Math.abs(off) < 0.05 + radius * 1e-15, `${radius}, ${turn}: ${off}`);
      }
      let area = 0;
      arc.forEach((p, i) => {
        const q = arc[(i + 1) % arc.length];
        area += ((p.x - center.x) * (q.y - center.y) - (q.x - center.x) * (p.y - center.y)) / 2;
      });
      assert.ok(Math.abs(area / (Math.PI * radius ** 2) - 1) < 0.04, `${radius}, ${turn}: ${area}`);
    }
  }
};

// Discs had at most 10^6 pixels, and far vertices of areas were moved to other directions.
tests.overlays = () =>
  withScene([{ id: 1, rings: [square(1000, 0, 1)] }], '', async (stage, tab) => {
    await view(stage, tab, 0, 0, 100);
    const ask = (tool, points) => tab.evaluate(([id, list]) => window.carom.ask(id, list).then(() => undefined), [tool, points]);
    const is = async (what, inside, outside) => {
      for (const end = Date.now() + 10_000; ; await tab.waitForTimeout(50)) {
        const [a, b] = await colours(stage, tab, inside, outside);
        if (differ(a, b)) return;
        assert.ok(Date.now() < end, `${what}: ${a} inside and ${b} outside`);
      }
    };
    await ask('circle', [{ x: -1e9, y: 0 }, { x: 0, y: 0 }]); // prettier-ignore
    await is('a large disc', [-0.35, 0.35], [0.35, 0.35]);
    await is('a large disc', [-0.35, 2.35], [0.35, 2.35]);
    await ask('polygon', [{ x: -1e9, y: -2e9 }, { x: 1e9, y: 2e9 }, { x: -1e9, y: 2e9 }, { x: -2e9, y: 0 }]); // prettier-ignore
    await is('a large polygon', [0.55, 1.55], [1.15, 1.55]);
  });

// Small polygons were filled as one path: crossings filled in, and overlaps of opposite senses became holes.
tests.small = () =>
  withScene(
    [
      { id: 1, rings: [square(0, 0, 1)] },
      { id: 2, rings: [{ x: [0.5, 0.5, 1.5, 1.5], y: [0, 1, 1, 0] }] },
      // Two loops in one ring: the inner one is empty by the even-odd rule.
      { id: 3, rings: [{ x: [5, 6.2, 6.2, 5, 5, 5.2, 6, 6, 5.2, 5.2], y: [0, 0, 1.2, 1.2, 0, 0.2, 0.2, 1, 1, 0.2] }] },
      { id: 4, rings: [square(40, 0, 20)] },
    ],
    '',
    async (stage, tab) => {
      await view(stage, tab, 2.5, 0, 10);
      const [overlap, middle, ground] = await colours(stage, tab, [0.75, 0.5], [5.6, 0.6], [7.3, 2.3]);
      assert.ok(differ(overlap, ground), `an overlap is ${overlap}, the ground ${ground}`);
      assert.ok(!differ(middle, ground), `the inner loop is ${middle}, the ground ${ground}`);
    },
  );

// One polygon of more vertices than may have numbers left all edges in view without a number; hidden categories had them.
tests.labels = () => {
  const turns = Array.from({ length: 7000 }, (_, i) => (i / 7000) * Math.PI);
  return withScene(
    [
      { id: 1, rings: [{ x: turns.map((t) => 1000 * Math.cos(t)), y: turns.map((t) => 1000 * Math.sin(t)) }] },
      { id: 2, category: 2, rings: [square(0, 100, 10)] },
    ],
    '',
    async (stage, tab) => {
      const labels = () => tab.evaluate(() => window.carom.labels().sort());
      await view(stage, tab, 0, 0, 10);
      await tab.waitForFunction(() => window.carom.labels().length > 0);
      assert.deepEqual(await labels(), ['6999']);
      await view(stage, tab, 5, 105, 10);
      await tab.waitForFunction(() => window.carom.labels().length === 4);
      await tab.locator('.legend input').nth(1).uncheck();
      await tab.waitForFunction(() => window.carom.labels().length === 0);
    },
  );
};

// --- Drafts -------------------------------------------------------------------------------------

// Edits were gone when another scene was opened.
tests.drafts = () =>
  withScene([{ id: 1, rings: [square(0, 0, 10)] }], '', async (stage, tab) => {
    await call(stage.server, 'SceneService/CreateScene', { name: 'scenes/other', polygons: [{ id: 1, rings: [square(0, 0, 10)] }] });
    await view(stage, tab, 5, 5, 20);
    await edit(stage, tab, 4, 4);
    await stage.drag(tab, [10, 10], [12, 13]);
    await tab.locator('#tab-scenes').click();
    await tab.getByRole('button', { name: 'Refresh' }).click();
    await tab.locator('[data-scene="scenes/other"]').click();
    await tab.waitForFunction(() => /other/.test(document.querySelector('#scene-name')?.textContent ?? ''));
    await tab.locator('#tab-edit').click();
    assert.match(await tab.textContent('#kept-edits'), /scenes\/map: 1 edit/);
    assert.match(await tab.textContent('#edits-title'), /No edits/);
    await tab.getByRole('button', { name: 'Go back to scenes/map' }).press('Enter');
    await tab.waitForFunction(() => /map/.test(document.querySelector('#scene-name')?.textContent ?? ''));
    await stage.settled(tab);
    assert.equal(await tab.locator('#kept-edits').count(), 0);
    assert.match(await tab.textContent('#edits-title'), /1 edit for version 1/);
    await tab.locator('#undo').click();
    await tab.locator('#redo').click();
    await commit(tab);
    assert.deepEqual(rings(stage)[1].rings[0][2], [12, 13]);
  });

// --- Controls -----------------------------------------------------------------------------------

tests.controls = () =>
  withScene([1, 2].map((id) => ({ id, rings: [square(20 * id, 0, 10)] })), '', async (stage, tab) => {
    await view(stage, tab, 40, 5, 12);
    // Keys move and zoom the map.
    const place = () => tab.evaluate(() => [window.carom.toScreen(40, 5).x, window.carom.toScreen(41, 5).x]);
    const [x, right] = await place();
    await tab.locator('#map').focus();
    await tab.keyboard.press('ArrowRight');
    assert.ok(Math.abs((await place())[0] - x + 60) < 1e-6);
    await tab.keyboard.press('ArrowLeft');
    await tab.keyboard.press('+');
    const [left, wide] = await place();
    assert.ok(Math.abs((wide - left) / (right - x) - 1.25) < 1e-6);
    await tab.keyboard.press('-');
    // The list of scenes is searched.
    await tab.locator('#tab-scenes').click();
    await tab.locator('#search').fill('MAP');
    await tab.waitForFunction(() => document.querySelectorAll('#scenes li').length === 1);
    await tab.locator('#search').fill('nothing');
    await tab.waitForFunction(() => document.querySelectorAll('#scenes li').length === 0);
    // A vertex snaps to one of another polygon, and to the grid; the middle of an edge becomes a vertex.
    await edit(stage, tab, 24, 4);
    await stage.drag(tab, [30, 10], [40.3, 9.8]);
    await stage.drag(tab, [30, 0], [31.96, 1.04]);
    await stage.drag(tab, [20, 5], [17, 5]);
    await tab.locator('#category').fill('9');
    await tab.keyboard.press('Enter');
    await commit(tab);
    assert.deepEqual(rings(stage)[1], { rings: [[[20, 0], [32, 1], [40, 10], [20, 10], [17, 5]]], category: 9 }); // prettier-ignore
    await edit(stage, tab, 46, 4);
    await tab.locator('#delete-polygon').click();
    await commit(tab);
    assert.deepEqual(Object.keys(rings(stage)), ['1']);
  });

// --- Code ---------------------------------------------------------------------------------------

// The programs had the port 7420 whatever the server's, names of scenes were not escaped, and that in Go was a part.
tests.code = async () => {
  const { TOOLS } = await module('ask/tools.ts');
  const { codeFor } = await module('ask/code.ts');
  const folder = mkdtempSync(join(tmpdir(), 'carom-code-'));
  const run = (command, args, cwd = folder) => {
    const made = spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off' } });
    assert.equal(made.status, 0, `${command}: ${made.error ?? ''}${made.stdout}${made.stderr}`);
    return made.stdout;
  };
  try {
    const files = { python: [], typescript: [], go: [], cpp: [] };
    const extension = { python: 'py', typescript: 'ts', go: 'go', cpp: 'cc' };
    for (const tool of TOOLS) {
      for (const shape of ['disc', 'hexagon']) {
        const option = (name) => (name === 'shape' ? shape : tool.options.find((spec) => spec.name === name)?.value);
        const question = tool.ask(tool.start({ minX: 0, minY: 0, maxX: 400, maxY: 300 }), option);
        for (const [language, list] of Object.entries(files)) {
          const text = codeFor(language, question, 'scenes/it\'s "a\\b"', 'http://localhost:7423');
          assert.doesNotMatch(text, /7420|7423/);
          assert.match(text, /caromd's gRPC port/);
          const name = `${tool.id}_${shape}.${extension[language]}`;
          writeFileSync(join(folder, name), text);
          list.push(name);
        }
      }
    }
    run('python3', ['-m', 'py_compile', ...files.python]);
    const web = join(root, 'client/web');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
      compilerOptions: {
        target: 'ES2022', module: 'ESNext', moduleResolution: 'Bundler', lib: ['ES2022', 'DOM'], strict: true, skipLibCheck: true,
        noEmit: true, types: [], moduleDetection: 'force',
        paths: {
          '@carom/client': [join(web, 'client/dist/web/index.d.ts')],
          '@carom/core/questions': [join(web, 'core/dist/questions.d.ts')],
        },
      },
      files: files.typescript,
    })); // prettier-ignore
    run(process.execPath, [load.resolve('typescript/bin/tsc'), '-p', folder]);
    if (spawnSync('gofmt', ['-h']).error) console.log('  no gofmt: programs in Go are not read');
    else assert.equal(run('gofmt', ['-e', '-l', ...files.go]), '', 'gofmt changes programs');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

// --- Main ---------------------------------------------------------------------------------------

const chosen = process.argv.slice(2);
const names = chosen.length > 0 ? chosen : Object.keys(tests);
for (const name of names) {
  const begin = Date.now();
  console.log(`${name}`);
  await tests[name]();
  console.log(`  passed in ${((Date.now() - begin) / 1000).toFixed(1)} s`);
}
process.exit(0);
