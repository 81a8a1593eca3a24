#!/usr/bin/env bash
# A client-go shared informer and a kube-rs reflector, with streamed and paged lists, on kubexx-apiserver; see mirrors.py.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=../../hack/lib/go.sh
. "$kx_root/hack/lib/go.sh"
# shellcheck source=../../hack/lib/peers.sh
. "$kx_root/hack/lib/peers.sh"
build_go_peers mirror
programs=("$peers/mirror")
if build_kube_rs_peer dev; then programs+=("$peers/kubers-dev"); fi
exec /usr/bin/python3 "$kx_root/test/apiserver/mirrors.py" "${programs[@]}"
