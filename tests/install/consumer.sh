#!/usr/bin/env bash
# consumer.sh WORK_DIR COMPILER SOURCE_DIR: builds the README's C++ example as an outside project
# against the installed tree, and runs it on a photograph.
set -euo pipefail
work=$1 compiler=$2 source=$3

project=$work/consumer
rm -rf "$project"
cp -r "$source/tests/install/consumer" "$project"
# The README's only C++ block.
awk '/^```cpp$/ { inside = 1; ++blocks; next } /^```$/ { inside = 0 } inside
     END { if (blocks != 1) exit 1 }' "$source/README.md" >"$project/main.cpp" ||
  { echo "README.md should hold exactly one block of C++" >&2; exit 1; }

cmake -S "$project" -B "$project/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" \
  -Ddiacut_ROOT="$work/prefix"
cmake --build "$project/build"

cd "$work"
output=$("$project/build/consumer" "$source/images/cat.jpg")
echo "$output"
grep -Eq '^8 regions on .+' <<<"$output" ||
  { echo "the example should find the 8 regions that it asks for" >&2; exit 1; }
if "$project/build/consumer" /nonexistent.jpg; then
  echo "the example should fail on a missing file" >&2
  exit 1
fi
