// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Recordings in the page: a stream that caromd recorded is opened, played and compared, and a bit that was changed is found.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shots, Stage } from './viewer_kit.mjs';
import { readPng } from './viewer_pixels.mjs';
import { load } from './viewer_processes.mjs';
import { playWall, TICKS } from './viewer_recording.mjs';

const HIT = { light: [208, 40, 28], dark: [255, 107, 94] };
const changedTick = 7;

/** Whether a pixel within 3 of a point of the scene has a colour. */
async function hasColour(stage, tab, x, y, colour) {
  const { at } = readPng(await tab.screenshot());
  const place = await stage.at(tab, x, y);
  for (let dx = -3; dx <= 3; ++dx) {
    for (let dy = -3; dy <= 3; ++dy) {
      const found = at(Math.round(place.x) + dx, Math.round(place.y) + dy);
      if (found.every((each, i) => Math.abs(each - colour[i]) < 24)) return true;
    }
  }
  return false;
}

/** Waits until a tick is drawn. */
async function shows(tab, index) {
  await tab.waitForFunction((i) => document.querySelector('#tick')?.dataset.index === String(i), index);
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

const scrub = (tab, index) =>
  tab.locator('#ticks').evaluate((input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, index);

/** The bytes with one bit of the fraction of the bullet of a tick changed: that of the wall, 20 / 40. */
function changed(bytes) {
  const made = Buffer.from(bytes);
  const half = Buffer.from(Float64Array.of(0.5).buffer);
  let at = -1;
  for (let i = 0; i <= changedTick; ++i) at = made.indexOf(half, at + 1);
  assert.ok(at > 0, 'the recording has the fractions of the bullets');
  made[at] ^= 1;
  return made;
}

const stage = await Stage.open({ args: ['--record', join(shots, '../viewer-records')] });
try {
  const bytes = await playWall(stage.server.grpc, join(shots, '../viewer-records'));
  const file = join(stage.server.scratch, 'wall.carec');
  writeFileSync(file, bytes);
  for (const colorScheme of ['light', 'dark']) {
    const tab = await stage.tab('#scene=scenes/wall', { colorScheme });
    await stage.settled(tab);
    await tab.keyboard.press('r');
    await tab.locator('#record-file').setInputFiles(file);
    await shows(tab, 0);
    await stage.settled(tab);
    await tab.evaluate(() => window.carom.setView(20, 15, 12));
    // The bullet of tick t flies at y = 5 + t from x = 0, and hits the wall at x = 20.
    for (const index of [0, 9, 4]) {
      await scrub(tab, index);
      await shows(tab, index);
      const text = await tab.textContent('#verdicts');
      assert.match(text, /segments 0: polygon 1 at 0.5/);
      assert.match(text, /slides 0: to .* along polygon 1/);
      assert.match(text, /moves 0: tracker 3: touches nothing|tracker 3: touches polygon 1/);
      assert.ok(
        await hasColour(stage, tab, 20, 5 + index, HIT[colorScheme]),
        `${colorScheme}: the hit of tick ${index}`,
      );
      assert.ok(
        !(await hasColour(stage, tab, 20, 5 + ((index + 5) % TICKS), HIT[colorScheme])),
        'no hit of another tick',
      );
    }
    await tab.screenshot({ path: join(shots, `record-tick-${colorScheme}.png`) });
    await tab.waitForFunction(() => /record=4,wall\.carec/.test(location.hash)); // written after a while
    // Keys.
    await tab.locator('#map').focus();
    await tab.keyboard.press('.');
    await shows(tab, 5);
    await tab.keyboard.press(',');
    await shows(tab, 4);
    for (let i = 0; i < 4; ++i) await tab.keyboard.press('>');
    assert.match(await tab.textContent('#speed'), /^16/);
    await tab.keyboard.press(' ');
    await shows(tab, TICKS - 1);
    // The bodies of the fork, at its own versions.
    await tab.locator('#record-scene').selectOption('scenes/match');
    await tab.waitForFunction(() => document.querySelector('#verdicts')?.textContent.includes('edits'));
    const version = await tab.evaluate(() => window.carom.version());
    await scrub(tab, 0);
    await shows(tab, 0);
    await tab.waitForFunction((last) => window.carom.version() < last, version);
    await tab.locator('#compare').click();
    await tab.waitForSelector('#comparison');
    assert.equal(await tab.getAttribute('#comparison', 'data-result'), 'equal', await tab.textContent('#comparison'));
    assert.equal(await tab.locator('#not-compared').count(), 0);
    await tab.evaluate(readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8'));
    const faults = await tab.evaluate(async () => {
      const { violations } = await window.axe.run(document);
      return violations
        .filter(({ impact }) => ['serious', 'critical'].includes(impact))
        .map(({ id, nodes }) => [id, nodes[0].html]);
    });
    assert.deepEqual(faults, []);
    // After the recording, the server's scenes are there again.
    await tab.locator('#record-close').click();
    await tab.waitForSelector('#record-file');
    await tab.locator('#tab-scenes').click();
    await tab.locator('[data-scene="scenes/wall"]').click();
    await tab.waitForFunction(() => /scene=scenes\/wall/.test(location.hash) && !/record=/.test(location.hash));
    await stage.settled(tab);
    await stage.check(tab);
    await tab.close();
  }

  // One bit of a fraction was changed; and the file was cut.
  const tab = await stage.tab(`#scene=scenes/wall&record=${changedTick},changed.carec`);
  await stage.settled(tab);
  await tab.keyboard.press('r');
  assert.match(await tab.textContent('#record-wanted'), /tick 7 of changed\.carec/);
  await tab
    .locator('#record-file')
    .setInputFiles({ name: 'changed.carec', mimeType: 'application/octet-stream', buffer: changed(bytes) });
  await shows(tab, changedTick);
  await scrub(tab, 0);
  await tab.locator('#compare').click();
  await tab.waitForSelector('#comparison');
  assert.equal(await tab.getAttribute('#comparison', 'data-result'), 'different');
  assert.match(await tab.textContent('#comparison'), /segments 0.*fraction\[0\]/s);
  assert.equal(await tab.textContent('#computed'), '0.5');
  assert.equal(await tab.textContent('#recorded'), '0.5000000000000001');
  await shows(tab, changedTick);
  await tab.screenshot({ path: join(shots, 'record-difference.png') });
  await tab.locator('#record-close').click();
  const cut = Buffer.from(bytes.subarray(0, bytes.length - 40));
  // A file that is dropped on the page.
  const data = await tab.evaluateHandle(
    (list) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(list)], 'cut.carec'));
      return transfer;
    },
    [...cut],
  );
  await tab.dispatchEvent('#map', 'drop', { dataTransfer: data });
  await tab.waitForSelector('#record-damage');
  assert.match(await tab.textContent('#record-damage'), /entries\[\d+\].*its end in the middle/);
  await shows(tab, 0);
  await tab.locator('#record-close').click();
  await tab
    .locator('#record-file')
    .setInputFiles({ name: 'none.carec', mimeType: 'application/octet-stream', buffer: Buffer.from('no recording') });
  await tab.waitForSelector('#record-error');
  assert.match(await tab.textContent('#record-error'), /entries\[0\]/);
  await stage.check(tab);
  console.log('record: passed');
} finally {
  await stage.close();
}
process.exit(0);
