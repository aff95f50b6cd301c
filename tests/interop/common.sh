# shellcheck shell=bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the scripts beside it: what they need from PyPI, npm and the Go modules, installed in
# build/interop as the lock files say, questions with their answers, and a server of their own.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=$(cd "$here/../.." && pwd)
build=$source_dir/build/interop
scratch=$(mktemp -d)
server_pid= # of the server that was started last
declare -A servers # by process id, those that run

# Leaves no server and no scratch file behind, however the script ends.
clean_up() {
  local pid
  for pid in "${!servers[@]}"; do
    kill -KILL "$pid" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# lacks MESSAGE…: ends the script with ctest's status for a test that is skipped; where everything
# must be there, under CI=true, as failed.
lacks() {
  printf 'interop: %s\n' "$*" >&2
  [[ ${CI-} != true ]] || exit 1
  exit 77
}

fail() {
  printf 'interop: %s\n' "$*" >&2
  exit 1
}

# at_least VERSION WANTED
at_least() { [[ $(printf '%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

# --- What is installed, once for each state of its lock file ------------------------------

# install NAME WORD FILE…: runs install_NAME unless it has succeeded with the same WORD, which is
# the language's version, and the same files.
install() {
  local name=$1 word=$2 key lock status stamp=$build/$1/stamp
  shift 2
  key=$(printf '%s\n' "$word" | cat - "$@" | sha256sum)
  mkdir -p "$build/$name"
  exec {lock}>"$build/$name.lock"
  flock "$lock"
  if [[ $(cat "$stamp" 2>/dev/null) != "$key" ]]; then
    rm -f "$stamp"
    printf 'interop: installing for %s, as %s says\n' "$name" "${1#"$source_dir/"}"
    set +e
    (set -e && "install_$name")
    status=$?
    set -e
    ((status == 0)) || lacks "what the $name tests need could not be installed; see above"
    printf '%s\n' "$key" >"$stamp"
  fi
  exec {lock}>&-
}

need_python() {
  python3 -c 'import ensurepip, venv' 2>/dev/null || lacks 'no Python with venv (python3-venv)'
  install python "$(python3 --version)" "$here/python/requirements.txt"
}

install_python() {
  python3 -m venv --clear "$build/python"
  "$build/python/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
    -r "$here/python/requirements.txt"
}

# The Python package of the sources, with what its tests need, for `$build/package/bin/python`.
need_package() {
  python3 -c 'import ensurepip, venv, sys; assert sys.version_info >= (3, 11)' 2>/dev/null ||
    lacks 'no Python 3.11 with venv (python3-venv)'
  install package "$(python3 --version)" "$source_dir/tests/python/requirements.txt"
  "$build/package/bin/python" "$source_dir/client/python/generate.py"
}

install_package() {
  python3 -m venv --clear "$build/package"
  "$build/package/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
    -r "$source_dir/tests/python/requirements.txt"
}

# node_of VERSION: sets `node_version`, which is at least VERSION.
node_of() {
  command -v node >/dev/null || lacks 'no Node.js'
  command -v npm >/dev/null || lacks 'no npm'
  node_version=$(node --version)
  at_least "${node_version#v}" "$1" || lacks "Node.js ${node_version#v} is older than $1"
}

# npm_ci NAME FOLDER: installs what the lock file of FOLDER names.
npm_ci() {
  cp "$2/package.json" "$2/package-lock.json" "$build/$1"
  npm ci --prefix "$build/$1" --no-audit --no-fund --loglevel=error
}

need_node() {
  node_of 18
  install node "$node_version" "$here/node/package-lock.json" "$here/node/package.json"
}

install_node() { npm_ci node "$here/node"; }

# The clients of the HTTP port, and code for them in $build/connect/gen, which is made anew. Packages
# and code are looked for beside the programs, so these are copied.
need_connect() {
  local gen=$build/connect/gen
  node_of 20
  install connect "$node_version" "$here/connect/package-lock.json" "$here/connect/package.json"
  cp "$here/questions.mjs" "$here"/connect/*.mjs "$build/connect"
  rm -rf "$gen"
  mkdir "$gen"
  protoc -I "$source_dir/proto" -I "$here/connect" --es_out="$gen" \
    --plugin="$build/connect/node_modules/.bin/protoc-gen-es" \
    --es_opt=target=js,import_extension=js "$source_dir"/proto/carom/v1/*.proto \
    "$here/connect/google/rpc/error_details.proto"
}

install_connect() { npm_ci connect "$here/connect"; }

# Sets `deno` to the program, which runs what is written for Node.js. deno_tests FOLDER FILE…: runs tests there.
need_deno() {
  node_of 18
  install deno "$node_version" "$source_dir"/tests/web/deno/package{-lock,}.json
  deno=$build/deno/node_modules/.bin/deno
  export DENO_DIR=$build/deno/cache DENO_NO_UPDATE_CHECK=1 NO_COLOR=1
}

install_deno() { npm_ci deno "$source_dir/tests/web/deno"; }

deno_tests() {
  (cd "$1" && timeout 3000 "$deno" test --allow-all --no-check --node-modules-dir=manual --v8-flags=--expose-gc "${@:2}")
}

# Sets `buf` to the program, which `./dev lint` may have installed.
need_buf() {
  local pins=$source_dir/.ci/tools
  buf=$pins/node_modules/.bin/buf
  [[ ! -x $buf ]] || return 0
  node_of 18
  install buf "$node_version" "$pins/package-lock.json" "$pins/package.json"
  buf=$build/buf/node_modules/.bin/buf
}

install_buf() { npm_ci buf "$source_dir/.ci/tools"; }

# The version of Go must be there: none is fetched. The tools are in $build/go/bin.
need_go() {
  local version wanted
  export GOTOOLCHAIN=local
  command -v go >/dev/null || lacks 'no Go'
  version=$(go env GOVERSION)
  version=${version#go}
  wanted=$(awk '$1 == "go" { print $2 }' "$here/go.mod")
  at_least "$version" "$wanted" || lacks "Go $version is older than $wanted"
  install go "$version" "$here/go.mod" "$here/go.sum"
}

install_go() { (cd "$here" && GOBIN=$build/go/bin GOFLAGS=-mod=readonly go install tool); }

# node_tests SECONDS ARGUMENT…: runs tests by Node's own runner, one file at a time, and prints its report, before that
# the tests that failed.
node_tests() {
  local log=$scratch/node_tests status=0
  timeout "$1" node --test-concurrency=1 --test-reporter=spec --test "${@:2}" >"$log" 2>&1 || status=$?
  ((status == 0)) || sed -n '/^✖ failing tests:/,$p' "$log"
  cat "$log"
  return "$status"
}

# --- Questions ------------------------------------------------------------------------------

# Writes the questions of questions.py, and how a client must print the answers of `carom eval`.
prepare_questions() {
  local words
  : "${CAROM_BINARY:?}"
  python3 "$here/questions.py" "$source_dir/client/examples/arena.json" >"$scratch/questions"
  "$CAROM_BINARY" eval --local <"$scratch/questions" >"$scratch/answers"
  python3 "$here/expected.py" "$scratch/questions" "$scratch/answers" >"$scratch/expected"
  # The questions are as nasty as they are meant to be.
  for words in 'segment miss' 'edge=none' ' exit=' ' on=[0-9]' 'circle .* touch=[0-9]' \
    'move ids=[0-9]' 'poly=18446744073709551615' '9007199254740993:' 'error 3 radius' \
    'error 3 tracker' 'error 3 by' 'error 5 scene'; do
    grep -q "$words" "$scratch/expected" || fail "no question is answered by: $words"
  done
}

# check_answers NAME FILE: what the client NAME has printed.
check_answers() {
  if ! cmp "$2" "$scratch/expected"; then
    diff "$2" "$scratch/expected" | head -n 20 >&2 || true
    fail "the $1 client has other answers than carom eval: above, as < and >"
  fi
  printf '%s: %d answers, the same bits as carom eval\n' "$1" "$(wc -l <"$2")"
}

# --- The server -----------------------------------------------------------------------------

# start_server OPTION…: starts caromd on a free loopback port, or at $listen if it is set. Sets
# `address`, and with `--http-address 127.0.0.1:0` also `http_address`.
# shellcheck disable=SC2120  # some scripts give no option
start_server() {
  local waited
  : "${CAROMD_BINARY:?}" >"$scratch/server.out" # the server may open it later than it is read below
  "$CAROMD_BINARY" --address "${listen-127.0.0.1:0}" "$@" >"$scratch/server.out" 2>"$scratch/server.err" &
  server_pid=$!
  servers[$server_pid]=runs
  for ((waited = 0; waited < 200; ++waited)); do
    address=$(sed -n 's/^caromd listening on //p' "$scratch/server.out")
    # shellcheck disable=SC2034  # for the scripts that source this file
    http_address=$(sed -n 's/^caromd http on //p' "$scratch/server.out")
    [[ -z $address ]] || return 0
    kill -0 "$server_pid" 2>/dev/null || break
    sleep 0.05
  done
  cat "$scratch/server.out" "$scratch/server.err" >&2
  fail 'caromd did not say that it listens; its output is above'
}

# Stops the server that was started last by SIGTERM.
stop_server() {
  kill -TERM "$server_pid"
  await_server
}

# Waits for the end of the server that was started last, after SIGTERM; anything but exit code 0 is
# an error.
await_server() {
  local status=0
  wait "$server_pid" || status=$?
  unset "servers[$server_pid]"
  ((status == 0)) || fail "caromd ended with exit code $status after SIGTERM"
}

# Writes $scratch/credentials, a file for `--credentials`, and sets the tokens `reader` and `writer`
# of one tenant.
make_credentials() {
  reader=$(openssl rand -hex 32)
  writer=$(openssl rand -hex 32)
  printf 'token %s acme %s\n' "$(printf %s "$reader" | sha256sum | cut -d ' ' -f 1)" reader \
    "$(printf %s "$writer" | sha256sum | cut -d ' ' -f 1)" writer >"$scratch/credentials"
}
