// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are the answers of both modules of @carom/core those of `carom eval` and of the native library, bit for bit?

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as carom from '@carom/core';
import { digestLines } from './digest.mjs';
import { ANSWERS, answerLines, difference } from './core_eval_answers.mjs';
import { Random, worldLines } from './core_random_lines.mjs';

const { CAROM_BINARY: program, CAROM_SHARED_DIR: shared, CAROM_LIBRARY_DIGEST: digest, CAROM_LONG: long } = process.env;
const PACK_QUESTIONS = 28_085;
const PER_KIND = long ? 50_000 : 1_000;
const PER_WORLD = 200;
const BUFFER = 2 ** 30;

function runEval(lines, options = []) {
  const input = `${lines.join('\n')}\n`;
  const out = execFileSync(program, ['eval', ...options], { input, maxBuffer: BUFFER, encoding: 'utf8' });
  return out.trimEnd().split('\n').map((line) => JSON.parse(line)); // prettier-ignore
}

/** Fails with the first line whose answer differs. */
function assertSame(lines, ours, theirs) {
  const asked = lines.filter((line) => JSON.parse(line).op in ANSWERS);
  assert.equal(ours.length, theirs.length);
  assert.equal(asked.length, theirs.length);
  ours.forEach((answer, i) => {
    const found = difference(answer, theirs[i]);
    assert.equal(found, null, `${found} for ${asked[i].slice(0, 2000)}`);
  });
}

function randomLines() {
  const random = new Random(80);
  const worlds = Math.ceil(PER_KIND / PER_WORLD);
  return Array.from({ length: worlds }, () => worldLines(random, Object.keys(ANSWERS), PER_WORLD)).flat();
}

/** A reader of `load` lines below a folder. */
function loader(folder) {
  const files = new Map();
  return (file, id) => {
    if (!files.has(file)) {
      const scenes = readFileSync(join(folder, file), 'utf8').trim().split('\n').map(JSON.parse); // prettier-ignore
      files.set(file, new Map(scenes.map((scene) => [scene.id, scene.polygons])));
    }
    return files.get(file).get(id);
  };
}

for (const simd of [true, false]) {
  const core = await carom.Core.load({ simd });
  describe(simd ? 'with vectors' : 'without vectors', () => {
    test('random lines of each operation are answered as by carom eval', () => {
      const lines = randomLines();
      assertSame(lines, answerLines(core, lines), runEval(lines));
    });

    const data = shared && join(shared, 'data');
    const pack = data && join(data, 'packs', 'queries.jsonl.xz');
    const reason = pack && existsSync(pack) ? false : 'no folder shared/ with the pack';
    assert.ok(!reason || process.env.CI !== 'true', reason);
    test('the open pack is answered as by carom eval', { skip: reason }, () => {
      const text = execFileSync('xz', ['-dc', pack], { maxBuffer: BUFFER, encoding: 'utf8' });
      const lines = text.trimEnd().split('\n');
      const theirs = runEval(lines, ['--root', data]);
      assert.equal(theirs.length, PACK_QUESTIONS);
      assertSame(lines, answerLines(core, lines, loader(data)), theirs);
    });

    test('each kind of question has the digest of the native library', async () => {
      const items = long ? 50_000 : 2_048;
      const native = execFileSync(digest, [String(items)], { encoding: 'utf8' });
      assert.deepEqual(await digestLines(carom, core, items), native.trimEnd().split('\n'));
    });

    test('docs/digest.html has the digest that is expected', async () => {
      const page = readFileSync(new URL('digest.html', import.meta.url), 'utf8');
      const expected = /<pre id="expected">([^<]*)</.exec(page)[1];
      assert.deepEqual(await digestLines(carom, core, 512), expected.trim().split('\n'));
    });
  });
}
