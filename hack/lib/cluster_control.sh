# The control plane: certificates, etcd, kube-apiserver, controller manager, scheduler. To be sourced after cluster_process.sh.
# shellcheck shell=bash disable=SC2154

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# sign NAME SUBJECT EXTENSIONS: a certificate of our own authority; clients' ones have X.509 v3 extensions, which some
# TLS libraries insist on.
sign() {
  new_key "$pki/$1.key"
  openssl req -new -key "$pki/$1.key" -subj "$2" -out "$pki/$1.csr"
  openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 3650 \
    -extfile "$pki/extensions" -extensions "$3" -out "$pki/$1.crt.new" 2>/dev/null
  mv "$pki/$1.crt.new" "$pki/$1.crt"
}

make_certificates() {
  [ -f "$pki/admin.crt" ] && return 0
  new_key "$pki/ca.key"
  openssl req -x509 -new -key "$pki/ca.key" -days 3650 -subj /CN=kubexx-test-ca -out "$pki/ca.crt"
  new_key "$pki/service-account.key"
  openssl ec -in "$pki/service-account.key" -pubout -out "$pki/service-account.pub" 2>/dev/null
  local names=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
  cat >"$pki/extensions" <<END
[server]
subjectAltName=$names,IP:127.0.0.1,IP:$kubernetes_ip,IP:$host_ip
[client]
keyUsage=digitalSignature
extendedKeyUsage=clientAuth
END
  sign apiserver /CN=kube-apiserver server
  sign admin /O=system:masters/CN=admin client
}

write_kubeconfig() {
  cat >"$kubeconfig.new" <<END
apiVersion: v1
kind: Config
clusters: [{name: "$name", cluster: {server: "https://127.0.0.1:$apiserver_port", certificate-authority: $pki/ca.crt}}]
users: [{name: admin, user: {client-certificate: $pki/admin.crt, client-key: $pki/admin.key}}]
contexts: [{name: "$name", context: {cluster: "$name", user: admin}}]
current-context: "$name"
END
  chmod 600 "$kubeconfig.new"
  mv "$kubeconfig.new" "$kubeconfig"
}

# Pods reach the API server at an address on a bridge. Without root there is loopback only, and no node.
make_host_bridge() {
  is_root || return 1
  [ -e "/sys/class/net/$host_bridge" ] || ip link add "$host_bridge" type bridge 2>/dev/null || return 1
  ip addr replace "$host_ip/24" dev "$host_bridge" && ip link set "$host_bridge" up
}

start_etcd() {
  await_port etcd "$etcd_port"
  start_process etcd "$kx_bin/etcd" --name "$name" --data-dir "$dir/etcd" \
    --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
    --listen-peer-urls http://127.0.0.1:0 --unsafe-no-fsync --quota-backend-bytes 8589934592
}

# Up to its current revision, over etcd's JSON gateway.
compact_history() {
  local kv=http://127.0.0.1:$etcd_port/v3/kv revision
  revision=$(curl -fs --max-time 30 -d '{"key":"AA=="}' "$kv/range" | sed -n 's/.*"revision":"\([0-9]*\)".*/\1/p')
  [ -n "$revision" ] || die "etcd did not tell its revision"
  curl -fs --max-time 30 -d "{\"revision\":\"$revision\",\"physical\":true}" "$kv/compaction" >/dev/null
  log "etcd has forgotten what was before revision $revision"
}

save_data() {
  stop_process etcd TERM
  rm -rf "$dir/etcd.saved"
  cp -a "$dir/etcd" "$dir/etcd.saved"
  start_etcd
  wait_for 60 "the API server to find etcd again" apiserver_is_ready
}
# As a copy of a disk is put back, or a backup without a bump of its revision.
restore_data() {
  [ -d "$dir/etcd.saved" ] || die "nothing was kept; 'save-data' does so"
  stop_process apiserver KILL
  stop_process etcd KILL
  rm -rf "$dir/etcd"
  cp -a "$dir/etcd.saved" "$dir/etcd"
  start_etcd
}

start_apiserver() {
  local advertise=127.0.0.1 extra=()
  make_host_bridge && advertise=$host_ip
  read -ra extra <<<"${KUBEXX_APISERVER_ARGS:-}"
  await_port apiserver "$apiserver_port"
  start_process apiserver "$kx_bin/kube-apiserver" \
    --etcd-servers="http://127.0.0.1:$etcd_port" --secure-port="$apiserver_port" --bind-address=0.0.0.0 \
    --advertise-address="$advertise" --service-cluster-ip-range="$service_subnet" --cert-dir="$pki" \
    --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
    --service-account-key-file="$pki/service-account.pub" \
    --service-account-signing-key-file="$pki/service-account.key" \
    --service-account-issuer=https://kubernetes.default.svc --authorization-mode=Node,RBAC \
    --kubelet-client-certificate="$pki/admin.crt" --kubelet-client-key="$pki/admin.key" \
    --kubelet-preferred-address-types=InternalIP --allow-privileged=true \
    --max-requests-inflight=4000 --max-mutating-requests-inflight=4000 --enable-priority-and-fairness=false \
    "${extra[@]}"
  wait_for 120 "the API server to be ready" apiserver_settled
  apiserver_is_ready || { tail -n 30 "$logs/apiserver.log" >&2; die "the API server did not come up"; }
}

apiserver_is_ready() {
  curl -fs --max-time 5 --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" \
    "https://127.0.0.1:$apiserver_port/readyz" >/dev/null
}
# Ready, or dead already: no use in waiting longer.
apiserver_settled() { apiserver_is_ready || process_is_gone apiserver; }

control_plane_up() {
  make_certificates
  write_kubeconfig
  start_etcd
  start_apiserver
}

# Ports 0: neither serves anything, so that clusters do not compete for the fixed default ports.
controllers_up() {
  control_plane_up
  start_process controller-manager "$kx_bin/kube-controller-manager" --kubeconfig "$kubeconfig" --secure-port=0 \
    --service-account-private-key-file "$pki/service-account.key" --root-ca-file "$pki/ca.crt" \
    --use-service-account-credentials --leader-elect=false
  start_process scheduler "$kx_bin/kube-scheduler" --kubeconfig "$kubeconfig" --secure-port=0 --leader-elect=false
  wait_for 60 "the default service account" \
    "$kx_bin/kubectl" --kubeconfig "$kubeconfig" get serviceaccount default ||
    { tail -n 30 "$logs/controller-manager.log" >&2; die "the controller manager does not work"; }
}
