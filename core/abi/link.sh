#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Links the libraries of carom.h, for C and for every language that calls C:
#   libcarom.so.1   only the functions of carom.h are visible; Abseil and the C++ library are inside
#   libcarom.a      one object with Abseil inside and other symbols local; its users add -lstdc++ -lm
#   carom.pc        for pkg-config
#
#   link.sh FOLDER CORE PREFIX LIBDIR COMPILER [FLAGS…]
#
# CORE is the archive of the core, libcarom_core.a; PREFIX and LIBDIR are where the files will be installed.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
folder=$1 core=$2 prefix=$3 libdir=$4
shift 4
compile=("$@")
read -ra absl <<<"$(pkg-config --libs absl_status absl_statusor absl_strings)"
work=$(mktemp -d "$folder/libcarom.XXXXXX")
trap 'rm -rf "$work"' EXIT

"${compile[@]}" -std=c++20 -O2 -fPIC -c "$here/abseil_parts.cc" -o "$work/abseil_parts.o"
# Takes of the archives what the functions of carom.h need.
mapfile -t needed < <(nm "$core" 2>/dev/null | awk '$2 == "T" && $3 ~ /^carom_/ { print "-Wl,-u," $3 }')
# shellcheck disable=SC2054  # the commas are of the linker's options
inputs=("$work/abseil_parts.o" "${needed[@]}" "$core" -Wl,-Bstatic "${absl[@]}")

"${compile[@]}" -shared -Wl,-soname,libcarom.so.1 -Wl,--version-script="$here/carom.map" -Wl,--gc-sections \
  -Wl,-z,defs -Wl,-z,relro,-z,now,-z,noseparate-code "${inputs[@]}" -Wl,-Bdynamic -static-libstdc++ -static-libgcc -pthread \
  -o "$work/libcarom.so.1"
strip --strip-unneeded "$work/libcarom.so.1"
ln -s libcarom.so.1 "$work/libcarom.so"

# A relocatable link makes one object of all; its other symbols cannot meet those of the program.
"${compile[@]}" -r -nostdlib -Wl,--force-group-allocation "${inputs[@]}" -o "$work/carom.o"
objcopy --wildcard --keep-global-symbol='carom_*' "$work/carom.o"
ar rcsD "$work/libcarom.a" "$work/carom.o"

version=$(sed -nE 's/^project\(carom VERSION ([0-9.]+).*/\1/p' "$here/../../CMakeLists.txt")
cat >"$work/carom.pc" <<END
prefix=$prefix
libdir=\${prefix}/$libdir
includedir=\${prefix}/include

Name: carom
Description: Exact 2D collision queries, for C and for languages that call C
Version: $version
Libs: -L\${libdir} -lcarom
Libs.private: -lstdc++ -lm -pthread
Cflags: -I\${includedir}
END

mv -f "$work"/libcarom.{so,so.1,a} "$work/carom.pc" "$folder/"
