#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# usage: archive.sh FILE.tar.gz
#
# Writes the archive of the Go module, with its generated sources and the licence: equal bytes for equal sources.
# SOURCE_DATE_EPOCH is the time of its files; 0 unless set.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

"$here/generate.sh"
mkdir "$made/carom-go"
cp -r "$here"/{*.go,go.mod,go.sum,v1,examples} "$here/../../LICENSE" "$made/carom-go"
chmod -R u=rwX,go=rX "$made/carom-go"
tar --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner -C "$made" -cf - carom-go |
  gzip -n >"${1:?}"
