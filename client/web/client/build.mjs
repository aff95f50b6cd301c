// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Builds @carom/client in `dist`: the tables of the frames (generate.py), the messages of the .proto files (protoc with
// protoc-gen-es), and the sources. Needs python3 and protoc, and @carom/core built before. Does nothing if `dist` is that
// of the files as they are, so that a build does not disturb tests that run.
//
// usage: npm run build

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../../..');
const bin = join(here, '../node_modules/.bin');
const stamp = join(root, 'build/web/client.stamp');
const generated = join(here, 'src/generated');
const run = (program, ...args) => execFileSync(program, args, { cwd: here, stdio: 'inherit' });

const INPUTS = [
  'client/web/client',
  'client/web/core/dist',
  'client/web/package-lock.json',
  'client/web/tsconfig.base.json',
  'client/python/generate.py',
  'client/python/generate_wire.py',
  'proto/carom/v1',
  'core/abi/carom_abi.json',
  'core/src/base/batch.cc',
];
const SKIPPED = new Set([join(here, 'dist'), generated]);

/** The contents of all files that the build reads, as one hash. */
function digest() {
  const hash = createHash('sha256');
  const add = (path) => {
    if (SKIPPED.has(path) || path.endsWith('.wasm')) return;
    if (statSync(path).isDirectory()) for (const name of readdirSync(path).toSorted()) add(join(path, name));
    else hash.update(path).update(readFileSync(path));
  };
  for (const path of INPUTS) add(join(root, path));
  return hash.digest('hex');
}

const made = digest();
if (existsSync(join(here, 'dist')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === made) process.exit();
rmSync(stamp, { force: true });
rmSync(join(here, 'dist'), { recursive: true, force: true });
mkdirSync(generated, { recursive: true });
run('python3', 'generate.py', '--out', generated);
run(
  'protoc',
  '-I',
  join(root, 'proto'),
  `--plugin=${join(bin, 'protoc-gen-es')}`,
  `--es_out=${generated}`,
  '--es_opt=target=ts,import_extension=js',
  'carom/v1/geometry.proto',
  'carom/v1/scene_service.proto',
);
run(join(bin, 'tsc'), '-p', '.');
mkdirSync(join(root, 'build/web'), { recursive: true });
writeFileSync(stamp, made);
