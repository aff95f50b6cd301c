#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The tests of the Python package, in an environment of their own in build/interop/package.
#
#   python_test.sh FILE…      runs test_FILE.py of this folder by pytest
#   python_test.sh lint       checks formats, rules and types
#   python_test.sh asan       runs the tests of the local half with the core of build/asan, under its sanitizers
#   python_test.sh install    builds a wheel around the library of the build, installs it into an empty environment,
#                             and runs the first lines of the package's README there

folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tests/interop/common.sh
source "$folder/../interop/common.sh"
package=$source_dir/client/python
venv=$build/package # of need_package

run_lint() {
  cd "$package"
  local -a files=(./*.py ../go native src ../web/core/native ../examples/{farm_dask,gym_lidar,irsim_lidar}.py "$folder"
    "$source_dir/tests/bench/python")
  "$venv/bin/ruff" check --config pyproject.toml "${files[@]}"
  "$venv/bin/ruff" format --config pyproject.toml --diff --quiet "${files[@]}"
  "$venv/bin/mypy" --config-file pyproject.toml
}

run_tests() {
  local -a files=("${@/#/$folder/test_}")
  export CAROM_LIBRARY=$CAROM_LIBRARIES/libcarom.so.1 PYTHONPATH=$package/src PYTHONDONTWRITEBYTECODE=1
  export CAROM_STORE=memory CAROM_ADMIN_ADDRESS=off
  timeout 1800 "$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$folder" "${files[@]/%/.py}"
}

# The core as a library, linked of what `./dev sanitize python` compiled. Python does not free all its memory.
run_asan() {
  local folder_of=$source_dir/build/asan/python preload
  mkdir -p "$folder_of"
  "$source_dir/core/abi/link.sh" "$folder_of" "$source_dir/build/asan/core/libcarom_core.a" /usr lib \
    g++ -fsanitize=address,undefined
  preload=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so)
  export CAROM_LIBRARIES=$folder_of PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 CAROM_SANITIZED=1
  LD_PRELOAD=$preload run_tests polygons local bad_input threads_and_forks
}

run_install() {
  local fresh=$scratch/fresh
  CAROM_WHEEL_LIBRARY=$CAROM_LIBRARIES/libcarom.so.1 CAROM_WHEEL_PLATFORM=linux_$(uname -m) \
    "$venv/bin/python" -m build --wheel --no-isolation --skip-dependency-check --outdir "$scratch/wheel" "$package"
  python3 -m venv "$fresh"
  "$fresh/bin/pip" install --quiet --disable-pip-version-check "$scratch"/wheel/carom-*.whl
  awk '/^```/ { if (inside) exit; inside = ($0 == "```python"); next } inside' "$package/README.md" >"$scratch/first.py"
  awk '/^```/ { if (inside) exit; inside = ($0 == "```text"); next } inside' "$package/README.md" >"$scratch/expected"
  [[ -s $scratch/first.py && -s $scratch/expected ]] || fail 'README.md of the package shows no program with its output'
  (cd / && env -u PYTHONPATH -u CAROM_LIBRARY "$fresh/bin/python" "$scratch/first.py") | diff "$scratch/expected" - ||
    fail 'the program of README.md prints something else: above, as >'
}

need_package
case ${1:?} in
  lint) run_lint ;;
  asan) run_asan ;;
  install) run_install ;;
  *) run_tests "$@" ;;
esac
