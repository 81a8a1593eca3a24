#!/usr/bin/env bash
# Attacks on kubexx-apiserver beside ordinary clients: all of these are answered, memory is bounded, descriptors come back. How long
# they wait is for hack/bench --attacks.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=../../hack/lib/go.sh
. "$kx_root/hack/lib/go.sh"
# shellcheck source=../../hack/lib/peers.sh
. "$kx_root/hack/lib/peers.sh"
# shellcheck source=../e2e/apiserver.sh
. "$kx_root/test/e2e/apiserver.sh"
build_go_peers attack
server_flags=(--authorization-mode RBAC --enable-admission-plugins ServiceAccount)
start
"$peers/attack" --pid "$server" --for "${KUBEXX_ATTACK_FOR:-2s}" --memory 1024 "$@"
stop
log "kubexx-apiserver withstands attacks"
