#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# core/abi/carom_abi.json and the tables of docs/c-abi.md are what carom.h says, and what compilers
# make of it. What core/abi/describe.py does not understand is an error that names the line.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'describe_test: %s\n' "$*" >&2
  exit 1
}

# refuses TEXT LINE SED: describe.py fails with TEXT and the number of the first line that has LINE,
# once the SED script has changed a copy of the header.
refuses() {
  local text=$1 line=$2 header=$scratch/core/include/carom/carom.h number
  sed -E "$3" "$root/core/include/carom/carom.h" >"$header"
  number=$(awk -v line="$line" 'index($0, line) { print NR; exit }' "$header")
  [[ -n $number ]] || fail "the header has no line with: $line"
  ! "$scratch/core/abi/describe.py" --stub >"$scratch/out" 2>&1 || fail "accepted: $line"
  grep -qF "carom.h:$number: $text" "$scratch/out" || fail "for line $number, not '$text' but: $(cat "$scratch/out")"
}

mkdir -p "$scratch/core/abi" "$scratch/core/include/carom"
cp "$root"/core/abi/*.py "$scratch/core/abi"
refuses 'short is no type here' 'short reflect;' 's/^  uint32_t reflect;/  short reflect;/'
refuses 'the comment of a column or double' ' visible; /* one' 's/( visible; \/\*) \[1\]/\1/'
refuses 'a tag that is not known here' '[miles] mass' 's/( radius; \/\*) \[length\] at.*/\1 [miles] mass *\//'
refuses 'a tag that is not known here' 'where nothing' '0,/where feature/s/where feature/where nothing/'
refuses 'a comment that belongs to nothing' '/* stray */' 's/^(.* carom_buffer_create.*;)/\1 \/* stray *\//'
refuses 'no directive that is known' '#pragma once' 's/^#include <stddef.h>/#pragma once/'
refuses 'no declaration that is known' 'static int' 's/^(CAROM_API uint32_t carom_abi_version.*)/static int a;\n\1/'
refuses 'cannot be read: +' '= 1 + 2' 's/CAST_MODE_ALL = 3/CAST_MODE_ALL = 1 + 2/'
refuses 'carom_code was declared' 'struct carom_code' 's/^(typedef struct) carom_trackers .*/\1 carom_code carom_code;/'
refuses 'a comment names carom_hit' 'carom_hit' 's/a carom_cast_target/a carom_hit/'
refuses 'a function without comment' 'size_t carom_shapes_size' '/Returns the number of shapes/d'

"$root/core/abi/describe.py" --check
