// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Builds the page into build/web/viewer, or into the folder that is named: index.html, app.js, worker.js, core.js, record.js,
// style.css, licenses.json and the WASM of @carom/core. Needs the packages of client/web, built. Fails if the files are larger than the page may be.
import { build } from 'esbuild';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const MAX_COMPRESSED_BYTES = 1.5 * 2 ** 20;

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, '../../build/web/viewer'));
// The packages of the repository, which are built before the page.
const web = resolve(process.argv[3] ?? join(here, '../web'));

const alias = {
  '@carom/client': join(web, 'client/dist/web/index.js'),
  '@carom/client/recording': join(web, 'client/dist/recording/index.js'),
  '@carom/core': join(web, 'core/dist/index.js'),
  '@carom/core/questions': join(web, 'core/dist/questions.js'),
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const { metafile } = await build({
  entryPoints: {
    app: join(here, 'src/main.tsx'),
    worker: join(here, 'src/draw/worker.ts'),
    core: join(here, 'src/ask/core_worker.ts'),
    record: join(here, 'src/record/worker.ts'),
  },
  outdir: out,
  bundle: true,
  alias,
  format: 'esm',
  target: 'es2022',
  minify: true,
  keepNames: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
await copyFile(join(out, 'app.css'), join(out, 'style.css'));
await rm(join(out, 'app.css'));
await copyFile(join(here, 'src/index.html'), join(out, 'index.html'));
// Each browser with an OffscreenCanvas has the vectors of WebAssembly, too.
await copyFile(join(web, 'core/dist/carom-simd.wasm'), join(out, 'carom-simd.wasm'));

// The licences of what is in the page, beside it.
const packages = new Set(
  Object.keys(metafile.inputs).flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
);
const licenses = [];
for (const folder of [...packages].sort()) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  licenses.push({ name, version, license, text: file ? await readFile(join(folder, file), 'utf8') : '' });
}
await writeFile(join(out, 'licenses.json'), JSON.stringify(licenses, null, 1));

let total = 0;
for (const name of await readdir(out)) {
  const bytes = gzipSync(await readFile(join(out, name)), { level: 9 }).length;
  total += bytes;
  console.log(`${name.padEnd(28)} ${String(bytes).padStart(9)} bytes compressed`);
}
console.log(`${'all'.padEnd(28)} ${String(total).padStart(9)} bytes compressed`);
if (total > MAX_COMPRESSED_BYTES) {
  console.error(`viewer: more than ${MAX_COMPRESSED_BYTES} bytes`);
  process.exit(1);
}
