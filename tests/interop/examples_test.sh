#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The programs of docs/shooter-tick.md and docs/farm.md, against a server: those of the tick, in
# C++, Python and Go, print the same bytes, for forks what they print for masks, and each document
# shows the first lines of what its programs print. Go, which compiles gRPC once, takes part where
# it has done so, and under CAROM_LONG.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
: "${CAROM_BINARY:?}" "${CAROM_EXAMPLES:?}" "${CAROM_LIBRARIES:?}"
export CAROM_LIBRARY=$CAROM_LIBRARIES/libcarom.so.1
export CAROM_STORE=memory
protos=$source_dir/proto
examples=$source_dir/client/examples

# import SCENE: the map of an example, which `carom` reads from the file of its name.
import() {
  "$CAROM_BINARY" scene import --address "$address" "$1" "$examples/${1//-/_}.json" >"$scratch/import" ||
    fail "the map of $1 cannot be imported"
}

# shown DOCUMENT: its block of output.
shown() { awk '/^```/ { inside = ($0 == "```text"); next } inside' "$source_dir/docs/$1"; }

# check_shown DOCUMENT OUTPUT: the document shows the output's first lines.
check_shown() {
  shown "$1" >"$scratch/shown"
  [[ -s $scratch/shown ]] || fail "docs/$1 shows no output"
  head -n "$(wc -l <"$scratch/shown")" "$2" | diff "$scratch/shown" - >&2 ||
    fail "docs/$1 shows another output, above as <"
}

# check_size FILE…: what a document promises about the length of its programs.
check_size() {
  local file
  for file in "$@"; do
    (($(wc -l <"$examples/$file") <= 120)) || fail "$file has more than 120 lines"
  done
}

# Go reads the generated package inside the module, so the module is copied, to a place of its own.
build_go() {
  local stage=$build/go/examples
  rm -rf "$stage"
  mkdir -p "$stage"
  cp "$here/go.mod" "$here/go.sum" "$examples/shooter_tick.go" "$stage"
  PATH=$build/go/bin:$PATH protoc -I "$protos" --go_out="$stage" --go-grpc_out="$stage" \
    "$protos"/carom/v1/*.proto
  (cd "$stage" && GOFLAGS='-mod=readonly -buildvcs=false' go build -o shooter_tick .)
}

# run NAME COMMAND…: the output of one program, as the file NAME.
run() { timeout 120 "${@:2}" >"$scratch/$1" || fail "$1 failed"; }

check_tick() {
  local language half
  check_size shooter_tick.{cc,py,go}
  import shooter-tick
  run cc "$CAROM_EXAMPLES/shooter_tick" "$address"
  PYTHONPATH=$source_dir/client/python/src run py "$build/package/bin/python" "$examples/shooter_tick.py" "$address"
  [[ -z $with_go ]] || run go "$build/go/examples/shooter_tick" "$address"
  for language in py ${with_go:+go}; do
    cmp "$scratch/cc" "$scratch/$language" >&2 || fail "C++ and $language have other verdicts"
  done
  half=$(($(wc -l <"$scratch/cc") / 2))
  ((half > 200)) || fail 'the verdicts are few'
  cmp <(head -n "$half" "$scratch/cc") <(tail -n "$half" "$scratch/cc") >&2 ||
    fail 'forks and masks have other verdicts'
  check_shown shooter-tick.md "$scratch/cc"
}

# The worlds are the same however they are spread over frames.
check_farm() {
  local frames
  check_size farm.py
  import farm
  run farm "$python" "$examples/farm.py" "$address"
  for frames in 1 7; do
    run farm_again "$python" "$examples/farm.py" "$address" "$frames"
    cmp "$scratch/farm" "$scratch/farm_again" >&2 || fail "the farm differs with $frames frames a step"
  done
  check_shown farm.md "$scratch/farm"
}

need_python
need_package
python=$build/python/bin/python
export PYTHONPATH=$scratch/python
with_go=
if [[ -n ${CAROM_LONG-} || -f $build/go/stamp ]]; then
  need_go
  build_go
  with_go=yes
fi
mkdir "$scratch/python"
"$python" -m grpc_tools.protoc -I "$protos" --python_out="$scratch/python" \
  --grpc_python_out="$scratch/python" "$protos"/carom/v1/*.proto
start_server
check_tick
check_farm
stop_server
printf 'examples: C++, Python%s: the same verdicts; the farm is the same in all its runs\n' \
  "${with_go:+ and Go}"
