#!/usr/bin/env bash
# run.sh address|thread [targets] [readers|all]: runs tests under sanitizers, and says how long each took: for
# addresses and undefined behaviour in build/fuzz, for threads in build/thread. "readers" runs the replay of
# files alone, for addresses, in build/release, where the readers are built twice; "all" adds what takes long.
# "targets" prints what has to be built. Ends with 1 where a test fails or a sanitizer reports.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
kind=${1:-}
rules=$PWD/tests/sanitize
source=$PWD
python=/usr/bin/python3 # Debian's, with its packages.

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
  printf '%-60s %s in %d s\n' "${name:0:60}" \
    "$([[ $status == 0 ]] && echo passed || echo "failed ($status)")" "$((SECONDS - started))"
  ((status == 0)) || {
    tail -n 100 "$work/output"
    failed+=("$name")
  }
}

# check PROGRAM PATTERN...: runs the tests of a program that the patterns name; those that stand
# after a "-" are left out.
check() {
  local program=$1 IFS=:
  shift
  timed "$program $*" "$folder/tests/$program" --gtest_brief=1 "--gtest_filter=$*"
}

# run NAME ARGUMENT...: a run of segment. Its leaks are not looked for: where a driver compiles while the
# process ends, the search itself may crash.
run() {
  local name=$1
  shift
  ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timed "segment: $name" "$folder/app/segment/segment" "$@" --quiet
}

# Runs of the programs, through most of their code.
pictures() {
  local photo=$source/images/cat.jpg
  "$python" - "$work/seeds.png" <<'PYTHON'
import sys
from PIL import Image
seeds = Image.new("L", (451, 300))
seeds.paste(1, (250, 100, 270, 120))
seeds.paste(2, (0, 0, 451, 8))
seeds.save(sys.argv[1])
PYTHON
  mkdir "$work/photos"
  ln -s "$source"/images/{cat,coffee,rocket}.jpg "$work/photos/"
  run 'a photograph' "$photo" -o "$work/labels.png" --overlay "$work/o.jpg" --contours "$work/c.npy" \
    --ultrametric "$work/u.png" --tree "$work/cat.tree" --table "$work/t.csv" --region-graph "$work/g.graphml" \
    --geojson "$work/a.geojson" --coco "$work/c.json" --svg "$work/a.svg" --html "$work/a.html" \
    --json "$work/report.json"
  run 'a folder' "$work/photos" --config fast -o "$work/folder" --overlay "$work/overlays" \
    --json "$work/lines.jsonl"
  run 'tiles' "$photo" --boundary gradient --tile-size 128 -o "$work/tiled.tif" --contours "$work/tc.tif"
  run 'recut' recut "$work/cat.tree" --regions 12 -o "$work/recut.png" --table "$work/r.csv"
  run 'seeds' "$photo" --seeds "$work/seeds.png" --boundary gradient -o "$work/seeded.png" \
    --probabilities "$work/p.npy"
  run 'direct cuts' "$photo" --method kway --regions 8 --boundary gradient -o "$work/kway.png" \
    --eigenvectors "$work/vectors"
}

# A ring of nodes with neighbours up to three apart, as SciPy saves it.
graphs() {
  "$python" - "$work/ring.npz" <<'PYTHON'
import sys
import numpy
nodes = 600
steps = numpy.array([-3, -2, -1, 1, 2, 3])
columns = numpy.sort((numpy.arange(nodes)[:, None] + steps) % nodes, axis=1)
numpy.savez(sys.argv[1], format=b"csr", shape=numpy.array([nodes, nodes]),
            indptr=numpy.arange(nodes + 1, dtype=numpy.int32) * len(steps),
            indices=columns.ravel().astype(numpy.int32), data=numpy.ones(columns.size))
PYTHON
  run 'a graph' graph "$work/ring.npz" --clusters 4 --labels "$work/clusters.npy" -o "$work/y.npy"
}

# Where nothing may look at another process's memory, the search for leaks ends a program.
look_for_leaks_if_possible() {
  "$folder/tests/fuzz/$replay" --gtest_list_tests > "$work/output" 2>&1 && return
  grep -q 'LeakSanitizer has encountered a fatal error' "$work/output" || return 0
  echo 'run.sh: leaks are not looked for: this machine forbids what that needs'
  ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
}

addresses() {
  look_for_leaks_if_possible
  check "fuzz/$replay" '*'
  [[ -z "$readers" ]] || return 0
  # The sandbox ends what makes system calls that no decoder needs, as these sanitizers do.
  check unit_tests '*-Sandbox*'
  check solver_tests "$(sed -nE 's/^TEST(_F|_P)?\((\w+).*/*\2.*/p' tests/unit/{core,opencl,eigen,graph,matrix,spmv}/*.cpp | sort -u | paste -sd:)"
  pictures
  graphs
  [[ -z "$all" ]] || {
    check property_tests '*'
    check solver_tests 'Tiny*' # Others compare with plain loops for hours.
    check device_tests 'Tiny*'
  }
}

threads() {
  # The photographs of these tests are too large for it.
  check property_tests 'HierarchyThreads*' '*Placement*-*OfPhotographs'
  pictures
  graphs
}

all='' readers=''
[[ "${2:-} ${3:-}" != *all* ]] || all=yes
[[ "${2:-} ${3:-}" != *readers* ]] || readers=yes
case "$kind" in
  address)
    folder=build/fuzz replay=fuzz_tests
    [[ -z "$readers" ]] || folder=build/release replay=sanitized_fuzz_tests
    targets=("$replay")
    [[ -n "$readers" ]] || targets+=(unit_tests solver_tests segment)
    [[ -z "$all" ]] || targets+=(property_tests device_tests)
    ;;
  thread)
    folder=build/thread targets=(property_tests segment)
    ;;
  *)
    echo "usage: tests/sanitize/run.sh address|thread [targets] [readers|all]" >&2
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
