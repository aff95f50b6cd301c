#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The tests of @carom/client, in build/web/client-tests, where the package is that of the sources.
#
#   client_test.sh FILE…    runs client_FILE_test.mjs of this folder by Node's own runner
#   client_test.sh node     runs the client of Node.js: scenes, streams, body sets, the codec and its speed, the example of the tick
#   client_test.sh web      runs the client of browsers, in Node.js, and measures its size
#   client_test.sh install  installs the packages that `./dev web` makes into an empty project, and runs README.md's
#   client_test.sh deno     runs the client of Node.js in Deno
#   client_test.sh long     runs more of all, and the page of client/examples/prediction at its own speed

folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tests/interop/common.sh
source "$folder/../interop/common.sh"
: "${CAROMD_BINARY:?}" "${CAROM_BINARY:?}"
web=$source_dir/client/web
made=$source_dir/build/web
tests=$made/client-tests
examples=$source_dir/client/examples
most_bytes=60000 # of the client of browsers in brotli, as of the modules of @carom/core

need_client() {
  node_of 20.0
  command -v protoc >/dev/null || lacks 'no protoc (protobuf-compiler)'
  python3 -c 'import ensurepip, venv' 2>/dev/null || lacks 'no Python with venv (python3-venv)'
  [[ ${CAROM_MADE-} == web ]] || "$web/web.sh" "$@" >"$scratch/web.log" 2>&1 || {
    cat "$scratch/web.log"
    fail 'the packages are not made'
  }
  exec {lock}>"$source_dir/build/web_client_tests.lock" # several tests lay the same files
  flock "$lock"
  mkdir -p "$tests/gen"
  ln -sfn "$web/node_modules" "$tests/node_modules"
  cp -r "$folder"/{client_*,servers}.mjs "$examples"/{shooter_tick.mjs,prediction} "$tests"
  protoc -I "$source_dir/proto" --plugin="$web/node_modules/.bin/protoc-gen-es" --es_out="$tests/gen" \
    --es_opt=target=js,import_extension=js "$source_dir"/proto/carom/v1/*.proto
  exec {lock}>&-
}

# A WebSocket of its own has Node.js 22.
run_tests() {
  local -a files=("${@/#/client_}")
  (cd "$tests" && NODE_OPTIONS='--experimental-websocket --disable-warning=DEP0123' \
    node_tests 3000 "${files[@]/%/_test.mjs}")
}

# The program of docs/shooter-tick.md prints what that in C++ prints.
check_tick() {
  : "${CAROM_EXAMPLES:?}"
  (($(wc -l <"$examples/shooter_tick.mjs") <= 90)) || fail 'shooter_tick.mjs has more than 90 lines'
  start_server --store memory
  "$CAROM_BINARY" scene import --address "$address" shooter-tick "$examples/shooter_tick.json" >"$scratch/import"
  (cd "$tests" && node shooter_tick.mjs "$address") >"$scratch/js" || fail 'shooter_tick.mjs failed'
  "$CAROM_EXAMPLES/shooter_tick" "$address" >"$scratch/cc" || fail 'shooter_tick failed'
  cmp "$scratch/js" "$scratch/cc" >&2 || fail 'JavaScript and C++ have other verdicts'
}

# The program of docs/web.md, section "A server in Node.js", prints what the document shows.
check_document() {
  local language
  for language in js text; do
    awk -v start="\`\`\`$language" '/^## / { section = ($0 == "## A server in Node.js") }
      /^```/ { if (inside) exit; inside = section && ($0 == start); next } inside' \
      "$source_dir/docs/web.md" >"$scratch/document.$language"
    [[ -s $scratch/document.$language ]] || fail 'docs/web.md shows no program with its output'
  done
  sed "s/127\.0\.0\.1:7420/$address/" "$scratch/document.js" >"$tests/document.mjs"
  (cd "$tests" && node document.mjs) | diff "$scratch/document.text" - ||
    fail 'the program of docs/web.md prints something else: above, as >'
}

# What a page downloads that asks a server, after its bundler left out what it does not use.
check_size() {
  local bytes
  cat >"$tests/size.mjs" <<'PROGRAM'
import { connect, Frame } from '@carom/client/web';
import { segments } from '@carom/core/questions';
globalThis.carom = { connect, Frame, segments };
PROGRAM
  (cd "$tests" && node_modules/.bin/esbuild size.mjs --bundle --minify --format=esm --outfile=size.js --log-level=error)
  bytes=$(node -e 'const { brotliCompressSync } = require("zlib"), { readFileSync } = require("fs");
    console.log(brotliCompressSync(readFileSync(process.argv[1])).length)' "$tests/size.js")
  printf '%d bytes in brotli, %d in gzip: the client of browsers\n' "$bytes" "$(gzip -9c "$tests/size.js" | wc -c)"
  ((bytes <= most_bytes)) || fail "the client of browsers has more than $most_bytes bytes"
}

# The program of a README in its language, and what it prints.
block() { awk -v start="\`\`\`$2" '/^```/ { if (inside) exit; inside = ($0 == start); next } inside' "$1"; }

run_install() {
  local project=$scratch/project
  mkdir "$project"
  (cd "$project" && npm init -y >/dev/null && npm pkg set type=module &&
    npm install --no-audit --no-fund --loglevel=error "$made"/carom-{core,client}-*.tgz)
  block "$web/client/README.md" js >"$project/first.js"
  block "$web/client/README.md" text >"$scratch/expected"
  [[ -s $project/first.js && -s $scratch/expected ]] || fail 'README.md shows no program with its output'
  start_server --store memory
  sed -i "s/127\.0\.0\.1:7420/$address/" "$project/first.js"
  (cd "$project" && node first.js) | diff "$scratch/expected" - ||
    fail 'the program of README.md prints something else: above, as >'
  cp "$project/first.js" "$project/first.ts"
  cat >"$project/second.ts" <<'PROGRAM'
import { connect, type Client } from '@carom/client/web';
import { followScene, predict, type Outcome } from '@carom/client/prediction';
import { points } from '@carom/core/questions';
const client: Client = connect('http://127.0.0.1:1');
const scene = await followScene(client, 'arena', { onMismatch: (error) => console.error(error.field) });
const outcome: Outcome = await predict(scene, points({ x: 1, y: 1 })).outcome;
console.log(outcome);
PROGRAM
  (cd "$project" && "$web/node_modules/.bin/tsc" --strict --noEmit --target es2022 --lib es2022,esnext.disposable,dom \
    --module nodenext first.ts second.ts) || fail 'the types of the package do not fit the program of README.md'
}

case ${1:?} in
  node)
    need_client unpacked
    run_tests node stream past codec
    (cd "$tests" && node client_speed.mjs) || fail 'protobuf-es takes less than 20 times as long'
    check_tick
    check_document
    ;;
  web)
    need_client unpacked
    run_tests web
    check_size
    ;;
  install)
    need_client all
    run_install
    ;;
  deno)
    need_client unpacked
    need_deno
    deno_tests "$tests" client_{node,codec}_test.mjs
    ;;
  long)
    need_client unpacked
    CAROM_LONG=1 run_tests node stream past codec web prediction recording page
    ;;
  *)
    need_client unpacked
    run_tests "$@"
    ;;
esac
