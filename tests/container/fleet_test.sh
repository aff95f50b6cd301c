#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# The fleet of docker/compose.yaml answers through its guard while one caromd after the other, and a
# member of etcd, are killed by SIGKILL: casts, a stream of `carom eval` and changes go on, and
# Prometheus sees which server is down. The arguments of all programs are those of compose.yaml, with
# ports of loopback and folders of a scratch folder in place of its own.
#
# caromd runs in containers of localhost/carom:dev, with a read-only root, no capability and a user
# that is not root; with CAROM_FLEET_PROCESSES=1 as processes of CAROMD_BINARY. The other programs
# run in containers if their images are there, otherwise as processes; without Prometheus its part is
# left out. Skips, with exit code 77, without etcd or HAProxy; fails there if CI is set.
set -euo pipefail
export LC_ALL=C # decimal points

: "${CAROM_SOURCE_DIR:?}" "${CAROM_BINARY:?}" "${CAROMD_BINARY:?}"
compose=$CAROM_SOURCE_DIR/docker/compose.yaml
guard=127.0.0.1:26443
prometheus=127.0.0.1:26490
# caromdN has its admin port at 2642N, etcdN its ports at 2637N and 2638N.

scratch=$(mktemp -d)
declare -A pids=()        # of each part that is a process
declare -A containers=()  # of each part that is a container
stream=                   # the process of `carom eval`
user=$(id -u):$(id -g)
if ((EUID == 0)); then
  user=65532:65532
fi

engine() { "$CAROM_SOURCE_DIR/dev" engine "$@"; }

say() { printf 'fleet: %s\n' "$*"; }

fail() {
  local part
  for part in "${!containers[@]}"; do
    engine logs "${containers[$part]}" >"$scratch/$part.log" 2>&1 || true
  done
  tail -n 20 "$scratch"/*.log >&2 || true
  say "$*" >&2
  exit 1
}

# The test cannot run here: ctest's status for a test that is skipped.
lacks() {
  say "$*" >&2
  [[ ${CI-} != true ]] || exit 1
  exit 77
}

# Ends all parts, however the script ends.
clean_up() {
  local part
  touch "$scratch/end"
  [[ -z $stream ]] || kill "$stream" 2>/dev/null || true
  for part in "${!pids[@]}"; do
    kill -KILL "${pids[$part]}" 2>/dev/null || true
  done
  for part in "${!containers[@]}"; do
    engine rm --force "${containers[$part]}" >/dev/null 2>&1 || true
  done
  { wait; } 2>/dev/null # without a line for each that was killed
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# wait_for SECONDS WHAT COMMAND…: until the command succeeds.
wait_for() {
  local seconds=$1 what=$2 end=$((SECONDS + $1))
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || fail "not within $seconds s: $what"
    sleep 0.3
  done
}

# --- The parts ------------------------------------------------------------------------------

# image SERVICE: the image of compose.yaml; those of caromd and etcd stand before the services.
image() {
  case $1 in
    caromd*) printf 'localhost/carom:dev\n' ;;
    etcd*) sed -n '/^x-etcd:/,/^$/ s/^  image: //p' "$compose" ;;
    *) sed -n "/^  $1:/,/^\$/ s/^    image: //p" "$compose" ;;
  esac
}

# arguments SERVICE: its command line in compose.yaml, one argument a line, as it is on this host.
arguments() {
  local number=${1: -1}
  awk -v service="  $1:" '
    /^  [a-z0-9]+:$/ { inside = ($0 == service) }
    /^    [a-z_]+:/ { command = ($0 == "    command:") }
    inside && command && sub(/^      - /, "")' "$compose" |
    sed -E -e "s/0\.0\.0\.0:2379/127.0.0.1:2637$number/" -e "s/0\.0\.0\.0:2380/127.0.0.1:2638$number/" \
      -e 's/etcd([1-3]):23([78])9?0?/127.0.0.1:263\2\1/g' -e "s/0\.0\.0\.0:7421/127.0.0.1:2642$number/" \
      -e "s|/run/carom|$scratch/run|" -e "s|=/var/lib/etcd|=$scratch/$1|" \
      -e "s|=/etc/prometheus|=$scratch|" -e "s|=/prometheus|=$scratch/data|"
}

has_image() {
  [[ $1 != localhost/carom:dev || -z ${CAROM_FLEET_PROCESSES-} ]] &&
    engine image inspect "$1" >/dev/null 2>&1
}

# start PART PROGRAM ARGUMENT…: in a container of the part's image, otherwise as a process. Variables
# of the guard are exported.
start() {
  local part=$1 program=$2 image variable
  local -a options=()
  image=$(image "$part")
  shift 2
  if has_image "$image"; then
    containers[$part]=carom-fleet-$$-$part
    engine rm --force "${containers[$part]}" >/dev/null 2>&1 || true
    for variable in "${!CAROM_GUARD_@}"; do
      options+=(--env "$variable=${!variable}")
    done
    engine run --detach --name "${containers[$part]}" --network host --read-only --cap-drop=ALL \
      --security-opt no-new-privileges --user "$user" --volume "$scratch:$scratch" \
      --volume "$CAROM_SOURCE_DIR/docker:$CAROM_SOURCE_DIR/docker:ro" "${options[@]}" \
      --entrypoint "$program" "$image" "$@" >/dev/null
    return
  fi
  case $part in
    caromd*)
      [[ -n ${CAROM_FLEET_PROCESSES-} ]] || fail "there is no image $image: run ./dev image first"
      program=$CAROMD_BINARY
      ;;
  esac
  "$program" "$@" >>"$scratch/$part.log" 2>&1 &
  pids[$part]=$!
}

# send PART SIGNAL
send() {
  if [[ -n ${containers[$1]-} ]]; then
    engine kill --signal "$2" "${containers[$1]}" >/dev/null
  else
    kill -s "$2" "${pids[$1]}"
  fi
}

# exit_code PART: of a part that ends, in `status`.
exit_code() {
  status=0
  if [[ -n ${containers[$1]-} ]]; then
    status=$(timeout 40 "$CAROM_SOURCE_DIR/dev" engine wait "${containers[$1]}") || fail "$1 does not end"
  else
    { wait "${pids[$1]}" || status=$?; } 2>/dev/null
    unset "pids[$1]"
  fi
}

start_caromd() {
  local -a line
  mapfile -t line < <(arguments "$1")
  start "$1" /caromd "${line[@]}"
}

is_ready() { "$CAROMD_BINARY" --probe "127.0.0.1:2642${1: -1}"; }

start_etcd() {
  local member
  local -a line
  for member in etcd1 etcd2 etcd3; do
    mapfile -t line < <(arguments "$member")
    start "$member" "${line[@]}" --log-level=error
  done
}

start_guard() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=guard \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$scratch/guard.key" -out "$scratch/guard.crt" 2>/dev/null
  cat "$scratch/guard.crt" "$scratch/guard.key" >"$scratch/guard.pem"
  ((EUID != 0)) || chown "$user" "$scratch/guard.pem"
  export CAROM_GUARD_CERTIFICATE=$scratch/guard.pem CAROM_GUARD_ADDRESS=$guard
  export CAROM_GUARD_SOCKET=$scratch/run/caromd1.sock CAROM_GUARD_SECOND_SOCKET=$scratch/run/caromd2.sock
  start guard haproxy -db -f "$CAROM_SOURCE_DIR/docker/haproxy.cfg"
}

# Reads the figures of every server each second, so that the test need not wait.
start_prometheus() {
  local -a line
  sed -E -e 's/_interval: 15s/_interval: 1s/' -e 's/caromd([12]):7421/127.0.0.1:2642\1/g' \
    -e 's/etcd([1-3]):2379/127.0.0.1:2637\1/g' "$CAROM_SOURCE_DIR/docker/prometheus.yml" >"$scratch/prometheus.yml"
  cp "$CAROM_SOURCE_DIR/docs/operations/alerts.yml" "$scratch"
  mapfile -t line < <(arguments prometheus)
  start prometheus prometheus "${line[@]}" --web.listen-address="$prometheus"
}

# metric VALUE EXPRESSION: whether Prometheus has this value.
metric() {
  python3 - "http://$prometheus/api/v1/query" "$@" <<'PYTHON'
import json, sys, urllib.parse, urllib.request

url, value, expression = sys.argv[1:]
with urllib.request.urlopen(url + "?" + urllib.parse.urlencode({"query": expression}), timeout=5) as file:
  rows = json.load(file)["data"]["result"]
sys.exit(not rows or rows[0]["value"][1] != value)
PYTHON
}

# --- The clients, which know the guard alone ------------------------------------------------

export CAROM_CA=$scratch/guard.crt

carom() { timeout 20 "$CAROM_BINARY" "$@" --address "$guard"; }

import() { carom scene import "$1" "$CAROM_SOURCE_DIR/client/examples/arena.json"; }

cast() { carom cast arena -1000 0.5 1000 0.25; }

is_listed() { carom scene list | grep -q "\\b$1\\b"; }

# Casts four times a second until the file `end` appears; prints a line a cast: the time at which it
# began, its exit code and its answer. The guard accepts 10 connections a second of one address.
cast_all_along() {
  local begin answer status
  while [[ ! -e $scratch/end ]]; do
    begin=$EPOCHREALTIME status=0
    answer=$(cast 2>&1) || status=$?
    printf '%s %s %s\n' "$begin" "$status" "${answer//$'\n'/ }"
    sleep 0.2
  done
}

# questions FIRST: 50 lines for `carom eval`.
questions() {
  awk -v first="$1" 'BEGIN {
    for (i = first; i < first + 50; ++i)
      printf "{\"q\":%d,\"op\":\"segment\",\"a\":[-1,%s],\"b\":[9,%s]}\n", i, i / 40, i / 50
  }'
}
scene='{"op":"scene","polygons":[{"id":7,"rings":[[[0,0],[4,0],[4,3],[0,3]],[[1,1],[2,1],[2,2]]]}]}'

# 50 questions before the first kill, 50 after it, and 50 after the second.
ask_all_along() {
  printf '%s\n' "$scene"
  questions 0
  until [[ -e $scratch/round1 || ! -d $scratch ]]; do sleep 0.1; done
  questions 50
  until [[ -e $scratch/round2 || ! -d $scratch ]]; do sleep 0.1; done
  questions 100
}

has_answers() { (($(wc -l <"$scratch/answers") == $1)); }

# check_casts: every cast that was answered has the same answer, and only casts that began less than
# 2 s before or after a kill may have failed.
check_casts() {
  awk -v kills="${kills[*]}" -v answer="$answer" '
    BEGIN { count = split(kills, at, " ") }
    $2 == 0 { ++answered; $0 = substr($0, length($1 $2) + 3); if ($0 != answer) { print "other answer: " $0; bad = 1 }; next }
    { ++failed; near = 0
      for (i = 1; i <= count; ++i) near = near || ($1 > at[i] - 2 && $1 < at[i] + 2)
      if (!near) { print "failed long after a kill: " $0; bad = 1 } }
    END {
      printf "fleet: %d casts were answered, %d failed within 2 s of a kill\n", answered, failed
      exit bad || answered < 30
    }' "$scratch/casts" || fail 'the casts above failed, or few were answered'
}

# kill_and_go_on ROUND CAROMD: one caromd is killed; the other one answers casts, the stream and a
# change. Then it is started again.
kill_and_go_on() {
  local round=$1 part=$2
  kills+=("$EPOCHREALTIME")
  send "$part" KILL
  exit_code "$part"
  touch "$scratch/round$round"
  wait_for 10 "the stream goes on after $part was killed" has_answers $((50 * (round + 1)))
  wait_for 10 "a change goes on after $part was killed" import "during-$round"
  if [[ -n $watched ]]; then
    wait_for 10 "Prometheus sees that $part is down" metric 1 'sum(up{job="caromd"})'
    wait_for 10 'the alert CaromDown is pending' metric 1 'count(ALERTS{alertname="CaromDown"})'
  fi
  sleep 3
  start_caromd "$part"
  wait_for 60 "$part is back" is_ready "$part"
  sleep 2 # in which the guard has seen it
  say "$part was killed; the other one answered and changed scenes"
}

for program in etcd haproxy; do
  command -v "$program" >/dev/null || has_image "$(image "${program/haproxy/guard}")" ||
    lacks "neither $program nor its image is there"
done
watched=yes
command -v prometheus >/dev/null || has_image "$(image prometheus)" || watched=
mkdir "$scratch"/{run,etcd1,etcd2,etcd3,data}
chmod 700 "$scratch"/{run,etcd1,etcd2,etcd3}
((EUID != 0)) || chown -R "$user" "$scratch"

start_etcd
start_caromd caromd1
start_caromd caromd2
wait_for 60 'caromd1 is ready' is_ready caromd1
wait_for 60 'caromd2 is ready' is_ready caromd2
start_guard
wait_for 10 'the guard answers' import arena
answer=$(cast)
if [[ -n $watched ]]; then
  start_prometheus
  wait_for 30 'Prometheus reads both caromd' metric 2 'sum(up{job="caromd"})'
else
  [[ ${CI-} != true ]] || fail 'neither prometheus nor its image is there'
  say 'neither prometheus nor its image is there: its part is left out'
fi

kills=()
cast_all_along >"$scratch/casts" &
casts=$!
timeout 120 "$CAROM_BINARY" eval --address "$guard" < <(ask_all_along) >"$scratch/answers" &
stream=$!
wait_for 10 'the stream answers' has_answers 50
kill_and_go_on 1 caromd1
kill_and_go_on 2 caromd2
send etcd2 KILL
wait_for 10 'a change goes on without etcd2' import without-etcd2
wait_for 10 'the scene of this change is listed' is_listed without-etcd2

wait "$stream" || fail "carom eval ended with exit code $?"
ask_all_along | "$CAROM_BINARY" eval --local >"$scratch/local"
diff "$scratch/local" "$scratch/answers" >&2 || fail 'the stream has other answers than the library'
stream=
touch "$scratch/end"
wait "$casts"
check_casts

send guard USR1
exit_code guard
((status == 0)) || fail "the guard ended with exit code $status after SIGUSR1"
for part in caromd1 caromd2; do
  send "$part" TERM
  exit_code "$part"
  ((status == 0)) || fail "$part ended with exit code $status after SIGTERM"
done
say 'served all along, and stopped with exit code 0'
