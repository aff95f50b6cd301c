// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// run_wasm.mjs FILE [ARGUMENT…]: runs a program for WebAssembly, by the system interface that Node.js has.

import { readFileSync } from 'node:fs';
import process from 'node:process';
import { WASI } from 'node:wasi';

const [file, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: [file, ...rest] });
const { instance } = await WebAssembly.instantiate(readFileSync(file), wasi.getImportObject());
process.exitCode = wasi.start(instance);
