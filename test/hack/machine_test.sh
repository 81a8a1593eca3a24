#!/usr/bin/env bash
# hack/lib/machine.sh: how much memory and how many processors there are, with the control groups of a container.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kx_proc=$work/proc kx_groups=$work/groups
# shellcheck source=../../hack/lib/machine.sh
. "$root/hack/lib/machine.sh"
fail() { die "FAILED: $*"; }
gib=1073741824

# file PATH LINE...: under the stand-ins for /proc and /sys/fs/cgroup.
file() {
  mkdir -p "$(dirname "$work/$1")"
  printf '%s\n' "${@:2}" >"$work/$1"
}
nproc() { echo 8; }
says() { # says WANTED FUNCTION WHAT
  local said
  said=$("$2" 2>"$work/errors") || fail "$3: $2 fails"
  [ "$said" = "$1" ] || fail "$3: $2 says '$said' instead of '$1'"
  [ ! -s "$work/errors" ] || fail "$3: $2 says $(cat "$work/errors")"
}

file proc/meminfo 'MemTotal: 16777216 kB' 'MemAvailable: 12582912 kB'
file proc/self/cgroup '0::/'
mkdir -p "$work/groups"
says 12288 available_mib "no group"
says 8 processors "no group"
says 8 compile_jobs "no group"
file proc/meminfo 'MemAvailable: 8388608 kB'
says 6 compile_jobs "8 GB and 8 processors"
file proc/meminfo 'MemAvailable: 524288 kB'
says 1 compile_jobs "hardly any memory"
file proc/meminfo 'MemAvailable: 12582912 kB'

# Version 2: the group at the root of a container, and groups within groups.
file groups/memory.max "$((4 * gib))"
file groups/memory.current "$((2 * gib))"
file groups/memory.stat 'active_file 7' "inactive_file $((gib / 2))"
file groups/cpu.max '150000 100000'
says 2560 available_mib "a container"
says 2 processors "a container with a processor and a half"
says 2 compile_jobs "a container"
file groups/memory.max max
file groups/cpu.max 'max 100000'
says 12288 available_mib "a container without limits"
says 8 processors "a container without limits"
file proc/self/cgroup '0::/outer/inner'
file groups/outer/memory.max "$((3 * gib))"
file groups/outer/memory.current "$gib"
file groups/outer/inner/cpu.max '300000 100000'
says 2048 available_mib "a limit of an outer group"
says 3 processors "a limit of an inner group"
file groups/outer/memory.current "$((5 * gib))"
says 0 available_mib "more used than allowed"

# Version 1.
rm -r "$work/groups"
file proc/self/cgroup '9:name=systemd:/' '4:memory:/job' '1:cpu,cpuacct:/job'
file groups/memory/memory.limit_in_bytes 9223372036854771712
file groups/memory/memory.usage_in_bytes "$gib"
file groups/memory/job/memory.limit_in_bytes "$((6 * gib))"
file groups/memory/job/memory.usage_in_bytes "$((2 * gib))"
file groups/memory/job/memory.stat 'inactive_file 0' "total_inactive_file $gib"
file groups/cpu/job/cpu.cfs_quota_us 400000
file groups/cpu/job/cpu.cfs_period_us 100000
says 5120 available_mib "version 1"
says 4 processors "version 1"
file groups/cpu/job/cpu.cfs_quota_us -1
says 8 processors "version 1 without a limit"
echo "hack/lib/machine.sh says what there is"
