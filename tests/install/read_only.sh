#!/usr/bin/env bash
# read_only.sh WORK_DIR SOURCE_DIR: the installed segment works for an ordinary user without a home, in a
# root that cannot be written but for one folder for temporary files, as in a container.
set -euo pipefail
work=$1 source=$2
((EUID == 0)) || { echo "only root can make a read-only root; nothing is checked"; exit 77; }
unshare --mount true 2>/dev/null ||
  { echo "this container has no mount namespaces; nothing is checked"; exit 77; }

room=$work/read_only
rm -rf "$room"
mkdir -p "$room/out" "$room/tmp" "$room/bin"
chmod 0777 "$room/out"
chmod 1777 "$room/tmp"
# The work folder may lie in a home that others may not enter.
cp "$work/prefix/bin/segment" "$source/images/cat.jpg" "$room/bin"

# What runs in the namespace: $1 is the room, the command follows.
# shellcheck disable=SC2016
inside='
  set -e
  room=$1
  shift
  mount --make-rprivate /
  mount --bind "$room" /srv
  mount --bind "$room/out" /srv/out
  mount --bind "$room/tmp" /tmp
  for folder in $(awk "{ print \$5 }" /proc/self/mountinfo); do
    case $folder in
      /tmp | /dev/* | /proc | /proc/* | /sys | /sys/*) ;;
      /) mount -o remount,bind,ro / ;;
      # One that cannot be seen any more, or that belongs to the container, may stay as it is.
      *) mount -o remount,bind,ro "$folder" 2>/dev/null || true ;;
    esac
  done
  mount -o remount,bind,rw /srv/out
  cd /srv/out
  exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
    env --ignore-environment PATH=/usr/bin:/bin HOME=/nonexistent "$@"
'
run() { unshare --mount bash -c "$inside" bash "$room" "$@"; }

if run touch /srv/written 2>/dev/null || run touch /etc/written 2>/dev/null; then
  echo "the root should be read-only" >&2
  exit 1
fi
run /srv/bin/segment /srv/bin/cat.jpg --output labels.png --verbose 2>&1 | tee "$room/log"
[[ "$(file --brief "$room/out/labels.png")" == "PNG image data, 451 x 300, 16-bit grayscale, non-interlaced" ]] ||
  { echo "there should be labels" >&2; exit 1; }
grep -q "kernels are stored in '/tmp/diacut-kernels-" "$room/log" ||
  { echo "--verbose should tell where kernels are stored" >&2; exit 1; }
[[ -z "$(ls -A "$room/tmp")" ]] ||
  { echo "temporary files are left:" >&2; ls -AR "$room/tmp" >&2; exit 1; }
