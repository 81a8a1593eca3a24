# Takes a cluster away with all its traces, in whatever state it is: half up, killed, or gone already. Nothing is asked
# to stop nicely: the data goes too. To be sourced after cluster_node.sh.
# shellcheck shell=bash disable=SC2154

no_processes_left() { [ -z "$(cluster_processes)" ]; }

# Everything that carries our mark: the control plane, kubelet, containerd, its shims and a runc at work.
kill_processes() {
  local pid
  # shellcheck disable=SC2046
  kill -KILL $(cluster_processes) 2>/dev/null || true
  wait_for 20 "killed processes to be gone" no_processes_left && return 0
  pid=$(cluster_processes | xargs)
  die "cannot end processes $pid of cluster '$name'"
}

bundles=state/io.containerd.runtime.v2.task/k8s.io

# Prints the ids of the containers that containerd's folders tell of.
container_ids() {
  local bundle
  for bundle in "$node/$bundles"/*/; do
    [ -d "$bundle" ] && basename "$bundle"
  done
  return 0
}

# Container processes do not carry our mark: they are found by their cgroups, which are named after the container.
kill_container() { # kill_container ID
  local cgroup pid
  for cgroup in /sys/fs/cgroup/k8s.io/"$1" /sys/fs/cgroup/*/k8s.io/"$1"; do
    [ -d "$cgroup" ] || continue
    while read -r pid; do kill -KILL "$pid" 2>/dev/null || true; done <"$cgroup/cgroup.procs"
    wait_for 10 "container $1 to end" cgroup_is_empty "$cgroup" || true
    find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
}
cgroup_is_empty() { ! grep -q . "$1/cgroup.procs"; }

# What containerd keeps outside its own folders: sockets of shims, results of network set-ups.
remove_container_files() { # remove_container_files ID
  local start=$node/$bundles/$1/bootstrap.json
  [ ! -f "$start" ] || rm -f "$(sed -n 's|.*"address":"unix://\([^"]*\)".*|\1|p' "$start")"
  rm -f /var/lib/cni/results/*-"$1"-*
}

unmount_all() {
  local mount
  awk -v prefix="$dir/" 'index($2, prefix) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do
    umount -l "$mount" || true
  done
}

remove_node() {
  local id
  is_root || die "cluster '$name' has a node and was brought up by root: run this as root"
  for id in $(container_ids); do
    kill_container "$id"
    remove_container_files "$id"
  done
  # Fails while another cluster has containers.
  rmdir /sys/fs/cgroup/k8s.io /sys/fs/cgroup/*/k8s.io 2>/dev/null || true
  unmount_all
}

remove_network() {
  while service_rule -D; do :; done
  ip link delete "$host_bridge" 2>/dev/null || true
  ip link delete "$pod_bridge" 2>/dev/null || true
}

cluster_down() {
  kill_processes
  if [ -d "$node" ]; then remove_node; fi
  if is_root; then remove_network; fi
  rm -rf "$dir"
}
