#!/usr/bin/env bash
# coverage.sh [--lines] [TARGET...]: prints, for each target, the share of its reader's lines that its inputs
# reach: those of the fuzzer's runs, of tests/fuzz, and the files that the tests write. With --lines also
# the lines that none of them reaches.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
fuzzer=$PWD/build/fuzz/tests/fuzz/fuzz_readers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
lines=0
if [[ "${1:-}" == --lines ]]; then
  lines=1
  shift
fi
wanted=" $* "

printf '%-18s %8s %8s %8s\n' target lines reached share
while read -r -a words; do
  target=${words[0]}
  [[ $# == 0 || "$wanted" == *" $target "* ]] || continue
  sources=("${words[@]:1}")
  mkdir -p "$work/seeds/$target"
  export DIACUT_FUZZ_TARGET=$target
  LLVM_PROFILE_FILE=/dev/null DIACUT_FUZZ_SEEDS=$work/seeds/$target "$fuzzer"
  folders=("$work/seeds/$target")
  for folder in "build/fuzz/inputs/$target" "tests/fuzz/corpus/$target" "tests/fuzz/found/$target"; do
    [[ ! -d "$folder" ]] || folders+=("$folder")
  done
  LLVM_PROFILE_FILE=$work/raw "$fuzzer" -runs=0 "${folders[@]}" > /dev/null 2>&1 ||
    echo "coverage.sh: $target ends badly" >&2
  llvm-profdata-14 merge -o "$work/profile" "$work/raw"
  llvm-cov-14 export -summary-only -instr-profile "$work/profile" "$fuzzer" |
    python3 -c '
import json, sys
lines = [file["summary"]["lines"] for file in json.load(sys.stdin)["data"][0]["files"]
         if file["filename"].endswith(tuple(sys.argv[2:]))]
count, reached = (sum(each[key] for each in lines) for key in ("count", "covered"))
print("%-18s %8d %8d %7.1f%%" % (sys.argv[1], count, reached, 100 * reached / max(count, 1)))' \
      "$target" "${sources[@]}"
  ((lines == 0)) ||
    llvm-cov-14 show -instr-profile "$work/profile" "$fuzzer" |
    awk -F'|' -v sources="${sources[*]}" '
      BEGIN { split(sources, ends, " ") }
      /^\/[^|]*:$/ {
        reader = 0
        for (k in ends) if (index($0, ends[k] ":")) reader = 1
        if (reader) print "  " $0
      }
      reader && $2 ~ /^ *0$/ { print "  " $1 "|" $3 }'
done < <(DIACUT_FUZZ_TARGET=list LLVM_PROFILE_FILE=/dev/null "$fuzzer")
