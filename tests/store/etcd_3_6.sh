#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# The tests of a fleet on the etcd of tests/store/etcd/go.mod in place of Debian's: the tools are
# built into BUILD/etcd, once for each state of that file. Skips, with exit code 77, without Go;
# fails there if CI is set.
#
#   tests/store/etcd_3_6.sh BUILD [FILTER]     FILTER: GoogleTest's, every test of a fleet by default
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
filter=${2:-Fleet*:*RestoredBackup*}
tools=$build/etcd

if ! command -v go >/dev/null; then
  printf 'etcd: Go is not installed\n' >&2
  [[ ${CI-} != true ]] || exit 1
  exit 77
fi
key=$(sha256sum <"$here/etcd/go.sum")
if [[ ! -f $tools/stamp || $(<"$tools/stamp") != "$key" ]]; then
  mkdir -p "$tools"
  for name in server etcdctl etcdutl; do
    (cd "$here/etcd" && go build -o "$tools/${name/server/etcd}" "go.etcd.io/etcd/$name/v3")
  done
  printf '%s\n' "$key" >"$tools/stamp"
fi
export PATH=$tools:$PATH
etcd --version | sed 1q
exec "$build/tests/store_test" --gtest_filter="$filter"
