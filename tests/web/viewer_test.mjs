// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The page in Chromium: answers, pixels, edits, faults. Arguments choose tests by their names; without arguments all run.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertColumns, asEval, assertPart } from './viewer_answers.mjs';
import { call, random, shots, Stage } from './viewer_kit.mjs';
import { readPng } from './viewer_pixels.mjs';
import { built, load, root, runCarom, Server } from './viewer_processes.mjs';
import { servePage } from './viewer_server.mjs';

const arena = join(root, 'client/examples/arena.json');
const QUESTIONS = Number(process.env.CAROM_VIEWER_QUESTIONS ?? 200);
const tests = {};

/** Waits until a condition holds. */
async function until(what, condition) {
  for (const end = Date.now() + 10_000; !(await condition()); await sleep(50)) assert.ok(Date.now() < end, what);
}

// --- Answers ------------------------------------------------------------------------------------

/** How many points each tool has. */
const POINTS = {
  point: 1, bullet: 2, ray: 2, arc: 2, fan: 2, sight: 2, circle: 2, capsule: 3, box: 2, polygon: 4, nearest: 2, contact: 2,
  sweep: 3, slide: 3,
}; // prettier-ignore

/** Options of a random question. */
function optionsOf(tool, next) {
  const pick = (...words) => words[Math.floor(next() * words.length)];
  const shape = pick('disc', 'box', 'triangle', 'hexagon');
  if (tool === 'bullet') return { insidePolicy: pick('report_start', 'ignore', 'exit') };
  if (tool === 'ray') return { maxBounces: 1 + Math.floor(next() * 16) };
  if (tool === 'arc') return { fall: next() * 2, duration: next() * 6, mode: pick('all', 'closest') };
  if (tool === 'fan') return { beams: 1 + Math.floor(next() * 64), degrees: next() * 360 };
  if (tool === 'nearest') return { shape: pick('box', 'triangle', 'hexagon') };
  if (tool === 'contact') return { shape: pick('box', 'triangle') };
  if (tool === 'sweep') return { shape, insidePolicy: pick('blocking', 'blocking_leave', 'report_start', 'ignore', 'exit') };
  if (tool === 'slide') return { shape, maxContacts: 1 + Math.floor(next() * 8) };
  return {};
}

/** Points of a random question: on a lattice of halves every other time, so that points meet vertices and edges. */
function pointsOf(tool, next) {
  const isLattice = next() < 0.5;
  const place = (x) => (isLattice ? Math.round(x * 2) / 2 : x);
  const first = { x: place(next() * 400), y: place(next() * 300) };
  const near = ['circle', 'nearest', 'contact', 'sweep', 'slide'].includes(tool);
  return Array.from({ length: POINTS[tool] }, (_, i) => {
    if (i === 0) return first;
    if (near && i === 1) return { x: first.x + place(1 + next() * 20), y: first.y + place(next() * 20) };
    if (tool === 'capsule' && i === 2) return { x: first.x, y: first.y + place(next() * 20) };
    return { x: place(next() * 400), y: place(next() * 300) };
  });
}

tests.answers = async () => {
  const stage = await Stage.open({ scenes: { 'scenes/arena': arena } });
  try {
    const tab = await stage.tab('#scene=scenes/arena');
    await stage.settled(tab);
    assert.equal(await tab.evaluate(() => window.carom.core()), 'ready');
    const { polygons } = JSON.parse(readFileSync(arena, 'utf8'));
    for (const [seed, tool] of Object.keys(POINTS).entries()) {
      const next = random(1000 + seed);
      const questions = Array.from({ length: QUESTIONS }, () => [pointsOf(tool, next), optionsOf(tool, next)]);
      const asked = await tab.evaluate(
        async ([id, list]) => {
          const plain = (value) => JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each)));
          const made = [];
          for (const [points, options] of list) made.push(plain(await window.carom.ask(id, points, options)));
          return made;
        },
        [tool, questions],
      );
      const withLines = asked.filter(({ line }) => line !== null);
      const input = [{ op: 'scene', polygons }, ...withLines.map(({ line }) => line)].map((line) => JSON.stringify(line));
      const lines = withLines.length > 0 ? runCarom(['eval'], `${input.join('\n')}\n`).trim().split('\n') : [];
      if (lines.length > withLines.length) lines.shift();
      withLines.forEach(({ kind, line, answer }, i) => {
        const expected = JSON.parse(lines[i]);
        const why = `${tool}: ${JSON.stringify(line)}`;
        if (answer.error || expected.error) assert.ok(answer.error && expected.error, `${why}: ${lines[i]}`);
        else assertPart(asEval(kind, answer.columns), expected, why);
      });
      const others = asked.filter(({ line }) => line === null);
      const groups = others.map(({ group }) => ({ scene: 'scenes/arena', ...group }));
      const { answer } = groups.length > 0 ? await call(stage.server, 'QueryService/Evaluate', { frame: { groups } }) : {};
      others.forEach(({ kind, group, answer: made }, i) => {
        if (!made.error) assertColumns(kind, made.columns, answer.groups[i], `${tool}: ${JSON.stringify(group)}`);
      });
      console.log(`  ${tool}: ${withLines.length} as carom eval, ${others.length} as Evaluate`);
    }
    await tab.waitForFunction(() => !window.carom.agreement().waiting, null, { timeout: 20000 });
    const { same, different } = await tab.evaluate(() => window.carom.agreement());
    assert.equal(different, 0);
    assert.ok(same > 0);
    await stage.check(tab);
  } finally {
    await stage.close();
  }
};

// --- Pixels -------------------------------------------------------------------------------------

const square = (x, y, size) => [[x, y], [x + size, y], [x + size, y + size], [x, y + size]]; // prettier-ignore
const star = (x, y) => [0, 1, 2, 3, 4].map((k) => [x + 10 * Math.sin(k * 144 * (Math.PI / 180)), y + 10 * Math.cos(k * 144 * (Math.PI / 180))]);

tests.pixels = async () => {
  const stage = await Stage.open();
  try {
    const file = join(stage.server.scratch, 'shapes.json');
    const polygons = [
      { id: 1, rings: [square(0, 0, 20), square(6, 6, 8)] },
      { id: 2, rings: [square(30, 0, 20)], solidity: 'boundary', category: 2 },
      { id: 3, rings: [{ points: [[60, 0], [80, 0], [80, 20]], open: true }], solidity: 'boundary', category: 4 },
      { id: 4, rings: [star(10, 40)] },
      { id: 5, rings: [star(40, 40)], fill: 'nonzero' },
    ]; // prettier-ignore
    writeFileSync(file, JSON.stringify({ id: 'shapes', polygons }));
    stage.server.carom(['scene', 'import', 'scenes/shapes', file]);
    for (const colorScheme of ['light', 'dark']) {
      const tab = await stage.tab('#scene=scenes/shapes', { colorScheme });
      await stage.settled(tab);
      await tab.evaluate(() => window.carom.setView(25, 25, 6));
      await tab.waitForTimeout(400);
      await stage.settled(tab);
      const png = readPng(await tab.screenshot());
      const colour = async (x, y) => {
        const point = await stage.at(tab, x, y);
        return png.at(Math.round(point.x), Math.round(point.y));
      };
      const ground = await colour(56.5, 33.5);
      const is = async (x, y, filled, what) => {
        const made = await colour(x, y);
        const far = Math.max(...made.map((value, i) => Math.abs(value - ground[i])));
        assert.equal(far > 24, filled, `${what} at (${x}, ${y}) is ${made}, the ground ${ground}`);
      };
      await is(3.3, 3.3, true, 'solid');
      await is(10.5, 10.5, false, 'a hole');
      await is(0, 11.3, true, 'an edge');
      await is(41.3, 11.3, false, 'the inside of a hollow polygon');
      await is(30, 11.3, true, 'the edge of a hollow polygon');
      await is(71.3, 0, true, 'an open chain');
      await is(70.4, 10.4, false, 'between the ends of an open chain');
      await is(10, 40.4, false, 'the middle of an even-odd star');
      await is(40, 40.4, true, 'the middle of a non-zero star');
      await is(10, 47.3, true, 'the tip of a star');
      await tab.getByLabel('2', { exact: false }).first().waitFor();
      await tab.locator('.legend input').nth(1).uncheck();
      const edge = await stage.at(tab, 30, 11.3);
      await until('a hidden category is drawn', async () => {
        const hidden = readPng(await tab.screenshot()).at(Math.round(edge.x), Math.round(edge.y));
        return Math.max(...hidden.map((value, i) => Math.abs(value - ground[i]))) < 24;
      });
      await stage.check(tab);
      await tab.context().close();
    }
  } finally {
    await stage.close();
  }
};

// --- Unusual scenes -----------------------------------------------------------------------------

tests.unusual = async () => {
  const stage = await Stage.open();
  try {
    await call(stage.server, 'SceneService/CreateScene', { name: 'scenes/empty' });
    const far = 2 ** 53;
    const ring = (x, y, size) => ({ x: [x, x + size, x + size, x], y: [y, y, y + size, y + size] });
    const markup = Buffer.from('<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>').toString('base64');
    await call(stage.server, 'SceneService/CreateScene', {
      name: 'scenes/extremes',
      polygons: [
        { id: '18446744073709551615', rings: [ring(-far, -far, far / 4)], userData: markup },
        { id: 2, rings: [ring(0, 0, 1e-30)] },
        { id: 3, rings: [ring(far - 8, far - 8, 8)] },
      ],
    });
    const tab = await stage.tab('#scene=scenes/empty');
    await stage.settled(tab);
    assert.match(await tab.textContent('#empty'), /No polygons/);
    await tab.locator('[data-scene="scenes/extremes"]').click();
    await tab.waitForFunction(() => /extremes/.test(document.querySelector('#scene-name')?.textContent ?? ''));
    await stage.settled(tab);
    // The small square fills a fifth of the screen; its sides are where exact arithmetic places them.
    await tab.evaluate(() => window.carom.setView(0.5e-30, 0.5e-30, 200 / 1e-30));
    await tab.waitForTimeout(500);
    await stage.settled(tab);
    const png = readPng(await tab.screenshot());
    const box = await tab.locator('#map').boundingBox();
    const [cx, cy] = [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
    const differ = (a, b) => a.some((value, i) => Math.abs(value - b[i]) > 24);
    assert.ok(differ(png.at(cx + 93, cy + 13), png.at(cx + 113, cy + 13)), 'the right side is at 100 pixels');
    assert.ok(!differ(png.at(cx + 93, cy + 13), png.at(cx - 93, cy + 13)), 'the square is filled');
    await tab.evaluate((x) => window.carom.setView(x - 4, x - 4, 20), far);
    await tab.waitForTimeout(500);
    await stage.settled(tab);
    const large = readPng(await tab.screenshot());
    assert.ok(differ(large.at(cx + 73, cy + 13), large.at(cx + 93, cy + 13)), 'the side at 2^53 is at 80 pixels');
    // Ids and user data are text.
    await tab.evaluate((x) => window.carom.setView(-x, -x, 1e-13), far * 0.9);
    await tab.mouse.click(cx, cy);
    await tab.waitForSelector('#chosen');
    const text = await tab.textContent('#chosen');
    assert.match(text, /18446744073709551615/);
    assert.match(text, /<img src=x onerror=/);
    assert.equal(await tab.evaluate(() => window.hacked), undefined);
    assert.equal(await tab.locator('#chosen img, #chosen script').count(), 0);
    await tab.goto(`${stage.page.address}/#scene=scenes/%3Cimg%20src=x%20onerror=alert(1)%3E&at=1,2,3&q=NaN&o=[[&v=9e9`);
    await tab.reload();
    await tab.waitForSelector('#notice');
    assert.equal(await tab.locator('#notice img').count(), 0);
    stage.faults = stage.faults.filter((fault) => !/status of 40[04]/.test(fault));
    await stage.check(tab);
  } finally {
    await stage.close();
  }
};

// --- Edits --------------------------------------------------------------------------------------

/** Opens the polygon at a point for an edit. */
async function startEdit(stage, tab, at) {
  await tab.locator('[data-tool=edit]').click();
  const point = await stage.at(tab, ...at);
  await tab.mouse.click(point.x, point.y);
  await tab.waitForSelector('#delete-polygon');
}

tests.edits = async () => {
  const stage = await Stage.open();
  try {
    await call(stage.server, 'SceneService/CreateScene', {
      name: 'scenes/map',
      polygons: [1, 2].map((id) => ({ id, rings: [{ x: [0, 10, 10, 0].map((x) => x + 20 * id), y: [0, 0, 10, 10] }] })),
    });
    const [one, two] = [await stage.tab('#scene=scenes/map'), await stage.tab('#scene=scenes/map')];
    await stage.settled(one);
    await stage.settled(two);
    for (const tab of [one, two]) await tab.evaluate(() => window.carom.setView(40, 5, 12));
    await startEdit(stage, one, [24, 4]);
    await stage.drag(one, [30, 10], [33, 14]);
    await one.locator('#undo').click();
    await one.locator('#redo').click();
    await one.locator('#commit').click();
    // The commit arrives in the other tab.
    await two.waitForFunction(() => window.carom.version() > 1n, null, { timeout: 10000 });
    const exported = async () => (await call(stage.server, 'QueryService/Evaluate', {
      frame: { groups: [{ scene: 'scenes/map', points: { x: [32], y: [13] } }] },
    })).answer.groups[0].points.polygonId ?? []; // prettier-ignore
    assert.deepEqual(await exported(), ['1']);
    // Both edit one polygon; the second commit is refused, and shows both sides.
    await one.waitForFunction(() => document.querySelector('#commit')?.disabled);
    await startEdit(stage, one, [44, 4]);
    await startEdit(stage, two, [44, 4]);
    await stage.drag(one, [50, 10], [53, 12]);
    await stage.drag(two, [50, 10], [54, 16]);
    await one.locator('#commit').click();
    await one.waitForFunction(() => document.querySelector('#commit')?.disabled);
    await two.waitForSelector('#conflict');
    assert.match(await two.textContent('#conflict'), /polygon 2: changed here, changed there/);
    await two.screenshot({ path: join(shots, 'conflict-light.png') });
    await two.locator('#commit').click();
    await two.waitForFunction(() => /Another version was made first/.test(document.querySelector('#conflict')?.textContent ?? ''));
    await two.getByRole('button', { name: /Commit mine on version/ }).click();
    await two.waitForFunction(() => document.querySelector('#commit')?.disabled);
    // Draws a polygon by keys alone, and deletes it.
    await two.locator('#draw-polygon').click();
    await two.locator('#map').focus();
    for (const [x, y] of [[40, 20], [46, 20], [46, 26]]) {
      await two.evaluate(([px, py]) => window.carom.setView(px, py, 12), [x, y]);
      await two.keyboard.press('Space');
    }
    await two.keyboard.press('Enter');
    await two.waitForSelector('#delete-polygon');
    await two.keyboard.press('Control+z');
    await two.keyboard.press('Control+y');
    await two.locator('#commit').click();
    await one.waitForFunction(() => /3 polygons/.test(document.querySelector('#sizes').textContent), null, { timeout: 10000 });
    // History: the first version, and back.
    await one.locator('#tab-history').click();
    await one.waitForFunction(() => Number(document.querySelector('#versions')?.max) >= 3);
    await one.locator('#versions').evaluate((input) => {
      input.value = '0';
      input.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await one.waitForFunction(() => /pinned/.test(document.querySelector('#scene-version').textContent));
    await one.locator('#roll-back').click();
    await two.waitForFunction(() => /2 polygons/.test(document.querySelector('#sizes').textContent), null, { timeout: 10000 });
    assert.deepEqual(await exported(), []);
    await one.locator('#fork-name').fill('scenes/trial');
    await one.locator('#fork').click();
    await one.waitForFunction(() => /trial/.test(document.querySelector('#scene-name').textContent));
    stage.faults = stage.faults.filter((fault) => !/status of 409/.test(fault));
    await stage.check(one, two);
  } finally {
    await stage.close();
  }
};

// --- The server goes and comes -------------------------------------------------------------------

tests.restart = async () => {
  const stage = await Stage.open({ scenes: { 'scenes/arena': arena } });
  try {
    const tab = await stage.tab('#scene=scenes/arena', { expected: /Failed to load|net::|status of 50/ });
    await stage.settled(tab);
    const { grpc, http } = stage.server;
    await stage.server.stop('SIGKILL');
    await tab.waitForSelector('#notice[data-kind=no_server]', { timeout: 15000 });
    // The page still answers.
    const { answer } = await tab.evaluate(async () => {
      const made = await window.carom.ask('sight', [{ x: 60, y: 60 }, { x: 300, y: 200 }]);
      return { answer: made.answer.columns.visible };
    });
    assert.equal(answer.length, 1);
    stage.server = await Server.start([], { grpc, http });
    stage.server.carom(['scene', 'import', 'scenes/arena', arena]);
    await tab.waitForSelector('#notice', { state: 'detached', timeout: 30000 });
    await tab.waitForFunction(() => document.querySelector('#connection.good'));
    await stage.check(tab);
    // A scene that is deleted.
    await call(stage.server, 'SceneService/DeleteScene', { name: 'scenes/arena' });
    await tab.waitForSelector('#notice[data-kind=gone]', { timeout: 15000 });
  } finally {
    await stage.close();
  }
};

tests.token = async () => {
  const { createHash } = await import('node:crypto');
  const { mkdtempSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const folder = mkdtempSync(join(tmpdir(), 'carom-viewer-'));
  const token = 'a-token-of-the-test-with-enough-letters';
  const file = join(folder, 'credentials');
  writeFileSync(file, `token ${createHash('sha256').update(token).digest('hex')} test writer\n`, { mode: 0o600 });
  const stage = await Stage.open({ args: ['--credentials', file] });
  try {
    const tab = await stage.tab('', { expected: /status of 401/ });
    await tab.waitForSelector('#notice[data-kind=no_right]');
    await tab.locator('#token').fill(token);
    await tab.getByRole('button', { name: 'Use the token' }).click();
    await tab.waitForSelector('#empty', { timeout: 10000 });
    const kept = await tab.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
    assert.ok(!kept.includes(token), 'the token is stored');
    assert.ok(!(await tab.evaluate(() => location.href)).includes(token));
    await stage.check(tab);
  } finally {
    await stage.close();
  }
};

// --- Access -------------------------------------------------------------------------------------

const VIEWS = {
  scenes: async () => undefined,
  ask: async (tab) => tab.locator('[data-tool=bullet]').click(),
  why: async (tab) => tab.locator('#tab-why').click(),
  findings: async (tab) => tab.locator('[data-tool=lint]').click(),
  edit: async (tab) => tab.locator('[data-tool=edit]').click(),
  history: async (tab) => tab.locator('#tab-history').click(),
  record: async (tab) => tab.locator('#tab-record').click(),
  server: async (tab) => tab.locator('#tab-server').click(),
  help: async (tab) => tab.keyboard.press('?'),
};

tests.access = async () => {
  const stage = await Stage.open({ scenes: { 'scenes/arena': arena } });
  const axe = load.resolve('axe-core/axe.min.js');
  try {
    for (const colorScheme of ['light', 'dark']) {
      const tab = await stage.tab('#scene=scenes/arena', { colorScheme, expected: /status of (400|501|404)/ });
      await stage.settled(tab);
      await tab.evaluate(readFileSync(axe, 'utf8'));
      for (const [name, open] of Object.entries(VIEWS)) {
        await open(tab);
        await tab.waitForTimeout(600);
        await tab.screenshot({ path: join(shots, `${name}-${colorScheme}.png`) });
        const found = await tab.evaluate(async () => {
          const { violations } = await window.axe.run(document);
          return violations
            .filter(({ impact }) => ['serious', 'critical'].includes(impact))
            .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3).join(' ')}`);
        });
        assert.deepEqual(found, [], `${name}, ${colorScheme}`);
      }
      await stage.check(tab);
      await tab.context().close();
    }
    // Keys alone: a tool, its second point, and the answer to it.
    const tab = await stage.tab('#scene=scenes/arena');
    await stage.settled(tab);
    await tab.keyboard.press('6');
    await tab.keyboard.press('m');
    await tab.keyboard.press('Enter');
    await tab.keyboard.press('Enter');
    const before = await tab.evaluate(() => location.hash);
    for (let i = 0; i < 5; ++i) await tab.keyboard.press('Shift+ArrowLeft');
    await tab.waitForFunction((old) => location.hash !== old && /tool=sight/.test(location.hash), before);
    assert.match(await tab.textContent('#answer'), /Visible|Blocked/);
    // A link shows what the sender sees.
    let [link, previous] = [await tab.evaluate(() => location.href), ''];
    for (; link !== previous; [link, previous] = [await tab.evaluate(() => location.href), link]) await sleep(600);
    const other = await stage.tab(new URL(link).hash);
    await stage.settled(other);
    assert.equal(await other.textContent('#code'), await tab.textContent('#code'));
    // On a tablet.
    const tablet = await stage.tab('#scene=scenes/arena', { width: 1024, height: 768, hasTouch: true });
    await stage.settled(tablet);
    await tablet.screenshot({ path: join(shots, 'tablet-light.png') });
    const size = await tablet.locator('#map').boundingBox();
    assert.ok(size.width > 600 && size.height > 600);
    await stage.check(tab, other, tablet);
  } finally {
    await stage.close();
  }
};

// --- Why ----------------------------------------------------------------------------------------

tests.why = async () => {
  const stage = await Stage.open({ scenes: { 'scenes/arena': arena } });
  try {
    const tab = await stage.tab('#scene=scenes/arena&panel=why');
    await stage.settled(tab);
    const hits = await tab.evaluate(async () => {
      const made = await window.carom.ask('bullet', [{ x: 100, y: 128 }, { x: 300, y: 176 }]);
      return [...new Set(made.answer.columns.polygonId.map(String))].sort();
    });
    await tab.waitForFunction((n) => document.querySelectorAll('.candidate.kept').length === n, hits.length);
    const kept = await tab.locator('.candidate.kept summary').evaluateAll((list) => list.map((each) => each.dataset.candidate).sort());
    assert.deepEqual(kept, hits);
    // What one points at is marked on the map.
    const point = await stage.at(tab, 200, 178);
    const colour = async () => readPng(await tab.screenshot()).at(Math.round(point.x), Math.round(point.y));
    const before = await colour();
    await tab.locator('[data-candidate="2"]').hover();
    await until('the candidate is not marked', async () => String(await colour()) !== String(before));
    // A tracker that is dragged: what it remembers, and how its moves were answered.
    for (let i = 0; i < 40; ++i) {
      await tab.evaluate((x) => window.carom.ask('tracker', [{ x, y: 190 }, { x: x + 5, y: 192 }]).then(() => undefined), 70 + i / 4);
      await tab.waitForTimeout(15);
    }
    await tab.waitForFunction(() => /\d/.test(document.querySelector('#neighbors')?.textContent ?? ''));
    const tiers = await tab.textContent('.tiers figcaption');
    const [quiet, near, refresh, cold] = [...tiers.matchAll(/: (\d+)/g)].map(([, count]) => Number(count));
    assert.ok(quiet + near > refresh + cold, tiers);
    await stage.check(tab);
  } finally {
    await stage.close();
  }
};

// --- Findings -----------------------------------------------------------------------------------

tests.findings = async () => {
  const stage = await Stage.open();
  try {
    const ring = (x, y) => ({ x, y });
    await call(stage.server, 'SceneService/CreateScene', {
      name: 'scenes/faults',
      polygons: [
        // A room with a door of 2, and a figure eight.
        { id: 1, rings: [ring([0, 40, 40, 0, 0, 38, 38, 2, 2, 0], [0, 0, 40, 40, 38, 38, 2, 2, 18, 18])] },
        { id: 2, rings: [ring([60, 80, 60, 80], [0, 20, 20, 0])] },
        // A vertex twice.
        { id: 3, rings: [ring([60, 80, 80, 80, 60], [30, 30, 50, 50, 50])] },
      ],
    });
    const tab = await stage.tab('#scene=scenes/faults&panel=findings');
    await stage.settled(tab);
    await tab.evaluate(() => window.carom.ask('lint', [{ x: 100, y: 20 }, { x: 102, y: 20 }]).then(() => undefined));
    await tab.waitForFunction(() => /Crossing, polygon 2/.test(document.querySelector('#findings')?.textContent ?? ''));
    await tab.locator('#finding-next').click();
    await tab.waitForSelector('#finding');
    await tab.getByRole('button', { name: /Duplicate vertex, polygon 3/ }).click();
    await tab.locator('#repair').click();
    await tab.waitForFunction(() => document.querySelector('#commit')?.disabled === false);
    await tab.locator('#commit').click();
    await tab.waitForFunction(() => window.carom.version() > 1n);
    await tab.locator('#tab-findings').click();
    await tab.waitForFunction(() => {
      const text = document.querySelector('#findings')?.textContent ?? '';
      return /Crossing/.test(text) && !/Duplicate vertex/.test(text);
    });
    await stage.check(tab);
  } finally {
    await stage.close();
  }
};

// --- A file without a server --------------------------------------------------------------------

tests.file = async () => {
  const stage = await Stage.open();
  const folder = stage.server.scratch;
  const bundle = join(folder, 'arena.carom');
  runCarom(['bundle', arena, '-o', bundle]);
  const skipped = [{ what: '<b>layer</b>', why: 'no polygons', option: '--layer' }];
  const served = await servePage(built, null, readFileSync(bundle), JSON.stringify({ mapping: { format: 'tmx' }, skipped }));
  const own = stage.page.address;
  try {
    stage.page.address = served.address;
    const tab = await stage.tab('?local=%3Cb%3Earena.json');
    await stage.settled(tab);
    assert.equal(await tab.textContent('#scene-name'), '<b>arena.json');
    assert.match(await tab.textContent('#sizes'), /82 polygons, 776 vertices/);
    const visible = await tab.evaluate(async () => {
      const made = await window.carom.ask('sight', [{ x: 60, y: 60 }, { x: 300, y: 200 }]);
      return made.answer.columns.visible[0];
    });
    assert.equal(visible, 0);
    assert.match(await tab.textContent('.top-bar'), /File, no server/);
    await tab.locator('#tab-scenes').click();
    assert.match(await tab.textContent('#open-scene'), /Formattmx/);
    assert.match(await tab.textContent('#skipped'), /<b>layer<\/b>no polygons; see --layer/);
    await stage.check(tab);
  } finally {
    stage.page.address = own;
    await served.close();
    await stage.close();
  }
};

// --- Mouse and fingers --------------------------------------------------------------------------

tests.input = async () => {
  const stage = await Stage.open({ scenes: { 'scenes/arena': arena } });
  try {
    const tab = await stage.tab('#scene=scenes/arena', { hasTouch: true });
    await stage.settled(tab);
    const box = await tab.locator('#map').boundingBox();
    const apart = async () => {
      const [a, b] = [await stage.at(tab, 100, 100), await stage.at(tab, 101, 100)];
      return b.x - a.x;
    };
    // The wheel keeps the point below the mouse.
    const corner = await stage.at(tab, 120, 180);
    const first = await apart();
    await tab.mouse.move(corner.x, corner.y);
    await tab.mouse.wheel(0, -300);
    await tab.waitForFunction((before) => window.carom.toScreen(101, 100).x - window.carom.toScreen(100, 100).x > before, first);
    const after = await stage.at(tab, 120, 180);
    // Events of the wheel have whole pixels.
    assert.ok(Math.abs(after.x - corner.x) < 1 && Math.abs(after.y - corner.y) < 1);
    // Two fingers that move from 100 to 200 pixels apart double the scale.
    const second = await apart();
    const cdp = await tab.context().newCDPSession(tab);
    const touch = (type, xs) =>
      cdp.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x: box.x + x, y: box.y + 300, id })) });
    await touch('touchStart', [300]);
    await touch('touchStart', [300, 400]);
    for (let i = 1; i <= 10; ++i) await touch('touchMove', [300 - 5 * i, 400 + 5 * i]);
    await touch('touchEnd', []);
    assert.ok(Math.abs((await apart()) / second - 2) < 1e-6, `${await apart()} and ${second}`);
    // A tool's point follows the mouse, and the answer follows the point.
    await tab.locator('[data-tool=sight]').click();
    await tab.evaluate(() => window.carom.setView(200, 150, 1.8));
    await tab.evaluate(() => window.carom.ask('sight', [{ x: 165, y: 112 }, { x: 235, y: 112 }]).then(() => undefined));
    assert.match(await tab.textContent('#answer'), /Visible/);
    await stage.drag(tab, [235, 112], [235, 175]);
    await tab.waitForFunction(() => /Blocked/.test(document.querySelector('#answer').textContent));
    // A click chooses a polygon.
    await tab.keyboard.press('Escape');
    const hub = await stage.at(tab, 200, 165);
    await tab.locator('#tab-scenes').click();
    await tab.mouse.click(hub.x + 20, hub.y);
    await tab.waitForFunction(() => /Polygon 2/.test(document.querySelector('#chosen')?.textContent ?? ''));
    await tab.getByRole('button', { name: 'Copy as a JSON line' }).click();
    const line = JSON.parse(await tab.evaluate(() => navigator.clipboard.readText()));
    assert.equal(line.id, 2);
    assert.ok(line.rings.length > 2);
    await stage.check(tab);
  } finally {
    await stage.close();
  }
};

// --- Watching -----------------------------------------------------------------------------------

tests.watch = async () => {
  const commits = Number(process.env.CAROM_VIEWER_COMMITS ?? 60);
  const stage = await Stage.open({ scenes: { 'scenes/arena': arena } });
  try {
    const tab = await stage.tab('#scene=scenes/arena&tool=point&q=203,40&panel=server', { expected: /status of 404/ });
    await stage.settled(tab);
    for (let i = 0; i < commits; ++i) {
      const x = [200, 210, 210, 200].map((value) => value + (i % 7));
      const polygon = { id: '9999', rings: [{ x, y: [36, 36, 46, 46] }] };
      const edit = i === 0 ? { add: polygon } : i === commits - 1 ? { remove: '9999' } : { replace: polygon };
      await call(stage.server, 'SceneService/CommitEdits', { name: 'scenes/arena', edits: [edit] });
    }
    await tab.waitForFunction((n) => Number(document.querySelector('#watch-count')?.textContent) >= n, commits, { timeout: 60000 });
    await tab.waitForFunction(() => !window.carom.agreement().waiting);
    assert.equal((await tab.evaluate(() => window.carom.agreement())).different, 0);
    assert.match(await tab.textContent('#sizes'), /82 polygons/);
    await stage.check(tab);
  } finally {
    await stage.close();
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
