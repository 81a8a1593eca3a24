#!/usr/bin/env bash
# exec, attach, port-forward and logs against a real kubelet: test/e2e/streams_test.cc with the pods of streams.yaml.
set -euo pipefail
export KUBEXX_CLUSTER_NAME=streams-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
become_root "$@"

trap end_test EXIT
"$cluster" down
"$cluster" node
use_cluster_environment
kubectl apply -f "$kx_top/test/e2e/streams.yaml" >/dev/null
kubectl -n streams wait --for condition=Ready --timeout 90s pod/shell pod/reader pod/talker >/dev/null || fail "the pods did not start"
KUBEXX_TEST_KUBECONFIG=$KUBECONFIG "${KUBEXX_BUILD_DIR:-$kx_top/build/release}/bin/streams_e2e_test"
