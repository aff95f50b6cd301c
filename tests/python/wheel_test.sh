#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# wheel_test.sh [--long]
#
# What `./dev wheel` makes, which this calls if a source is newer than what lies in build/wheel:
#
# - The wheel for x86-64 installs into an empty environment, and the first lines of the package's README print there
#   what the page says.
# - The libraries of both wheels give made-up questions of every kind the answers that the library of the build gives
#   (library_digest.c): on this processor, and by qemu on one without vectors of four doubles, on one with them, and on
#   arm64. The example of the C ABI prints its lines with both.
#
# With --long, too:
# - The project's digest (tests/determinism/digest.cc) of the objects that the libraries consist of is that of the core
#   of the build, for both machines and each path of the vector code.
# - The sdist installs where there is no compiler, no header and no library of Debian's in reach.

folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tests/interop/common.sh
source "$folder/../interop/common.sh"
wheels=$source_dir/build/wheel
libraries=${CAROM_LIBRARIES:-$source_dir/build/release/core}
examples=$source_dir/core/abi/examples
digest_sources=("$source_dir"/tests/{support/group_case,support/answer_words,determinism/digest}.cc)

# Is no source newer than the wheel? What is made of others does not count.
is_fresh() {
  local -a wheel=("$wheels"/carom-*_aarch64.whl) # which is made last
  [[ -e ${wheel[0]} ]] && [[ -z $(find "$source_dir"/{core,client/python} \( -name '.*_cache' -o -name __pycache__ \
    -o -name _generated -o -name licenses -o -name lib \) -prune -o -type f -newer "${wheel[0]}" -print -quit) ]]
}

# first_lines LANGUAGE: its first block in the README of the package.
first_lines() {
  awk -v fence="\`\`\`$1" '/^```/ { if (inside) exit; inside = ($0 == fence); next } inside' \
    "$source_dir/client/python/README.md"
}

# install_alone NAME FILE: installs a wheel or sdist into an environment with nothing else, and runs the first lines.
install_alone() {
  local fresh=$scratch/$1
  python3 -m venv "$fresh"
  PATH=${reach-$PATH} "$fresh/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "$2"
  first_lines python >"$scratch/first.py"
  first_lines text >"$scratch/expected"
  [[ -s $scratch/first.py && -s $scratch/expected ]] || fail 'README.md of the package shows no program with its output'
  (cd / && env -u PYTHONPATH -u CAROM_LIBRARY "$fresh/bin/python" "$scratch/first.py") | diff "$scratch/expected" - ||
    fail "the program of README.md prints something else in the environment $1: above, as >"
  printf 'the %s: installs alone, and prints what README.md says\n' "$1"
  library=$("$fresh/bin/python" -c 'import carom._library as l; print(l.path())')
}

# zig ARCH ARGS…: the compiler of the wheels.
zig() {
  local cache=$wheels/zig
  ZIG_GLOBAL_CACHE_DIR=$cache ZIG_LOCAL_CACHE_DIR=$cache "$wheels/venv/bin/python" -m ziglang c++ \
    -target "$1-linux-gnu.2.28" -I"$source_dir" -I"$source_dir/core/include" -w "${@:2}"
}

# digests FILE LIBRARY COMMAND…: writes those of LIBRARY, by the program that the command runs.
digests() { LD_LIBRARY_PATH=$(dirname "$2") "${@:3}" >"$1"; }

# compare WHAT FILE [EXPECTED]: fails unless the answers are those of the library of the build.
compare() {
  diff "${3:-$scratch/expected_digests}" "$2" || fail "$1 has other answers than $libraries: above, as >"
  printf '%s: the same answers\n' "$1"
}

# unpack ARCH: sets `library` to that of the wheel.
unpack() {
  python3 -m zipfile -e "$wheels"/carom-*_"$1".whl "$scratch/$1"
  library=$scratch/$1/carom/lib/libcarom.so.1
}

# By qemu one sees which code runs: of the multiplications, those of four doubles at once.
compare_x86() {
  local program=$scratch/library_digest arithmetic='vmulpd.*ymm'
  unpack x86_64
  gcc -std=c11 -O1 -I"$source_dir/core/include" "$folder/library_digest.c" "$libraries/libcarom.so.1" -o "$program"
  digests "$scratch/expected_digests" "$libraries/libcarom.so.1" "$program"
  digests "$scratch/here" "$library" "$program"
  compare 'x86-64, this processor' "$scratch/here"
  digests "$scratch/old" "$library" qemu-x86_64 -cpu qemu64 -d in_asm -D "$scratch/old.log" "$program"
  compare 'x86-64, a processor without AVX' "$scratch/old"
  ! grep -q "$arithmetic" "$scratch/old.log" || fail 'a processor without AVX is given AVX2'
  digests "$scratch/avx2" "$library" qemu-x86_64 -cpu max -d in_asm -D "$scratch/avx2.log" "$program"
  compare 'x86-64, a processor with AVX2' "$scratch/avx2"
  grep -q "$arithmetic" "$scratch/avx2.log" || fail 'the AVX2 of a processor is not used'
  gcc -std=c11 -I"$source_dir/core/include" "$examples/ten_questions.c" "$library" -o "$scratch/ten"
  digests "$scratch/ten.out" "$library" "$scratch/ten"
  compare 'x86-64, ten questions' "$scratch/ten.out" "$examples/expected.txt"
}

compare_arm() {
  local name expected=$scratch/expected_digests
  unpack aarch64
  for name in "$folder/library_digest.c" "$examples/ten_questions.c"; do
    zig aarch64 -x c -std=c11 -O2 "$name" -x none "$library" -o "$scratch/arm"
    digests "$scratch/arm.out" "$library" qemu-aarch64 -L /usr/aarch64-linux-gnu "$scratch/arm"
    compare "arm64, ${name##*/}" "$scratch/arm.out" "$expected"
    expected=$examples/expected.txt
  done
}

# The digest of the project, of the objects of a wheel's library: project_digest ARCH RUNNER…
project_digest() {
  local arch=$1 program=$scratch/digest_$1 target
  zig "$arch" -std=c++20 -O2 -ffp-contract=off -I"$source_dir/core/src" -isystem "$wheels/third_party" \
    "${digest_sources[@]}" "$wheels/objects-$arch"/*.o -o "$program"
  "${@:2}" "$program" >"$scratch/$arch.hashes"
  compare "the project's digest, $arch" "$scratch/$arch.hashes" "$scratch/hashes"
  for target in $("${@:2}" "$program" --targets); do
    "${@:2}" "$program" --target "$target" >"$scratch/$arch.hashes"
    compare "the project's digest, $arch, $target" "$scratch/$arch.hashes" "$scratch/hashes"
  done
}

project_digests() {
  local -a absl
  read -ra absl <<<"$(pkg-config --libs absl_span absl_status absl_statusor absl_strings)"
  g++ -std=c++20 -O1 -w -ffp-contract=off -I"$source_dir" -I"$source_dir/core/include" -I"$source_dir/core/src" \
    "${digest_sources[@]}" "$libraries/libcarom_core.a" "${absl[@]}" -o "$scratch/digest"
  "$scratch/digest" >"$scratch/hashes"
  project_digest x86_64
  project_digest aarch64 qemu-aarch64 -L /usr/aarch64-linux-gnu
}

# No program is in reach but Python and what pip installs. The library is compiled in other folders than the wheel's.
install_sdist() {
  mkdir "$scratch/bin"
  reach=$scratch/bin install_alone sdist "$wheels"/carom-*.tar.gz
  cmp "$library" "$scratch/x86_64/carom/lib/libcarom.so.1" || fail 'the library of the sdist has other bytes'
  digests "$scratch/sdist.out" "$library" "$scratch/library_digest"
  compare 'the library of the sdist' "$scratch/sdist.out"
}

is_fresh || "$source_dir/dev" wheel
for program in gcc qemu-x86_64 qemu-aarch64; do
  command -v "$program" >/dev/null || lacks "no $program: sections [test] and [cross] of docker/packages.txt"
done
[[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ]] || lacks 'no glibc for arm64: section [cross] of docker/packages.txt'
compare_x86
compare_arm
install_alone wheel "$wheels"/carom-*_x86_64.whl
cmp "$library" "$scratch/x86_64/carom/lib/libcarom.so.1" || fail 'the package installed takes another library'
case ${1-} in
  '') ;;
  --long)
    project_digests
    install_sdist
    ;;
  *) fail 'takes --long or nothing' ;;
esac
