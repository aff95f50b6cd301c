#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The first steps of the README work: its `carom` commands, against a server, and the program whose
# lines it shows. docs/eval.md shows the answers of `carom eval`.
set -euo pipefail

: "${CAROM_SOURCE_DIR:?}" "${CAROM_BINARY:?}" "${CAROMD_BINARY:?}" "${CAROM_EXAMPLES:?}"
readme=$CAROM_SOURCE_DIR/README.md
scratch=$(mktemp -d)
server=

fail() {
  printf 'readme_test: %s\n' "$*" >&2
  exit 1
}

clean_up() {
  [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT

start_server() {
  local attempt
  : >"$scratch/out"
  "$CAROMD_BINARY" --address 127.0.0.1:0 >"$scratch/out" 2>/dev/null &
  server=$!
  for ((attempt = 0; attempt < 200; ++attempt)); do
    CAROM_ADDRESS=$(sed -n 's/^caromd listening on //p' "$scratch/out")
    export CAROM_ADDRESS
    [[ -z $CAROM_ADDRESS ]] || return 0
    sleep 0.05
  done
  fail "the server does not say that it listens"
}

# run COMMAND: a command that stands in the README, with the program under test.
run() {
  grep -qF -- "$1" "$readme" || fail "the README has no such command: $1"
  (cd "$CAROM_SOURCE_DIR" && bash -c "${1//build\/demo\/client\/carom/$CAROM_BINARY}")
}

# block DOCUMENT LANGUAGE: the lines of its fenced block of that language.
block() { awk -v fence="\`\`\`$2" '/^```/ { inside = ($0 == fence); next } inside' "$CAROM_SOURCE_DIR/docs/$1"; }

# The README's C++ lines, without their fence.
snippet() { awk '/^```/ { inside = ($0 == "```cpp"); next } inside' "$readme"; }

# Each of them stands in the example.
check_snippet() {
  local line
  while IFS= read -r line; do
    grep -qF -- "$line" "$CAROM_SOURCE_DIR/client/examples/first_query.cc" ||
      fail "the README shows a line that the example does not have: $line"
  done < <(snippet)
}

start_server
run 'build/demo/client/carom scene import arena client/examples/arena.json'
run 'build/demo/client/carom cast arena 20 20 380 280' >"$scratch/cast"
grep -q '"hit":true' "$scratch/cast" || fail "the README's bullet hits nothing"
answer=$(printf '%s\n' '{"op":"load","file":"arena.json","id":"arena"}' \
  '{"op":"circle","c":[200,150],"r":12}' |
  run 'build/demo/client/carom eval --root client/examples')
[[ $answer == '{"ids":['*'],"touch":[]}' ]] || fail "eval answers $answer"
check_snippet
block eval.md jsonl | "$CAROM_BINARY" eval >"$scratch/eval"
block eval.md text | diff - "$scratch/eval" || fail "docs/eval.md shows other answers, above as <"
"$CAROM_EXAMPLES/first_query" "$CAROM_ADDRESS" >"$scratch/first"
diff - "$scratch/first" <<'TEXT' || fail "the first query answers otherwise"
bullet 0 hits polygon 7 at (0, 5), normal (-1, 0)
bullet 1 hits nothing
the circle touches 1 polygon(s), just so
TEXT
kill -TERM "$server"
wait "$server" || fail "the server ended with exit code $?"
server=
