#!/usr/bin/env bash
# pages.sh SOURCE SEGMENT EVALUATE: runs pages.py, which needs no package, in a folder of its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PYTHONDONTWRITEBYTECODE=1 "${DIACUT_PYTHON:-/usr/bin/python3}" "$1/tests/pages/pages.py" "$@" "$folder"
