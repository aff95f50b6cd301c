// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does @carom/core work in Chromium under a strict CSP, in a page and in a worker, with the answers of other builds?

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

const { CAROM_BINARY: program, CAROM_NATIVE_DIGEST: digest, CAROM_SHARED_DIR: shared, CAROM_SOURCE_DIR: root } = process.env;
const CHROMIUM = '/usr/bin/chromium';
const INSTANTIATE_MS = 60;
const TYPES = {
  '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
}; // prettier-ignore
const CSP =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; style-src 'self'; worker-src 'self'";
const INDEX = '/client/web/core/dist/index.js';
const WORKER = `import { Scene, load } from '${INDEX}';
await load();
const scene = Scene.fromPolygons([[[0, 0], [4, 0], [4, 3], [0, 3]]]);
postMessage(scene.cast({ ax: -2, ay: 1, bx: 6, by: 1 }).hit(0).fraction);`;
const data = shared && join(shared, 'data');
const pack = data && join(data, 'packs', 'queries.jsonl.xz');

/** Runs a program for WebAssembly in a page; returns its exit status and what it has printed. */
async function runProgram(file) {
  let memory;
  let printed = '';
  const view = () => new DataView(memory.buffer);
  const system = {
    args_sizes_get: (count, size) => (view().setUint32(count, 1, true), view().setUint32(size, 2, true), 0),
    args_get(pointers, text) {
      view().setUint32(pointers, text, true);
      view().setUint16(text, 'd'.charCodeAt(0), true); // a name, and the byte that ends it
      return 0;
    },
    fd_write(_, parts, count, written) {
      let bytes = 0;
      for (let i = 0; i < count; ++i) {
        const [from, size] = [0, 4].map((offset) => view().getUint32(parts + 8 * i + offset, true));
        printed += new TextDecoder().decode(new Uint8Array(memory.buffer, from, size));
        bytes += size;
      }
      view().setUint32(written, bytes, true);
      return 0;
    },
    proc_exit(code) {
      throw new Error(`exit status ${code}`);
    },
  };
  const module = await WebAssembly.compileStreaming(fetch(file));
  const none = () => 52; // the errno of calls that a page does not have
  const imports = Object.fromEntries(WebAssembly.Module.imports(module).map(({ name }) => [name, system[name] ?? none]));
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports });
  ({ memory } = instance.exports);
  let status = 'exit status 0';
  try {
    instance.exports['_start']();
  } catch (error) {
    status = error.message;
  }
  return [status, printed];
}

/** A server of the repository's files, without the questions and answers of the pack. */
function serve(texts) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    let body = texts.get(pathname);
    if (body === undefined && !pathname.includes('..')) {
      const path = join(root, pathname);
      body = existsSync(path) && extname(path) in TYPES ? readFileSync(path) : undefined;
    }
    // Browsers know no packages.
    if (pathname.startsWith('/tests/web/')) body = String(body).replace(/'@carom\/core[a-z/]*'/g, `'${INDEX}'`);
    const type = TYPES[extname(pathname)] ?? 'text/plain';
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type, 'content-security-policy': CSP });
    response.end(body);
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

const reason = existsSync(CHROMIUM) ? false : `no ${CHROMIUM}`;
assert.ok(!reason || process.env.CI !== 'true', reason);

describe('in Chromium', { skip: reason }, () => {
  let server;
  let browser;
  let page;
  const texts = new Map([['/worker.mjs', WORKER], ['/empty.html', '<!doctype html><title>empty</title>']]); // prettier-ignore
  const requests = [];
  before(async () => {
    const { chromium } = createRequire(join(root, 'client/web/package.json'))('playwright-core');
    server = await serve(texts);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.url()));
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });
  const open = (path) => page.goto(`http://127.0.0.1:${server.address().port}${path}`);

  test('docs/digest.html has the digests of other machines', async () => {
    await open('/docs/digest.html');
    await page.waitForSelector('html[data-done]', { timeout: 120_000 });
    assert.equal(await page.textContent('#verdict'), 'Yes: all answers are the same.');
    assert.ok(requests.every((url) => url.startsWith('http://127.0.0.1')), requests.join('\n')); // prettier-ignore
  });

  test('the digest of determinism has the lines of the native program, in both modules', async (t) => {
    const expected = execFileSync(digest, { encoding: 'utf8' });
    await open('/empty.html');
    for (const module of ['carom', 'carom-simd']) {
      const result = await page.evaluate(runProgram, `/build/web/modules/${module}-digest.wasm`);
      assert.deepEqual(result, ['exit status 0', expected], module);
    }
    const lines = expected.trimEnd().split('\n');
    t.diagnostic(`${lines.length} lines, the last one: ${lines.at(-1)}`);
    assert.ok(lines.length > 40);
  });

  test('a module is instantiated soon', async (t) => {
    await open('/empty.html');
    const times = await page.evaluate(async (index) => {
      const carom = await import(index);
      const found = {};
      for (const simd of [true, false]) {
        const file = new URL(`/client/web/core/dist/${simd ? 'carom-simd' : 'carom'}.wasm`, location.href);
        const bytes = await (await fetch(file)).arrayBuffer();
        const once = async () => {
          const start = performance.now();
          await carom.Core.load({ module: bytes });
          return performance.now() - start;
        };
        const all = [];
        for (let i = 0; i < 5; ++i) all.push(await once());
        found[simd ? 'vectors' : 'no vectors'] = Math.min(...all);
      }
      return found;
    }, INDEX);
    t.diagnostic(`compiled and instantiated in ms: ${JSON.stringify(times)}`);
    for (const time of Object.values(times)) assert.ok(time <= INSTANTIATE_MS, `${time} ms`);
  });

  test('a worker answers', async () => {
    await open('/empty.html');
    const fraction = await page.evaluate(
      () =>
        new Promise((done, failed) => {
          const worker = new Worker('/worker.mjs', { type: 'module' });
          worker.addEventListener('message', (event) => done(event.data));
          worker.addEventListener('error', failed);
        }),
    );
    assert.equal(fraction, 0.25);
  });

  const missing = pack && existsSync(pack) ? false : 'no folder shared/data with the pack';
  assert.ok(!missing || process.env.CI !== 'true', missing);
  test('the open pack is answered as by carom eval', { skip: missing }, async () => {
    const options = { maxBuffer: 2 ** 30, encoding: 'utf8' };
    const lines = execFileSync('xz', ['-dc', pack], options);
    texts.set('/pack.txt', lines);
    texts.set('/answers.txt', execFileSync(program, ['eval', '--root', data], { ...options, input: lines }));
    const files = new Set(lines.match(/"file": *"[^"]*"/g)?.map((text) => text.split('"')[3]));
    for (const file of files) texts.set(`/maps/${file}`, readFileSync(join(data, file), 'utf8'));
    await open('/empty.html');
    for (const simd of [true, false]) {
      const [count, wrong] = await page.evaluate(
        async ([index, vectors, names]) => {
          const carom = await import(index);
          const { answerLines, difference } = await import('/tests/web/core_eval_answers.mjs');
          const rows = async (path) => (await (await fetch(path)).text()).trimEnd().split('\n');
          const maps = new Map();
          for (const name of names) {
            const scenes = (await rows(`/maps/${name}`)).map((line) => JSON.parse(line));
            maps.set(name, new Map(scenes.map((scene) => [scene.id, scene.polygons])));
          }
          const core = await carom.Core.load({ simd: vectors });
          const ours = answerLines(core, await rows('/pack.txt'), (file, id) => maps.get(file).get(id));
          const theirs = (await rows('/answers.txt')).map((line) => JSON.parse(line));
          const found = theirs.map((answer, i) => difference(ours[i], answer)).filter((each) => each !== null);
          return [ours.length === theirs.length ? ours.length : 0, found.slice(0, 3)];
        },
        [INDEX, simd, [...files]],
      );
      assert.deepEqual(wrong, []);
      assert.equal(count, 28_085);
    }
  });
});
