#!/usr/bin/env bash
# Linearizability of kubexx-apiserver while it or its etcd is killed; see test/bench/registers.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=../../hack/lib/go.sh
. "$kx_root/hack/lib/go.sh"
# shellcheck source=../../hack/lib/peers.sh
. "$kx_root/hack/lib/peers.sh"
build_go_peers registers
apiserver=${KUBEXX_BUILD_DIR:-$kx_root/build/release}/bin/kubexx-apiserver
log "the checker's own tests"
go test -C "$kx_root/test/bench" ./registers >&2
log "the server, which keeps a file, is killed"
"$peers/registers" --apiserver "$apiserver" --kill apiserver
log "the server, which keeps everything in etcd, is killed"
"$peers/registers" --apiserver "$apiserver" --etcd "$kx_bin/etcd" --kill apiserver
log "its etcd is killed"
"$peers/registers" --apiserver "$apiserver" --etcd "$kx_bin/etcd" --kill etcd
