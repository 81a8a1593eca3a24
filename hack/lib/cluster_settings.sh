# What tells one cluster from another: a slot number, from which addresses and interface names follow, and ports.
# They are chosen when a cluster first comes up and kept in its folder, so that `down` finds everything again.
# To be sourced after common.sh.
# shellcheck shell=bash disable=SC2034

kx_clusters=$KUBEXX_CACHE/clusters

port_is_free() { [ -z "$(ss -Hltn "sport = :$1")" ]; }

# Prints the first free port from $1 on.
free_port() {
  local port=$1
  until port_is_free "$port"; do port=$((port + 1)); done
  echo "$port"
}

slot_is_free() { # slot_is_free SLOT
  ! grep -qsx "slot=$1" "$kx_clusters"/*/settings && [ ! -e "/sys/class/net/kx$1" ] && [ ! -e "/sys/class/net/kxp$1" ]
}

# derive_settings: sets the variables that the other cluster_*.sh files use, from name, folder and slot.
derive_settings() {
  pki=$dir/pki
  node=$dir/node
  logs=$dir/logs
  kubeconfig=$dir/kubeconfig
  host_bridge=kx$slot   # the API server's address for pods
  pod_bridge=kxp$slot   # made by the CNI plugin
  host_ip=10.99.$slot.1 # also the node's address
  pod_subnet=10.98.$slot.0/24
  service_subnet=10.97.$slot.0/24
  kubernetes_ip=10.97.$slot.1 # of the service `kubernetes`, the first of its subnet
  node_name=node-$name
}

# load_settings NAME: the settings of a cluster that exists; returns 1 when there is none.
load_settings() {
  name=$1
  dir=$kx_clusters/$name
  [ -f "$dir/settings" ] || return 1
  slot=$(sed -n 's/^slot=//p' "$dir/settings")
  apiserver_port=$(sed -n 's/^apiserver_port=//p' "$dir/settings")
  etcd_port=$(sed -n 's/^etcd_port=//p' "$dir/settings")
  [[ "$slot $apiserver_port $etcd_port" =~ ^[0-9]+\ [0-9]+\ [0-9]+$ ]] || die "$dir/settings is damaged; remove $dir"
  derive_settings
}

# make_settings NAME [API SERVER PORT [ETCD PORT]]: loads or chooses them. Ports default to free ones near 16443+10*slot.
make_settings() {
  load_settings "$1" && return 0
  mkdir -p "$kx_clusters"
  exec 7>"$kx_clusters/.slots"
  flock 7
  name=$1
  dir=$kx_clusters/$name
  slot=1
  until slot_is_free "$slot"; do slot=$((slot + 1)); done
  [ "$slot" -le 250 ] || die "more than 250 clusters; see 'hack/cluster list'"
  apiserver_port=${2:-$(free_port $((16443 + 10 * slot)))}
  etcd_port=${3:-$(free_port $((23790 + 10 * slot)))}
  port_is_free "$apiserver_port" || die "port $apiserver_port is taken"
  port_is_free "$etcd_port" || die "port $etcd_port is taken"
  derive_settings
  mkdir -p "$logs" "$pki"
  # Written in one go: a cluster exists from here on.
  printf 'slot=%s\napiserver_port=%s\netcd_port=%s\n' "$slot" "$apiserver_port" "$etcd_port" >"$dir/settings.new"
  mv "$dir/settings.new" "$dir/settings"
  exec 7>&-
}
