#!/usr/bin/env bash
# tiles.sh SEGMENT FOLDER MEGAPIXELS [OPTION]...: one picture whole and in tiles of several sizes, by
# 1 to 4 workers: counts labels that differ, and prints times and memory. SEGMENT is the program;
# options are for it, as --boundary gradient or --weights fast. The picture is a mosaic of the
# photographs of images/. WHOLE=0 leaves the whole picture out, which takes about 55 bytes of main
# memory a pixel by the gradient; then tiles are compared with one another. TILES lists the sizes. RESULTS=1
# does something else: it makes each kind of result whole and in tiles of 2048, and compares files.
#
# It needs gdal_translate (Debian: gdal-bin), GNU time, and 20 bytes of disk a pixel.
set -euo pipefail
segment=$(realpath "${1:?usage: tiles.sh SEGMENT FOLDER MEGAPIXELS [OPTION]...}")
folder=${2:?usage: tiles.sh SEGMENT FOLDER MEGAPIXELS [OPTION]...}
megapixels=${3:?usage: tiles.sh SEGMENT FOLDER MEGAPIXELS [OPTION]...}
options=("${@:4}")
images=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../images")
mkdir -p "$folder"
cd "$folder"

# Squares of the photographs from places that a fixed generator chooses, so that none repeats.
mosaic() {
  awk -v images="$images" -v side="$1" '
    BEGIN {
      srand(1)
      split("astronaut.jpg coffee.jpg cat.jpg rocket.jpg", name, " ")
      split("512 600 451 640", width, " ")
      split("512 400 300 427", height, " ")
      step = 250
      for (y = 0; y < side; y += step) for (x = 0; x < side; x += step) {
        k = 1 + int(4 * rand()); n++
        source[n] = images "/" name[k]
        from[n] = sprintf("xOff=\"%d\" yOff=\"%d\"", rand() * (width[k] - step), rand() * (height[k] - step))
        w = side - x < step ? side - x : step
        h = side - y < step ? side - y : step
        size[n] = sprintf("xSize=\"%d\" ySize=\"%d\"", w, h)
        to[n] = sprintf("xOff=\"%d\" yOff=\"%d\"", x, y)
      }
      printf "<VRTDataset rasterXSize=\"%d\" rasterYSize=\"%d\"><SRS>EPSG:32632</SRS>", side, side
      print "<GeoTransform>500000,0.5,0,5200000,0,-0.5</GeoTransform>"
      split("Red Green Blue", colour, " ")
      for (band = 1; band <= 3; band++) {
        printf "<VRTRasterBand dataType=\"Byte\" band=\"%d\"><ColorInterp>%s</ColorInterp>", band, colour[band]
        for (k = 1; k <= n; k++)
          printf "<SimpleSource><SourceFilename>%s</SourceFilename><SourceBand>%d</SourceBand><SrcRect %s %s/><DstRect %s %s/></SimpleSource>\n", source[k], band, from[k], size[k], to[k], size[k]
        print "</VRTRasterBand>"
      }
      print "</VRTDataset>"
    }'
}

# Runs a command, and prints its time and memory after a name.
timed() {
  local name=$1
  shift
  /usr/bin/time -f "$name: %e s, %U s of processors, %M kB" "$@"
}

# Prints how many labels of two files differ.
compare() {
  for k in 1 2; do gdal_translate -q -of ENVI -ot UInt32 "${!k}" "compared-$k.raw"; done
  local differing=0
  cmp -s compared-1.raw compared-2.raw || differing=$(cmp -l compared-1.raw compared-2.raw | wc -l)
  echo "$2: $differing bytes of labels differ from $1"
  rm -f compared-*
  [[ $differing == 0 ]]
}

side=$(awk -v m="$megapixels" 'BEGIN { printf "%d", sqrt(m * 1000000) }')
picture=mosaic-$side.tif
if [[ ! -f $picture ]]; then
  mosaic "$side" > mosaic.vrt
  gdal_translate -q -co TILED=YES -co BLOCKXSIZE=512 -co BLOCKYSIZE=512 -co COMPRESS=LZW \
    -co BIGTIFF=IF_SAFER mosaic.vrt "$picture"
fi

# results NAME FILES OPTION...: a result whole and in tiles, whose files have to be equal.
results() {
  local name=$1 files=$2 step
  shift 2
  rm -rf whole tiled work
  mkdir -p whole tiled
  (cd whole && timed "$name, whole" "$segment" "../$picture" "${options[@]}" --detail native \
    --merging strength --spectral never -q "$@")
  (cd tiled && "$segment" "../$picture" "${options[@]}" --tile-size 2048 --tiles-in ../work \
    --plan-only -q "$@")
  for step in map contours basins regions; do
    timed "$name, tiles, $step" "$segment" tile work/plan.json -q
    timed "$name, join, $step" "$segment" join work/plan.json -q
  done
  timed "$name, paint" "$segment" paint work/plan.json -q
  for step in $files; do cmp "whole/$step" "tiled/$step"; done
  [[ ! -f tiled/labels.tif ]] || compare whole/labels.tif tiled/labels.tif
  ls -l tiled
}
if [[ ${RESULTS:-0} == 1 ]]; then
  results labels "" -o labels.tif
  results contours c.tif -o labels.tif --contours c.tif
  results "ultrametric map" u.tif -o labels.tif --ultrametric u.tif
  results both "c.tif u.tif" -o labels.tif --contours c.tif --ultrametric u.tif
  results polygons r.gpkg -o r.gpkg
  results "small polygons" r.gpkg -o r.gpkg --min-size 20 --threshold 0.1
  rm -rf whole tiled work
  exit
fi

first=
check() {
  if [[ -z $first ]]; then first=$1; else compare "$first" "$1"; fi
}

if [[ ${WHOLE:-1} == 1 ]]; then
  timed whole "$segment" "$picture" "${options[@]}" --detail native --merging strength \
    --spectral never -q -o whole.tif
  check whole.tif
fi
for size in ${TILES:-512 1024 4096}; do
  rm -rf work
  timed "tiles of $size" "$segment" "$picture" "${options[@]}" --tile-size "$size" --tiles-in work \
    -q -o "tiles-$size.tif"
  check "tiles-$size.tif"
done
for workers in 1 2 4; do
  rm -rf work
  "$segment" "$picture" "${options[@]}" --tile-size 2048 --tiles-in work --plan-only -q \
    -o "workers-$workers.tif"
  begin=$(date +%s.%N)
  for step in map contours basins regions; do
    shares=()
    for k in $(seq "$workers"); do
      "$segment" tile work/plan.json -q --shard "$k/$workers" &
      shares+=($!)
    done
    for share in "${shares[@]}"; do wait "$share"; done
    timed "join, $step" "$segment" join work/plan.json -q
  done
  timed paint "$segment" paint work/plan.json -q
  awk -v w="$workers" -v a="$begin" -v b="$(date +%s.%N)" \
    'BEGIN { printf "%d workers, tiles of 2048: %.1f s\n", w, b - a }'
  check "workers-$workers.tif"
done
rm -rf work
