#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# ghz loads `Evaluate` for 2 s, and no call fails. How fast, depends on what else runs.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_go
start_server
"$here/ghz.sh" "$address" 2
stop_server
