#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# usage: client_test.sh python|node|go
#
# A gRPC client that nobody here wrote asks the server some thousand questions over one stream, and
# gets the same bits as `carom eval` has from the library.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
: "${CAROM_BINARY:?}"
protos=$source_dir/proto

# client_LANGUAGE ADDRESS QUESTIONS

client_python() {
  local bin=$build/python/bin
  mkdir "$scratch/python"
  "$bin/python" -m grpc_tools.protoc -I "$protos" --python_out="$scratch/python" \
    --grpc_python_out="$scratch/python" "$protos"/carom/v1/*.proto
  PYTHONPATH=$scratch/python "$bin/python" "$here/python/client.py" "$@"
}

# Packages are looked for beside the program.
client_node() {
  cp "$here/node/client.mjs" "$build/node"
  node "$build/node/client.mjs" "$protos" "$@"
}

# Go reads the generated package inside the module, so the module is copied.
client_go() {
  local stage=$build/go/module
  rm -rf "$stage"
  mkdir -p "$stage"
  cp -r "$here/go.mod" "$here/go.sum" "$here/go" "$stage"
  PATH=$build/go/bin:$PATH protoc -I "$protos" --go_out="$stage" --go-grpc_out="$stage" \
    "$protos"/carom/v1/*.proto
  (cd "$stage" && GOFLAGS='-mod=readonly -buildvcs=false' go build -o client ./go)
  "$stage/client" "$@"
}

language=${1:?}
"need_$language"
cd "$scratch"
python3 "$here/questions.py" "$source_dir/client/examples/arena.json" >questions
"$CAROM_BINARY" eval --local <questions >answers
python3 "$here/expected.py" questions answers >expected

# The questions are as nasty as they are meant to be.
for words in 'segment miss' 'edge=none' ' exit=' ' on=[0-9]' 'circle .* touch=[0-9]' \
  'move ids=[0-9]' 'poly=18446744073709551615' '9007199254740993:' 'error 3 radius' \
  'error 3 tracker' 'error 3 by' 'error 5 scene'; do
  grep -q "$words" expected || fail "no question is answered by: $words"
done

start_server
"client_$language" "$address" "$scratch/questions" >got
stop_server
if ! cmp got expected; then
  diff got expected | head -n 20 >&2 || true
  fail "the $language client has other answers than carom eval: above, as < and >"
fi
printf '%s: %d answers, the same bits as carom eval\n' "$language" "$(wc -l <got)"
