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
# The tarball of Abseil as it was published; Debian's changes to it are settings of Debian's build.
abseil=abseil_20220623.1.orig.tar.gz
abseil_sha256=abfe2897f3a30edaa74bc34365afe3c2a3cd012091a97dc7e008f7016adcd5fe

say() { printf '%s\n' "$*"; }

fail() {
  printf 'wheel.sh: %s\n' "$*" >&2
  exit 1
}

install_tools() {
  local pins=$package/requirements-build.txt
  [[ ! $venv/installed -nt $pins ]] || return 0
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$pins"
  touch "$venv/installed"
}

# By lists of apt's that stay here: the machine's own settings, which need not name sources, stay as they are.
fetch_abseil() {
  local lists=$out/apt
  mkdir -p "$lists/lists/partial"
  # shellcheck disable=SC2016  # apt-get expands these
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "bookworm" && $3 == "main" && !seen[$0]++ { print "deb-src", $0 }' >"$lists/sources.list"
  local -a apt=(apt-get -qq -o Dir::Etc::SourceList="$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$lists/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
  "${apt[@]}" update
  (cd "$lists" && "${apt[@]}" source --download-only --tar-only abseil)
  mv "$lists/$abseil" "$out/$abseil"
}

# What the library is compiled from beside the core, as build.py wants it.
lay_third_party() {
  local folder=$out/third_party
  [[ -f $out/$abseil ]] || fetch_abseil
  sha256sum --check --quiet <<<"$abseil_sha256  $out/$abseil" || fail "$out/$abseil is another file: remove it"
  [[ -d $folder/absl && ! -L $folder/absl ]] || {
    rm -rf "$folder"
    mkdir "$folder"
    tar -xf "$out/$abseil" -C "$folder" --strip-components=1 --wildcards '*/absl' '*/LICENSE'
  }
  ln -sfn /usr/include/boost "$folder/boost"
  ln -sfn /usr/include/hwy "$folder/hwy"
}

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
install_tools
lay_third_party
lay_licenses
for arch in x86_64 aarch64; do
  "$venv/bin/python" "$package/native/build.py" --arch "$arch" --out "$out/$arch/libcarom.so.1" \
    --jobs "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
done
pack_all
check
say "Wheels: $out"
(cd "$out" && stat -c '%s bytes  %n' -- */libcarom.so.1 carom-*)
