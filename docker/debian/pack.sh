#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the Debian packages from a build of the preset `deb`, in FOLDER, by default in BUILD. Equal builds give equal
# bytes: every time in the packages is SOURCE_DATE_EPOCH, by default the time of the last commit.
#
#   pack.sh BUILD [FOLDER]
set -euo pipefail

debian=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/engine.sh
source "$debian/../engine.sh"
build=$(realpath "$1") folder=$(realpath -m "${2-$1}")

# Paths of libraries depend on the prefix that the build was configured with.
if ! grep -q '^CMAKE_INSTALL_PREFIX:PATH=/usr$' "$build/CMakeCache.txt"; then
  printf 'pack.sh: %s is no build of the preset deb\n' "$build" >&2
  exit 2
fi
SOURCE_DATE_EPOCH=$(source_epoch "$debian")
export SOURCE_DATE_EPOCH CAROM_BUILD=$build LC_ALL=C
umask 022
mkdir -p "$folder"
rm -f "$folder"/*.deb
log=$(cpack --config "$debian/cpack.cmake" -B "$folder" 2>&1) || {
  printf '%s\n' "$log" >&2
  exit 1
}
rm -rf "$folder/_CPack_Packages"
ls -l --time-style=+ "$folder"/*.deb
