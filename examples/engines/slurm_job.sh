#!/usr/bin/env bash
# Runs a command of segment as a job of Slurm, alone or in an array:
#   sbatch --array=1-16 slurm_job.sh segment --files-from LIST ... --shard auto --device auto
# A job whose device fails, or whose program is killed, is given again, at most three times.
#SBATCH --requeue --open-mode=append
set -u

# PoCL's processes must not share a folder of compiled kernels, and homes are shared by nodes.
export POCL_CACHE_DIR=${TMPDIR:-/tmp}/diacut-kernels-$SLURM_JOB_ID
trap 'rm -rf "$POCL_CACHE_DIR"' EXIT

status=0
"$@" || status=$?
# Exit codes 1, 2, 3 and 5 tell of files, options and pictures, which are the same on another node.
if ((status == 4 || status > 128)) && ((${SLURM_RESTART_COUNT:-0} < 3)); then
  # The number of an array's last task is that of the whole array, which must not be given again.
  job=$SLURM_JOB_ID
  [[ -z ${SLURM_ARRAY_TASK_ID:-} ]] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
  scontrol requeue "$job"
fi
exit "$status"
