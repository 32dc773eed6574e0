#!/usr/bin/env bash
# One picture of any size by Slurm, which runs its tiles as arrays of jobs:
#   slurm_picture.sh PICTURE LABELS.tif WORK JOBS --tile-size N [OPTION]...
# WORK is a folder for the tiles. All nodes see it and PICTURE. JOBS is how many jobs share the
# tiles. Further options are those of segment. Prints the number of the last job, which paints.
set -euo pipefail
picture=$1 labels=$2 work=$3 jobs=$4
shift 4
job=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/slurm_job.sh

segment "$picture" -o "$labels" --tiles-in "$work" --plan-only "$@" >&2
plan=$(realpath "$work")/plan.json
after=()
submit() {
  sbatch --parsable --kill-on-invalid-dep=yes --output="$plan.log" "${after[@]}" "$@"
}
for step in map contours basins regions; do
  number=$(submit --array="1-$jobs" --job-name="tile-$step" \
    "$job" segment tile "$plan" --shard auto --device auto)
  after=(--dependency="afterok:$number")
  number=$(submit --job-name="join-$step" "$job" segment join "$plan")
  after=(--dependency="afterok:$number")
done
submit --job-name=paint "$job" segment paint "$plan"
