#!/usr/bin/env bash
# wheel.sh FOLDER WHEEL: installs a wheel of ./setup.sh wheel in a fresh Debian 13 that has python3-venv and
# neither compiler nor OpenCL, OpenCV, GDAL or PROJ, and uses it. The Debian is made in FOLDER by debootstrap
# unless one is there. By hand, as root, with a network: a few minutes, and 3 GB of disk.
set -euo pipefail
folder=$(realpath -m "${1:?wheel.sh FOLDER WHEEL}")
wheel=$(realpath "${2:?wheel.sh FOLDER WHEEL}")
sources=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
if [[ ! -e "$folder/etc/debian_version" ]]; then
  command -v debootstrap >/dev/null || apt-get install --yes debootstrap
  debootstrap --variant=minbase --include=ca-certificates,python3-venv trixie "$folder"
fi
rm -rf "$folder/root/wheel"
mkdir -p "$folder/root/wheel"
cp "$wheel" "$sources/tests/debian/wheel.py" "$sources/images/cat.jpg" "$folder/root/wheel"
[[ -z "${SSL_CERT_FILE:-}" ]] || cp "$SSL_CERT_FILE" "$folder/etc/ssl/certs/ca-certificates.crt"

# shellcheck disable=SC2016
exec unshare --mount --pid --fork --propagation private bash -c '
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  mount -t sysfs sys "$1/sys"
  exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin LANG=C.UTF-8 bash -c "$2"
' - "$folder" '
  set -euo pipefail
  cd /root/wheel
  rm -rf /root/.cache/pip /root/.local/share/diacut
  for name in cc ld gdalinfo proj; do
    ! command -v "$name" || { echo "this Debian is not fresh: it has $name" >&2; exit 1; }
  done
  python3 -m venv environment
  PATH=$PWD/environment/bin:$PATH
  now() { date +%s.%N; }
  told() { awk -v from="$2" -v to="$(now)" -v what="$1" "BEGIN { printf \"%s: %.1f s\n\", what, to - from }"; }
  start=$(now)
  pip --quiet install ./*.whl
  told "pip install of the wheel" "$start"
  du -sh environment/lib/python3*/site-packages/diacut*
  # Without a device the error names both ways out.
  python wheel.py nothing
  start=$(now)
  pip --quiet install "$(echo "$PWD"/*.whl)[cpu]" npe2
  told "pip install of a device for CPUs, and npe2" "$start"
  start=$(now)
  python wheel.py labels
  told "first labels" "$start"
  start=$(now)
  python wheel.py labels
  told "labels again" "$start"
  python wheel.py scene
  npe2 list | grep -w diacut
'
