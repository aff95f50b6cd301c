#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes what npm gets, in build/web: carom-core-VERSION.tgz and carom-client-VERSION.tgz. `./dev web` calls it, after it
# has installed the Debian packages needed.
#
#   web.sh all         makes the packages
#   web.sh unpacked    makes what the tests of this checkout use, and no packages
#   web.sh modules     makes the modules of WebAssembly alone
#   web.sh fuzz        makes these, and the fuzz targets of the core for WebAssembly
#   web.sh lint        checks rules and types of the sources
#
# The modules are compiled by client/web/core/native/build.py from the core, Abseil, Highway and the headers of Boost.
# Highway is newer than Debian's own, whose vectors for WebAssembly have no doubles.
set -euo pipefail

web=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd "$web/../.." && pwd)
out=$root/build/web
venv=$out/venv
wheels=$root/build/wheel
highway=highway_1.2.0.orig.tar.gz
highway_sha256=7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343
most_bytes=450000 # of a module in brotli

fail() {
  printf 'web.sh: %s\n' "$*" >&2
  exit 1
}

# shellcheck source=client/python/third_party.sh
source "$root/client/python/third_party.sh"

lay_third_party() {
  local folder=$out/third_party
  mkdir -p "$wheels" "$folder"
  lay_abseil "$wheels"
  fetch_source "$out" trixie highway "$highway" "$highway_sha256"
  [[ -f $folder/hwy/highway.h && ! -L $folder/hwy ]] || {
    rm -rf "$folder/hwy"
    tar -xf "$out/$highway" -C "$folder" --strip-components=1 --wildcards '*/hwy' '*/LICENSE'
  }
  ln -sfn "$wheels/third_party/absl" "$folder/absl"
  ln -sfn /usr/include/boost "$folder/boost"
}

# make_modules [--fuzz]: the modules, in build/web/modules.
make_modules() {
  install_tools "$venv" "$root/client/python/requirements-build.txt"
  lay_third_party
  "$venv/bin/python" "$web/core/native/build.py" --out "$out/modules" \
    --jobs "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" "$@"
}

install_packages() {
  local stamp=$web/node_modules/.package-lock.json
  [[ ! -f $stamp || $web/package-lock.json -nt $stamp ]] || return 0
  npm ci --prefix "$web" --no-audit --no-fund --loglevel=error
  touch "$stamp"
}

# JavaScript and its types, in the folder `dist` of each package.
make_sources() {
  install_packages
  node "$web/generate.mjs"
  (cd "$web" && npx tsc --build core && npm run build --workspaces --if-present --silent)
}

# The licences of all that is in a package.
lay_licenses() {
  local zig
  zig=$("$venv/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')
  {
    cat "$root/LICENSE" "$wheels/third_party/LICENSE" "$out/third_party/LICENSE" "$zig/lib/libcxx/LICENSE.TXT" "$zig/LICENSE"
    sed -n '/^ Boost Software License - Version 1.0/,/^$/{s/^ //;s/^\.$//;p}' /usr/share/doc/libboost1.*-dev/copyright
  } >"$web/core/LICENSE"
  [[ ! -d $web/client ]] || cp "$root/LICENSE" "$web/client/LICENSE"
}

check_sizes() {
  # shellcheck disable=SC2016  # JavaScript expands these
  node --input-type=module -e '
    import { readFileSync } from "node:fs";
    import { brotliCompressSync } from "node:zlib";
    const [most, ...files] = process.argv.slice(1);
    for (const file of files) {
      const bytes = readFileSync(file);
      const small = brotliCompressSync(bytes).length;
      console.log(`${small} bytes in brotli, ${bytes.length} as it is: ${file.split("/").at(-1)}`);
      if (small > most) process.exitCode = 1;
    }' "$most_bytes" "$out"/modules/carom{,-simd}.wasm || fail "a module has more than $most_bytes bytes in brotli"
}

pack() {
  lay_licenses
  rm -f "$out"/carom-*.tgz
  local package
  for package in core client; do
    [[ ! -f $web/$package/package.json ]] || npm pack --silent --pack-destination "$out" "$web/$package" >"$out/pack.log"
  done
}

mkdir -p "$out"
# One build at a time: tests that run at once call this script.
exec {lock}>"$out/lock"
flock "$lock"
# Types are checked where the sources are compiled.
lint() {
  make_sources
  local -a files
  mapfile -t files < <(cd "$root" && git ls-files client/web client/examples docs tests/web tests/bench/web \
    tests/determinism | grep -E '\.(mjs|ts)$')
  (cd "$root" && "$web/node_modules/.bin/oxlint" --config client/web/oxlintrc.json --deny-warnings "${files[@]}")
}

if [[ ${1:?} == lint ]]; then
  lint
  exit
fi
if [[ $1 == fuzz ]]; then
  make_modules --fuzz
  exit
fi
make_modules
[[ $1 != modules ]] || exit 0
make_sources
for module in carom carom-simd; do
  cmp -s "$out/modules/$module.wasm" "$web/core/dist/$module.wasm" || cp "$out/modules/$module.wasm" "$web/core/dist"
done
[[ $1 != unpacked ]] || exit 0
check_sizes
pack
(cd "$out" && stat -c '%s bytes  %n' -- carom-*.tgz)
