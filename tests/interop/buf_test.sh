#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# `buf curl` speaks the Connect protocol with the protos as they are: calls, streams, errors.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_buf
start_server --http-address 127.0.0.1:0

# answers METHOD JSON: prints what comes back, messages and errors.
answers() {
  "$buf" curl --protocol connect --schema "$source_dir/proto" -d "$2" \
    "http://$http_address/carom.v1.$1" 2>&1 || true
}

# call METHOD JSON: the same as one line without blanks.
call() { answers "$@" | tr -d ' \t\n'; }

# has TEXT PART…
has() {
  local text=$1 part
  shift
  for part in "$@"; do
    [[ $text == *"$part"* ]] || fail "buf curl: no $part in $text"
  done
}

has "$(call SceneService/CreateScene '{"name": "scenes/unit", "polygons": [
  {"id": "18446744073709551615", "rings": [{"x": [0, 1, 1, 0], "y": [0, 0, 1, 1]}]}]}')" \
  '"name":"scenes/unit"' '"polygonCount":"1"'
has "$(call QueryService/Evaluate '{"frame": {"seq": "9007199254740993", "groups": [
  {"scene": "scenes/unit",
   "segments": {"ax": [-1, 5], "ay": [0.1, 5], "bx": [3, 6], "by": [0.5, 6]}}]}}')" \
  '"seq":"9007199254740993"' '"counts":[1,0]' '"polygonId":["18446744073709551615"]' \
  '"fraction":[0.25]' '"exitFraction":[0.5]' '"feature":["FEATURE_EDGE"]'
has "$(call SceneService/ExportScene '{"name": "scenes/unit"}')" \
  '"scene":{"name":"scenes/unit"' '"polygons":[{"id":"18446744073709551615"'
has "$(call SceneService/GetScene '{"name": "scenes/nowhere"}')" '"code":"not_found"' \
  '"type":"google.rpc.BadRequest"'
has "$(call SceneService/WatchScene '{"name": "scenes/nowhere"}')" '"code":"not_found"'

# A watch sends the version that a commit makes, and ends with its scene.

# await_watch WORD: until the watch has printed it, for at most 20 s.
await_watch() {
  local waited
  for ((waited = 0; waited < 200; ++waited)); do
    ! grep -q "$1" "$scratch/watch" || return 0
    sleep 0.1
  done
  fail "buf curl: no $1 in $(<"$scratch/watch")"
}

: >"$scratch/watch"
answers SceneService/WatchScene '{"name": "scenes/unit"}' >"$scratch/watch" &
watch=$!
await_watch polygonCount
has "$(call SceneService/CommitEdits '{"name": "scenes/unit", "edit_id": "empty",
  "edits": [{"remove": "18446744073709551615"}]}')" '"name":"scenes/unit"'
await_watch POLYGON_CHANGE_REMOVED
has "$(call SceneService/DeleteScene '{"name": "scenes/unit"}')" '{}'
wait "$watch"
has "$(tr -d ' \t\n' <"$scratch/watch")" '"editId":"empty"' '"code":"not_found"'
stop_server
