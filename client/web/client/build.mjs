// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Builds @carom/client in `dist`: the tables of the frames (generate.py), the messages of the .proto files (protoc with
// protoc-gen-es), and the sources. Needs python3 and protoc, and @carom/core built before.
//
// usage: npm run build

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const bin = fileURLToPath(new URL('../node_modules/.bin/', import.meta.url));
const run = (program, ...args) => execFileSync(program, args, { cwd: here, stdio: 'inherit' });
const generated = 'src/generated';

run('python3', 'generate.py', '--out', generated);
run(
  'protoc',
  '-I',
  '../../../proto',
  `--plugin=${bin}protoc-gen-es`,
  `--es_out=${generated}`,
  '--es_opt=target=ts,import_extension=js',
  'carom/v1/geometry.proto',
  'carom/v1/scene_service.proto',
);
rmSync(`${here}dist`, { recursive: true, force: true });
run(`${bin}tsc`, '-p', '.');
