#!/bin/sh
# reference.sh SEGMENT DIACUT-EVALUATE DIACUT-BENCH: prints docs/reference.md, the options of the
# three programs. To update it: docs/reference.sh build/release/app/segment/segment
# build/release/app/evaluate/diacut-evaluate build/release/app/bench/diacut-bench > docs/reference.md
set -eu
cat <<'HEAD'
# Options

Every option of the three programs. `docs/reference.sh` makes this page from the programs; [usage.md](usage.md) explains how to use them. Every parameter, with its unit, range, meaning and source, is in [configs/default.toml](../configs/default.toml), which `segment --print-config` prints.
HEAD
for program in "$@"; do
  "$program" --generate markdown
done
