#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: examples_test.sh c|lua|csharp|rust|go
#
# The example of a language in core/abi/examples finds libcarom, calls it without a binding, and prints
# the same lines as those of all other languages. That of C is linked with the shared and with the
# static library, and two C compilers and one of C++ accept the header.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
examples=$root/core/abi/examples
libraries=$(realpath "${CAROM_LIBRARIES:-$root/build/release/core}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CPATH=$root/core/include LD_LIBRARY_PATH=$libraries LIBRARY_PATH=$libraries

fail() {
  printf 'examples_test: %s\n' "$*" >&2
  exit 1
}

# need COMMAND PACKAGE: ends the script with ctest's status for a test that is skipped; where
# everything must be there, under CI=true, as failed.
need() {
  ! command -v "$1" >/dev/null || return 0
  [[ ${CI:-} != true ]] || fail "$1 is missing: install $2"
  printf 'examples_test: skipped, since %s is missing (%s)\n' "$1" "$2"
  exit 77
}

# check COMMAND…: a program prints what is expected.
check() {
  timeout 20 "$@" >"$scratch/output" || fail "$1 failed"
  diff "$examples/expected.txt" "$scratch/output" >&2 || fail "$1 prints other lines, above as >"
}

# Each program stands alone and has no long lines; that of C shows how few lines the ten questions need.
check_size() {
  local longest
  longest=$(expand -t 4 "$1" | awk 'length > most { most = length } END { print most }')
  ((longest <= 100)) || fail "${1##*/} has a line of $longest columns"
  (($(wc -l <"$1") <= $2)) || fail "${1##*/} has more than $2 lines"
}

test_c() {
  local source=$examples/ten_questions.c strict=(-std=c11 -pedantic -Wall -Wextra -Werror)
  need clang clang
  check_size "$source" 60
  gcc "${strict[@]}" "$source" -lcarom -o "$scratch/shared"
  gcc "${strict[@]}" "$source" "$libraries/libcarom.a" -lstdc++ -lm -o "$scratch/static"
  clang "${strict[@]}" "$source" -lcarom -o "$scratch/clang"
  check "$scratch/shared"
  check "$scratch/clang"
  check env -u LD_LIBRARY_PATH "$scratch/static"
  printf '#include <carom/carom.h>\n' >"$scratch/alone.cc"
  g++ -std=c++20 -pedantic -Wall -Wextra -Werror -fsyntax-only "$scratch/alone.cc"
}

test_lua() {
  need luajit luajit
  check_size "$examples/ten_questions.lua" 75
  check luajit "$examples/ten_questions.lua"
}

test_csharp() {
  need mcs mono-mcs
  need mono mono-runtime
  check_size "$examples/ten_questions.cs" 160
  # Members that only the library reads are never assigned.
  mcs -warnaserror -nowarn:649 "-out:$scratch/ten_questions.exe" "$examples/ten_questions.cs"
  check mono "$scratch/ten_questions.exe"
}

test_rust() {
  need rustc 'Rust, from elsewhere'
  check_size "$examples/ten_questions.rs" 135
  rustc --edition 2021 -D warnings -L "$libraries" -o "$scratch/ten_questions" "$examples/ten_questions.rs"
  check "$scratch/ten_questions"
}

test_go() {
  need go 'Go, from elsewhere'
  check_size "$examples/ten_questions.go" 135
  [[ -z $(gofmt -l "$examples/ten_questions.go") ]] || fail 'gofmt writes ten_questions.go otherwise'
  # What Go keeps of an earlier build depends on these flags, but not on the header.
  CGO_CFLAGS=-DCAROM_HEADER=$(sha256sum <"$root/core/include/carom/carom.h" | cut -c 1-16)
  export CGO_CFLAGS GOTOOLCHAIN=local GOFLAGS=
  (cd "$scratch" && go build -o ten_questions "$examples/ten_questions.go")
  check "$scratch/ten_questions"
}

language=${1:?}
[[ $(type -t "test_$language") == function ]] || fail "no example in $language"
[[ -e $libraries/libcarom.so.1 ]] || fail "$libraries has no libcarom.so.1"
"test_$language"
printf 'examples_test: %s prints the lines of expected.txt\n' "$language"
