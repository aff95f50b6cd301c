#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The program of docs/java.md, built by Maven with what its pom.xml names, has at most 60 lines and prints what the
# page says.

folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tests/interop/common.sh
source "$folder/../interop/common.sh"
example=$source_dir/client/examples/java
stage=$source_dir/build/java

command -v javac >/dev/null || lacks 'no JDK'
command -v mvn >/dev/null || lacks 'no Maven'
version=$(javac -version 2>&1)
at_least "${version#javac }" 17 || lacks "$version is older than 17"

lines=$(wc -l <"$example/src/main/java/Tick.java")
((lines <= 60)) || fail "Tick.java has $lines lines, above 60"
rm -rf "$stage/example"
mkdir -p "$stage"
cp -r "$example" "$stage/example"
export TERM=dumb
maven=(mvn -q -B -Dstyle.color=never -f "$stage/example/pom.xml" -Dmaven.repo.local="$stage/repository" "-Dprotos=$source_dir/proto")
"${maven[@]}" generate-sources || lacks 'Maven could not get what the example needs; see above'
"${maven[@]}" compile || fail 'the example does not compile; see above'
start_server --admin-address off --store memory
"${maven[@]}" exec:java "-Dexec.args=$address" >"$scratch/printed" || fail "the program failed: $(cat "$scratch/printed")"
stop_server
awk '/^```/ { inside = ($0 == "```text"); next } inside' "$source_dir/docs/java.md" >"$scratch/shown"
[[ -s $scratch/shown ]] || fail 'docs/java.md shows no output'
sed 's/\x1b\[0m//g' "$scratch/printed" | diff "$scratch/shown" - >&2 || fail 'the program prints something else than docs/java.md: above, as >'
