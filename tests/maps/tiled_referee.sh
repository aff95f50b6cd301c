#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# Tiled itself is the referee of the importer of its maps.
#
# Its export to JSON has the polygons of the original, and its pictures show tiles where the importer
# places their collision shapes (tiled_referee.py). Skips without Tiled; fails without it under CI=true.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

lacks() {
  printf 'tiled_referee: %s\n' "$*" >&2
  [[ ${CI-} != true ]] || exit 1
  exit 77
}

: "${CAROM_BINARY:?}"
for tool in tiled tmxrasterizer python3; do
  command -v "$tool" >/dev/null || lacks "needs $tool (apt-get install tiled python3)"
done
raw=${CAROM_SHARED_DIR:-$here/../../../shared}/data/raw/tiled
[[ -d $raw ]] || lacks "needs the maps in $raw"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -m 700 "$scratch/run"
export QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$scratch/run
cp -r "$raw" "$scratch/raw"
chmod -R u+w "$scratch/raw"
python3 "$here/tiled_referee.py" "$CAROM_BINARY" "$scratch"
