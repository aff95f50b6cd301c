#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# A program that asks `carom eval` and waits gets its answer before it says more.
set -euo pipefail

coproc EVAL { "${CAROM_BINARY:?}" eval; }
for x in 1 2 3; do
  echo "{\"q\":$x,\"op\":\"point\",\"p\":[$x,0]}" >&"${EVAL[1]}"
  read -r -t 20 answer <&"${EVAL[0]}"
  [ "$answer" = "{\"q\":$x,\"in\":[],\"on\":[]}" ]
done
exec {EVAL[1]}>&-
wait "$EVAL_PID"
