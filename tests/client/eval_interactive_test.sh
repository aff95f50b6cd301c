#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# A program that asks `carom eval` and waits gets its answer before it says more.
set -euo pipefail

coproc EVAL { exec "${CAROM_BINARY:?}" eval; }
pid=$EVAL_PID # bash forgets it when the process ends
for x in 1 2 3; do
  echo "{\"q\":$x,\"op\":\"point\",\"p\":[$x,0]}" >&"${EVAL[1]}"
  read -r -t 20 answer <&"${EVAL[0]}"
  [ "$answer" = "{\"q\":$x,\"in\":[],\"on\":[]}" ]
done
input=${EVAL[1]}
exec {input}>&-
wait "$pid"
