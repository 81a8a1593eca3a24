# Starts and ends the processes of a cluster. Every process carries KUBEXX_CLUSTER_PROCESS=<folder of the cluster> in its
# environment, so that none is missed or mistaken, whatever happened to this script. To be sourced after cluster_settings.sh.
# shellcheck shell=bash disable=SC2154,SC2016

# start_process NAME COMMAND...: in a session of its own, with its log in logs/NAME.log; no-op while it runs.
start_process() {
  local process=$1
  shift
  process_is_alive "$process" && return 0
  # The id is on disk before the program starts. Descriptors 7 to 9 hold locks, not to be inherited.
  KUBEXX_CLUSTER_PROCESS=$dir setsid bash -c 'echo $$ >"$1"; shift; exec "$@"' start \
    "$dir/$process.pid" "$@" >>"$logs/$process.log" 2>&1 </dev/null 7>&- 8>&- 9>&- &
  wait_for 10 "$process to start" test -s "$dir/$process.pid"
}

# A process is ours only with our mark in its environment: an id may have been given to another one since.
process_is_alive() { # process_is_alive NAME
  local pid
  pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 1
  [ -n "$pid" ] && is_ours "$pid"
}
is_ours() { # is_ours PID
  tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | grep -qxF "KUBEXX_CLUSTER_PROCESS=$dir"
}

# Prints the ids of all processes of this cluster, containerd's shims included.
cluster_processes() {
  local environ pid
  for environ in /proc/[0-9]*/environ; do
    pid=${environ#/proc/}
    pid=${pid%/environ}
    is_ours "$pid" && echo "$pid"
  done 2>/dev/null
  return 0
}

process_is_gone() { ! process_is_alive "$1"; }

# A killed process loses its environment before it closes its sockets: it has ended when no thread of it is left.
has_ended() { # has_ended PID
  ! grep -qsE '^State:[[:space:]]+[^ZX]' /proc/"$1"/task/*/status
}

# stop_process NAME SIGNAL: waits up to 20 s for its end, then kills.
stop_process() {
  local process=$1 pid
  if process_is_alive "$process"; then
    pid=$(cat "$dir/$process.pid")
    kill "-$2" "$pid" 2>/dev/null || true
    wait_for 20 "$process to stop" has_ended "$pid" || { is_ours "$pid" && kill -KILL "$pid" 2>/dev/null; } || true
  fi
  rm -f "$dir/$process.pid"
}

# await_port PROCESS PORT: before a process starts to listen there. A process that ends may hold it a little longer.
await_port() {
  process_is_alive "$1" || wait_for 20 "port $2 to be free" port_is_free "$2" ||
    die "$1 cannot listen on port $2: $(ss -Hltnp "sport = :$2" | sed 's/.*users:/another program does: /')"
}
