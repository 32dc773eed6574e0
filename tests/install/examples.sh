#!/usr/bin/env bash
# examples.sh WORK_DIR COMPILER SOURCE_DIR: builds the folder examples/ as an outside project against
# the installed tree, and runs each program on a photograph.
set -euo pipefail
work=$1 compiler=$2 source=$3

folder=$work/examples
rm -rf "$folder"
cp -r "$source/examples" "$folder"
cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" \
  -Ddiacut_ROOT="$work/prefix"
cmake --build "$folder/build"

fail() {
  echo "$*" >&2
  exit 1
}
cd "$folder"
image=$source/images/rocket.jpg

output=$(build/one_image "$image" labels.png)
echo "$output"
grep -Eq '^[0-9]+ regions on .+' <<<"$output" || fail "one_image tells no regions"
grep -Eq '^boundaries: [0-9.e+]+ ms$' <<<"$output" || fail "one_image tells no times"
[[ "$(file --brief labels.png)" == "PNG image data, "*"16-bit grayscale"* ]] ||
  fail "one_image wrote no 16-bit labels"

output=$(build/batch out "$image" "$image")
echo "$output"
[[ "$(grep -Ec '^out/rocket.png: [0-9]+ regions$' <<<"$output")" == 2 ]] ||
  fail "batch does not tell of both images"
[[ -s out/rocket.png ]] || fail "batch wrote nothing"

output=$(build/recut "$image" photo.tree)
echo "$output"
[[ -s photo.tree ]] || fail "recut saved no tree"
grep -q '^asked for 12: 12 regions$' <<<"$output" || fail "recut does not cut into 12 regions"
# A larger threshold merges more.
counts=$(sed -n 's/^threshold [0-9.]*: \([0-9]*\) regions$/\1/p' <<<"$output")
[[ "$(wc -l <<<"$counts")" == 3 && "$counts" == "$(sort -nr <<<"$counts")" ]] ||
  fail "recut's thresholds do not nest"

# A film of numbered pictures.
for k in 1 2; do cp "$source/images/cat.jpg" "frame-$k.jpg"; done
output=$(build/camera frame-%d.jpg)
echo "$output"
grep -Eq '^frame 1: ([0-9]+) regions, \1 of them new' <<<"$output" || fail "camera numbers no regions"
grep -Eq '^frame 2: [0-9]+ regions, 0 of them new' <<<"$output" || fail "numbers do not go on"

for program in one_image batch recut; do
  if "build/$program" /dev/null/x.jpg /dev/null/y 2>/dev/null; then
    fail "$program does not fail on missing files"
  fi
done
