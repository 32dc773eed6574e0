#!/usr/bin/env bash
# Sourced by the tests of the Python package.

# make_environment FOLDER: an empty FOLDER with a virtual environment in FOLDER/venv, whose pip is `pip`. Ends
# the test as skipped where the machine has no Python to make one, and as failed where PyPI does not answer.
make_environment() {
  local folder=$1 python=${DIACUT_PYTHON:-/usr/bin/python3}
  "$python" -c 'import venv, ensurepip' 2>/dev/null ||
    { echo "there is no $python with venv (python3-venv); nothing is checked"; exit 77; }
  "$python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    { echo "there are no headers of $python (python3-dev); nothing is checked"; exit 77; }
  rm -rf "$folder"
  mkdir -p "$folder"
  "$python" -m venv "$folder/venv"
  pip_program=$folder/venv/bin/pip
  pip download --no-deps --dest "$folder/probe" nanobind >"$folder/probe.log" 2>&1 || {
    cat "$folder/probe.log" >&2
    echo "PyPI cannot be reached, from which scikit-build-core, nanobind, NumPy and pytest come:" \
      "the Python package was not tested" >&2
    exit "${unreachable_code:-1}"
  }
}

# Modules are compiled as they are imported: packages have many more than a test imports.
pip() {
  local options=()
  [[ $1 != install ]] || options=(--no-compile)
  "$pip_program" --quiet --disable-pip-version-check "$1" "${options[@]}" "${@:2}"
}
