#!/usr/bin/env bash
# napari.sh WORK_DIR SOURCE_DIR: the plugin of the wheel that python.sh built, in napari from PyPI, on a
# virtual screen. A picture of its window is left in WORK_DIR/napari/window.png.
set -euo pipefail
work=$1 source=$2
command -v xvfb-run >/dev/null ||
  { echo "xvfb-run is not installed (xvfb, xauth); nothing is checked"; exit 77; }
# shellcheck source=tests/install/python_environment.sh
source "$source/tests/install/python_environment.sh"

folder=$work/napari
unreachable_code=77
make_environment "$folder"
wheel=$(echo "$work"/python/dist/diacut-*.whl)
pip install "${wheel}[napari]" pytest

cd "$folder"
DIACUT_SCREENSHOT=$folder/window.png xvfb-run --auto-servernum --server-args="-screen 0 1280x800x24" \
  env QT_QPA_PLATFORM=xcb LIBGL_ALWAYS_SOFTWARE=1 XDG_CONFIG_HOME="$folder/config" \
  XDG_CACHE_HOME="$folder/cache" "$folder/venv/bin/python" -m pytest -p no:cacheprovider \
  -c "$source/pyproject.toml" --rootdir="$source" -W default "$source/tests/python/napari"
[[ "$(file --brief window.png)" == "PNG image data, "* ]] ||
  { echo "there should be a picture of the window" >&2; exit 1; }
