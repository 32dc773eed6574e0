#!/usr/bin/env bash
# run.sh HOURS [TARGET...]: fuzzes the readers of files, HOURS shared among the targets, one after the
# other, from the inputs of earlier runs on. What is found is kept in build/fuzz/found. A run ends
# with a table of inputs and processor time, and with 1 where something was found. Runs of different
# targets may go on side by side.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
hours=${1:?usage: tests/fuzz/run.sh HOURS [TARGET...]}
shift
fuzzer=$PWD/build/fuzz/tests/fuzz/fuzz_readers
inputs=$PWD/build/fuzz/inputs
found=$PWD/build/fuzz/found
log=$PWD/build/fuzz/fuzzed.tsv # target, inputs, processor seconds, findings: a line for each run.
TIMEFORMAT='%U %S'
words=$PWD/tests/fuzz/words.txt
[[ -x "$fuzzer" ]] || {
  echo "run.sh: there is no $fuzzer: ./setup.sh fuzz builds it" >&2
  exit 1
}
export LLVM_PROFILE_FILE=/dev/null
# Libraries leak memory where files are damaged; what the readers leak shows as growth.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

if (($# > 0)); then
  targets=("$@")
else
  mapfile -t targets < <(DIACUT_FUZZ_TARGET=list "$fuzzer" | cut -d' ' -f1)
fi
seconds=$(awk -v hours="$hours" -v count="${#targets[@]}" \
  'BEGIN { each = int(hours * 3600 / count); print (each > 0 ? each : 1) }')

# dictionary TARGET: its words as libFuzzer takes them.
dictionary() {
  awk -v target="$1:" '
    /^[^ #]/ { is_its = $1 == target; sub(/^[^ ]+/, "") }
    is_its { gsub(/"/, "\\x22"); for (k = 1; k <= NF; ++k) print "\"" $k "\"" }' "$words"
}

# fuzz TARGET: adds a line to the log.
fuzz() {
  local target=$1 output spent part status=0 started
  mkdir -p "$inputs/$target" "$found/$target"
  DIACUT_FUZZ_TARGET=$target DIACUT_FUZZ_SEEDS=$inputs/$target "$fuzzer"
  dictionary "$target" > "$found/$target.dict"
  output=$(mktemp)
  spent=$(mktemp)
  part=$(mktemp)
  started=$SECONDS
  # A fault ends the fuzzer: it goes on until its time is over.
  while ((SECONDS - started < seconds)); do
    {
      time DIACUT_FUZZ_TARGET=$target "$fuzzer" "$inputs/$target" "-dict=$found/$target.dict" \
        "-max_total_time=$((seconds - SECONDS + started))" -max_len=65536 -timeout=60 \
        -report_slow_units=60 -rss_limit_mb=3000 -malloc_limit_mb=1500 -print_final_stats=1 \
        -verbosity=1 -close_fd_mask=3 "-artifact_prefix=$found/$target/" > "$output" 2>&1 || status=1
    } 2> "$spent"
    awk '/number_of_executed_units/ { inputs = $2 } /^#[0-9]+/ { last = substr($1, 2) }
      FILENAME == ARGV[2] { time = $1 + $2 }
      END { print (inputs ? inputs : last + 0) "\t" time }' "$output" "$spent" >> "$part"
    ((status == 0)) || tail -n 60 "$output" > "$found/$target/last.txt"
  done
  awk -F'\t' -v OFS='\t' -v target="$target" \
    -v findings="$(find "$found/$target" -type f ! -name last.txt | wc -l)" '
    { inputs += $1; time += $2 } END { print target, inputs + 0, time + 0, findings }' \
    "$part" >> "$log"
  rm -f "$output" "$spent" "$part"
}

for target in "${targets[@]}"; do fuzz "$target"; done

# Of all runs.
awk -F'\t' '
  BEGIN { printf "%-18s %12s %10s %9s\n", "target", "inputs", "seconds", "findings" }
  { inputs[$1] += $2; seconds[$1] += $3; findings[$1] = $4 }
  END {
    for (target in inputs) {
      printf "%-18s %12d %10d %9d\n", target, inputs[target], seconds[target], findings[target] | "sort"
      all += inputs[target]; time += seconds[target]; faults += findings[target]
    }
    close("sort")
    printf "%-18s %12d %10d %9d\n", "all", all, time, faults
    exit faults > 0
  }' "$log"
