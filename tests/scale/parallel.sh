#!/usr/bin/env bash
# parallel.sh SOURCE SEGMENT: GNU parallel runs its recipe of docs/scale.md on two devices. Labels are
# those of one run. It needs Debian's parallel.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=tests/scale/bed.sh
. "$here/bed.sh"

need parallel gdal_translate
parallel --version | grep "GNU parallel" >/dev/null || skip "parallel is not GNU parallel"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' TERM INT HUP

make_bed "$1" "$2" "$folder"
export HOME=$folder POCL_DEVICES="pthread pthread"  # One processor as two devices.
segment --list-devices | grep "0:1 .*cpu" >/dev/null || skip "needs PoCL alone"
# A share whose program is killed at its first attempt, as what uses up memory is.
cat > bin/killed_once <<'TEXT'
#!/usr/bin/env bash
if [[ "$*" == *"--shard 2/3"* && ! -e attempt ]]; then
  touch attempt
  kill -KILL $$
fi
echo "${*: -3}" >> jobs.log
exec segment "$@"
TEXT
chmod +x bin/killed_once

parallel_shares.sh cpu 2 3 killed_once --files-from photos.txt --base "$folder/photos" -o shares \
  --json reports/shares.jsonl --skip-existing "${options[@]}" -q
same_photos shares
[[ -e attempt && $(wc -l < jobs.log) == 3 ]] || fail "not three shares: $(< jobs.log)"
[[ $(grep -o 'cpu:[0-9]' jobs.log | sort -u | xargs) == "cpu:0 cpu:1" ]] ||
  fail "not one device a process: $(< jobs.log)"

status=0
parallel_shares.sh cpu 2 3 segment --files-from missing.txt -o none -q 2>errors || status=$?
((status != 0)) || fail "a list that is missing ends with 0"
grep -q "missing.txt" errors || fail "a list that is missing is not told: $(< errors)"
