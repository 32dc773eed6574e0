#!/usr/bin/env bash
# annotations.sh WORK_DIR SOURCE_DIR: writes annotations, tables and graphs with the installed program, and
# reads them with the formats' own libraries from PyPI.
set -euo pipefail
work=$1 source=$2
# shellcheck source=tests/install/python_environment.sh
source "$source/tests/install/python_environment.sh"
folder=$work/annotations
make_environment "$folder"
pip install numpy pillow pycocotools lxml networkx scikit-image shapely
# What decoding Label Studio's masks imports; the converter's own list of requirements is many times as long.
pip install ijson label-studio-tools pandas requests ujson
pip install --no-deps label-studio-converter
"$folder/venv/bin/python" "$source/tests/install/annotations.py" "$work/prefix/bin/segment" "$folder"
