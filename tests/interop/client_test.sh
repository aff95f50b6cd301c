#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# usage: client_test.sh python|node|go
#
# A client with a gRPC library of its language asks the server some thousand questions over one
# stream, and gets the same bits as `carom eval` has from the library.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
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
  cp "$here/questions.mjs" "$here/node/client.mjs" "$build/node"
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
prepare_questions
start_server
"client_$language" "$address" "$scratch/questions" >got
stop_server
check_answers "$language" got
