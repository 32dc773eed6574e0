#!/usr/bin/env bash
# Fails if a source in C++ or OpenCL C is not as clang-format 14 writes it. --fix writes all of them
# so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

format=$(command -v clang-format-14 || command -v clang-format || true)
if [[ -z "$format" ]] || ! "$format" --version | grep -q 'version 14\.'; then
  echo "clang-format 14 is needed (other versions format differently): install clang-format-14" >&2
  [[ "$(cat /etc/debian_version)" == 12* ]] && exit 1
  exit 77  # Only Debian 12 has it.
fi
action=(--dry-run -Werror)
[[ "${1:-}" != --fix ]] || action=(-i)
find app examples kernels lib python tests \( -name '*.[ch]pp' -o -name '*.cl' -o -name '*.clh' \) -print0 | sort -z |
  xargs -0 "$format" --style=file "${action[@]}"
