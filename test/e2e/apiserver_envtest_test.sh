#!/usr/bin/env bash
# Starts the programs of hack/envtest-assets as envtest does: with its flags, its order and its certificates.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
work=$(mktemp -d)
etcd=
server=
fail() { die "FAILED: $*"; }
end() {
  local status=$? one
  for one in $etcd $server; do kill -9 "$one" 2>/dev/null || true; done
  [ "$status" -eq 0 ] || cat "$work"/*.log >&2
  rm -rf "$work"
}
trap end EXIT
export KUBECACHEDIR=$work/cache

"$kx_root/hack/cluster" build kubectl
log "the folder, made by what is installed"
cmake --install "${KUBEXX_BUILD_DIR:-$kx_root/build/release}" --component apiserver --prefix "$work/prefix" >"$work/install.log"
assets=$(KUBEXX_CACHE=/nowhere "$work/prefix/bin/kubexx-envtest-assets" --kubectl "$kx_bin/kubectl" "$work/assets")
[ "$(readlink -f "$work/assets/kube-apiserver")" = "$work/prefix/bin/kubexx-apiserver" ] || fail "the links lead elsewhere"
[ "$assets" = "$work/assets" ] || fail "it says that the folder is $assets"
for program in kube-apiserver etcd kubectl; do
  [ -x "$assets/$program" ] || fail "there is no $program"
done
# envtest looks for flags in the help.
has_flag() { grep -qE "^\s*--$2\b" <<<"$("$assets/$1" --help)" || fail "$1 has no --$2"; }
has_flag etcd unsafe-no-fsync
has_flag kube-apiserver authorization-mode

log "certificates"
authority() { # authority NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj "/CN=$1" \
    -keyout "$work/$1.key" -out "$work/$1.crt" 2>/dev/null
}
# certificate AUTHORITY NAME SUBJECT EXTENSION [DAYS]
certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$3" -keyout "$work/$2.key" -out "$work/$2.csr" 2>/dev/null
  openssl x509 -req -days "${5:-1}" -in "$work/$2.csr" -CA "$work/$1.crt" -CAkey "$work/$1.key" -CAcreateserial -out "$work/$2.crt" \
    -extfile <(echo "$4") 2>/dev/null
}
authority serving
authority clients
authority others
certificate serving apiserver /CN=server subjectAltName=DNS:localhost,IP:127.0.0.1
certificate clients admin /O=system:masters/CN=default extendedKeyUsage=clientAuth
certificate clients nobody /CN=nobody extendedKeyUsage=clientAuth
certificate others stranger /O=system:masters/CN=default extendedKeyUsage=clientAuth
certificate clients server /O=system:masters/CN=default extendedKeyUsage=serverAuth
certificate clients former /O=system:masters/CN=default extendedKeyUsage=clientAuth -1

port() { python3 -c 'import random; print(random.randrange(20000, 32000))'; }
start_etcd() {
  local url
  for _ in 1 2 3 4 5; do
    url=http://127.0.0.1:$(port)
    "$assets/etcd" --advertise-client-urls="$url" --data-dir="$work/data" --listen-client-urls="$url" \
      --listen-peer-urls=http://127.0.0.1:1 --unsafe-no-fsync=true --quota-backend-bytes=1 >"$work/etcd.log" 2>&1 &
    etcd=$! etcd_url=$url
    if wait_for 20 "etcd" curl -sf "$url/health" && kill -0 "$etcd" 2>/dev/null; then return; fi
  done
  fail "no etcd"
}
start_server() {
  for _ in 1 2 3 4 5; do
    address=127.0.0.1:$(port)
    "$assets/kube-apiserver" --allow-privileged=true --authorization-mode=Node,RBAC --bind-address=127.0.0.1 --cert-dir="$work" \
      --client-ca-file="$work/clients.crt" --disable-admission-plugins=ServiceAccount --etcd-servers="$etcd_url" --insecure-port=0 \
      --secure-port="${address#*:}" --service-account-issuer="https://$address/" --service-account-key-file="$work/sa.crt" \
      --service-account-signing-key-file="$work/sa.key" --service-cluster-ip-range=10.1.0.0/24 \
      --runtime-config=api/all=true --feature-gates=A=true --made-up 7 >"$work/server.log" 2>&1 &
    server=$!
    if wait_for 30 "the server" curl -sfk "https://$address/healthz" && kill -0 "$server" 2>/dev/null; then return; fi
  done
  fail "no server"
}
k() { # k USER ARGUMENT...
  local user=$1
  shift
  timeout 120 "$assets/kubectl" --kubeconfig /dev/null --server "https://$address" --certificate-authority "$work/serving.crt" \
    --client-certificate "$work/$user.crt" --client-key "$work/$user.key" "$@"
}
start_etcd
start_server
log "users"
[ "$(k admin auth whoami -o 'jsonpath={.status.userInfo.username}')" = default ] || fail "who is the administrator?"
[ "$(k admin auth can-i '*' '*')" = yes ] || fail "system:masters may not do everything"
k nobody get services >"$work/out" 2>&1 && fail "nobody may read"
grep -q 'User "nobody" cannot list resource "services"' "$work/out" || fail "$(cat "$work/out")"
log "certificates that are not good are answered with 401"
for user in stranger server former; do
  code=$(curl -s -o "$work/out" -w '%{http_code}' --cacert "$work/serving.crt" --cert "$work/$user.crt" --key "$work/$user.key" \
    "https://$address/api/v1/services")
  [ "$code" = 401 ] || fail "the certificate of $user gets $code"
done
k stranger get services >"$work/out" 2>&1 && fail "a certificate of others is good here"
log "a kubeconfig with certificates in it"
kubeconfig() { timeout 120 "$assets/kubectl" --kubeconfig "$work/kubeconfig" "$@"; }
kubeconfig config set-cluster c --server "https://$address" --certificate-authority "$work/serving.crt" --embed-certs >/dev/null
kubeconfig config set-credentials u --client-certificate "$work/admin.crt" --client-key "$work/admin.key" --embed-certs >/dev/null
kubeconfig config set-context c --cluster c --user u >/dev/null
kubeconfig config use-context c >/dev/null
[ "$(kubeconfig auth whoami -o 'jsonpath={.status.userInfo.groups[0]}')" = system:masters ] || fail "a kubeconfig with certificates does not work"
log "pods are taken without a service account"
kubeconfig run p --image i --dry-run=server -o 'jsonpath=<{.spec.serviceAccountName}{.spec.volumes}>' >"$work/out"
[ "$(cat "$work/out")" = '<>' ] || fail "a pod has $(cat "$work/out")"
log "what every cluster has"
[ "$(k admin get service kubernetes -o 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}')" = 10.1.0.1:443 ] || fail "no Service"
[ "$(k admin get endpoints kubernetes -o 'jsonpath={.subsets[0].ports[0].port}' 2>/dev/null)" = "${address#*:}" ] || fail "no Endpoints"
[ "$(k admin get endpointslice kubernetes -o 'jsonpath={.ports[0].port}')" = "${address#*:}" ] || fail "no EndpointSlice"
k admin create configmap a --from-literal k=v >/dev/null
k admin get clusterrole cluster-admin >/dev/null
grep -q -- '--made-up 7' "$work/server.log" || fail "unknown flags are not told of"
log "the end"
kill "$server" "$etcd"
wait "$server" || fail "the server did not end well"
wait "$etcd" || fail "etcd did not end well"
server='' etcd=''
log "envtest's way of starting works"
