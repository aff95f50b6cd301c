#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# `protoc` makes Java and C# of the protos as they are: one package each, whatever the file. Go is
# compiled too, by client_test.sh.
set -euo pipefail

protos=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../proto" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'protoc_test: %s\n' "$*" >&2
  exit 1
}

# The messages of all files are classes of files of their own, in one folder.
mkdir "$scratch/java" "$scratch/csharp"
protoc -I "$protos" --java_out="$scratch/java" --csharp_out="$scratch/csharp" \
  "$protos"/carom/v1/*.proto
messages=$(sed -n 's/^message \([A-Za-z0-9]*\) {$/\1/p' "$protos"/carom/v1/*.proto)
[[ -n $messages ]] || fail 'the protos have no messages'
for message in $messages; do
  grep -qx 'package carom.v1;' "$scratch/java/carom/v1/$message.java" ||
    fail "Java has no carom.v1.$message"
  grep -q "class $message " "$scratch"/csharp/*.cs || fail "C# has no $message"
done
for file in "$scratch"/csharp/*.cs; do
  grep -q '^namespace Carom.V1 {' "$file" || fail "${file##*/} is in another namespace"
done
printf 'protoc: %d messages in Java and C#\n' "$(wc -w <<<"$messages")"
