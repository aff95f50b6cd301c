#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Counts instructions a query under callgrind and compares them with instructions.tsv:
#
#   instructions.sh GUARD [--accept]
#
# GUARD is the program made from guard.cc. The count is the same from run to run on any load, and
# nearly so from machine to machine: an allowance of 5 % leaves room for another patch release of
# compiler and libraries. More than that fails; fewer is reported. --accept writes what was counted
# into the file. Which instructions are taken depends on the processor, and the file is from one
# with AVX2, the most that valgrind knows: elsewhere nothing is compared.
set -euo pipefail

guard=$1
accept=${2-}
baseline=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/instructions.tsv
guarded='cast_short cast_long cast_short_single contacts_4gon contacts_8gon contacts_half_spacing'
guarded+=' nearest bullets_past_bodies point_in_coastline sweep_8gon sweep_capsule cast_walls_long'
guarded+=' slide_walls areas_rooms cast_large_polygons nearest_large_polygons'
allowance=5

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="$scratch/out" "$guard" \
  >"$scratch/queries" 2>"$scratch/log" || {
  cat "$scratch/log" >&2
  exit 1
}

# counts: prints NAME and INSTRUCTIONS of one query, tab-separated, a line for each kind.
counts() {
  local name queries file total
  while read -r name queries _; do
    file=$(grep -lxF "desc: Trigger: Client Request: $name" "$scratch"/out*)
    total=$(sed -n 's/^totals: *//p' "$file")
    printf '%s\t%d\n' "$name" $((total / queries))
  done <"$scratch/queries"
}

counts >"$scratch/counts"
printf '%-24s %12s %12s\n' query instructions baseline
status=0
while IFS=$'\t' read -r name count; do
  before=$(awk -v name="$name" '$1 == name { print $2 }' "$baseline" 2>/dev/null || true)
  verdict=
  if [[ " $guarded " == *" $name "* && $accept != --accept ]]; then
    if ! grep -qw avx2 /proc/cpuinfo; then
      verdict='not compared: no AVX2 here'
    elif [[ -z $before ]] || ((count * 100 > before * (100 + allowance))); then
      verdict="more than $allowance % above the baseline"
      status=1
    elif ((count * 100 < before * (100 - allowance))); then
      verdict='much below the baseline: put it on record with --accept'
    fi
  fi
  printf '%-24s %12d %12s  %s\n' "$name" "$count" "${before:--}" "$verdict"
done <"$scratch/counts"
if [[ $accept == --accept ]]; then
  cp "$scratch/counts" "$baseline"
  echo "written: $baseline"
fi
exit "$status"
