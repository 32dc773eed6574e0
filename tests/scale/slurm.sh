#!/usr/bin/env bash
# slurm.sh SOURCE SEGMENT: a Slurm of one node runs the recipes of docs/scale.md over photographs and
# over a picture in tiles. Jobs are killed, and the node dies. Labels are those of one run.
#
# It needs root, and munged, slurmctld and slurmd (Debian: munge, slurmctld, slurmd, slurm-client).
# These run in namespaces of the test, which end with it, however it ends.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=tests/scale/bed.sh
. "$here/bed.sh"

[[ $EUID == 0 ]] || skip "Slurm's daemons need root"
need munged slurmctld slurmd sbatch gdal_translate ip pgrep setpriv unshare

# Outside: the namespaces, and a folder that goes with them.
if [[ -z ${DIACUT_TEST_FOLDER:-} ]]; then
  DIACUT_TEST_FOLDER=$(mktemp -d)
  export DIACUT_TEST_FOLDER
  trap 'rm -rf "$DIACUT_TEST_FOLDER"' EXIT
  trap 'exit 1' TERM INT HUP
  own=(setpriv --pdeathsig KILL unshare --mount --net --pid --fork --mount-proc --kill-child)
  refused=$("${own[@]}" true 2>&1) || skip "namespaces are refused: $refused"
  "${own[@]}" "${BASH_SOURCE[0]}" "$@" &
  inside=$!
  trap 'kill -KILL "$inside" 2>/dev/null || true; wait || true; rm -rf "$DIACUT_TEST_FOLDER"' EXIT
  wait "$inside"
  exit 0
fi

ip link set lo up
ip address add 10.0.0.1/8 dev lo  # Names are not resolved where 127.0.0.1 is the only address.

daemon() {
  "$@" >>"$folder/slurm/$1.out" 2>&1 &
}

start_node() {
  daemon slurmd -D -N node
  node=$!
}

# Everything else ends with the namespace.
tell() {
  local status=$?
  ((status != 0)) || return 0
  tail -n 20 slurm/*.out slurm/*.log ./*.log 2>/dev/null || true
  squeue 2>/dev/null || true
}
trap tell EXIT

start_slurm() {
  local dir=$folder/slurm
  chmod 755 "$folder"
  mkdir -p "$dir"/{state,spool}
  (umask 077 && mkdir "$dir/munge" && head -c 1024 /dev/urandom > "$dir/munge/key")
  cat > "$dir/slurm.conf" <<TEXT
ClusterName=diacut
SlurmctldHost=localhost
SlurmUser=root
AuthInfo=socket=$dir/munge/socket,cred_expire=5
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
MpiDefault=none
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
BatchStartTimeout=1
SlurmdTimeout=5
MessageTimeout=2
KillWait=1
NodeName=node NodeHostname=$(hostname) NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
TEXT
  # Otherwise Slurm 24 needs control groups, which a container may lack; Slurm 22 does not know this word.
  if [[ $(slurmd -V) =~ ([0-9]+)\. ]] && ((BASH_REMATCH[1] >= 24)); then
    echo "CgroupPlugin=disabled" > "$dir/cgroup.conf"
  fi
  export SLURM_CONF=$dir/slurm.conf
  daemon munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
    --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
  wait_until 10 "munged" test -S "$dir/munge/socket"
  daemon slurmctld -D
  start_node
  wait_until 20 "an idle node of Slurm" node_is idle
}

node_is() {
  [[ $(sinfo --noheader --format=%T 2>/dev/null) == "$1" ]]
}

# photos FOLDER ARRAY: submits the photographs as an array, and prints its number.
photos() {
  local out=$1
  sbatch --parsable --output="$folder/jobs.log" --array="$2" "$recipes/slurm_job.sh" "$segment" \
    --files-from photos.txt --base "$folder/photos" -o "$out" --json "reports/$out.jsonl" --skip-existing \
    --shard auto --device auto "${options[@]}"
}

no_jobs() {
  [[ -z $(squeue --noheader) ]]
}

# Processes of segment, those at work on photographs.
workers() {
  pgrep -f "^$segment --files-from"
}

# What is killed may also be a child of a program, which does its work again.
kill_a_program() {
  workers | head -n 1 | xargs --no-run-if-empty kill -KILL || true
  sleep 0.5
  grep -q "Killed" jobs.log
}

no_steps() {
  ! pgrep slurmstepd >/dev/null
}

# Everything of the node dies: its daemon, the jobs' daemons, their scripts and their programs.
kill_node() {
  local dying
  mapfile -t dying < <(pgrep slurmstepd; pgrep -f slurm_script; workers)
  kill -KILL "$node" "${dying[@]}" || true  # Some may have ended meanwhile.
  wait "$node" 2>/dev/null || true
  wait_until 20 "the end of the node" no_steps
}

make_bed "$1" "$2" "$DIACUT_TEST_FOLDER"
recipes=$source/examples/engines segment=$folder/bin/segment
start_slurm
echo "Slurm is up after $SECONDS s"

photos array 1-3 > number
wait_until 300 "the end of the photographs' jobs" no_jobs
same_photos array
echo "array of photographs: done after $SECONDS s"

"$recipes/slurm_picture.sh" picture.tif array.tif work 3 --tile-size 192 --boundary gradient -q > number
wait_until 300 "the end of the picture's jobs" no_jobs
same_picture array.tif
echo "picture in tiles: done after $SECONDS s"

# An array that begins at 5 and counts by twos. One program is killed, then the node dies; the jobs
# of both are done again.
photos killed 5-9:2 > number
wait_until 300 "the first labels" results killed 2
wait_until 60 "a program that Slurm knows to be killed" kill_a_program
wait_until 300 "more labels" results killed 6
kill_node
start_node
wait_until 300 "the end of the killed jobs" no_jobs
grep -q "Killed" jobs.log || fail "no program was killed"
same_photos killed
echo "killed jobs: done after $SECONDS s"

photos gaps 1,3,7 > number
wait_until 300 "the end of the array with gaps" no_jobs
scontrol show job "$(< number)" | grep 'ExitCode=2:0' >/dev/null ||
  fail "an array with gaps does not end with 2"
grep -q "the numbers of this Slurm array have gaps" jobs.log || fail "gaps in an array are not told"
[[ ! -e gaps ]] || fail "an array with gaps wrote something"
echo "an array with gaps is refused"
