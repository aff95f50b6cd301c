#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes what PyPI gets of the Python package, in build/wheel: a wheel for x86-64, a wheel for arm64, and an sdist, which
# builds from nothing else. `./dev wheel` calls it, after it has installed the Debian packages needed. Equal commits
# and Debian packages give equal bytes: the time in all files is SOURCE_DATE_EPOCH, that of the commit.
#
# The library is compiled by client/python/native/build.py, for both machines on each. Its sources are the core, those
# of Abseil, which Debian's source package has, and the headers of Highway and Boost, which Debian's packages have.
# What it was compiled from, and nothing else of these, goes into the sdist.
set -euo pipefail

: "${SOURCE_DATE_EPOCH:?}"
package=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd "$package/../.." && pwd)
out=$root/build/wheel
venv=$out/venv
most_bytes=4000000
say() { printf '%s\n' "$*"; }

fail() {
  printf 'wheel.sh: %s\n' "$*" >&2
  exit 1
}

# shellcheck source=client/python/third_party.sh
source "$package/third_party.sh"

# The licences of all that is in the wheels, where pyproject.toml looks for them.
lay_licenses() {
  local zig folder=$package/licenses
  zig=$("$venv/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')
  cp "$root/LICENSE" "$folder/Carom.txt"
  cp "$out/third_party/LICENSE" "$folder/Abseil.txt"
  cp /usr/share/doc/libhwy-dev/copyright "$folder/Highway.txt"
  sed -n '/^ Boost Software License - Version 1.0/,/^$/{s/^ //;s/^\.$//;p}' /usr/share/doc/libboost1.*-dev/copyright \
    >"$folder/Boost.txt"
  grep -q 'MACHINE-EXECUTABLE\|machine-executable' "$folder/Boost.txt" || fail 'no licence of Boost was found'
  cp "$zig/lib/libcxx/LICENSE.TXT" "$folder/LLVM.txt"
  cp "$zig/LICENSE" "$folder/Zig.txt"
}

# pack ARGS…: makes an sdist or a wheel of a folder in $out.
pack() { "$venv/bin/python" -m build --no-isolation --outdir "$out" "$@"; }

# The sdist, and of its files the wheels.
pack_all() {
  local arch
  rm -rf "$out"/{carom-*.tar.gz,carom-*.whl,sdist}
  pack --sdist "$package"
  mkdir "$out/sdist"
  tar -xf "$out"/carom-*.tar.gz -C "$out/sdist" --strip-components=1
  for arch in x86_64 aarch64; do
    CAROM_WHEEL_LIBRARY=$out/$arch/libcarom.so.1 CAROM_WHEEL_PLATFORM=$("$venv/bin/python" \
      "$package/native/build.py" --platform --arch "$arch") pack --wheel "$out/sdist"
  done
}

check() {
  local file shown
  "$venv/bin/twine" --no-color check --strict "$out"/carom-*
  for file in "$out"/carom-*; do
    (($(stat -c %s "$file") <= most_bytes)) || fail "$file has more than $most_bytes bytes"
    [[ $file == *.whl ]] || continue
    shown=$("$venv/bin/auditwheel" show "$file")
    tr '\n' ' ' <<<"$shown" | grep -qE 'consistent with the +following platform tag: "manylinux_2_(1[0-9]|2[0-8])_' ||
      fail "auditwheel: $shown"
  done
}

umask 022
mkdir -p "$out"
install_tools "$venv" "$package/requirements-build.txt"
lay_abseil "$out"
ln -sfn /usr/include/hwy "$out/third_party/hwy"
lay_licenses
for arch in x86_64 aarch64; do
  "$venv/bin/python" "$package/native/build.py" --arch "$arch" --out "$out/$arch/libcarom.so.1" \
    --jobs "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
done
pack_all
check
say "Wheels: $out"
(cd "$out" && stat -c '%s bytes  %n' -- */libcarom.so.1 carom-*)
