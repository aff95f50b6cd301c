#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# The image serves: a container with a read-only root, no capability and a user that is not root
# takes scenes in, large ones too, answers queries as the library does, and ends with exit code 0 on SIGTERM.
set -euo pipefail

: "${CAROM_SOURCE_DIR:?}" "${CAROM_BINARY:?}"
arena=$CAROM_SOURCE_DIR/client/examples/arena.json
name=carom-test-$$
scratch=$(mktemp -d)

engine() { "$CAROM_SOURCE_DIR/dev" engine "$@"; }

fail() {
  printf 'container_test: %s\n' "$*" >&2
  engine logs "$name" >&2 || true
  exit 1
}

clean_up() {
  engine rm --force "$name" >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap clean_up EXIT

# Sets `address` to what the server says it listens on.
wait_for_server() {
  local attempt
  for ((attempt = 0; attempt < 50; ++attempt)); do
    address=$(engine logs "$name" 2>&1 | sed -n 's/^caromd listening on //p')
    [[ -z $address ]] || return 0
    sleep 0.2
  done
  fail "the server does not say that it listens"
}

start() {
  engine run --detach --name "$name" --network host --read-only --cap-drop=ALL \
    --security-opt no-new-privileges localhost/carom:dev --address 127.0.0.1:0 >/dev/null
  wait_for_server
  [[ $(engine inspect --format '{{.Config.User}}' "$name") == 65532:65532 ]] ||
    fail "the container's user is not 65532"
}

check_scenes() {
  "$CAROM_BINARY" scene import arena "$arena" --address "$address"
  "$CAROM_BINARY" scene list --address "$address" | grep -q '\barena\b' ||
    fail "the imported scene is not listed"
  "$CAROM_BINARY" cast arena -1000 0.5 1000 0.25 --address "$address" >"$scratch/cast"
  [[ -s $scratch/cast ]] || fail "the cast has no answer"
}

# A map that is replaced. SQLite wanted a temporary file for that, which has no place in the image.
check_large_scenes() {
  awk 'BEGIN {
    printf "{\"polygons\":["
    for (i = 0; i < 50000; ++i) {
      printf "%s{\"id\":%d,\"rings\":[[[%d,0],[%d,0],[%d,1]]]}", i ? "," : "", i, 2 * i, 2 * i + 1, 2 * i + 1
    }
    print "]}"
  }' >"$scratch/large.json"
  "$CAROM_BINARY" scene import large "$scratch/large.json" --address "$address"
  "$CAROM_BINARY" scene import large "$scratch/large.json" --replace --address "$address"
  "$CAROM_BINARY" scene delete large --address "$address"
}

# The image's answers are those of the library beside it, byte by byte.
check_answers() {
  cat >"$scratch/in" <<'TEXT'
{"op":"scene","polygons":[{"id":7,"fill":"evenodd","rings":[[[0,0],[4,0],[4,3],[0,3]],[[1,1],[2,1],[2,2]]]}]}
{"q":1,"op":"segment","a":[-1,0.1],"b":[9,0.3]}
{"q":2,"op":"point","p":[4,1]}
{"q":3,"op":"circle","c":[5,1],"r":1}
{"q":4,"op":"segment","a":["x",0],"b":[1,1]}
TEXT
  "$CAROM_BINARY" eval --local <"$scratch/in" >"$scratch/local"
  "$CAROM_BINARY" eval --address "$address" <"$scratch/in" >"$scratch/remote"
  [[ $(wc -l <"$scratch/remote") == 4 ]] || fail "four queries, but other than four answers"
  diff "$scratch/local" "$scratch/remote" || fail "the image answers other than the library"
}

stop() {
  local status
  engine stop --time 15 "$name" >/dev/null
  status=$(engine inspect --format '{{.State.ExitCode}}' "$name")
  [[ $status == 0 ]] || fail "exit code $status after SIGTERM"
}

start
check_scenes
check_large_scenes
check_answers
stop
echo "served, and stopped with exit code 0"
