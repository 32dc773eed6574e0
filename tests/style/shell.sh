#!/usr/bin/env bash
# Runs shellcheck over every shell script of the project.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v shellcheck >/dev/null; then
  echo "shellcheck is needed: install shellcheck" >&2
  exit 1
fi
shellcheck setup.sh .ci/run
find examples tests -name '*.sh' -print0 | sort -z | xargs -0 shellcheck
