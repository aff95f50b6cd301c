#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# Writes the generated sources of the Go module, which are in no commit: gen_*.go by generate.py, and the messages of
# the protocol, package carom/v1, by protoc with the protoc-gen-go of the module's own protobuf.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=${GO_BIN:-$root/build/go/bin}

python3 "$here/generate.py"
mkdir -p "$bin"
(cd "$here" && GOFLAGS='-mod=readonly -buildvcs=false' go build -o "$bin/protoc-gen-go" google.golang.org/protobuf/cmd/protoc-gen-go)
# Files that have not changed stay: a build that runs at once reads whole files.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
protoc -I "$root/proto" --plugin="$bin/protoc-gen-go" --go_out="$made" --go_opt=module=carom \
  "$root"/proto/carom/v1/*.proto
mkdir -p "$here/v1"
for file in "$made"/v1/*.go; do
  cmp -s "$file" "$here/v1/${file##*/}" || mv "$file" "$here/v1/"
done
