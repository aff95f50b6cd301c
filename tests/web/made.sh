#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# Makes what the other tests of this folder use, once: the modules of WebAssembly, the packages, and the page of caromd.
# ctest runs it before them, and tells them by CAROM_MADE=web. Without that, each makes what it needs.

folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tests/interop/common.sh
source "$folder/../interop/common.sh"

node_of 20.0
python3 -c 'import ensurepip, venv' 2>/dev/null || lacks 'no Python with venv (python3-venv)'
# Compilers take what processor time other tests leave, so that these are not slower, and no processor is idle.
nice -n 19 "$source_dir/client/web/web.sh" all
"$source_dir/client/viewer/viewer.sh" page
