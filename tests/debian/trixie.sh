#!/usr/bin/env bash
# trixie.sh FOLDER [COMMAND...]: makes a Debian 13 in FOLDER by debootstrap, unless one is there, checks
# the committed sources out in it, and runs COMMAND in them (./setup.sh test). By hand, as root, with a
# network: takes about two hours on 2 cores, and 9 GB of disk. What was built stays for the next time.
set -euo pipefail
folder=$(realpath -m "${1:?trixie.sh FOLDER [COMMAND...]}")
shift
(($# > 0)) || set -- ./setup.sh test
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [[ ! -e "$folder/etc/debian_version" ]]; then
  command -v debootstrap >/dev/null || apt-get install --yes debootstrap
  debootstrap --variant=minbase --include=ca-certificates trixie "$folder"
fi
mkdir -p "$folder/root/diacut"
# Writes what changed since the last time, and removes what is gone.
GIT_INDEX_FILE=$folder/root/diacut.index GIT_WORK_TREE=$folder/root/diacut git read-tree --reset -u HEAD

# Mounts of a name space of their own end with it, whatever happens.
start=$SECONDS status=0
# shellcheck disable=SC2016
unshare --mount --pid --fork --propagation private bash -c '
  folder=$1
  shift
  mount --bind "$folder" "$folder"  # Only a root that is a mount lets tests make name spaces of mounts within.
  mount -t proc proc "$folder/proc"
  mount --rbind /dev "$folder/dev"
  mount -t tmpfs tmpfs "$folder/tmp"
  mount -t sysfs sysfs "$folder/sys"  # From which PoCL 6 knows the memory.
  cd "$folder"
  exec chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 CI="${CI:-}" JOBS="${JOBS:-}" bash -c "cd /root/diacut && exec \"\$@\"" - "$@"
' - "$folder" "$@" || status=$?
echo "Debian $(cat "$folder/etc/debian_version"): '$*' ended with $status after $(((SECONDS - start) / 60)) minutes" >&2
exit "$status"
