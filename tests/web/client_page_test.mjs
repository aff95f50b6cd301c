// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does the page of client/examples/prediction need no correction in 10,000 ticks, in Chromium, with doors that move and
// answers that are 150 ms late? Keeps a screenshot, prediction.png.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { caromd, unusedPort } from './servers.mjs';

const TICKS = 10_000;
const SPEED = process.env.CAROM_LONG === '1' ? 1 : 10; // times the game's own
const KEPT_MS = 600_000; // no input is too late, however slow the machine is
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

test('no tick is corrected', { timeout: 400_000 }, async (t) => {
  const port = await unusedPort();
  const origin = `http://127.0.0.1:${port}`;
  const server = await caromd(t, '--http-allowed-origins', origin);
  const program = fileURLToPath(new URL('prediction/server.mjs', import.meta.url));
  const game = spawn(process.execPath, [program, server.address, server.url, port, KEPT_MS].map(String), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => game.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    game.stdout.once('data', resolve);
    game.once('exit', (code) => reject(new Error(`the game's server ends with ${code}`)));
  });

  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1080, height: 900 } });
  const problems = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(`${origin}/?bot&speed=${SPEED}&ticks=${TICKS}`);
  await page.waitForFunction((ticks) => globalThis.counts?.confirmed > ticks / 4, TICKS, { timeout: 120_000 });
  await page.screenshot({ path: 'prediction.png' });
  await page.waitForFunction((ticks) => globalThis.counts?.confirmed >= ticks, TICKS, { timeout: 240_000 });
  await page.waitForTimeout(500);
  const counts = await page.evaluate(() => globalThis.counts);
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(problems, []);
  assert.equal(counts.tick, TICKS);
  assert.equal(counts.confirmed, TICKS);
  assert.equal(counts.corrections, 0);
  assert.equal(counts.different, 0);
  assert.ok(counts.equal > TICKS / 40, `${counts.equal} questions are compared`);
  assert.ok(counts.hits > TICKS / 50, `${counts.hits} shots hit`);
});
