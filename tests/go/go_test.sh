#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The tests of the Go module client/go, against a caromd.
#
#   go_test.sh client      the tests of the package
#   go_test.sh race        the same under the race detector
#   go_test.sh fuzz        random frames and answers, a minute each
#   go_test.sh examples    the programs of client/go/examples: the tick has the verdicts of the program in C++
#   go_test.sh documents   the programs of docs/go.md print what the page says
#   go_test.sh lint        gofmt, go vet, staticcheck

folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tests/interop/common.sh
source "$folder/../interop/common.sh"
module=$source_dir/client/go
programs=$source_dir/build/go
export CAROM_STORE=memory CAROM_ADMIN_ADDRESS=off GOTOOLCHAIN=local
export GOFLAGS='-mod=readonly -buildvcs=false'

need_module() {
  local version
  command -v go >/dev/null || lacks 'no Go'
  command -v protoc >/dev/null || lacks 'no protoc'
  version=$(go env GOVERSION)
  at_least "${version#go}" 1.22 || lacks "${version} is older than Go 1.22"
  mkdir -p "$programs"
  exec {lock}>"$programs/lock" # tests that run at once generate once
  flock "$lock"
  (cd "$module" && go mod download) || lacks 'the packages of client/go/go.mod could not be downloaded; see above'
  "$module/generate.sh"
  exec {lock}>&-
}

run_fuzz() {
  local target
  for target in FuzzFrame FuzzAnswer FuzzAnswerBytes; do
    go test -run '^$' -fuzz "^$target\$" -fuzztime "${CAROM_FUZZ_TIME:-60s}" .
  done
}

run_lint() {
  local files version
  version=$(go env GOVERSION)
  at_least "${version#go}" 1.26 || lacks "$version is older than Go 1.26, which staticcheck needs"
  files=$(gofmt -l "$module" "$source_dir/tests/bench/postgis")
  [[ -z $files ]] || fail "gofmt would change: $files"
  go vet ./...
  mkdir -p "$programs/bin"
  (cd "$folder" && GOBIN=$programs/bin go install tool)
  "$programs/bin/staticcheck" ./...
}

# build NAME: a program of client/go/examples.
build() { go build -o "$programs/$1" "./examples/$1"; }

run_examples() {
  local lines name
  : "${CAROM_BINARY:?}"
  for name in shooter_tick match_loop side_car; do build "$name"; done
  lines=$(wc -l <"$module/examples/shooter_tick/main.go")
  ((lines <= 100)) || fail "examples/shooter_tick has $lines lines, above 100"
  start_server
  "$CAROM_BINARY" scene import --address "$address" shooter-tick "$source_dir/client/examples/shooter_tick.json" >/dev/null
  timeout 120 "$programs/shooter_tick" "$address" >"$scratch/tick"
  awk '/^```/ { inside = ($0 == "```text"); next } inside' "$source_dir/docs/shooter-tick.md" >"$scratch/shown"
  head -n "$(wc -l <"$scratch/shown")" "$scratch/tick" | diff "$scratch/shown" - >&2 ||
    fail 'docs/shooter-tick.md shows other verdicts, above as <'
  if [[ -x ${CAROM_EXAMPLES-}/shooter_tick ]]; then
    "$CAROM_EXAMPLES/shooter_tick" "$address" | cmp "$scratch/tick" - >&2 || fail 'C++ and Go have other verdicts'
  elif [[ ${CI-} == true ]]; then
    fail 'CAROM_EXAMPLES has no shooter_tick'
  fi
  check_match_loop
  stop_server
  check_side_car
}

# Two matches with the same inputs have the same players and hits, and each tick its frame.
check_match_loop() {
  local i
  for i in 1 2; do timeout 120 "$programs/match_loop" "$address" 120 >"$scratch/match$i"; done
  cmp "$scratch/match1" "$scratch/match2" >&2 || fail 'two matches with the same inputs differ'
  grep -qE '^120 ticks, [1-9][0-9]* hits, the first player at ' "$scratch/match1" ||
    fail "the match prints: $(cat "$scratch/match1")"
}

# The game starts before its side-car, and goes on when the side-car was killed and started again. The map is kept.
check_side_car() {
  local game listen=unix:$scratch/carom.sock CAROM_STORE=sqlite CAROM_STATE_DIR=$scratch/state
  export CAROM_STORE CAROM_STATE_DIR
  mkdir "$scratch/state"
  timeout 120 "$programs/side_car" "$scratch/carom.sock" 20000 >"$scratch/game" &
  game=$!
  start_server
  until grep -q healthy "$scratch/game"; do sleep 0.05; done
  kill -KILL "$server_pid"
  wait "$server_pid" || true
  unset "servers[$server_pid]"
  start_server
  wait "$game" || fail 'the game failed'
  stop_server
  printf 'ready\nhealthy\n20000 ticks, 12000 hits\n' | diff - "$scratch/game" >&2 || fail 'the game prints something else'
}

# blocks PAGE LANGUAGE: the blocks of a language, one after the other.
blocks() { awk -v start="\`\`\`$2" '/^```/ { inside = ($0 == start); next } inside' "$source_dir/docs/$1"; }

# The Go of the page is one program of a module of its own, which requires the archive of the module. The address of
# the page is that of the server of the test.
run_documents() {
  local user=$scratch/user
  start_server
  mkdir "$user"
  "$module/archive.sh" "$scratch/carom-go.tar.gz"
  tar -xzf "$scratch/carom-go.tar.gz" -C "$scratch"
  blocks go.md go | sed "s/127.0.0.1:7420/$address/" >"$user/main.go"
  cp "$module/go.sum" "$user"
  (cd "$user" && go mod init example.com/user 2>/dev/null &&
    go mod edit -require carom@v0.0.0 -replace carom="$scratch/carom-go" &&
    GOFLAGS='-mod=mod -buildvcs=false' go build -o "$scratch/page" .)
  timeout 60 "$scratch/page" >"$scratch/printed"
  stop_server
  blocks go.md text | diff - "$scratch/printed" >&2 || fail 'the program of docs/go.md prints something else: above, as >'
}

need_module
cd "$module"
case ${1:?} in
  client)
    go vet .
    go test -timeout "$([[ -n ${CAROM_LONG-} ]] && echo 1500s || echo 280s)" .
    ;;
  race) go test -race -short -timeout 900s . ;;
  fuzz) run_fuzz ;;
  lint) run_lint ;;
  examples) run_examples ;;
  documents) run_documents ;;
  *) fail "$1 is no test" ;;
esac
