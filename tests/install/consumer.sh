#!/usr/bin/env bash
# consumer.sh WORK_DIR COMPILER SOURCE_DIR PREFIX: builds the README's C++ example as an outside project against
# the tree installed in PREFIX, once with CMake and once with pkg-config, and runs both programs on a photograph.
set -euo pipefail
work=$1 compiler=$2 source=$3 prefix=$4

project=$prefix-consumer
rm -rf "$project"
cp -r "$source/tests/install/consumer" "$project"
# The README's only C++ block.
awk '/^```cpp$/ { inside = 1; ++blocks; next } /^```$/ { inside = 0 } inside
     END { if (blocks != 1) exit 1 }' "$source/README.md" >"$project/main.cpp" ||
  { echo "README.md should hold exactly one block of C++" >&2; exit 1; }

cmake -S "$project" -B "$project/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" \
  -Ddiacut_ROOT="$prefix"
cmake --build "$project/build"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name diacut.pc)")
export PKG_CONFIG_PATH
pkg-config --exists --print-errors diacut
# Several words each, on purpose.
# shellcheck disable=SC2046
"$compiler" -std=c++20 -O1 -Wall -Wextra -Werror $(pkg-config --cflags diacut) "$project/main.cpp" \
  -o "$project/consumer" $(pkg-config --static --libs diacut)

cd "$work"
for program in "$project/build/consumer" "$project/consumer"; do
  output=$("$program" "$source/images/cat.jpg")
  echo "$output"
  grep -Eq '^8 regions on .+' <<<"$output" ||
    { echo "the example should find the 8 regions that it asks for" >&2; exit 1; }
done
if "$project/build/consumer" /nonexistent.jpg; then
  echo "the example should fail on a missing file" >&2
  exit 1
fi
