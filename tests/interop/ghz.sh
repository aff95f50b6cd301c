#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# usage: ghz.sh ADDRESS SECONDS
#
# Loads the `Evaluate` of a server by ghz, a public load generator for unary calls: 4 calls at a
# time over 2 connections, each of 64 segments through the arena, which it registers as scenes/ghz.
# CAROM_BINARY is the command line. Prints a head and a line, separated by tabs. Exit code 1 if a
# call failed, 77 if there is no Go.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
address=${1:?} seconds=${2:?}
need_go >&2

"${CAROM_BINARY:?}" scene import --replace --address "$address" ghz \
  "$source_dir/client/examples/arena.json" >/dev/null

# Starts on an inner circle, ends on an outer one, each in another direction. As bytes, so that ghz
# does not make them from JSON for each call.
awk 'BEGIN {
  for (i = 0; i < 64; ++i) {
    comma = i ? "," : ""
    ax = ax comma 200 + 60 * cos(i)
    ay = ay comma 150 + 60 * sin(i)
    bx = bx comma 200 + 180 * cos(2.4 * i)
    by = by comma 150 + 130 * sin(2.4 * i)
  }
  print "frame { groups { scene: \"scenes/ghz\" segments {"
  printf "ax: [%s] ay: [%s] bx: [%s] by: [%s] } } }\n", ax, ay, bx, by
}' | protoc -I "$source_dir/proto" --encode carom.v1.EvaluateRequest \
  carom/v1/query_service.proto >"$scratch/call"

"$build/go/bin/ghz" --insecure --call carom.v1.QueryService.Evaluate --binary-file "$scratch/call" \
  --duration "${seconds}s" --duration-stop wait --concurrency 4 --connections 2 --format json \
  "$address" >"$scratch/report.json"

python3 - "$scratch/report.json" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
  report = json.load(file)
p = {row["percentage"]: row["latency"] / 1000 for row in report["latencyDistribution"] or []}
errors = report["count"] - report["statusCodeDistribution"].get("OK", 0)
print("requests_per_s", "p50_us", "p99_us", "requests", "errors", sep="\t")
print(f"{report['rps']:.0f}", f"{p.get(50, 0):.0f}", f"{p.get(99, 0):.0f}", report["count"], errors,
      sep="\t")
sys.exit(errors != 0 or report["count"] == 0)
PYTHON
