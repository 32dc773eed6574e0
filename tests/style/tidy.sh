#!/usr/bin/env bash
# tidy.sh BUILD_DIR [JOBS]: runs clang-tidy 14 over every C++ source of a configured build folder,
# with the checks of .clang-tidy. Headers are checked through the sources that include them.
set -euo pipefail
build=$(realpath "${1:?usage: tidy.sh BUILD_DIR [JOBS]}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tidy=$(command -v clang-tidy-14 || command -v clang-tidy || true)
if [[ -z "$tidy" ]] || ! "$tidy" --version | grep -q 'version 14\.'; then
  echo "clang-tidy 14 is needed: install clang-tidy-14" >&2
  exit 1
fi
find app lib tests -name '*.cpp' -not -path 'tests/install/*' -print0 | sort -z |
  xargs -0 -P "${2:-1}" -n 1 "$tidy" -p "$build" --quiet
