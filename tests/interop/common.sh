# shellcheck shell=bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the scripts beside it: what they need from PyPI, npm and the Go modules, installed in
# build/interop as the lock files say, and a server of their own.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=$(cd "$here/../.." && pwd)
build=$source_dir/build/interop
scratch=$(mktemp -d)
server_pid=

# Leaves no server and no scratch file behind, however the script ends.
clean_up() {
  if [[ -n $server_pid ]]; then
    kill -KILL "$server_pid" 2>/dev/null || true
  fi
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

need_node() {
  local version
  command -v node >/dev/null || lacks 'no Node.js'
  command -v npm >/dev/null || lacks 'no npm'
  version=$(node --version)
  at_least "${version#v}" 18 || lacks "Node.js ${version#v} is older than 18"
  install node "$version" "$here/node/package-lock.json" "$here/node/package.json"
}

install_node() {
  cp "$here/node/package.json" "$here/node/package-lock.json" "$build/node"
  npm ci --prefix "$build/node" --no-audit --no-fund --loglevel=error
}

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

# --- The server -----------------------------------------------------------------------------

# Starts caromd on a free loopback port and sets `address`.
start_server() {
  local waited
  : "${CAROMD_BINARY:?}" >"$scratch/server.out" # the server may open it later than it is read below
  "$CAROMD_BINARY" --address 127.0.0.1:0 --reflection >"$scratch/server.out" 2>"$scratch/server.err" &
  server_pid=$!
  for ((waited = 0; waited < 200; ++waited)); do
    address=$(sed -n 's/^caromd listening on //p' "$scratch/server.out")
    [[ -z $address ]] || return 0
    kill -0 "$server_pid" 2>/dev/null || break
    sleep 0.05
  done
  cat "$scratch/server.out" "$scratch/server.err" >&2
  fail 'caromd did not say that it listens; its output is above'
}

# Stops the server by SIGTERM; anything but exit code 0 is an error.
stop_server() {
  local status=0
  kill -TERM "$server_pid"
  wait "$server_pid" || status=$?
  server_pid=
  ((status == 0)) || fail "caromd ended with exit code $status after SIGTERM"
}
