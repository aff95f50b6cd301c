#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The tests of @carom/core, in build/web/core-tests, where the package is that of the sources.
#
#   core_test.sh FILE…      runs core_FILE_test.mjs of this folder by Node's own runner
#   core_test.sh browser    runs core_browser_test.mjs, in Chromium, beside the native program of the digest
#   core_test.sh deno       runs core_api_test.mjs in Deno, which compares digests with those of other machines
#   core_test.sh fuzz       runs the fuzz targets of the core for a million made-up inputs in all, as WebAssembly
#   core_test.sh document   runs the programs of docs/web.md, section "In the browser", and compares what they print
#   core_test.sh install    installs the packages that `./dev web` makes into an empty project, and runs what their
#                           READMEs show

folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tests/interop/common.sh
source "$folder/../interop/common.sh"
web=$source_dir/client/web
made=$source_dir/build/web
tests=$made/core-tests

need_core() {
  node_of 20.0
  python3 -c 'import ensurepip, venv' 2>/dev/null || lacks 'no Python with venv (python3-venv)'
  [[ ${CAROM_MADE-} == web && $1 != fuzz ]] || "$web/web.sh" "$@" >"$scratch/web.log" 2>&1 || {
    cat "$scratch/web.log"
    fail 'the packages are not made'
  }
}

lay_tests() {
  mkdir -p "$tests/node_modules/@carom"
  ln -sfn "$web/core" "$tests/node_modules/@carom/core.$$"
  mv -fT "$tests/node_modules/@carom/core.$$" "$tests/node_modules/@carom/core" # others of these tests use it
  cp "$folder"/core_*.mjs "$source_dir"/docs/digest*.* "$tests"
  gcc -std=c11 -O1 -I"$source_dir/core/include" "$source_dir/tests/python/library_digest.c" \
    "$CAROM_LIBRARIES/libcarom.so.1" -Wl,-rpath,"$CAROM_LIBRARIES" -o "$tests/library_digest"
  export CAROM_LIBRARY_DIGEST=$tests/library_digest
}

# The program of `./dev digest`, with the core of the build.
make_native_digest() {
  local -a sources=("$source_dir"/tests/{support/group_case,support/answer_words,determinism/digest}.cc) libraries
  read -ra libraries < <(pkg-config --libs absl_span absl_status absl_statusor absl_strings)
  g++ -std=c++20 -O1 -DNDEBUG -ffp-contract=off -w -I"$source_dir" -I"$source_dir"/core/include \
    -I"$source_dir"/core/src "${sources[@]}" "$CAROM_LIBRARIES/libcarom_core.a" "${libraries[@]}" -o "$tests/native_digest"
  export CAROM_NATIVE_DIGEST=$tests/native_digest
}

run_tests() {
  lay_tests
  local -a files=("${@/#/core_}")
  (cd "$tests" && node_tests 7000 --expose-gc "${files[@]/%/_test.mjs}")
}

# The first program of a README, and what it prints.
block() { awk -v start="\`\`\`$2" '/^```/ { if (inside) exit; inside = ($0 == start); next } inside' "$1"; }

run_install() {
  local project=$scratch/project
  mkdir "$project"
  (cd "$project" && npm init -y >/dev/null && npm pkg set type=module &&
    npm install --no-audit --no-fund --loglevel=error "$made"/carom-core-*.tgz)
  block "$web/core/README.md" js >"$project/first.js"
  block "$web/core/README.md" text >"$scratch/expected"
  [[ -s $project/first.js && -s $scratch/expected ]] || fail 'README.md of the package shows no program with its output'
  (cd "$project" && node first.js) | diff "$scratch/expected" - ||
    fail 'the program of README.md prints something else: above, as >'
  cp "$project/first.js" "$project/first.ts"
  (cd "$project" && "$web/node_modules/.bin/tsc" --strict --noEmit --target es2022 --lib es2022,esnext.disposable,dom \
    --module nodenext first.ts) || fail 'the types of the package do not fit the program of README.md'
}

# The blocks of the section in one language, one after the other.
blocks() {
  awk -v start="\`\`\`$1" '/^## / { section = ($0 == "## In the browser") }
    /^```/ { inside = section && ($0 == start); next } inside' "$source_dir/docs/web.md"
}

run_document() {
  lay_tests
  blocks js >"$tests/document.mjs"
  blocks text >"$scratch/expected"
  [[ -s $tests/document.mjs && -s $scratch/expected ]] || fail 'docs/web.md has no programs with their output'
  node "$tests/document.mjs" | diff "$scratch/expected" - ||
    fail 'the programs of docs/web.md print something else: above, as >'
}

run_fuzz() {
  local target count
  while read -r target count; do
    timeout 7000 node --no-warnings "$source_dir/tests/determinism/run_wasm.mjs" "$made/modules/fuzz-$target.wasm" \
      "$count" || fail "the fuzz target $target failed"
  done <<<$'laws 400000\nbundle 400000\nabi 200000'
}

case ${1:?} in
  browser)
    need_core unpacked
    make_native_digest
    run_tests browser
    ;;
  deno)
    need_core unpacked
    need_deno
    lay_tests
    deno_tests "$tests" core_api_test.mjs
    ;;
  fuzz)
    need_core fuzz
    run_fuzz
    ;;
  document)
    need_core unpacked
    run_document
    ;;
  install)
    need_core all
    run_install
    ;;
  *)
    need_core unpacked
    run_tests "$@"
    ;;
esac
