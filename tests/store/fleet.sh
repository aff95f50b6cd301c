#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Three members of etcd and two caromd on loopback, to try a fleet by hand: runs until Enter or
# SIGINT, and ends what it has started. Needs etcd-server and a build (`./dev test`).
#
#   tests/store/fleet.sh [BUILD]     BUILD: build/release
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
build=${1:-$root/build/release}
folder=$(mktemp -d)
pids=()

end() {
  # One that stands still ends once it goes on.
  kill "${pids[@]}" 2>/dev/null || true
  kill -CONT "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap end EXIT

cluster=
clients=
for i in 0 1 2; do
  cluster+=${cluster:+,}m$i=http://127.0.0.1:$((23801 + i))
  clients+=${clients:+,}127.0.0.1:$((23791 + i))
done
for i in 0 1 2; do
  client=http://127.0.0.1:$((23791 + i))
  peer=http://127.0.0.1:$((23801 + i))
  etcd --name "m$i" --data-dir "$folder/m$i" --log-level error \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
    --initial-cluster "$cluster" --initial-cluster-state new >"$folder/m$i.log" 2>&1 &
  pids+=($!)
  printf 'etcd member m%s: pid %s, %s\n' "$i" $! "$client"
done
for i in 0 1; do
  "$build/server/caromd" --address "127.0.0.1:$((7421 + i))" --store "etcd://$clients/carom" &
  pids+=($!)
  printf 'caromd: pid %s, 127.0.0.1:%s\n' $! $((7421 + i))
done
cat <<TEXT
Try:  $build/client/carom scene import --address 127.0.0.1:7421 arena $root/client/examples/arena.json
      $build/client/carom scene list --address 127.0.0.1:7422
      $build/client/carom scene watch --address 127.0.0.1:7422 arena
      kill -9, -STOP or -CONT one of the pids
Enter ends all of it.
TEXT
read -r || true
