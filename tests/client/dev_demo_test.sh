#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# `./dev demo` works from any folder, twice: it writes its picture there, prints its table, and its
# server ends well on SIGTERM.
set -euo pipefail

: "${CAROM_SOURCE_DIR:?}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
for run in first second; do
  rm -f demo.svg
  "$CAROM_SOURCE_DIR/dev" demo >"$run"
  grep -q 'ticks *600$' "$run"
  grep -q 'hits *[1-9]' "$run"
  grep -q 'overlapping_pairs *[1-9]' "$run"
  grep -q 'latency_p99_ms *[0-9]' "$run"
  grep -q 'evaluate_ns_per_query *[1-9]' "$run"
  grep -q 'stopped by SIGTERM, exit code 0' "$run"
  grep -q '</svg>' demo.svg
done
if grep -q '^Installing' second; then exit 1; fi
diff <(grep -E 'hits|pairs' first) <(grep -E 'hits|pairs' second)
