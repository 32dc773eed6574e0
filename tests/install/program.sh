#!/usr/bin/env bash
# program.sh WORK_DIR SOURCE_DIR VERSION: the installed programs work away from the source tree and
# hold no path of it.
set -euo pipefail
work=$1 source=$2 version=$3
segment=$work/prefix/bin/segment

module=$(find "$work/prefix" -name diacut-formats.so)
for program in "$segment" "$work/prefix/bin/diacut-evaluate" "$module"; do
  [[ "$program" == "$module" || "$("$program" --version)" == *"$version"* ]] ||
    { echo "$program: not version $version" >&2; exit 1; }
  if grep -qF "$source" "$program"; then
    echo "$program holds the path of its source tree" >&2
    exit 1
  fi
done
cp "$source/images/cat.jpg" "$work/photo.jpg"
cd "$work"
rm -f labels.png
"$segment" photo.jpg -o labels.png
[[ "$(file --brief labels.png)" == "PNG image data, 451 x 300, 16-bit grayscale, non-interlaced" ]] ||
  { file labels.png >&2; exit 1; }

# Rarer formats need the module, which has no pipeline and no networks, and say so where it is missing.
[[ $(stat --format %s "$module") -lt 4000000 ]] || { ls -l "$module" >&2; exit 1; }
rare=$source/tests/support/stored/small_chroma.jp2
"$segment" "$rare" -o rare.png
rm -rf without && cp -r prefix without
rm "without/${module#"$work/prefix/"}"
without/bin/segment photo.jpg -o labels.png
code=0
message=$(without/bin/segment "$rare" -o rare.png 2>&1) || code=$?
[[ $code == 3 && "$message" == *small_chroma.jp2*diacut-formats.so*install* ]] ||
  { echo "without the module: exit code $code and: $message" >&2; exit 1; }

# A segmentation against itself as the only truth is right.
mkdir -p results truth
cp labels.png results/photo.png
cp labels.png truth/photo.png
"$work/prefix/bin/diacut-evaluate" results --truth truth --kind labels --csv - |
  grep -qE '^photo,451,300,1(,1\.000000){5},0\.000000$' ||
  { echo "diacut-evaluate: a segmentation does not match itself" >&2; exit 1; }
