#!/usr/bin/env bash
# python.sh WORK_DIR COMPILER SOURCE_DIR: builds the wheel of the Python package in a fresh virtual environment
# of Debian's Python, over the library installed in WORK_DIR/prefix, installs it and runs its tests. With
# DIACUT_PYTHON_WHOLE=1 `pip install` builds the library too, as it does for a user; otherwise it is only
# configured so.
set -euo pipefail
work=$1 compiler=$2 source=$3
# shellcheck source=tests/install/python_environment.sh
source "$source/tests/install/python_environment.sh"

folder=$work/python
make_environment "$folder"
export CXX=$compiler
if [[ "${DIACUT_PYTHON_WHOLE:-0}" == 1 ]]; then
  settings=()
else
  settings=("--config-settings=cmake.define.diacut_ROOT=$work/prefix")
fi
pip wheel --no-deps --wheel-dir "$folder/dist" "${settings[@]}" "$source"
pip install "$folder"/dist/diacut-*.whl -r "$source/tests/python/requirements.txt" nanobind

# Without an installed library the build is that of this source tree.
cmake -S "$source/python" -B "$folder/configured" -G Ninja -DPython_EXECUTABLE="$folder/venv/bin/python" \
  -Dnanobind_DIR="$("$folder/venv/bin/python" -m nanobind --cmake_dir)" >"$folder/configure.log" ||
  { cat "$folder/configure.log" >&2; exit 1; }
ninja -C "$folder/configured" -t commands _core >"$folder/commands.log"
grep -q 'diacut_vision_code' "$folder/commands.log" ||
  { echo "pip install from the sources alone would not build the library" >&2; exit 1; }

# Away from the sources, so that the package is the installed one.
cd "$folder"
DIACUT_BIN=$work/prefix/bin "$folder/venv/bin/python" -m pytest -p no:cacheprovider \
  -c "$source/pyproject.toml" --rootdir="$source" "$source/tests/python" --ignore="$source/tests/python/napari"
