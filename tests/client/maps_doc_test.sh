#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The commands of docs/maps.md work with the example level, print what the page shows, and draw its
# picture.
set -euo pipefail

: "${CAROM_SOURCE_DIR:?}" "${CAROM_BINARY:?}" "${CAROMD_BINARY:?}"
page=$CAROM_SOURCE_DIR/docs/maps.md
scratch=$(mktemp -d)
server=

fail() {
  printf 'maps_doc_test: %s\n' "$*" >&2
  exit 1
}

clean_up() {
  [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT

# block LANGUAGE N: the lines of the page's Nth fenced block of that language.
block() {
  awk -v fence="\`\`\`$1" -v wanted="$2" \
    '/^```/ { inside = ($0 == fence); if (inside) ++number; next } inside && number == wanted' "$page"
}

mkdir "$scratch/bin"
ln -s "$CAROM_BINARY" "$scratch/bin/carom"
export PATH=$scratch/bin:$PATH
cp "$CAROM_SOURCE_DIR/client/examples/level.tmx" "$scratch"
cd "$scratch"
mapfile -t commands < <(block sh 1)
((${#commands[@]} == 3)) || fail "the page has ${#commands[@]} first commands"
bash -c "${commands[0]}" 2>report
block text 1 | diff - report || fail "the page shows another report, above as <"
bash -c "${commands[1]}" 2>/dev/null
bash -c "${commands[2]}" >local
cmp slide.svg "$CAROM_SOURCE_DIR/docs/maps.svg" || fail "docs/maps.svg is another picture"
grep -q '"at":\[174,-90\]' local || fail "the circle ends elsewhere: $(cat local)"

mapfile -t commands < <(block sh 3)
((${#commands[@]} == 1)) || fail "the page has ${#commands[@]} commands for mistakes"
status=0
bash -c "${commands[0]}" >findings || status=$?
((status == 3)) || fail "scene lint ends with exit code $status"
block text 2 | diff - findings || fail "the page shows other findings, above as <"
grep -q '</svg>' findings.svg || fail 'scene lint draws no picture'

: >out # the server may open it later than it is read below
"$CAROMD_BINARY" --store memory --address 127.0.0.1:0 >out 2>/dev/null &
server=$!
for ((attempt = 0; attempt < 400; ++attempt)); do
  CAROM_ADDRESS=$(sed -n 's/^caromd listening on //p' out)
  [[ -z $CAROM_ADDRESS ]] || break
  sleep 0.05
done
[[ -n $CAROM_ADDRESS ]] || fail "the server does not listen"
export CAROM_ADDRESS
mapfile -t commands < <(block sh 2)
((${#commands[@]} == 2)) || fail "the page has ${#commands[@]} commands for a server"
bash -c "${commands[0]}" 2>/dev/null >imported
grep -q '"mapping":{"format":"tiled",' imported || fail "no mapping: $(cat imported)"
bash -c "${commands[1]}" | diff - local || fail "the server answers otherwise, above as <"
kill -TERM "$server"
wait "$server" || fail "the server ended with exit code $?"
server=
