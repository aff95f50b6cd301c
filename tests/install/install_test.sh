#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# What is installed can be used: the core by client/examples/core_only and by the program that
# docs/core-library.md shows, the client by a program of its own. And the page names headers and
# functions that exist. With --core-alone, the core is built for this without the service.
#
#   install_test.sh BUILD COMPILER [--core-alone]
set -euo pipefail

build=$1 compiler=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/docs/core-library.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'install_test: %s\n' "$*" >&2
  exit 1
}

# quietly COMMAND…: its output is shown only if it fails.
quietly() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2 && fail "$1 failed: ${*:2}"; }; }

# cached NAME: the value of a variable of the build's cache.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# configure SOURCE TREE [ARGS…]: with the compiler and flags of the build under test.
configure() {
  quietly cmake -S "$1" -B "$2" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" -DCMAKE_CXX_FLAGS="$(cached CMAKE_CXX_FLAGS)" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(cached CMAKE_CXX_COMPILER_LAUNCHER)" "${@:3}"
}

# use SOURCE PREFIX TREE: builds a program against what is installed at PREFIX.
use() {
  configure "$1" "$3" -DCMAKE_PREFIX_PATH="$2"
  quietly cmake --build "$3"
}

# block LANGUAGE: the first such block of the page.
block() {
  awk -v fence="\`\`\`$1" '
    $0 == fence && !done { inside = 1; next }
    $0 == "```" && inside { inside = 0; done = 1 }
    inside' "$page"
}

check_core_only() {
  use "$root/client/examples/core_only" "$1" "$2"
  "$2/core_only" >"$scratch/answers"
  diff - "$scratch/answers" <<'TEXT' || fail "core_only answers otherwise"
bullet 0 hits polygon 7 at (0, 5), normal (-1, 0)
bullet 1 hits nothing
a circle of radius 0.5 in the hole touches 0 polygon(s)
a circle of radius 1 in the hole touches 1 polygon(s)
the box runs into polygon 7 at fraction 0.3 of its path, normal (-1, 0)
the box is 0.25 deep in the wall, the axis of minimum penetration is (-1, 0)
TEXT
}

# The page's program, its CMakeLists.txt and what it prints.
check_page_program() {
  mkdir -p "$scratch/page"
  block cpp >"$scratch/page/main.cc"
  block cmake >"$scratch/page/CMakeLists.txt"
  block text >"$scratch/page/expected"
  use "$scratch/page" "$1" "$scratch/page/build"
  "$scratch/page/build/first" | diff "$scratch/page/expected" - ||
    fail "the first program of docs/core-library.md answers otherwise"
}

# Each row of the page's table: a header that is installed, and functions that it declares.
check_page_table() {
  local header functions function rows=0
  while IFS='|' read -r _ _ header functions _; do
    header=$1/include/${header//[\` ]/}
    [[ -f $header ]] || fail "docs/core-library.md names a header that is not installed: $header"
    for function in ${functions//[\`,]/ }; do
      grep -qE "\b${function/*::/}\b" "$header" ||
        fail "docs/core-library.md names $function, which $header does not declare"
    done
    rows=$((rows + 1))
  done < <(grep -F '| `carom/' "$page")
  ((rows >= 15)) || fail "docs/core-library.md has a table of $rows rows"
}

# A program that links the client; it needs no server to report that there is none.
check_client() {
  mkdir -p "$scratch/client"
  cat >"$scratch/client/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(carom REQUIRED COMPONENTS core client)
add_executable(consumer main.cc)
target_link_libraries(consumer PRIVATE carom::client)
TEXT
  cat >"$scratch/client/main.cc" <<'TEXT'
#include <cstdio>

#include "carom/client.h"

int main() {
  auto client = carom::Client::Connect("unix:/nonexistent/carom.sock");
  const carom::Frame frame;
  const bool answered = client.ok() && (*client)->Evaluate(frame).ok();
  std::puts(answered ? "answered" : "no server");
}
TEXT
  use "$scratch/client" "$1" "$scratch/client/build"
  [[ $("$scratch/client/build/consumer") == 'no server' ]] || fail "the client answers otherwise"
}

# A program in C finds libcarom.so by CMake and by pkg-config. A build with a sanitizer has no such library.
check_c() {
  [[ -e $1/lib/libcarom.a ]] || return 0
  mkdir "$scratch/c"
  cp "$root/core/abi/examples/ten_questions.c" "$scratch/c/main.c"
  cat >"$scratch/c/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(ten_questions LANGUAGES C CXX)
find_package(carom REQUIRED COMPONENTS core)
add_executable(ten_questions main.c)
target_link_libraries(ten_questions PRIVATE carom::carom)
TEXT
  use "$scratch/c" "$1" "$scratch/c/build"
  "$scratch/c/build/ten_questions" | cmp - "$root/core/abi/examples/expected.txt" || fail 'ten_questions answers otherwise'
  [[ $(PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --libs carom) == *-lcarom* ]] || fail 'pkg-config finds no carom'
}

if [[ ${3-} == --core-alone ]]; then
  configure "$root" "$scratch/alone" -DCAROM_BUILD_SERVICE=OFF -DCAROM_BUILD_TESTS=OFF
  quietly cmake --build "$scratch/alone"
  build=$scratch/alone
fi
prefix=$scratch/prefix
quietly cmake --install "$build" --component core --prefix "$prefix"
[[ ! -e $prefix/lib/libcarom.a ]] || quietly cmake --install "$build" --component library --prefix "$prefix"
check_core_only "$prefix" "$scratch/core-only"
check_page_program "$prefix"
check_page_table "$prefix"
check_c "$prefix"
if [[ $(cached CAROM_BUILD_SERVICE) == ON ]]; then
  quietly cmake --install "$build" --component client --prefix "$prefix"
  check_client "$prefix"
fi
