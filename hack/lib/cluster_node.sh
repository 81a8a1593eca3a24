# One node: containerd and kubelet, so that pods really run. Root only. To be sourced after cluster_control.sh.
# shellcheck shell=bash disable=SC2154

write_network_config() {
  mkdir -p "$node/cni"
  cat >"$node/cni/10-bridge.conflist" <<END
{"cniVersion": "1.0.0", "name": "$pod_bridge", "plugins": [{"type": "bridge", "bridge": "$pod_bridge",
  "isGateway": true, "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "$node/addresses",
  "ranges": [[{"subnet": "$pod_subnet"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
}

write_containerd_config() {
  cat >"$node/containerd.toml" <<END
version = 3
root = "$node/containerd"
state = "$node/state"
[grpc]
address = "$node/containerd.sock"
# Its socket has the same path in all of them: of two that start together one would end.
[plugins."io.containerd.nri.v1.nri"]
disable = true
[plugins."io.containerd.cri.v1.images"]
snapshotter = "native"
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "$kx_pause"
[plugins."io.containerd.cri.v1.runtime"]
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["/usr/lib/cni"]
conf_dir = "$node/cni"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "$kx_bin/runc"
Root = "$node/runc"
SystemdCgroup = false
END
}

write_kubelet_config() {
  cat >"$node/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $host_ip
healthzPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failSwapOn: false
failCgroupV1: false
maxPods: 250
clusterDNS: [$kubernetes_ip]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix://$node/containerd.sock
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 10Mi, nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%"}
localStorageCapacityIsolation: false
# A kubelet takes away logs of pods that it does not know: those of other clusters' pods, in one folder for all.
podLogsDir: $node/pod-logs
# Pods begin with what the API server has, also on a loaded machine.
configMapAndSecretChangeDetectionStrategy: Get
makeIPTablesUtilChains: false
END
}

containerd_control() { "$kx_bin/ctr" -a "$node/containerd.sock" -n k8s.io "$@"; }

# load_images TAR...: imports OCI archives. `ctr` wants --local for the snapshotter to count.
load_images() {
  local tar
  [ -S "$node/containerd.sock" ] || die "cluster '$name' has no node; run 'hack/cluster --name $name node' first"
  for tar in "$@"; do
    [ -f "$tar" ] || die "no such image archive: $tar"
    containerd_control images import --local --snapshotter native "$tar" >>"$logs/images.log" 2>&1 ||
      { tail -n 5 "$logs/images.log" >&2; die "cannot load $tar"; }
  done
}

# There is no kube-proxy: one rule stands for the service that in-cluster clients need.
service_rule() { # service_rule -A|-C|-D
  iptables -w -t nat "$1" PREROUTING -d "$kubernetes_ip/32" -p tcp --dport 443 \
    -m comment --comment "kubexx $name" -j DNAT --to "$host_ip:$apiserver_port" 2>/dev/null
}

node_up() {
  is_root || die "a node needs root: containers, bridges and mounts. 'up' and 'controllers' work without"
  controllers_up
  [ -e "/sys/class/net/$host_bridge" ] || die "cannot make network bridges here (no CAP_NET_ADMIN?), so no node"
  make_node_images
  mkdir -p "$node"
  write_network_config
  write_containerd_config
  write_kubelet_config
  # Its shims look runc up on PATH.
  start_process containerd env "PATH=$kx_bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    "$kx_bin/containerd" -c "$node/containerd.toml"
  wait_for 60 "containerd" containerd_control version || { tail -n 30 "$logs/containerd.log" >&2; die "containerd does not answer"; }
  load_images "$kx_images/pause.tar" "$kx_images/busybox.tar"
  start_process kubelet "$kx_bin/kubelet" --config "$node/kubelet.yaml" --kubeconfig "$kubeconfig" \
    --root-dir "$node/kubelet" --hostname-override "$node_name" --node-ip "$host_ip"
  service_rule -C || service_rule -A || die "cannot add a NAT rule; is iptables usable here?"
  wait_for 60 "node $node_name" node_is_ready || { tail -n 30 "$logs/kubelet.log" >&2; die "the node did not become ready"; }
}

node_is_ready() {
  "$kx_bin/kubectl" --kubeconfig "$kubeconfig" get node "$node_name" \
    -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -qx True
}
