// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes a C++ source with the files of a folder, as proto/page/page_files.h declares them:
//
//   node embed.mjs FOLDER OUT.cc [PLACE]
//
// The compressed files lie in the folder OUT.cc.files beside the source, which includes them by the
// assembler, since compilers are slow with long arrays. PLACE is the folder of OUT.cc on the machine
// that compiles it, by default where it is. `index.html` has the path `/`.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

const [folder, out, place] = process.argv.slice(2);
if (out === undefined) {
  console.error('usage: node embed.mjs FOLDER OUT.cc [PLACE]');
  process.exit(2);
}
const packed = resolve(`${out}.files`);
const compiled = join(place ?? dirname(resolve(out)), `${basename(out)}.files`);
rmSync(packed, { recursive: true, force: true });
mkdirSync(packed, { recursive: true });

const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(join(folder, '/').length))
  .sort();
const blocks = [];
const rows = [];
let total = 0;
names.forEach((name, index) => {
  const type = TYPES[extname(name)];
  if (type === undefined) throw new Error(`${name}: no media type is known for this suffix`);
  const bytes = readFileSync(join(folder, name));
  const gzip = gzipSync(bytes, { level: 9 });
  writeFileSync(join(packed, String(index)), gzip);
  total += gzip.length;
  const tag = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const path = name === 'index.html' ? '/' : `/${name}`;
  blocks.push(`asm(".section .rodata\\n.balign 8\\n.global carom_page_${index}\\n"
    "carom_page_${index}: .incbin \\"${compiled}/${index}\\"\\n.previous");
extern "C" const char carom_page_${index}[];`);
  rows.push(`    {"${path}", "${type}", "${tag}", {carom_page_${index}, ${gzip.length}}},`);
});
writeFileSync(
  out,
  `// Written by client/viewer/embed.mjs.
#include "proto/page/page_files.h"

${blocks.join('\n')}

namespace carom {
namespace {

const PageFile kPageFiles[] = {
${rows.join('\n')}
};

}  // namespace

std::span<const PageFile> PageFiles() { return kPageFiles; }

}  // namespace carom
`,
);
console.log(`${names.length} files, ${total} bytes compressed`);
