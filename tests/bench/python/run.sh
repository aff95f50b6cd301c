#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs the peers of the package carom, and measures beside them (bench.py):
#
#   run.sh LIBRARY [--quick] [FILTER]
#
# LIBRARY is libcarom.so.1. Packages, some 4.5 GB with PyTorch, go into build/bench/python/venv, and
# again when requirements.txt changes; PYTHON names the interpreter for it, 3.11 or later. All files
# go to build/bench/python.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../../..")
out=$root/build/bench/python
library=$(readlink -f -- "${1-}" || true)
if [[ ! -f $library ]]; then
  echo 'usage: run.sh LIBRARY [--quick] [FILTER]' >&2
  exit 2
fi
shift

if ! cmp -s "$here/requirements.txt" "$out/venv/requirements.txt"; then
  echo "bench: packages are installed into $out/venv"
  rm -rf "$out/venv"
  mkdir -p "$out"
  "${PYTHON:-python3}" -m venv "$out/venv"
  "$out/venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
    -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$out/venv/requirements.txt"
fi

# One thread for each side; numpy chooses its own kernels; bytecode is compiled, as it is for users.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE PYTHONDONTWRITEBYTECODE
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg
export CAROM_LIBRARY=$library PYTHONPATH=$root/client/python/src PYTHONPYCACHEPREFIX=$out/pycache
exec "$out/venv/bin/python" "$here/bench.py" --out "$out" "$@"
