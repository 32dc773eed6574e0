#!/usr/bin/env bash
# Gives the shares of a command of segment to the devices of this machine, by GNU parallel:
#   parallel_shares.sh KIND DEVICES COUNT segment --files-from LIST ...
# KIND is gpu or cpu, DEVICES how many of them work, and COUNT the number of shares: a few for each
# device, so that none waits long for the last one. A share that fails is run again, at most three
# times in all.
set -euo pipefail
kind=$1 devices=$2 count=$3
shift 3
kernels=$(mktemp -d)
trap 'rm -rf "$kernels"' EXIT

# {%} is the job slot, from 1: each has a device, and a folder of compiled kernels, of its own.
parallel --quote --will-cite --line-buffer --jobs "$devices" --retries 3 \
  env POCL_CACHE_DIR="$kernels/{%}" "$@" \
  --shard "{}/$count" --device "$kind:{= \$_ = slot() - 1 =}" ::: $(seq "$count")
