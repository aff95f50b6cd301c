#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the page of caromd in build/web/viewer, from the packages of client/web, which web.sh makes first.
#
#   viewer.sh         builds the packages and the page
#   viewer.sh page    builds the page alone, from packages that are there
set -euo pipefail

viewer=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
stamp=$viewer/node_modules/.package-lock.json

[[ ${1-} == page ]] || "$viewer/../web/web.sh" unpacked
if [[ ! -f $stamp || $viewer/package-lock.json -nt $stamp ]]; then
  npm ci --prefix "$viewer" --no-audit --no-fund --loglevel=error
  touch "$stamp"
fi
cd "$viewer"
npx tsc --noEmit
node build.mjs
