#!/usr/bin/env bash
# dask.sh SOURCE SEGMENT: Dask runs the recipes of docs/scale.md over photographs and over a picture
# in tiles, by its local cluster and by two workers of which one is killed. Labels are those of one
# run. It needs Debian's python3-distributed.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=tests/scale/bed.sh
. "$here/bed.sh"

"$python" -c 'import distributed' 2>/dev/null || skip "$python has no distributed (python3-distributed)"
need dask-scheduler dask-worker gdal_translate pgrep ps setpriv

folder=$(mktemp -d)
# Daemons end with this script, however it ends, and programs with their workers.
trap 'kill -KILL $(jobs -p) 2>/dev/null || true; wait 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 1' TERM INT HUP
daemon() {
  setpriv --pdeathsig KILL "$python" "$(command -v "$1")" "${@:2}" >>"$folder/daemons.log" 2>&1 &
}

make_bed "$1" "$2" "$folder"
share_photos dask local 2 local
same_photos local
echo "local cluster: done after $SECONDS s"

daemon dask-scheduler --host 127.0.0.1 --port 0 --no-dashboard --scheduler-file scheduler.json
wait_until 60 "the scheduler's address" test -s scheduler.json
address=$(grep -o 'tcp://[0-9.:]*' scheduler.json | head -n 1)
for k in 1 2; do
  daemon dask-worker "$address" --nthreads 1 --nworkers 1 --no-nanny --no-dashboard \
    --local-directory "$folder/worker-$k"
done

share_picture dask "$address" 3 tiles
same_picture tiles.tif
echo "picture in tiles: done after $SECONDS s"

share_photos dask "$address" 2 killed &
client=$!
kill_a_worker killed
wait "$client" || fail "the shares of a killed worker are not run again: $(tail -n 5 daemons.log)"
same_photos killed
echo "killed worker: done after $SECONDS s"
