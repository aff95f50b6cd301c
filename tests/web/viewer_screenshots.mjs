// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Makes the pictures of docs/viewer.md in the folder that is named, or those that are named after it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, Stage } from './viewer_kit.mjs';
import { readPng, writePng } from './viewer_pixels.mjs';
import { root } from './viewer_processes.mjs';

const MOST_BYTES = 150 * 1024;
const [folder, ...chosen] = process.argv.slice(2);
// The arena with categories, so that the pictures have colours: walls, what is hollow, and the rest by size.
const { id, polygons } = JSON.parse(readFileSync(join(root, 'client/examples/arena.json'), 'utf8'));
const categoryOf = ({ rings, solidity }) => (rings.length > 2 ? 8 : solidity ? 2 : (rings[0].points ?? rings[0]).length > 8 ? 1 : 4);
const arena = join(tmpdir(), `carom-arena-${process.pid}.json`);
const coloured = polygons.map((polygon, i) => ({ ...polygon, category: i === 0 ? 1 : categoryOf(polygon) }));
writeFileSync(arena, JSON.stringify({ id, polygons: coloured }));

const ask = (tab, id, points, options = {}) =>
  tab.evaluate(([tool, list, given]) => window.carom.ask(tool, list, given).then(() => undefined), [id, points, options]);

let records = '';
const pictures = {
  ask: {
    async draw(tab) {
      await tab.locator('#tab-ask').click();
      await ask(tab, 'bullet', [{ x: 62, y: 112 }, { x: 338, y: 188 }]);
    },
  },
  slide: {
    colorScheme: 'dark',
    async draw(tab) {
      await tab.locator('#tab-ask').click();
      await tab.evaluate(() => window.carom.setView(84, 222, 6));
      await ask(tab, 'slide', [{ x: 50, y: 229 }, { x: 54, y: 232 }, { x: 112, y: 192 }], { shape: 'disc', skin: 0.25 });
    },
  },
  why: {
    async draw(tab) {
      await tab.evaluate(() => window.carom.setView(200, 150, 3));
      await ask(tab, 'bullet', [{ x: 100, y: 128 }, { x: 300, y: 176 }]);
      await tab.locator('#tab-why').click();
      await tab.locator('#explanation .candidate.kept summary').nth(1).click({ timeout: 15000 });
    },
  },
  tracker: {
    colorScheme: 'dark',
    async draw(tab) {
      await tab.locator('#tab-why').click();
      await tab.evaluate(() => window.carom.setView(110, 180, 4.4));
      for (let i = 0; i <= 90; ++i) {
        const x = 70 + i * 0.7 + 4 * Math.sin(i / 6);
        const y = 190 - 14 * Math.sin(i / 14);
        await ask(tab, 'tracker', [{ x, y }, { x: x + 5, y: y + 2 }]);
        await tab.waitForTimeout(25);
      }
      await tab.waitForSelector('#neighbors', { timeout: 15000 });
    },
  },
  findings: {
    async draw(tab) {
      await tab.locator('#tab-findings').click();
      await ask(tab, 'lint', [{ x: 200, y: 200 }, { x: 204.5, y: 200 }]);
      await tab.locator('#findings li').first().waitFor({ timeout: 20000 });
      await tab.locator('#finding-next').click();
      await tab.evaluate(() => document.getElementById('fit').click());
    },
  },
  history: {
    colorScheme: 'dark',
    async draw(tab, stage) {
      const moved = (x, y) => ({ x: [0, 14, 14, 0].map((each) => each + x), y: [0, 0, 14, 14].map((each) => each + y) });
      const replace = (id, x, y) => ({ replace: { id, rings: [moved(x, y)] } });
      const edits = [replace(20, 60, 100), replace(21, 320, 90), { remove: 30 }, { remove: 31 }, { add: { id: 900, rings: [moved(193, 210)] } }];
      await call(stage.server, 'SceneService/CommitEdits', { name: 'scenes/arena', edits });
      await tab.waitForFunction(() => window.carom.version() > 1n);
      await tab.locator('#tab-history').click();
      await tab.waitForFunction(() => Number(document.querySelector('#versions')?.max) >= 1);
      await tab.locator('#versions').evaluate((input) => {
        input.value = '0';
        input.dispatchEvent(new Event('change', { bubbles: true }));
      });
      await tab.getByRole('button', { name: 'Compare with it' }).click();
      await tab.waitForSelector('#difference');
      await stage.settled(tab);
    },
  },
  record: {
    async draw(tab, stage) {
      const svg = join(stage.server.scratch, 'match.svg');
      stage.server.carom(['demo', 'match', '--map', arena, '--ticks', '240', '--bots', '12', '--svg', svg]);
      await tab.waitForTimeout(800); // the server writes the end of the recording
      await tab.keyboard.press('r');
      const name = readdirSync(records).find((each) => each.endsWith('.carec'));
      await tab.locator('#record-file').setInputFiles({ name: 'match.carec', mimeType: '', buffer: readFileSync(join(records, name)) });
      await tab.waitForSelector('#tick[data-index="0"]');
      await tab.locator('#ticks').evaluate((input) => {
        input.value = '180';
        input.dispatchEvent(new Event('input', { bubbles: true }));
      });
      await tab.waitForSelector('#tick[data-index="180"]');
      await tab.locator('#compare').click();
      await tab.waitForSelector('#comparison', { timeout: 60000 });
      await tab.evaluate(() => document.getElementById('fit').click());
    },
  },
};

mkdirSync(folder, { recursive: true });
for (const [name, { colorScheme = 'light', draw }] of Object.entries(pictures)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  records = mkdtempSync(join(tmpdir(), 'carom-records-'));
  const stage = await Stage.open({ args: ['--record', records], scenes: { 'scenes/arena': arena } });
  try {
    const tab = await stage.tab('#scene=scenes/arena', { colorScheme });
    await stage.settled(tab);
    await draw(tab, stage);
    await tab.waitForTimeout(900);
    const bytes = writePng(readPng(await tab.screenshot()));
    if (bytes.length > MOST_BYTES) throw new Error(`${name} has ${bytes.length} bytes`);
    writeFileSync(join(folder, `${name}.png`), bytes);
    console.log(`${name}.png: ${bytes.length} bytes`);
  } finally {
    await stage.close();
    rmSync(records, { recursive: true, force: true });
  }
}
process.exit(0);
