#!/usr/bin/env bash
# Two clusters live side by side, each with a pod where nodes are possible; one survives the other's end; killing the
# script half-way leaves nothing that `down` does not find; and after the last `down` the machine is as before.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cluster=$root/hack/cluster
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
suffix=$(printf '%s' "$root" | cksum | cut -d' ' -f1)
one=one-$suffix two=two-$suffix
level=controllers
is_root && level=node

fail() { die "FAILED: $*"; }
clean_up() {
  "$cluster" --name "$one" down
  "$cluster" --name "$two" down
}

# What these clusters could leave on the machine.
traces() {
  {
    grep -lazE "^KUBEXX_CLUSTER_PROCESS=$KUBEXX_CACHE/clusters/(one|two)-$suffix\$" /proc/[0-9]*/environ || true
    grep -E "clusters/(one|two)-$suffix/" /proc/mounts || true
    find "$KUBEXX_CACHE/clusters" -maxdepth 1 -name "*-$suffix" || true
    find /sys/class/net -name 'kx*' -newer "$start_mark" || true
    find /var/lib/cni /run/netns /run/containerd -type f -newer "$start_mark" || true
    find /run/containerd -type s -newer "$start_mark" || true
    if is_root; then iptables-save -t nat | grep -E "(one|two)-$suffix" || true; fi
  } 2>/dev/null
}

# shellcheck disable=SC2016 # for the shell in the pod
run_pod() { # run_pod CLUSTER: a pod that reaches its own API server through the `kubernetes` service
  "$cluster" --name "$1" exec kubectl run probe --image localhost/busybox:1 --restart Never -- \
    sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do nc -w 2 $KUBERNETES_SERVICE_HOST 443 </dev/null && echo reached && exec sleep 1000; done'
  wait_for 60 "the pod's output in $1" pod_reached "$1" || fail "the pod in $1 does not work"
}
pod_reached() { "$cluster" --name "$1" exec kubectl logs probe | grep -qx reached; }
answers() { "$cluster" --name "$1" exec kubectl get --raw /readyz >/dev/null; }

start_mark=$(mktemp)
trap 'clean_up; rm -f "$start_mark"' EXIT
clean_up
log "two clusters at level '$level'"
"$cluster" --name "$one" "$level"
"$cluster" --name "$two" "$level"
if [ "$level" = node ]; then
  run_pod "$one"
  run_pod "$two"
fi
log "each has its own objects"
"$cluster" --name "$one" exec kubectl create configmap only-here >/dev/null
"$cluster" --name "$two" exec kubectl get configmap only-here >/dev/null 2>&1 && fail "both names lead to one cluster"

log "the API server is killed and comes back with its data"
"$cluster" --name "$one" kill-apiserver
answers "$one" 2>/dev/null && fail "the API server answers after kill-apiserver"
log "its port is taken for a while, as by a process that has not quite ended"
port=$("$cluster" --name "$one" status | sed -n 's|.*https://127.0.0.1:\([0-9]*\),.*|\1|p')
python3 -c "import socket,time; s=socket.create_server(('127.0.0.1', $port)); time.sleep(4)" &
holder=$!
wait_for 10 "the port to be taken" grep -q ":$(printf %04X "$port") 00000000:0000 0A" /proc/net/tcp
"$cluster" --name "$one" start-apiserver
wait "$holder"
"$cluster" --name "$one" exec kubectl get configmap only-here >/dev/null || fail "data was lost in the restart"

log "one goes down, the other stays"
"$cluster" --name "$one" down
answers "$two" || fail "the other cluster went down too"
[ "$level" = controllers ] || pod_reached "$two" || fail "the other cluster's pod is gone"

log "the script is killed half-way"
setsid "$cluster" --name "$one" "$level" &
script=$!
wait_for 60 "etcd of the new cluster" test -s "$KUBEXX_CACHE/clusters/$one/etcd.pid"
kill -KILL -- "-$script"
wait "$script" 2>/dev/null || true

log "both go down, twice, and nothing is left"
clean_up
clean_up
left=$(traces)
[ -z "$left" ] || fail "left behind: $left"
log "PASSED"
