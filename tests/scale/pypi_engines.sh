#!/usr/bin/env bash
# pypi_engines.sh SOURCE SEGMENT PYTHON [ENGINE]...: Ray and Spark, on this machine, run the recipes of
# docs/scale.md over photographs and over a picture in tiles; a worker is killed. Labels are those of
# one run. ctest does not run it: it takes minutes, and needs a Python with ray and pyspark from PyPI
# (some 1.5 GB), and Java 17 (Debian: default-jre-headless):
#   python3 -m venv ~/engines && ~/engines/bin/pip install ray pyspark
#   tests/scale/pypi_engines.sh . build/release/app/segment/segment ~/engines/bin/python
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=tests/scale/bed.sh
. "$here/bed.sh"

python=$3
need gdal_translate pgrep ps setpriv
source_folder=$(realpath "$1") program=$(realpath "$2")
engines=("${@:4}")
((${#engines[@]} > 0)) || engines=(ray spark)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' TERM INT HUP
make_bed "$source_folder" "$program" "$folder"

for engine in "${engines[@]}"; do
  "$python" -c "import ${engine/#spark/pyspark}" || fail "$python has no $engine"
  begin=$SECONDS
  share_photos "$engine" local 2 "$engine" 2>"$engine.log" &
  client=$!
  kill_a_worker "$engine"
  wait "$client" || fail "a killed worker's share is not run again: $(tail -n 20 "$engine.log")"
  same_photos "$engine"
  echo "$engine, photographs, a worker killed: $((SECONDS - begin)) s"
  begin=$SECONDS
  share_picture "$engine" local 3 "tiles-$engine" 2>>"$engine.log"
  same_picture "tiles-$engine.tif"
  echo "$engine, picture in tiles: $((SECONDS - begin)) s"
done
