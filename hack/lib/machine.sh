# What this machine has for builds: processors and memory, as far as the control groups around this process allow, which is what a
# container may take. To be sourced.
# shellcheck shell=bash

kx_proc=${kx_proc:-/proc} kx_groups=${kx_groups:-/sys/fs/cgroup} # tests have folders of their own

# groups_of CONTROLLER: the folders of the control groups around this process, of version 2 or 1. In a container its own group
# may stand at the root.
groups_of() {
  local path root
  path=$(sed -n 's/^0:://p' "$kx_proc/self/cgroup" 2>/dev/null || true) root=$kx_groups
  if [ -d "$kx_groups/$1" ]; then
    path=$(sed -nE "s/^[0-9]+:([a-z_]+,)*$1(,[a-z_]+)*://p" "$kx_proc/self/cgroup" 2>/dev/null || true) root=$kx_groups/$1
  fi
  while [ -n "${path#/}" ]; do
    echo "$root$path"
    path=${path%/*}
  done
  echo "$root"
}

# first_number FILE...: what the first of the files that is there holds, when that is a number.
first_number() { { cat "$@" 2>/dev/null || true; } | awk 'NR == 1 && $1 ~ /^[0-9]+$/ { print $1 }'; }

# available_mib: the memory that a program may still take. What is kept of files that nobody uses counts as free.
available_mib() {
  local least dir limit used kept
  least=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' "$kx_proc/meminfo")
  while read -r dir; do
    limit=$(first_number "$dir/memory.max" "$dir/memory.limit_in_bytes")
    used=$(first_number "$dir/memory.current" "$dir/memory.usage_in_bytes")
    if [ -z "$limit" ] || [ -z "$used" ]; then continue; fi
    kept=$(awk '$1 ~ /^(total_)?inactive_file$/ { kept = $2 } END { print kept + 0 }' "$dir/memory.stat" 2>/dev/null || echo 0)
    # Without a limit version 1 has one that is larger than any memory, and than what the shell takes for a number.
    least=$(awk -v limit="$limit" -v used="$used" -v kept="$kept" -v least="$least" 'BEGIN {
      left = (limit - used + kept) / 1048576
      if (left < 0) left = 0
      print left < least+0 ? int(left) : least }')
  done < <(groups_of memory)
  echo "$least"
}

# processors: how many may work at a time, a share of one counting as one.
processors() {
  local least dir share
  least=$(nproc)
  while read -r dir; do
    share=$(cat "$dir/cpu.max" 2>/dev/null || cat "$dir/cpu.cfs_quota_us" "$dir/cpu.cfs_period_us" 2>/dev/null || true)
    share=${share//$'\n'/ }
    share=$(awk '$1 ~ /^[0-9]+$/ && $2 > 0 { print int(($1 + $2 - 1) / $2) }' <<<"$share")
    if [ "${share:-$least}" -lt "$least" ]; then least=$share; fi
  done < <(groups_of cpu)
  echo "$((least > 0 ? least : 1))"
}

# compile_jobs: how many compilers at a time. Each takes up to 1.2 GiB: it only begins to collect its garbage at 1 GB
# (cmake/kubexx_options.cmake).
compile_jobs() {
  local jobs by_memory
  jobs=$(processors)
  by_memory=$(($(available_mib) / 1229))
  if [ "$by_memory" -lt "$jobs" ]; then jobs=$by_memory; fi
  echo "$((jobs > 0 ? jobs : 1))"
}
