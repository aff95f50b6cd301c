#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The examples of docs/http.md work as they are written, except for the port, and print what the
# document shows.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_connect
need_buf
document=$source_dir/docs/http.md

# block LANGUAGE NUMBER: the block of the document with that number among those of its language, for
# the server under test.
block() {
  awk -v fence="\`\`\`$1" -v number="$2" \
    '/^```/ { inside = ($0 == fence); count += inside; next } inside && count == number' \
    "$document" | sed "s/127\.0\.0\.1:7422/$http_address/"
}

# shows WHAT COMMAND…: the command prints what the file `shown` has, which leaves out measured costs
# and the end of an error's details.
shows() {
  "${@:2}" >"$scratch/printed"
  sed -E -e 's/ +$//' -e 's/"stats":\{[^}]*\}/"stats":{…}/' -e 's/("type":"[^"]*"),.*\]\}$/\1,…}]}/' \
    "$scratch/printed" | diff - "$scratch/shown" >&2 ||
    fail "$1 of docs/http.md print something else, above as <"
}

# A browser has WebSocket as a global.
as_in_browser() {
  printf '%s\n' "import WebSocket from 'ws';" | cat - "$scratch/browser.mjs" >"$build/connect/browser.mjs"
  node "$build/connect/browser.mjs"
}

start_server --http-address 127.0.0.1:0
cd "$scratch"
ln -s "$source_dir/proto" proto
ln -s "$build/connect/node_modules" node_modules

block sh 1 >calls.sh
block text 1 >shown
shows 'the calls of curl' bash -e calls.sh

# The URL is that of the first block.
{ grep '^url=' calls.sh && block sh 2; } >export.sh
mkdir bin
ln -s "$buf" bin/buf
PATH=$scratch/bin:$PATH bash -e export.sh >exported
grep -q '"polygons"' exported || fail 'buf curl of docs/http.md prints no polygons'

# The packages are installed already, in these versions.
block sh 3 >install.sh
mapfile -t packages < <(grep -oE '@[a-z-]+/[a-z-]+@[0-9.]+' install.sh)
((${#packages[@]} > 0)) || fail 'docs/http.md installs no packages'
for package in "${packages[@]}"; do
  grep -qF "\"${package%@*}\": \"${package##*@}\"" "$here/connect/package.json" ||
    fail "docs/http.md has another version than tests/interop/connect: $package"
done
sed -i '1i npm() { :; }' install.sh
bash -e install.sh

block js 1 >connect.mjs
sed -n 's|.*); // \(polygon .*\)|\1|p' connect.mjs >shown
[[ -s shown ]] || fail 'docs/http.md does not show what its client prints'
shows 'the lines with connect-es' node connect.mjs

block js 2 >browser.mjs
cat >shown <<'TEXT'
tick 1 touches []
tick 2 touches [ '7' ]
tick 3 touches [ '7' ]
tick 4 touches [ '7' ]
tick 5 touches []
closed: 1000
TEXT
shows 'the lines with a web socket' as_in_browser
stop_server
