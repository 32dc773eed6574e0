#!/usr/bin/env bash
# run.sh address|thread [targets]: runs the tests that are worth it under sanitizers, and says how long each
# took: for addresses and undefined behaviour in build/fuzz, for threads in build/thread. Ends with
# 1 where a test fails or a sanitizer reports. "targets" prints what has to be built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
kind=${1:-}
rules=$PWD/tests/sanitize

# A report ends a program with this code, which no program of the project has.
ends=exitcode=86
export ASAN_OPTIONS=$ends:detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
export LSAN_OPTIONS=$ends:suppressions=$rules/leak.supp:print_suppressions=0
export UBSAN_OPTIONS=$ends:print_stacktrace=1
export TSAN_OPTIONS=$ends:suppressions=$rules/thread.supp:ignore_noninstrumented_modules=1
export DIACUT_DEVICE='' LLVM_PROFILE_FILE=/dev/null

failed=()
# timed NAME COMMAND...: runs it and tells how it ended.
timed() {
  local name=$1 started=$SECONDS status=0
  shift
  "$@" > "$work/output" 2>&1 || status=$?
  printf '%-60s %s in %d s\n' "$name" "$([[ $status == 0 ]] && echo passed || echo "failed ($status)")" \
    "$((SECONDS - started))"
  ((status == 0)) || {
    tail -n 100 "$work/output"
    failed+=("$name")
  }
}

# check PROGRAM PATTERN...: runs the tests of a program that the patterns name.
check() {
  local program=$1 IFS=:
  shift
  timed "$program $*" "$folder/tests/$program" --gtest_brief=1 "--gtest_filter=$*"
}

addresses() {
  check fuzz/fuzz_tests '*'
}

threads() {
  # The photographs of these tests are too large for it.
  check property_tests 'HierarchyThreads*' '*Placement*-*OfPhotographs'
}

case "$kind" in
  address) folder=build/fuzz targets=(fuzz_tests) ;;
  thread) folder=build/thread targets=(property_tests) ;;
  *)
    echo "usage: tests/sanitize/run.sh address|thread [targets]" >&2
    exit 2
    ;;
esac
if [[ "${2:-}" == targets ]]; then
  printf '%s\n' "${targets[@]}"
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=$work/pocl
if [[ "$kind" == address ]]; then addresses; else threads; fi
((${#failed[@]} == 0)) || {
  printf 'run.sh: failed: %s\n' "${failed[@]}" >&2
  exit 1
}
