#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# grpcurl finds the services by reflection, asks in JSON, and gets the name of the wrong field.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_go
start_server --reflection

# reflect WORD…: what the server says of itself.
reflect() { "$build/go/bin/grpcurl" -plaintext "$address" "$@"; }

# call METHOD JSON: prints what comes back as one line without blanks; an error too, which ends
# grpcurl with an exit code of its own.
call() {
  { "$build/go/bin/grpcurl" -plaintext -d "$2" "$address" "carom.v1.$1" 2>&1 || true; } |
    tr -d ' \t\n'
}

# has TEXT PART…
has() {
  local text=$1 part
  shift
  for part in "$@"; do
    [[ $text == *"$part"* ]] || fail "grpcurl: no $part in $text"
  done
}

has "$(reflect list)" carom.v1.QueryService carom.v1.SceneService
has "$(reflect describe carom.v1.QueryService)" 'rpc Evaluate (' 'rpc Stream ( stream '
has "$(reflect describe carom.v1.SegmentCasts)" 'max_hits'

has "$(call SceneService/CreateScene '{"name": "scenes/unit", "polygons": [
  {"id": "18446744073709551615", "rings": [{"x": [0, 1, 1, 0], "y": [0, 0, 1, 1]}]}]}')" \
  '"name":"scenes/unit"' '"polygon_count":"1"'

has "$(call QueryService/Evaluate '{"frame": {"seq": "9007199254740993", "groups": [
  {"scene": "scenes/unit",
   "segments": {"ax": [-1, 5], "ay": [0.1, 5], "bx": [3, 6], "by": [0.5, 6]},
   "points": {"x": [0.5, "NaN"], "y": [0.5, 0]}},
  {"scene": "scenes/nowhere", "points": {"x": [0], "y": [0]}}]}}')" \
  '"seq":"9007199254740993"' '"counts":[1,0]' '"polygon_id":["18446744073709551615"]' \
  '"fraction":[0.25]' '"exit_fraction":[0.5]' '"feature":["FEATURE_EDGE"]' \
  '"location":["LOCATION_INSIDE"]' '"index":1,"code":3,"field":"x"' '"code":5'

# violation METHOD JSON: prints the field path that the details of the error name. grpcurl does not
# know google.rpc.BadRequest from reflection, and prints its bytes in base64.
violation() {
  local answer
  answer=$(call "$1" "$2")
  has "$answer" 'Code:InvalidArgument' 'type.googleapis.com/google.rpc.BadRequest'
  sed -E 's/.*"@value":"([^"]*)".*/\1/' <<<"$answer" | base64 -d | protoc --decode_raw |
    sed -nE 's/^ *1: "(.*)"$/\1/p'
}

field=$(violation QueryService/Evaluate '{"frame": {"budget_us": "70000000"}}')
[[ $field == budget_us ]] || fail "grpcurl: the field at fault is $field"
field=$(violation SceneService/CreateScene '{"name": "scenes/bad", "polygons": [
  {"id": "1", "rings": [{"x": [0, 1, "NaN"], "y": [0, 0, 1]}]}]}')
[[ $field == 'polygons[0].rings[0].x[2]' ]] || fail "grpcurl: the field at fault is $field"

stop_server
