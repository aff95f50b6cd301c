#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The page of caromd in Chromium. Screenshots of each view, light and dark, are in build/web/screenshots afterwards.
#
#   viewer_test.sh TEST…    runs tests of viewer_test.mjs by their names, all without names
#   viewer_test.sh record   runs viewer_record_test.mjs: recordings of streams
#   viewer_test.sh state TEST…  the same of viewer_state_test.mjs: which scene is shown, and how the page gets over faults
#   viewer_test.sh edit TEST…   those of viewer_edit_test.mjs: edits, repairs, drawing, programs to copy
#   viewer_test.sh long     runs those of viewer_long_test.mjs

folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tests/interop/common.sh
source "$folder/../interop/common.sh"
: "${CAROMD_BINARY:?}" "${CAROM_BINARY:?}"
export CAROMD_BINARY CAROM_BINARY

node_of 20
export CHROMIUM_BINARY=${CHROMIUM_BINARY:-$(command -v chromium || true)}
[[ -n $CHROMIUM_BINARY ]] || lacks 'no chromium (chromium)'

if [[ ${CAROM_MADE-} != web ]]; then
  mkdir -p "$source_dir/build"
  exec {lock}>"$source_dir/build/web.lock" # tests that run at once build one page
  flock "$lock"
  "$source_dir/client/viewer/viewer.sh" >"$scratch/viewer.log" 2>&1 || {
    cat "$scratch/viewer.log" >&2
    fail 'the page is not built'
  }
  exec {lock}>&-
fi

if [[ ${1-} == long ]]; then
  node "$folder/viewer_long_test.mjs" "${@:2}"
elif [[ ${1-} == edit ]]; then
  node "$folder/viewer_edit_test.mjs" "${@:2}"
elif [[ ${1-} == record ]]; then
  node "$folder/viewer_record_test.mjs"
elif [[ ${1-} == state ]]; then
  node "$folder/viewer_state_test.mjs" "${@:2}"
else
  node "$folder/viewer_test.mjs" "$@"
fi
