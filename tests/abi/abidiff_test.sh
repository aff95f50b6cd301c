#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Can a program that was compiled with an earlier carom.h use the library that was built? abidiff
# compares with docs/abi/libcarom.so.1.abi. A function, type, member or number that was removed or
# changed is an error, even where the change is growth; functions and types may be added.
#
#   abidiff_test.sh          compares
#   abidiff_test.sh --write  writes docs/abi/libcarom.so.1.abi: after growth, or before a release
#
# The library has no debug information, and that of its C++ sources has what handles point to. So
# the dump is that of a stub: a C file of core/abi/describe.py that defines all functions of carom.h
# and uses all its types. The library itself must have the symbols of the stub, no more, no less.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dump=$root/docs/abi/libcarom.so.1.abi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'abidiff_test: %s\n' "$*" >&2
  exit 1
}

if ! command -v abidiff >/dev/null; then
  [[ ${CI:-} != true ]] || fail 'abidiff is missing: install abigail-tools'
  printf 'abidiff_test: skipped, since abidiff is missing (abigail-tools)\n'
  exit 77
fi

# dump_stub STUB INCLUDE FILE: writes the dump of a stub that includes carom/carom.h from INCLUDE.
dump_stub() {
  (cd "$(dirname "$1")" && gcc -std=c11 -g -ffreestanding -fPIC -shared -nostdlib "-I$2" \
    -Wl,-soname,libcarom.so.1 "-Wl,--version-script=$root/core/abi/carom.map" -o stub.so "$(basename "$1")" &&
    abidw --headers-dir "$2/carom" --drop-private-types --load-all-types --no-elf-needed --no-show-locs \
      --no-corpus-path --no-comp-dir-path stub.so >"$3")
}

# compatible OLD NEW: whether all of OLD is in NEW. What is not is in $scratch/changes.
compatible() {
  local status=0
  abidiff --no-architecture --non-reachable-types --harmless --no-added-syms "$1" "$2" \
    >"$scratch/changes" 2>&1 || status=$?
  case $status in
    0) return 0 ;;
    4) ;;
    *) return 1 ;;
  esac
  # The code of added types is that of changed ones, so the text tells: nothing else may be there.
  ! sed -E -e '/^[A-Z][a-z ]+ summary: 0 [Rr]emoved, 0 [Cc]hanged, [0-9]+ [Aa]dded/d' \
    -e '/^[0-9]+ added types? unreachable from any public interface:$/d' -e '/^  \[A\] /d' -e '/^$/d' \
    "$scratch/changes" | grep -q .
}

# The check itself works: it refuses a stub without its last function, and a header without a member.
check_the_check() {
  mkdir -p "$scratch/less" "$scratch/include/carom"
  sed '/ carom_write_svg(/d' "$scratch/carom.c" >"$scratch/less/carom.c"
  dump_stub "$scratch/less/carom.c" "$root/core/include" "$scratch/less.abi"
  ! compatible "$scratch/carom.abi" "$scratch/less.abi" || fail 'a removed function is not noticed'
  compatible "$scratch/less.abi" "$scratch/carom.abi" || fail 'an added function is refused'
  sed '/^  carom_u8_column visible;/d' "$root/core/include/carom/carom.h" >"$scratch/include/carom/carom.h"
  dump_stub "$scratch/carom.c" "$scratch/include" "$scratch/less.abi"
  ! compatible "$scratch/carom.abi" "$scratch/less.abi" || fail 'a removed member is not noticed'
}

"$root/core/abi/describe.py" --stub >"$scratch/carom.c"
dump_stub "$scratch/carom.c" "$root/core/include" "$scratch/carom.abi"
if [[ ${1:-} == --write ]]; then
  [[ ! -e $dump ]] || compatible "$dump" "$scratch/carom.abi" || cat "$scratch/changes"
  cp "$scratch/carom.abi" "$dump"
  exit
fi
check_the_check
compatible "$dump" "$scratch/carom.abi" || {
  cat "$scratch/changes" >&2
  fail 'the header is not compatible. If the change is growth, run tests/abi/abidiff_test.sh --write'
}
library=${CAROM_LIBRARIES:?}/libcarom.so.1
[[ -e $library ]] || fail "$library is missing"
abidiff --no-architecture "$scratch/carom.abi" "$library" >&2 ||
  fail 'the library has other symbols than the header declares'
printf 'abidiff: libcarom.so.1 has all that %s has\n' "${dump#"$root"/}"
