#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# `./dev release` twice, in two folders, gives the same bytes: Debian packages, image, lists of parts, packages for
# Python, JavaScript and Go. The second time nothing comes from a cache of objects. What the release says of itself is true: checksums, and
# the hashes of programs in the lists of parts. A wrong version and a change that is not committed are refused.
set -euo pipefail

: "${CAROM_SOURCE_DIR:?}"
scratch=$(mktemp -d)
# The base of the image is made once.
export CAROM_CONTAINERS=$CAROM_SOURCE_DIR/build/containers
# Set for the whole test, it would hide that the time comes from the commit.
unset SOURCE_DATE_EPOCH
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'release_test: %s\n' "$*" >&2
  exit 1
}

# checkout FOLDER: a repository of one commit, with the files as they are here, committed or not.
checkout() {
  local file
  mkdir -p "$1"
  git -C "$CAROM_SOURCE_DIR" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
      [[ ! -e $CAROM_SOURCE_DIR/$file ]] || printf '%s\0' "$file"
    done | tar -C "$CAROM_SOURCE_DIR" --null --files-from=- -c | tar -C "$1" -x
  git -C "$1" init --quiet
  git -C "$1" add --all
  GIT_COMMITTER_DATE='2026-01-02T03:04:05Z' git -C "$1" -c user.name=test -c user.email=test@example.org \
    commit --quiet --message 'As it is here'
}

# refused FOLDER WORDS ARGS…: the release fails with exit code 2 and says why, and leaves no dist/.
refused() {
  local status=0
  "$1/dev" release "${@:3}" >"$scratch/log" 2>&1 || status=$?
  [[ $status == 2 ]] || fail "release ${*:3}: exit code $status instead of 2"
  grep -qF "$2" "$scratch/log" || fail "release ${*:3} does not say: $2"
  [[ ! -e $1/dist ]] || fail "release ${*:3} was refused, and left $1/dist"
}

check_refusals() {
  refused "$1" 'release takes a version'
  refused "$1" 'release takes a version' "$version" more
  refused "$1" 'release takes a version' "v$version"
  refused "$1" "the project has version $version" 9999.0.0
  echo >>"$1/README.md"
  refused "$1" 'README.md' "$version"
  git -C "$1" checkout --quiet README.md
  sed -i 's/^  "version": .*/  "version": "9999.0.0",/' "$1/client/web/client/package.json"
  refused "$1" 'client/web/client/package.json has another version' "$version"
  git -C "$1" checkout --quiet client/web/client/package.json
  touch "$1/docs/new"
  refused "$1" 'docs/new' "$version"
  rm "$1/docs/new"
}

# release FOLDER: its output is shown only if it fails.
release() {
  "$1/dev" release "$version" >"$1.log" 2>&1 || { cat "$1.log" >&2 && fail "the release in $1 failed"; }
}

# Unpacks what was released in FOLDER to FOLDER.image, a folder for each layer, and FOLDER.deb.
unpack() {
  local blob package
  mkdir -p "$1.archive" "$1.deb"
  tar -C "$1.archive" -xf "$1/dist/carom-$version-image.tar"
  for blob in "$1.archive"/blobs/sha256/*; do
    gzip --test "$blob" 2>/dev/null || continue # a list of layers, or the settings
    mkdir -p "$1.image"
    # As a user who is not root the owners are not kept; no file has a name outside.
    tar -C "$1.image" --no-same-owner -xzf "$blob"
  done
  for package in "$1"/dist/*.deb; do dpkg-deb -x "$package" "$1.deb"; done
}

check_equal() {
  local file
  diff <(ls "$scratch/first/dist") <(ls "$scratch/second/dist") || fail "the releases have other files"
  for file in "$scratch"/first/dist/*; do
    cmp "$file" "$scratch/second/dist/${file##*/}" || different+=("${file##*/}")
  done
  ((${#different[@]} == 0)) || {
    diff -rq "$scratch/first.image" "$scratch/second.image" >&2 || true
    diff -rq "$scratch/first.deb" "$scratch/second.deb" >&2 || true
    fail "two builds differ: ${different[*]}"
  }
}

# Each program has the hash that the list of parts says, and names no folder that it was built in.
check_programs() {
  local tree=$1 program hash
  for program in "${@:3}"; do
    hash=$(sha256sum <"$tree/$program")
    grep -q "\"${hash%% *}\"" "$2" || fail "${2##*/} has another hash of $program"
    if grep -qaE '/src/(core|server|client|proto)/|/build/(core|server|client|proto)/' "$tree/$program" ||
      grep -qaF "$scratch" "$tree/$program"; then
      fail "$program names the folder in which it was built"
    fi
  done
}

# The list of parts has each library of the image, and no other.
check_libraries() {
  diff <(sed -n 's/^ *"location": "\(.*\)"$/\1/p' "$2" | sort) \
    <(cd "$1" && find . -name '*.so*' -printf '/%P\n' | sort) || fail "${2##*/} has other libraries than the image"
}

# The packages for other languages are there, and name no folder that they were built in.
check_packages() {
  local file folder=$scratch/packages
  local -a files=("$1"/carom-{"$version",go-"$version"}.tar.gz "$1"/carom-{core,client}-"$version".tgz
    "$1"/carom-"$version"-*_{x86_64,aarch64}.whl)
  for file in "${files[@]}"; do
    [[ -f $file ]] || fail "the release lacks ${file##*/}"
    mkdir -p "$folder/${file##*/}"
    if [[ $file == *.whl ]]; then
      python3 -m zipfile -e "$file" "$folder/${file##*/}"
    else
      tar -C "$folder/${file##*/}" --no-same-owner -xzf "$file"
    fi
  done
  if grep -rlaF "$scratch" "$folder"; then
    fail 'the files above name the folder in which they were built'
  fi
}

version=$(sed -n 's/^project(carom VERSION \([0-9.]*\).*/\1/p' "$CAROM_SOURCE_DIR/CMakeLists.txt")
different=()
checkout "$scratch/first"
checkout "$scratch/second"
check_refusals "$scratch/first"
release "$scratch/first"
CCACHE_DISABLE=1 release "$scratch/second"
unpack "$scratch/first"
unpack "$scratch/second"
check_equal
dist=$scratch/first/dist
(cd "$dist" && sha256sum --check --strict --quiet SHA256SUMS) || fail "SHA256SUMS does not fit"
[[ $(wc -l <"$dist/SHA256SUMS") == $(($(find "$dist" -type f | wc -l) - 1)) ]] || fail "SHA256SUMS lacks a file"
check_programs "$scratch/first.image" "$dist/carom-$version-image.cdx.json" caromd carom
check_programs "$scratch/first.deb" "$dist/carom-$version-debian.cdx.json" usr/bin/caromd usr/bin/carom
check_libraries "$scratch/first.image" "$dist/carom-$version-image.cdx.json"
grep -q '2026-01-02T03:04:05Z' "$dist/carom-$version-image.cdx.json" || fail "the time is not that of the commit"
check_packages "$dist"
cmp "$dist/THIRD_PARTY.md" "$scratch/first.image/usr/share/doc/carom/THIRD_PARTY.md"
echo "two builds gave the same $(find "$dist" -type f | wc -l) files"
