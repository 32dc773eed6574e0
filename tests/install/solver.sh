#!/usr/bin/env bash
# solver.sh WORK_DIR COMPILER SOURCE_DIR: builds an outside project that links diacut::solver of the installed
# tree, runs it, and looks at the libraries that it loads: none for pictures or maps. And configures parts of the sources.
set -euo pipefail
work=$1 compiler=$2 source=$3
project=$work/solver
rm -rf "$project"
cp -r "$source/examples/solver" "$project"
cmake -S "$project" -B "$project/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" -Ddiacut_ROOT="$work/prefix"
cmake --build "$project/build"
"$project/build/solver"
libraries=$(ldd "$project/build/solver")
echo "$libraries"
if grep -E 'opencv|gdal|tiff|png|jpeg|matio' <<<"$libraries"; then
  echo "the solver alone should not load libraries for pictures" >&2
  exit 1
fi
# The sources of the solver alone look for no such library either.
cmake -S "$source" -B "$work/solver_only" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DDIACUT_SOLVER_ONLY=ON
if grep -iE 'opencv|gdal|tiff|png|jpeg' "$work/solver_only/CMakeCache.txt"; then
  echo "DIACUT_SOLVER_ONLY should not look for libraries for pictures" >&2
  exit 1
fi
# Without lib/beside there are no programs.
cmake -S "$source" -B "$work/library_only" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DDIACUT_BESIDE=OFF
targets=$(cmake --build "$work/library_only" --target help)
if ! grep -q '^diacut: ' <<<"$targets" || grep -E '^(diacut_beside_code|segment): ' <<<"$targets"; then
  echo "DIACUT_BESIDE=OFF should build the library alone" >&2
  exit 1
fi
