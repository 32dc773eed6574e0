#!/usr/bin/env bash
# maps.sh WORK_DIR SOURCE_DIR: regions of a scene with coordinates, made by the installed program, in QGIS (by its
# script) and GRASS, where these are installed.
set -euo pipefail
work=$1 source=$2
PYTHONPYCACHEPREFIX=$work/pycache "${DIACUT_PYTHON:-/usr/bin/python3}" -m py_compile "$source/qgis/diacut_segment.py"
for tool in gdal_translate ogrinfo; do
  command -v "$tool" >/dev/null || { echo "there is no $tool (gdal-bin); nothing more is checked"; exit 77; }
done
rm -rf "$work/maps"
mkdir -p "$work/maps"
cd "$work/maps"
gdal_translate -q -a_srs EPSG:32632 -a_ullr 600000 5300000 604510 5297000 "$source/images/cat.jpg" scene.tif
options=(--boundary gradient --regions 6 --min-size 40 -q)
"$work/prefix/bin/segment" scene.tif -o labels.tif "${options[@]}"
"$work/prefix/bin/segment" scene.tif -o regions.gpkg "${options[@]}"
features() { ogrinfo -so -al "$1" | sed -n 's/^Feature Count: //p'; }
expect() { [[ "$2" == "$3" ]] || { echo "$1: $2, expected $3" >&2; exit 1; }; }
expect "features of the scene's regions" "$(features regions.gpkg)" 6

# QGIS and GRASS are too large to be installed for a test: they are run on machines that have them.
export HOME=$work/maps/home XDG_RUNTIME_DIR=$work/maps/runtime QT_QPA_PLATFORM=offscreen
scripts=$HOME/.local/share/QGIS/QGIS3/profiles/default/processing/scripts
mkdir -p "$scripts"
mkdir -m 700 "$XDG_RUNTIME_DIR"
# Debian's qgis_process passes an option to this program that it does not know.
qgis=$(command -v qgis_process.bin || command -v qgis_process || true)
if [[ -n "$qgis" ]]; then
  cp "$source/qgis/diacut_segment.py" "$scripts"
  "$qgis" run script:diacut_segment -- INPUT=scene.tif REGIONS=6 MIN_SIZE=40 EXTRA="--boundary gradient" \
    PROGRAM="$work/prefix/bin/segment" OUTPUT=qgis.gpkg LABELS=qgis.tif >qgis.log 2>&1 ||
    { cat qgis.log >&2; exit 1; }
  expect "features in the layer of QGIS's algorithm" "$(features qgis.gpkg)" 6
  cmp qgis.tif labels.tif
fi
if command -v grass >/dev/null; then
  # shellcheck disable=SC2016  # GRASS's shell is to expand them.
  grass --tmp-location EPSG:32632 --exec sh -ec '
    r.in.gdal --quiet input=labels.tif output=labels
    v.in.ogr --quiet input=regions.gpkg output=regions
    r.info -gr labels > raster.txt
    v.db.select -c map=regions columns=label > labels.txt' >grass.log 2>&1 || { cat grass.log >&2; exit 1; }
  expect "GRASS's greatest label" "$(sed -n 's/^max=//p' raster.txt)" 6
  expect "GRASS's northern edge" "$(sed -n 's/^north=//p' raster.txt)" 5300000
  expect "features in GRASS" "$(sort -n labels.txt | tr '\n' ' ')" "1 2 3 4 5 6 "
fi
echo "maps: other readers: ${qgis:-no QGIS}, $(command -v grass || echo no GRASS)"
