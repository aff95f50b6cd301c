#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Measures caromd beside PostgreSQL with PostGIS (main.go):
#
#   run.sh CAROMD [--quick] [FILTER]
#
# Both are servers of their own, with files in a temporary folder and a Unix socket there, that end with the script.
# The program and results.tsv are in build/bench/postgis. Needs Go 1.25 and Debian's postgresql-15-postgis-3.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../../..")
out=$root/build/bench/postgis
caromd=$(readlink -f -- "${1:?usage: run.sh CAROMD [--quick] [FILTER]}")
shift
programs=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
scratch=$(mktemp -d)
carom_pid=

fail() {
  printf 'bench: %s\n' "$*" >&2
  exit 1
}

# PostgreSQL refuses to run as root.
as_user() {
  if ((EUID == 0)); then
    runuser -u postgres -- "$@"
  else
    "$@"
  fi
}

clean_up() {
  [[ -z $carom_pid ]] || kill -TERM "$carom_pid" 2>/dev/null || true
  [[ ! -f $scratch/cluster/postmaster.pid ]] || as_user "$programs/pg_ctl" -D "$scratch/cluster" -m immediate -s stop || true
  rm -rf "$scratch"
}
trap clean_up EXIT

# A cluster with Debian's settings, but with memory for the whole scene, and without what costs more than it saves here:
# compiling statements at run time, which took seconds.
start_postgres() {
  mkdir "$scratch/cluster"
  chmod 755 "$scratch"
  ((EUID != 0)) || chown postgres "$scratch/cluster" "$scratch"
  as_user "$programs/initdb" -D "$scratch/cluster" -A trust -U postgres --locale C.UTF-8 >"$scratch/initdb"
  as_user "$programs/pg_ctl" -D "$scratch/cluster" -w -s -l "$scratch/cluster/log" start -o "-c listen_addresses='' \
    -c unix_socket_directories=$scratch -c shared_buffers=1GB -c work_mem=64MB -c max_wal_size=4GB -c jit=off" ||
    fail "PostgreSQL does not start: $(cat "$scratch/cluster/log")"
}

start_carom() {
  local waited
  CAROM_STATE_DIR=$scratch/state "$caromd" --address "unix:$scratch/carom.sock" --admin-address off --store sqlite \
    --max-answer-rows-per-frame 1048576 >"$scratch/carom" 2>&1 &
  carom_pid=$!
  for ((waited = 0; waited < 200; ++waited)); do
    ! grep -q '^caromd listening on ' "$scratch/carom" || return 0
    sleep 0.05
  done
  fail "caromd does not start: $(cat "$scratch/carom")"
}

[[ -x $programs/initdb ]] || fail 'there is no PostgreSQL'
mkdir -p "$out" "$scratch/state"
"$root/client/go/generate.sh"
(cd "$here" && GOTOOLCHAIN=local GOFLAGS='-mod=readonly -buildvcs=false' go build -o "$out/postgis" .)
start_postgres
start_carom
printf 'load before: %s\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
"$out/postgis" "$out" "unix:$scratch/carom.sock" "$carom_pid" "host=$scratch user=postgres dbname=postgres" "$@"
printf 'load after: %s\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
