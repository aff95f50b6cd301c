#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# The image serves: a container with a read-only root, no capability and a user that is not root
# takes scenes in, large ones too, answers queries as the library does, answers probes and scrapes, keeps
# every change that was answered when it is killed under load, and ends with exit code 0 on SIGTERM. The
# image has both programs and a list of their parts, no shell, and at most 40 MB.
set -euo pipefail

: "${CAROM_SOURCE_DIR:?}" "${CAROM_BINARY:?}"
image=localhost/carom:dev
max_bytes=40000000
arena=$CAROM_SOURCE_DIR/client/examples/arena.json
name=carom-test-$$
scratch=$(mktemp -d)
traffic=

engine() { "$CAROM_SOURCE_DIR/dev" engine "$@"; }

fail() {
  printf 'container_test: %s\n' "$*" >&2
  engine logs "$name" >&2 || true
  exit 1
}

clean_up() {
  [[ -z $traffic ]] || kill "$traffic" 2>/dev/null || true
  engine rm --force "$name" >/dev/null 2>&1 || true
  engine volume rm --force "$name" >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap clean_up EXIT

# --- The image --------------------------------------------------------------------------------

check_image() {
  local bytes about
  engine create --name "$name" "$image" >/dev/null
  engine export "$name" | tar -tv >"$scratch/files"
  engine rm "$name" >/dev/null
  bytes=$(awk '{ sum += $3 } END { print sum }' "$scratch/files")
  ((bytes <= max_bytes)) || fail "the image has $bytes bytes, at most $max_bytes"
  for file in caromd carom usr/share/doc/carom/{carom.cdx.json,THIRD_PARTY.md,LICENSE,third-party/grpc}; do
    grep -qE " (\./)?$file( -> .*)?\$" "$scratch/files" || fail "the image has no $file"
  done
  if grep -E '/?(sh|bash|dash|busybox|python3?|perl)$' "$scratch/files"; then
    fail "the image has what is above"
  fi
  if awk '$1 ~ /s/' "$scratch/files" | grep .; then fail "a file is setuid or setgid"; fi

  about=$(engine image inspect "$image" | tr -d ' \n')
  for part in '"User":"65532:65532"' '"7420/tcp"' '"7421/tcp"' '"7422/tcp"' '"/caromd","--probe"'; do
    [[ $about == *"$part"* ]] || fail "the image's settings have no $part"
  done
  echo "the image has $bytes bytes"
}

# --- The server -------------------------------------------------------------------------------

# Sets `admin` to a loopback address on which nothing listens.
choose_admin() {
  local port=$((20000 + $$ % 10000))
  while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  admin=127.0.0.1:$port
}

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
    --security-opt no-new-privileges --volume "$name:/var/lib/carom" \
    --env CAROM_ADMIN_ADDRESS="$admin" "$image" --address 127.0.0.1:0 >/dev/null
  wait_for_server
}

exit_code() { engine inspect --format '{{.State.ExitCode}}' "$name"; }

stop() {
  local status
  engine stop --time 15 "$name" >/dev/null
  status=$(exit_code)
  [[ $status == 0 ]] || fail "exit code $status after SIGTERM"
}

# --- What it does -----------------------------------------------------------------------------

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

# The command line in the image, beside the server and alone.
check_command_line() {
  engine exec "$name" carom scene list --address "$address" | grep -q '\barena\b' ||
    fail "carom in the container does not list the scene"
  engine run --rm --network none --entrypoint /carom --interactive "$image" eval --local \
    <"$scratch/in" >"$scratch/image_local"
  diff "$scratch/local" "$scratch/image_local" || fail "carom in the image answers otherwise"
  if engine exec "$name" /bin/sh -c true 2>/dev/null; then fail "there is a shell"; fi
}

# get PATH: the answer of the admin port, headers included.
get() {
  exec 3<>"/dev/tcp/${admin/://}"
  printf 'GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$1" "$admin" >&3
  cat <&3
  exec 3>&-
}

# What the kubelet, a scraper and HEALTHCHECK ask.
check_probes() {
  local answer path
  engine exec "$name" /caromd --probe || fail "--probe fails in the container"
  # Of the engines only podman runs a check on request; timers need systemd.
  [[ $(engine --version) != podman* ]] || engine healthcheck run "$name" || fail "HEALTHCHECK fails"
  for path in /healthz /readyz /metrics; do
    answer=$(get "$path")
    [[ ${answer%%$'\r'*} == 'HTTP/1.1 200'* ]] || fail "$path: ${answer%%$'\r'*}"
  done
  [[ $answer == *$'\ncarom_ready 1'* ]] || fail "/metrics does not say that the server is ready"
}

check_probe_of_a_stopped_server() {
  local status=0
  engine run --rm --network host --env CAROM_ADMIN_ADDRESS="$admin" "$image" --probe || status=$?
  ((status == 1)) || fail "--probe of a stopped server has exit code $status"
}

check_demo() {
  "$CAROM_BINARY" demo --address "$address" --map "$arena" --svg "$scratch/demo.svg" --ticks 120 >"$scratch/demo"
  grep -q 'ticks *120$' "$scratch/demo" || fail "the demo does not end"
  grep -q 'hits *[1-9]' "$scratch/demo" || fail "no bullet of the demo hits"
}

# Imports one scene after the other until the server is gone. Writes the number of each import that was answered to
# the file `answered`.
write_scenes() {
  local i
  for ((i = 0; ; ++i)); do
    printf '{"polygons":[{"id":%d,"rings":[[[%d,0],[%d,0],[%d,1]]]}]}' "$i" "$i" $((i + 1)) $((i + 1)) |
      timeout 30 "$CAROM_BINARY" scene import "kept-$i" - --address "$address" >/dev/null 2>&1 || return 0
    echo "$i" >>"$scratch/answered"
  done
}

# Kills the server while the demo plays and scenes are written. All that was answered is there when another
# container serves the volume.
check_kill() {
  local writer i waited
  : >"$scratch/answered"
  "$CAROM_BINARY" demo --address "$address" --map "$arena" --svg "$scratch/cut.svg" --ticks 1000000 \
    >/dev/null 2>&1 &
  traffic=$!
  write_scenes &
  writer=$!
  for ((waited = 0; $(wc -l <"$scratch/answered") < 20; ++waited)); do
    ((waited < 300)) || fail "fewer than 20 imports in 30 s"
    sleep 0.1
  done
  kill -0 "$traffic" || fail "the demo ended before the server"
  engine kill --signal KILL "$name" >/dev/null
  wait "$writer"
  kill "$traffic" 2>/dev/null || true
  wait "$traffic" || true
  traffic=
  [[ $(exit_code) == 137 ]] || fail "exit code $(exit_code) after SIGKILL"
  engine rm "$name" >/dev/null
  start
  "$CAROM_BINARY" scene list --address "$address" >"$scratch/list"
  for i in arena $(sed 's/^/kept-/' "$scratch/answered"); do
    grep -q "\"scenes/$i\"" "$scratch/list" || fail "the kill lost the scene $i"
  done
  while read -r i; do
    "$CAROM_BINARY" scene export "kept-$i" --address "$address" | tr -d ' \n' >"$scratch/export"
    grep -qE "\[$i(\.0)?,0(\.0)?\]" "$scratch/export" || fail "scene kept-$i has other polygons after the kill"
  done <"$scratch/answered"
  echo "killed under load: $(wc -l <"$scratch/answered") scenes that were written are there"
}

check_image
choose_admin
start
check_scenes
check_large_scenes
check_answers
check_command_line
check_probes
check_demo
check_kill
check_probes
stop
check_probe_of_a_stopped_server
echo "served, and stopped with exit code 0"
