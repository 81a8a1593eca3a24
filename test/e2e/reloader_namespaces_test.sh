#!/usr/bin/env bash
# What the operator takes of its node for a list of namespaces: no threads, and at most a connection for each kind that is watched
# in it, also where the process may open few files at first. At rest it has at most eight threads more than processors. Runs on kubexx-apiserver, with KUBEXX_NAMESPACES namespaces
# (100 by default).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

count=${KUBEXX_NAMESPACES:-100}
# ConfigMaps, Secrets, six kinds of workloads (Argo Rollouts are not asked for) and ReloadPolicies.
kinds=9
# Beside its watches the operator has a connection for each of its 8 workers and a few for what it asks at its start. How many are
# open depends on how many were used at the same moment, which is chance and does not grow with the namespaces.
spare=16
most_threads=$(($(nproc) + 8))
threads() { awk '$1 == "Threads:" { print $2 }' "/proc/$operator/status"; }
descriptors() { find "/proc/$operator/fd" -mindepth 1 | wc -l; }
is_at_rest() { [ "$(threads)" -le "$most_threads" ]; }
resident() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$operator/status"; }
# measure NAMES: runs the operator for these namespaces until it has rolled a workload in the last one.
turn=1
measure() {
  local last=${1##*,}
  turn=$((turn + 1))
  (ulimit -Sn 256 && exec "$reloader" --kubeconfig "$KUBECONFIG" --metrics-addr=127.0.0.1:0 --namespaces="$1" >"$work/operator.log" 2>&1) &
  operator=$!
  wait_until 10 "the operator's port" has_port
  wait_until 60 "the operator" is_ready
  edit "$last" web "$turn"
  wait_until 60 "the rollout in $last" rolled_for "$last" web "$turn"
  wait_until 60 "at most $most_threads threads" is_at_rest
  figures=("$(threads)" "$(descriptors)" "$(resident)")
  stop_operator
  log "$(tr ',' '\n' <<<"$1" | wc -l) namespaces: ${figures[0]} threads, ${figures[1]} descriptors, ${figures[2]} kB"
}

server_flags=(--controllers namespace)
start
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
wait_until 10 "the policies' API" k get reloadpolicies
for i in $(seq "$count"); do echo "tenant-$i"; done >"$work/names"
jq -nR '{apiVersion: "v1", kind: "List", items: [inputs | {apiVersion: "v1", kind: "Namespace", metadata: {name: .}}]}' <"$work/names" | k create --validate=false -f - >/dev/null
k create namespace template >/dev/null
workload template web
k -n template get configmap,secret,deployment web -o json | jq --rawfile names "$work/names" \
  '.items as $items | .items = [$names | split("\n")[] | select(. != "") as $name | $items[] |
    .metadata |= {name, annotations, namespace: $name} | del(.status)]' | k create --validate=false -f - >/dev/null
measure "$(head -n 1 "$work/names")"
one=("${figures[@]}")
measure "$(paste -sd, "$work/names")"
for i in 0 1; do
  what=(threads descriptors)
  most=$((one[i] + (count - 1) * kinds + spare))
  [ "${figures[i]}" -le "$most" ] || fail "${figures[i]} ${what[i]} for $count namespaces, ${one[i]} for one: more than $most"
done
log "PASSED"
