# shellcheck shell=bash
set -euo pipefail
python=${DIACUT_PYTHON:-/usr/bin/python3}
# What the tests of engines share: photographs and a picture, their labels by one run, and how the
# labels of an engine are held to them. Sourced.

# make_bed SOURCE SEGMENT FOLDER: goes into the folder, and makes
#   photos/, photos.txt  small photographs, and their names
#   one/      their labels by one run
#   options              those of segment for photographs
#   picture.tif          a picture, and whole.tif, its labels untiled
# Afterwards segment and the recipes are found by their names.
make_bed() {
  source=$1 folder=$3
  mkdir "$folder/bin" "$folder/reports"
  ln -s "$2" "$folder/bin/segment"
  export PATH=$folder/bin:$source/examples/engines:$PATH
  cd "$folder"
  local name x y
  for name in astronaut cat coffee rocket; do
    mkdir -p "photos/$name"
    for x in 0 100 200; do
      for y in 0 90; do
        gdal_translate -q -of PNG -srcwin "$x" "$y" 200 150 "$source/images/$name.jpg" \
          "photos/$name/$x-$y.png"
      done
    done
  done
  find photos -name '*.png' | sort > photos.txt
  gdal_translate -q "$source/images/coffee.jpg" picture.tif
  sed -i "s|^|$folder/|" photos.txt  # Workers need not be in this folder.
  # The options whose kernels are compiled soonest.
  options=(--boundary gradient --spectral never --merging strength)
  segment --files-from photos.txt --base "$folder/photos" -o one "${options[@]}" -q
  segment picture.tif -o whole.tif --detail native "${options[@]}" -q
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# same_photos FOLDER: the labels in FOLDER have the bytes of one run, and reports/FOLDER*.jsonl
# tell of each photograph once.
same_photos() {
  diff -r one "$1" || fail "labels in $1 are not those of one run"
  local reports lines inputs
  reports=$(cat reports/"$1"*.jsonl)
  lines=$(wc -l <<<"$reports")
  inputs=$(grep -o '"input": *"[^"]*"' <<<"$reports" | sort -u | wc -l)
  [[ $lines == 24 && $inputs == 24 ]] || fail "reports of $1: $lines lines of $inputs photographs, not 24 of 24"
  echo "$1: the bytes of one run, and 24 photographs reported once"
}

# same_picture LABELS: the labels are those of the picture untiled.
same_picture() {
  local file
  for file in whole.tif "$1"; do gdal_translate -q -of ENVI -ot UInt32 "$file" "$file.raw"; done
  cmp whole.tif.raw "$1.raw" || fail "labels of $1 are not those of the picture untiled"
  echo "$1: the labels of the picture untiled"
}

# share_photos ENGINE ADDRESS COUNT FOLDER: the photographs' labels go into the folder by shares.py.
share_photos() {
  "$python" "$source/examples/engines/shares.py" "$1" "$2" "$3" "$folder/bin/segment" \
    --files-from "$folder/photos.txt" --base "$folder/photos" -o "$folder/$4" \
    --json "$folder/reports/$4.jsonl" --skip-existing "${options[@]}" -q
}

# share_picture ENGINE ADDRESS COUNT NAME: the picture's labels go into NAME.tif, in tiles.
share_picture() {
  local work=$folder/work-$4
  segment picture.tif -o "$4.tif" --tiles-in "$work" --plan-only --tile-size 192 --boundary gradient -q
  for _ in map contours basins regions; do
    "$python" "$source/examples/engines/shares.py" "$1" "$2" "$3" segment tile "$work/plan.json" -q
    segment join "$work/plan.json" -q
  done
  segment paint "$work/plan.json" -q
}

# ended PROCESS: it is gone, or nothing has asked yet how it ended.
ended() {
  [[ $(ps -o state= "$1") != [A-Y] ]]
}

# kill_a_worker FOLDER: kills the worker that runs a program for the photographs, while it works;
# the program has to end with it.
kill_a_worker() {
  local program
  wait_until 300 "the first labels" results "$1" 4
  program=$(pgrep -f "^$folder/bin/segment --files-from" | head -n 1)
  kill -KILL "$(ps -o ppid= "$program" | tr -d ' ')"
  wait_until 10 "the end of a killed worker's program" ended "$program"
  ! results "$1" 24 || fail "the worker was killed too late"
}

# wait_until SECONDS WHAT COMMAND...: until the command succeeds.
wait_until() {
  local seconds=$1 what=$2 end=$((SECONDS + $1))
  shift 2
  until "$@"; do
    ((SECONDS < end)) || fail "$what has not happened in $seconds s"
    sleep 0.05
  done
}

# results FOLDER COUNT: there are at least so many labels.
results() {
  (($(find "$1" -name '*.png' 2>/dev/null | wc -l) >= $2))
}

# Ends the test, which this machine cannot run.
skip() {
  echo "SKIPPED: $*; nothing is checked"
  exit 77
}

# need PROGRAM...: ends the test where one is not installed.
need() {
  local program missing=()
  for program in "$@"; do command -v "$program" >/dev/null || missing+=("$program"); done
  ((${#missing[@]} == 0)) || skip "not installed: ${missing[*]} (the packages are engine_packages of setup.sh)"
}
