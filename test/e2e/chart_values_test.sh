#!/usr/bin/env bash
# Every value that the documentation of stakater/Reloader's chart knows, unchanged, with our chart: rendered by itself, and then
# installed by Helm on kubexx-apiserver with all others that it can be together with. There the values show in the objects, the
# Deployment is rolled out, and the operator gets ready with the arguments, the environment and the rights that the release gives.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"
chart=$kx_root/helm/kubexx-reloader
export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
values() { /usr/bin/python3 "$kx_root/test/e2e/chart_values.py" "$@"; }
h() { timeout 60 "$kx_bin/helm" "$@" >"$work/helm.out" 2>&1 || fail "helm $*: $(cat "$work/helm.out")"; }

# What the values name that is not part of the release.
prepare() {
  local namespace
  k apply -f "$kx_root/test/manifests/crds.yaml" >/dev/null
  k wait --for condition=Established crd --all >/dev/null
  jq -n '{apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: {name: "gvisor"}, handler: "runsc"}' | k create -f - >/dev/null
  for namespace in elsewhere monitoring team-a team-b; do k create namespace "$namespace" >/dev/null; done
  for namespace in elsewhere "$@"; do
    k get namespace "$namespace" >/dev/null 2>&1 || k create namespace "$namespace" >/dev/null
    k -n "$namespace" create secret generic alerts --from-literal=cluster=production >/dev/null
  done
}

# environment NAMESPACE DEPLOYMENT: what a pod of it would have, as NAME=VALUE.
environment() {
  k -n "$1" get secrets -o json >"$work/secrets"
  k -n "$1" get deployment "$2" -o json | jq -r --slurpfile secrets "$work/secrets" --arg namespace "$1" '
    {"metadata.name": "pod", "metadata.namespace": $namespace, "spec.nodeName": "node"} as $fields |
    .spec.template.spec.containers[0].env[] | .name + "=" + (.value //
      (.valueFrom.secretKeyRef // empty | . as $ref | $secrets[0].items[] | select(.metadata.name == $ref.name).data[$ref.key] | @base64d) //
      $fields[.valueFrom.fieldRef.fieldPath])'
}

# runs NAMESPACE DEPLOYMENT: the operator as its pod would run it, as its service account. Where it listens is not the release's
# business here.
runs() {
  local account variables arguments
  account=$(k -n "$1" get deployment "$2" -o 'jsonpath={.spec.template.spec.serviceAccountName}')
  k config view --raw -o json | jq --arg token "$(k -n "$1" create token "$account")" '.users[].user = {token: $token}' >"$work/rights"
  mapfile -t variables < <(environment "$1" "$2")
  mapfile -t arguments < <(k -n "$1" get deployment "$2" -o json | jq -r '.spec.template.spec.containers[0].args[]')
  export "${variables[@]}"
  run_operator "$work/rights" "${arguments[@]}" --pprof-addr=127.0.0.1:0
  unset "${variables[@]%%=*}"
  wait_until 30 "the operator" is_ready
  stop_operator
}

# bound NAMESPACE SCHEDULER: whether there are pods and all have a node, which those of a scheduler that nobody runs get here.
bound() {
  local pods
  k -n "$1" get pods -o json >"$work/pods"
  pods=$(jq -r --arg scheduler "$2" '.items[] | select($scheduler != "default-scheduler" and .spec.nodeName == null).metadata.name' "$work/pods")
  for pod in $pods; do
    jq -n --arg name "$pod" '{apiVersion: "v1", kind: "Binding", metadata: {name: $name}, target: {kind: "Node", name: "kubexx-node"}}' |
      k create --raw "/api/v1/namespaces/$1/pods/$pod/binding" -f - >/dev/null
  done
  [ -z "$pods" ] && jq -e '.items | length > 0' "$work/pods" >/dev/null
}

# installed NUMBER: the release of that file of values, and what becomes of it.
installed() {
  local namespace=tools-$1 deployment where
  h -n "$namespace" install reloader "$chart" --values "$work/$1.json"
  ! grep -F 'is not a value of this chart' "$work/helm.out" || fail "a documented value is said to have no effect"
  h -n "$namespace" get manifest reloader
  k get -f "$work/helm.out" -o json >"$work/objects"
  values shown "$1" "$work/objects" || fail "what the values of file $1 should give is not in the cluster"
  read -r where deployment < <(jq -r '.items[] | select(.kind == "Deployment").metadata | "\(.namespace) \(.name)"' "$work/objects")
  wait_until 30 "nodes of the pods" bound "$where" "$(k -n "$where" get deployment "$deployment" -o 'jsonpath={.spec.template.spec.schedulerName}')"
  k -n "$where" rollout status "deployment/$deployment" --timeout 60s >/dev/null
  if ! jq -e 'any(.items[]; .kind == "RoleBinding")' "$work/objects" >/dev/null; then
    k create clusterrolebinding by-hand --clusterrole=cluster-admin --serviceaccount="$where:$deployment" >/dev/null
  fi
  runs "$where" "$deployment"
  h -n "$namespace" uninstall reloader
}

"$kx_root/hack/cluster" build helm kubectl
log "$(jq length "$kx_root/test/manifests/reloader_values.json") values, each by itself"
values alone "$kx_bin/helm" "$chart"
log "each value of the chart left out, as the values of an older chart lack it"
values without "$kx_bin/helm" "$chart"
values batches "$work"
mapfile -t numbers < <(find "$work" -name '[0-9]*.json' -printf '%f\n' | sed 's/\.json$//' | sort -n)
server_flags=(--controllers all --pod-start-delay 50ms --authorization-mode RBAC --service-cluster-ip-range '10.0.0.0/16,fd00::/108')
start
prepare "${numbers[@]/#/tools-}"
for number in "${numbers[@]}"; do
  log "those of file $number together, installed"
  installed "$number"
done
stop
log "PASSED"
