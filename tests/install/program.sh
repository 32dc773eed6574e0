#!/usr/bin/env bash
# program.sh WORK_DIR SOURCE_DIR VERSION: the installed program works away from the source tree and
# holds no path of it.
set -euo pipefail
work=$1 source=$2 version=$3
segment=$work/prefix/bin/segment

[[ "$("$segment" --version)" == *"$version"* ]] || { echo "not version $version" >&2; exit 1; }
if grep -qF "$source" "$segment"; then
  echo "the program holds the path of its source tree" >&2
  exit 1
fi
cp "$source/images/cat.jpg" "$work/photo.jpg"
cd "$work"
rm -f labels.png
"$segment" photo.jpg -o labels.png
[[ "$(file --brief labels.png)" == "PNG image data, 451 x 300, 16-bit grayscale, non-interlaced" ]] ||
  { file labels.png >&2; exit 1; }
