#!/usr/bin/env bash
# learn.sh SOURCE SEGMENT EVALUATE: tests app/learn, on the processor.
set -euo pipefail
python=${DIACUT_PYTHON:-/usr/bin/python3}
"$python" -c 'import numpy, PIL, scipy, torch' 2>/dev/null ||
  { echo "$python has no PyTorch (python3-torch, python3-scipy, python3-pil); nothing is checked"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "$2" "$folder/bin/segment"
ln -s "$3" "$folder/bin/diacut-evaluate"
cd "$folder"
export PYTHONDONTWRITEBYTECODE=1 SOURCE=$1 PATH=$folder/bin:$PATH
"$python" "$1/tests/learn/learn.py" -v
