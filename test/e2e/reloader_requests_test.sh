#!/usr/bin/env bash
# What the operator asks the API server for, counted on the wire, when it may not watch workloads, as under the roles of
# stakater/Reloader's chart: for a change of a source it lists the source's namespace, from the server's cache, each kind once,
# and nothing else. Runs on kubexx-apiserver.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

kinds=(deployments daemonsets statefulsets cronjobs jobs)
requests() { cat "$work/requests"; }
# lists FROM: of workloads, since the request of that number.
lists() {
  tail -n "+$1" "$work/requests" | grep -E "^GET /apis/(apps|batch)/v1/(namespaces/[^/]+/)?($(
    IFS='|'
    echo "${kinds[*]}"
  ))(\?|$)" | grep -v 'watch=' || true
}
next() { echo $(($(requests | wc -l) + 1)); }
lists_only() { # lists_only FROM NAMESPACE: each kind once, there, and from the cache
  local kind wrong
  wrong=$(lists "$1" | grep -vE "/namespaces/$2/[a-z]+\?.*resourceVersion=[1-9]" || true)
  [ -z "$wrong" ] || fail "an edit in $2 made the operator ask: $wrong"
  wrong=$(lists "$1" | grep -v 'resourceVersionMatch=NotOlderThan' || true)
  [ -z "$wrong" ] || fail "not from the server's cache: $wrong"
  for kind in "${kinds[@]}"; do
    [ "$(lists "$1" | grep -c "/$kind?")" = 1 ] || fail "not one list of $kind: $(lists "$1")"
  done
}
does_without_watches() {
  local kind
  for kind in Deployment DaemonSet StatefulSet CronJob Job; do
    metric_is "kubexx_reloader_fallback{kind=\"$kind\",verb=\"watch\"}" 1 || return 1
  done
}
lists_are() { [ "$(lists "$1" | wc -l)" -ge "$2" ]; }

server_flags=(--authorization-mode RBAC --token-auth-file "$work/tokens" --controllers namespace)
echo 'operators-token,operator,operator' >"$work/tokens"
start
port_of_server=$(k config view --raw -o json | jq -r '.clusters[0].cluster.server | split(":") | last | rtrimstr("/")')
coproc relay { exec "$(dirname "${BASH_SOURCE[0]}")/relay.py" "$port_of_server" "$work/requests"; }
read -r relay_port <&"${relay[0]}"
k config view --raw -o json | jq --arg server "http://127.0.0.1:$relay_port" \
  '.users[].user = {token: "operators-token"} | .clusters[].cluster = {server: $server}' >"$work/rights"
k apply -f - >/dev/null <<'Y'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: operator}
rules:
  - {apiGroups: [""], resources: [secrets, configmaps], verbs: [list, get, watch]}
  - {apiGroups: [apps], resources: [deployments, daemonsets, statefulsets], verbs: [list, get, update, patch]}
  - {apiGroups: [batch], resources: [cronjobs], verbs: [list, get]}
  - {apiGroups: [batch], resources: [jobs], verbs: [create, delete, list, get]}
  - {apiGroups: [""], resources: [events], verbs: [create, patch]}
Y
k create clusterrolebinding operator --clusterrole=operator --user=operator >/dev/null
for namespace in shop other; do
  k create namespace "$namespace" >/dev/null
  workload "$namespace" web
done
k -n other create configmap unused --from-literal=KEY=1 >/dev/null
run_operator "$work/rights" --reload-policies=false
wait_until 20 "the operator" is_ready
wait_until 20 "the refusals of the watches" does_without_watches
for namespace in shop other; do wait_until 20 "the record in $namespace" recorded "$namespace" web; done

log "an edit lists its namespace"
from=$(next)
edit shop web 2
wait_until 20 "the rollout" rolled_for shop web 2
lists_only "$from" shop
log "one that nothing uses, too"
from=$(next)
edit other unused 2
wait_until 20 "the lists" lists_are "$from" "${#kinds[@]}"
lists_only "$from" other
log "a workload that is new is found by the list for an edit that comes after it"
k -n shop create deployment later --image=example.com/app:1 --replicas=0 --dry-run=client -o json |
  jq '.metadata.annotations["configmap.reloader.stakater.com/reload"] = "web"' | k -n shop create -f - >/dev/null
from=$(next)
edit shop web 3
later_has() { k -n shop get deployment later -o json | grep -q "$(printf 'KEY=%s' "$1" | sha1sum | cut -d' ' -f1)"; }
wait_until 20 "the rollout of the new one" later_has 3
lists_only "$from" shop

log "many edits are one list a second"
from=$(next)
begun=$SECONDS
for value in $(seq 10 30); do edit other web "$value"; done
wait_until 20 "the rollout" rolled_for other web 30
rounds=$((SECONDS - begun + 2))
wrong=$(lists "$from" | grep -v '/namespaces/other/.*resourceVersionMatch=NotOlderThan' || true)
[ -z "$wrong" ] || fail "an edit in other made the operator ask: $wrong"
[ "$(lists "$from" | grep -c '/deployments?')" -le "$rounds" ] || fail "more than $rounds lists in as many seconds: $(lists "$from")"
stop_operator
log "PASSED: $(requests | wc -l) requests in all"
