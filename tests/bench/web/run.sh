#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs the peers of @carom/core, and measures beside them (bench.mjs):
#
#   run.sh LIBRARIES [--quick] [FILTER]
#
# LIBRARIES is the folder of libcarom.so.1. All files go to build/bench/web.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../../..")
out=$root/build/bench/web
libraries=$(readlink -f -- "${1:?usage: run.sh LIBRARIES [--quick] [FILTER]}")
shift

mkdir -p "$out"
cp "$here"/{package.json,package-lock.json,*.mjs} "$out"
npm ci --prefix "$out" --no-audit --no-fund --loglevel=error
cc -O2 -std=gnu2x -I"$root/core/include" "$root/tests/bench/python/casts.c" -o "$out/casts" -ldl
exec node "$out/bench.mjs" "$root/client/web/core" "$out/casts" "$libraries/libcarom.so.1" "$out" "$@"
