#!/usr/bin/env bash
# manifests/ and the Helm chart, applied to a real API server: both are valid, grant the same least rights, and make
# pods that the `restricted` pod security standard admits.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
export KUBEXX_CLUSTER_NAME=manifests-${KUBEXX_CLUSTER_SUFFIX:-test}
cluster=$root/hack/cluster
chart=$root/helm/kubexx-reloader
account=system:serviceaccount:kubexx-system:kubexx-reloader

fail() { die "FAILED: $*"; }
kubectl() { "$cluster" exec kubectl "$@"; }
helm() { "$cluster" exec helm "$@"; }

may() { # may VERB RESOURCE
  kubectl auth can-i "$1" "$2" --as "$account" --all-namespaces >/dev/null 2>&1 || fail "the operator may not $1 $2"
}
may_not() {
  ! kubectl auth can-i "$1" "$2" --as "$account" --all-namespaces >/dev/null 2>&1 || fail "the operator may $1 $2"
}

check_rights() {
  local resource verb
  for resource in configmaps secrets deployments.apps statefulsets.apps daemonsets.apps; do
    for verb in get list watch; do may "$verb" "$resource"; done
    for verb in create update delete deletecollection; do may_not "$verb" "$resource"; done
  done
  for resource in deployments.apps statefulsets.apps daemonsets.apps; do may patch "$resource"; done
  for resource in configmaps secrets pods replicasets.apps clusterroles.rbac.authorization.k8s.io; do may_not patch "$resource"; done
  for verb in get list create; do may_not "$verb" pods; done
}

# A pod as the Deployment $1 would make it passes admission.
check_pod() { # check_pod NAMESPACE DEPLOYMENT
  kubectl -n "$1" get deployment "$2" -o json |
    jq '{apiVersion: "v1", kind: "Pod", metadata: {name: "probe"}, spec: .spec.template.spec}' |
    kubectl -n "$1" create --dry-run=server -f - >/dev/null || fail "a pod of $2 is not admitted"
}

rules() { kubectl get clusterrole "$1" -o json | jq -S .rules; }

trap '"$cluster" down' EXIT
"$cluster" down
"$cluster" up

log "plain manifests"
kubectl apply -f "$root/manifests/" >/dev/null
check_rights
check_pod kubexx-system kubexx-reloader

log "Helm chart"
helm lint --strict --quiet "$chart"
kubectl create namespace chart >/dev/null
kubectl label namespace chart pod-security.kubernetes.io/enforce=restricted >/dev/null
helm install -n chart demo "$chart" --set logLevel=debug --set 'args={--reload-strategy=env-vars}' >/dev/null
check_pod chart demo-kubexx-reloader
[ "$(rules kubexx-reloader)" = "$(rules demo-kubexx-reloader)" ] || fail "manifests and chart grant different rights"
arguments=$(kubectl -n chart get deployment demo-kubexx-reloader -o 'jsonpath={.spec.template.spec.containers[0].args}')
[ "$arguments" = '["--log-format=json","--log-level=debug","--reload-strategy=env-vars"]' ] || fail "arguments are $arguments"
for wrong in logLevel=loud replicas=2 unknown=1 image.pullPolicy=Sometimes; do
  ! helm template "$chart" --set "$wrong" >/dev/null 2>&1 || fail "the chart takes $wrong"
done
log "PASSED"
