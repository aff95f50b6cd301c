#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# The C of docs/c-abi.md compiles, alone and all together, and prints what the page says. So does the example at the
# head of carom.h.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
page=$root/docs/c-abi.md
libraries=${CAROM_LIBRARIES:?}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'document_test: %s\n' "$*" >&2
  exit 1
}

# blocks LANGUAGE: its fenced blocks in the page, with a line `//` before each.
blocks() {
  awk -v fence="\`\`\`$1" '/^```/ { inside = ($0 == fence); if (inside) print "//"; next } inside' "$page"
}

# run PROGRAM: compiles and runs $scratch/PROGRAM.c.
run() {
  gcc -std=c11 -Wall -Wextra -Werror "-I$root/core/include" -o "$scratch/$1" "$scratch/$1.c" \
    "-L$libraries" -lcarom "-Wl,-rpath,$libraries"
  "$scratch/$1"
}

# The first block is a program; the others belong above the line that destroys the answers.
blocks c | awk '$0 == "//" { ++n; next } n == 1' >"$scratch/first.c"
blocks c | awk '$0 == "//" { ++n; next } n > 1' >"$scratch/others"
awk -v others="$scratch/others" '
  /^  carom_answers_destroy/ { while ((getline line < others) > 0) print line }
  { print }' "$scratch/first.c" >"$scratch/all.c"
(($(wc -l <"$scratch/first.c") <= 40)) || fail 'the first program is longer than 40 lines'
blocks text | grep -v '^//$' >"$scratch/expected"
run first | diff <(head -n 1 "$scratch/expected") - || fail 'the first program prints other lines, above as >'
run all | diff "$scratch/expected" - || fail 'the programs print other lines, above as >'
{
  printf '#include "carom/carom.h"\nint main(void) {\n'
  sed -n '/^#ifndef/q; s/^ \*   //p' "$root/core/include/carom/carom.h"
  printf '  return carom_scene_polygon_count(scene) == 1 ? 0 : 1;\n}\n'
} >"$scratch/header.c"
grep -q carom_scene_create "$scratch/header.c" || fail 'carom.h has no example'
run header || fail 'the example of carom.h makes no scene'
printf 'document_test: %d lines of C do what docs/c-abi.md says\n' "$(wc -l <"$scratch/all.c")"
