#!/usr/bin/env bash
# other_driver.sh BUILD_DIR intel|pocl: runs segment doctor, compares labels with those of the system's PoCL, and
# runs all device tests, with a driver for CPUs from PyPI: Intel's runtime, or the PoCL that was made for PyOpenCL.
# By hand, with a network: half an hour on 2 cores, and 1 GB of disk.
set -euo pipefail
build=$(realpath "${1:?other_driver.sh BUILD_DIR intel|pocl}")
driver=${2:?other_driver.sh BUILD_DIR intel|pocl}
images=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../images")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=$work/pocl XDG_DATA_HOME=$work/data
mkdir "$POCL_CACHE_DIR"

segment=$build/app/segment/segment
for image in "$images"/*.jpg; do
  "$segment" "$image" --quiet --device cpu --output "$work/system-$(basename "$image" .jpg).npy"
done
python3 -m venv "$work/environment"
pip=("$work/environment/bin/pip" --quiet --disable-pip-version-check install)
case "$driver" in
  intel)
    "${pip[@]}" intel-opencl-rt intel-cmplr-lib-rt
    export OCL_ICD_VENDORS=$work/environment/lib/libintelocl.so
    # Debian 12's TBB, which diacut loads, is older than what Intel's driver needs.
    export LD_PRELOAD=$work/environment/lib/libtbb.so.12
    ;;
  pocl)
    "${pip[@]}" pocl-binary-distribution
    OCL_ICD_VENDORS=$(echo "$work"/environment/lib/python3*/site-packages/pyopencl/.libs/libpocl-*.so)
    export OCL_ICD_VENDORS POCL_CACHE_DIR=$work/other-pocl
    mkdir "$POCL_CACHE_DIR"
    ;;
  *) echo "other_driver.sh: the driver is intel or pocl, not '$driver'" >&2; exit 2 ;;
esac

status=0
"$segment" doctor || status=1
for image in "$images"/*.jpg; do
  name=$(basename "$image" .jpg)
  "$segment" "$image" --output "$work/other-$name.npy"
  if cmp "$work/system-$name.npy" "$work/other-$name.npy"; then
    echo "$name: the same labels"
  else
    echo "$name: other labels than the system's driver" >&2
    status=1
  fi
done
for program in solver_tests device_tests; do
  "$build/tests/$program" --gtest_brief=1 || status=1
done
exit "$status"
