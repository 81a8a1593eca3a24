# The servers that suites run on by a kubeconfig: kubexx-apiserver with its controllers, and a cluster of hack/cluster without a
# kubelet. To be sourced by hack/suites.
# shellcheck shell=bash disable=SC2154

suites_cluster=suites-$$
own_server='' real_server=false

# on_server NAME COMMAND...: runs COMMAND with KUBECONFIG of kubexx-apiserver or kube-apiserver, which runs as long.
on_server() {
  local name=$1
  shift
  if [ "$name" = kube-apiserver ]; then
    real_server=true
    "$here/cluster" --name "$suites_cluster" controllers
    KUBECONFIG=$KUBEXX_CACHE/clusters/$suites_cluster/kubeconfig "$@"
  else
    start_own
    KUBECONFIG=$out/kubeconfig "$@"
  fi
  end_servers
}
start_own() {
  rm -f "$out/kubeconfig"
  "${KUBEXX_BUILD_DIR:-$kx_root/build/release}/bin/kubexx-apiserver" --address 127.0.0.1:0 --authorization-mode RBAC --controllers all \
    --write-kubeconfig "$out/kubeconfig" >"$out/kubexx-apiserver.log" 2>&1 </dev/null &
  own_server=$!
  wait_for 30 "kubexx-apiserver to be ready" "$kx_bin/kubectl" --kubeconfig "$out/kubeconfig" -n default get serviceaccount default ||
    die "kubexx-apiserver did not start: $(tail -n 5 "$out/kubexx-apiserver.log")"
}
end_servers() {
  if [ -n "$own_server" ]; then
    kill "$own_server" 2>/dev/null || true
    wait "$own_server" 2>/dev/null || true
    own_server=''
  fi
  ! $real_server || "$here/cluster" --name "$suites_cluster" down
  real_server=false
}
