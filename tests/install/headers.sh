#!/usr/bin/env bash
# headers.sh WORK_DIR COMPILER SOURCE_DIR: every public header is installed, no internal one is, and
# each compiles alone with nothing but the installed tree.
set -euo pipefail
include=$1/prefix/include compiler=$2 source=$3

expected=$(cd "$source/lib/include" && find . -name '*.hpp*' | sed 's/\.in$//' | sort)
installed=$(cd "$include" && find . -type f | sort)
if [[ -z "$expected" || "$installed" != "$expected" ]]; then
  diff <(echo "$expected") <(echo "$installed") || true
  echo "the installed headers are not those of lib/include" >&2
  exit 1
fi
for header in $installed; do
  echo "#include \"${header#./}\"" |
    "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$include" -x c++ - ||
    { echo "${header#./} does not compile alone" >&2; exit 1; }
done
