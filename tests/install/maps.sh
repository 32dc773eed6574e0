#!/usr/bin/env bash
# maps.sh WORK_DIR SOURCE_DIR: scenes with coordinates through the installed program, read by GDAL's own tools,
# and the script for QGIS.
set -euo pipefail
work=$1 source=$2
python=${DIACUT_PYTHON:-/usr/bin/python3}
PYTHONPYCACHEPREFIX=$work/pycache "$python" -m py_compile "$source/qgis/diacut_segment.py"
for tool in gdalinfo ogrinfo; do
  command -v "$tool" >/dev/null || { echo "there is no $tool (gdal-bin); nothing more is checked"; exit 77; }
done
"$python" -c 'import numpy; from osgeo import gdal' 2>/dev/null ||
  { echo "$python has no GDAL (python3-gdal, python3-numpy); nothing more is checked"; exit 77; }
rm -rf "$work/maps"
mkdir -p "$work/maps"
"$python" "$source/tests/install/maps.py" "$work/prefix/bin/segment" "$work/maps"
