// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which scene does the page show, and what does it say where a server, a token or a file is not as it should be? Arguments
// choose tests by their names; without arguments all run.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { call, shots, Stage } from './viewer_kit.mjs';
import { built, root, runCarom, Server } from './viewer_processes.mjs';
import { playWall, TICKS } from './viewer_recording.mjs';
import { servePage } from './viewer_server.mjs';

const arena = join(root, 'client/examples/arena.json');
const TOKEN = 'a-token-of-the-test-with-enough-letters';
const tests = {};

const square = (id, x) => ({ id, rings: [{ x: [x, x + 10, x + 10, x], y: [0, 0, 10, 10] }] });
const create = (server, name, polygons) => call(server, 'SceneService/CreateScene', { name, polygons });
const commit = (server, name, polygon) =>
  call(server, 'SceneService/CommitEdits', { name, edits: [{ add: polygon }] });

/** Waits until the page shows so many polygons. */
const has = (tab, count) =>
  tab.waitForFunction((n) => document.querySelector('#sizes')?.textContent.startsWith(`${n} polygon`), count, {
    timeout: 20000,
  });

/** Passes connections on to a server that can be exchanged: the open ones break. */
async function passOn(address) {
  const made = { target: address };
  const open = new Set();
  const server = createServer((incoming) => {
    const [host, port] = made.target.split(':');
    const passed = connect(Number(port), host);
    for (const each of [incoming, passed]) {
      open.add(each);
      each.on('error', () => undefined);
      each.on('close', () => (open.delete(each), incoming.destroy(), passed.destroy()));
    }
    incoming.pipe(passed).pipe(incoming);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  made.address = `127.0.0.1:${server.address().port}`;
  made.to = (other) => {
    made.target = other;
    for (const each of open) each.destroy();
  };
  made.close = () => (server.close(), open.forEach((each) => each.destroy()));
  return made;
}

// A server was started anew and got another map by the same name. Its version was the same, so the page went on with the
// map of the server before, and said that it was connected. Chromium even repeats a watch without an answer by itself.
tests.remade = async () => {
  const stage = await Stage.open();
  const other = await Server.start();
  const passed = await passOn(stage.server.http);
  await stage.page.close();
  stage.page = await servePage(built, passed.address);
  try {
    await create(stage.server, 'scenes/map', [square(1, 0)]);
    await create(other, 'scenes/map', [square(1, 20), square(2, 40)]);
    const tab = await stage.tab('#scene=scenes/map', { expected: /Failed to load|net::|status of 50/ });
    await stage.settled(tab);
    await has(tab, 1);
    passed.to(other.http);
    await has(tab, 2);
    assert.equal(await tab.evaluate(() => window.carom.version()), 1n);
    await stage.settled(tab);
    await tab.waitForSelector('#notice', { state: 'detached' });
    // It is followed.
    await commit(other, 'scenes/map', square(3, 60));
    await has(tab, 3);
    // A connection that breaks is no reason to fetch the scene again.
    const fetched = [];
    tab.on('request', (request) => void (/ExportScene/.test(request.url()) && fetched.push(request.url())));
    passed.to(other.http);
    await commit(other, 'scenes/map', square(4, 80));
    await has(tab, 4);
    assert.deepEqual(fetched, []);
    await stage.check(tab);
  } finally {
    await stage.close();
    passed.close();
    await other.stop('SIGKILL');
  }
};

// A watch says nothing while nothing changes, so that a server that answered no more was not seen; where the list of scenes
// saw it, the notice stayed after the server answered again; and vertices arrived for ever.
tests.stalled = async () => {
  const stage = await Stage.open({ scenes: { 'scenes/arena': arena } });
  const stall = (signal) => stage.server.process.kill(signal);
  // A server that goes on closes connections whose time has ended meanwhile.
  const expected = /Failed to load|net::/;
  try {
    for (const panel of ['scenes', 'ask']) {
      const tab = await stage.tab(`#scene=scenes/arena&panel=${panel}`, { expected });
      await stage.settled(tab);
      stall('SIGSTOP');
      await tab.waitForSelector('#notice[data-kind=stalled]', { timeout: 20000 });
      await tab.waitForSelector('#connection.bad');
      assert.match(await tab.textContent('#notice'), /in 4 seconds, or a large one in 20/);
      stall('SIGCONT');
      await tab.waitForSelector('#notice', { state: 'detached', timeout: 15000 });
      await tab.waitForSelector('#connection.good');
      await tab.context().close();
    }
    const tab = await stage.tab('#scene=scenes/arena', {
      expected,
      before: (page) => page.route(/ExportScene/, () => undefined),
    });
    await tab.waitForSelector('.arriving');
    stall('SIGSTOP');
    await tab.waitForSelector('.arriving', { state: 'detached', timeout: 40000 });
    await tab.waitForSelector('#notice[data-kind=stalled]');
    await tab.unroute(/ExportScene/);
    stall('SIGCONT');
    await stage.settled(tab);
    await tab.waitForSelector('#notice', { state: 'detached', timeout: 15000 });
    await stage.check(tab);
  } finally {
    stall('SIGCONT');
    await stage.close();
  }
};

/** The entries of a recording: the field of each, and its bytes with the size before them. */
function entriesOf(bytes) {
  const made = [];
  for (let at = 0; at < bytes.length; ) {
    const begin = at;
    let size = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      size += (byte & 127) * scale;
      if (byte < 128) break;
    }
    made.push({ field: bytes[at] >> 3, bytes: bytes.subarray(begin, at + size) });
    at += size;
  }
  return made;
}

async function shows(tab, index) {
  await tab.locator('#ticks').evaluate((input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, index);
  await tab.waitForFunction((i) => document.querySelector('#tick')?.dataset.index === String(i), index);
}

// After a recording was closed, its scene stayed as if it were the server's. A tick without a map was drawn over the map
// that was there before; and a client's recording, which has no maps, had no scene to choose, and so showed nothing.
tests.recording = async () => {
  const records = join(shots, '../viewer-records-state');
  const stage = await Stage.open({ args: ['--record', records] });
  try {
    const entries = entriesOf(await playWall(stage.server.grpc, records));
    const SCENE = 2;
    const last = entries.findLastIndex(({ field }) => field === SCENE);
    const file = (name, kept) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer: Buffer.concat(kept.map(({ bytes }) => bytes)),
    });
    await commit(stage.server, 'scenes/wall', square(2, 100));
    const tab = await stage.tab('#scene=scenes/wall&at=90,5,7');
    await stage.settled(tab);
    await has(tab, 2);
    await tab.keyboard.press('r');
    // Without the last version of the fork.
    await tab.locator('#record-file').setInputFiles(file('part.carec', entries.filter((_, i) => i !== last)));
    await has(tab, 1);
    await tab.locator('#record-scene').selectOption('scenes/match');
    await has(tab, 2);
    await shows(tab, TICKS - 1);
    await tab.waitForSelector('#no-map');
    assert.match(await tab.textContent('#no-map'), /does not have version \d+ of scenes\/match/);
    assert.equal(await tab.locator('#sizes').count(), 0);
    await shows(tab, 0);
    await tab.waitForSelector('#no-map', { state: 'detached' });
    await has(tab, 2);
    // Another recording, without maps, as a client writes it; the scene before both is there afterwards.
    await tab.locator('#record-close').click();
    await tab.waitForFunction(() => /wall/.test(document.querySelector('#scene-name')?.textContent ?? ''));
    await stage.settled(tab);
    await tab.locator('#record-file').setInputFiles(file('client.carec', entries.filter(({ field }) => field !== SCENE)));
    await tab.waitForSelector('#no-map');
    assert.match(await tab.textContent('#verdicts'), /segments 0: polygon 1 at 0.5/);
    assert.deepEqual(await tab.locator('#record-scene option').allTextContents(), ['scenes/wall', 'scenes/match']);
    await tab.screenshot({ path: join(shots, 'record-no-map.png') });
    await tab.locator('#record-close').click();
    await has(tab, 2);
    assert.deepEqual(await tab.evaluate(() => [window.carom.version() > 1n, document.querySelector('#no-map')]), [true, null]);
    await tab.waitForSelector('#connection.good');
    await commit(stage.server, 'scenes/wall', square(3, 120));
    await has(tab, 3);
    await tab.waitForFunction(() => /at=90,5,7/.test(location.hash));
    await stage.check(tab);
  } finally {
    await stage.close();
  }
};

const credentials = (folder) => {
  const file = join(folder, 'credentials');
  const hash = createHash('sha256').update(TOKEN).digest('hex');
  writeFileSync(file, `token ${hash} test admin\n`, { mode: 0o600 });
  return file;
};

// After the token was given, a link to a scene opened no scene. A token was sent in plain text to another machine.
tests.token = async () => {
  const { mkdtempSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const stage = await Stage.open({ args: ['--credentials', credentials(mkdtempSync(join(tmpdir(), 'carom-viewer-')))] });
  const bearer = { Authorization: `Bearer ${TOKEN}` };
  try {
    let made;
    for (const [name, x] of [['scenes/a', 0], ['scenes/b', 50]]) {
      made = await call(stage.server, 'SceneService/CreateScene', { name, polygons: [square(1, x)] }, bearer);
    }
    const { version } = made.scene;
    const edits = [{ add: square(2, 80) }];
    await call(stage.server, 'SceneService/CommitEdits', { name: 'scenes/b', edits }, bearer);
    const give = async (tab) => {
      await tab.waitForSelector('#notice[data-kind=no_right]');
      await tab.locator('#token').fill(TOKEN);
      await tab.getByRole('button', { name: 'Use the token' }).click();
    };
    const tab = await stage.tab(`#scene=scenes/b&v=${version}&at=7,8,9`, { expected: /status of 401/ });
    await give(tab);
    await tab.waitForFunction(() => /pinned/.test(document.querySelector('#scene-version')?.textContent ?? ''));
    assert.equal(await tab.textContent('#scene-name'), 'scenes/b');
    await has(tab, 1);
    await tab.waitForTimeout(500);
    assert.match(await tab.evaluate(() => location.hash), /at=7,8,9/);
    await stage.check(tab);
    await tab.context().close();
    // The same page by the name of another host, in plain text.
    const own = stage.page.address;
    stage.page.address = own.replace('127.0.0.1', 'carom.test');
    const far = await stage.tab('#panel=server', { expected: /status of 401/ });
    const sent = [];
    far.on('request', (request) => void (request.headers().authorization && sent.push(request.url())));
    await give(far);
    await far.waitForFunction(() => /must have https/.test(document.querySelector('#notice')?.textContent ?? ''));
    await far.waitForTimeout(2500);
    stage.page.address = own;
    assert.deepEqual(sent, []);
    await stage.check(far);
  } finally {
    await stage.close();
  }
};

// A scene or version that could not be opened took the core, the pin and the watch of the one that stayed on the screen.
tests.failed = async () => {
  const stage = await Stage.open();
  try {
    await create(stage.server, 'scenes/map', [square(1, 0)]);
    const tab = await stage.tab('#scene=scenes/map&tool=point&q=5,5', { expected: /status of 40/ });
    await stage.settled(tab);
    for (const wanted of ['scene=scenes/none', 'scene=scenes/map&v=77']) {
      await tab.evaluate((text) => (location.hash = `#${text}`), wanted);
      await tab.waitForSelector('#notice[data-kind=gone]');
      assert.equal(/The version is gone/.test(await tab.textContent('#notice')), /v=/.test(wanted));
      assert.doesNotMatch(await tab.textContent('#scene-version'), /pinned/);
      assert.equal(await tab.evaluate(() => window.carom.core()), 'ready');
      await stage.settled(tab);
      await tab.locator('#notice button').last().click();
      await tab.waitForSelector('#notice', { state: 'detached' });
    }
    await commit(stage.server, 'scenes/map', square(2, 20));
    await has(tab, 2);
    const { answer } = await tab.evaluate(() =>
      window.carom.ask('point', [{ x: 25, y: 5 }]).then(({ answer }) => ({ answer: answer.columns.polygonId.map(String) })),
    );
    assert.deepEqual(answer, ['2']);
    await stage.check(tab);
  } finally {
    await stage.close();
  }
};

/** Counts the answers that a drag of 2.4 s shows before its end. */
async function answersOf(stage, tab) {
  await tab.locator('[data-tool=nearest]').click();
  await tab.evaluate(() => window.carom.setView(200, 150, 1.8));
  await tab.evaluate(() => window.carom.ask('nearest', [{ x: 100, y: 128 }, { x: 112, y: 128 }], { shape: 'box' }).then(() => undefined));
  await tab.evaluate(() => {
    window.texts = new Set();
    const look = () => window.texts.add(document.querySelector('#answer')?.textContent ?? '');
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  const [from, to] = [await stage.at(tab, 112, 128), await stage.at(tab, 150, 140)];
  await tab.mouse.move(from.x, from.y);
  await tab.mouse.down();
  for (let i = 1; i <= 60; ++i) {
    await tab.mouse.move(from.x + ((to.x - from.x) * i) / 60, from.y + ((to.y - from.y) * i) / 60);
    await tab.waitForTimeout(40);
  }
  const count = await tab.evaluate(() => window.texts.size);
  await tab.mouse.up();
  return count;
}

// During a drag nothing was shown where an answer took longer than the way to the next point: each answer was dropped for
// the next question.
tests.drag = async () => {
  const stage = await Stage.open({ scenes: { 'scenes/arena': arena } });
  const LATE_MS = 200;
  try {
    // Answers of the core are late.
    const tab = await stage.tab('#scene=scenes/arena', {
      before: (page) =>
        page.addInitScript((late) => {
          window.flying = { now: 0, most: 0 };
          const { addEventListener, postMessage } = Worker.prototype;
          Worker.prototype.postMessage = function (message, ...rest) {
            if (message.kind === 'ask') window.flying.most = Math.max(window.flying.most, ++window.flying.now);
            return postMessage.call(this, message, ...rest);
          };
          Worker.prototype.addEventListener = function (type, listener, ...rest) {
            const slow = (event) => {
              if (event.data?.kind !== 'answer') return listener(event);
              setTimeout(() => (--window.flying.now, listener(event)), late);
            };
            return addEventListener.call(this, type, type === 'message' ? slow : listener, ...rest);
          };
        }, LATE_MS),
    });
    await stage.settled(tab);
    const shown = await answersOf(stage, tab);
    assert.ok(shown >= 4, `the core: ${shown} answers during the drag`);
    assert.equal(await tab.evaluate(() => window.flying.most), 1);
    await tab.waitForFunction(() => !window.carom.agreement().waiting);
    const { same, different } = await tab.evaluate(() => window.carom.agreement());
    assert.equal(different, 0);
    assert.ok(same >= 4, `${same} answers agree`);
    await tab.context().close();
    // There is no core, and answers of the server are late.
    let [now, most] = [0, 0];
    const alone = await stage.tab('#scene=scenes/arena', {
      expected: /Failed to load|net::|core\.js/,
      before: async (page) => {
        await page.route('**/core.js', (route) => route.abort());
        await page.route(/Evaluate/, async (route) => {
          most = Math.max(most, ++now);
          await new Promise((done) => setTimeout(done, LATE_MS));
          --now;
          await route.continue();
        });
      },
    });
    await stage.settled(alone);
    const others = await answersOf(stage, alone);
    assert.ok(others >= 4, `the server: ${others} answers during the drag`);
    assert.equal(most, 1);
    await stage.check(alone);
  } finally {
    await stage.close();
  }
};

// Where core.js did not load, `carom view` showed an empty page for ever.
tests.core = async () => {
  const stage = await Stage.open();
  const bundle = join(stage.server.scratch, 'arena.carom');
  runCarom(['bundle', arena, '-o', bundle]);
  const served = await servePage(built, null, readFileSync(bundle), '{}');
  const own = stage.page.address;
  try {
    stage.page.address = served.address;
    const tab = await stage.tab('?local=arena.json', {
      expected: /Failed to load|net::/,
      before: (page) => page.route('**/core.js', (route) => route.abort()),
    });
    await tab.waitForSelector('#notice', { timeout: 10000 });
    assert.match(await tab.textContent('#notice'), /The file is not shown.*core\.js.*did not load/s);
    await stage.check(tab);
  } finally {
    stage.page.address = own;
    await served.close();
    await stage.close();
  }
};

const chosen = process.argv.slice(2);
for (const name of chosen.length > 0 ? chosen : Object.keys(tests)) {
  const begin = Date.now();
  console.log(name);
  await tests[name]();
  console.log(`  passed in ${((Date.now() - begin) / 1000).toFixed(1)} s`);
}
process.exit(0);
