#!/usr/bin/env bash
# tree.sh BUILD_DIR WORK_DIR: installs into one folder and moves it to another, WORK_DIR/prefix, so
# that nothing in it can know where it is.
set -euo pipefail
build=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/elsewhere" >"$work/install.log"
mv "$work/elsewhere" "$work/prefix"
