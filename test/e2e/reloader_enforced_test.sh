#!/usr/bin/env bash
# What the platform enforces: annotations and policies of a team that ask for less are not obeyed, the team is told, and no
# restart forgets it. Runs on kubexx-apiserver.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

interval=reloader.kubexx.io/min-interval
# event_says NAMESPACE NAME REASON TEXT
event_says() {
  k -n "$1" get events -o json | jq -e --arg name "$2" --arg reason "$3" --arg text "$4" \
    'any(.items[]; .involvedObject.name == $name and .reason == $reason and (.message | contains($text)))' >/dev/null
}
explain() { "$reloader" explain --kubeconfig "$KUBECONFIG" "$@" 2>&1; }
explains() { # explains NAMESPACE NAME TEXT
  local said
  said=$(explain "deployment/$2" -n "$1") || fail "explain: $said"
  grep -qF -e "$3" <<<"$said" || fail "explain $1/$2 does not say '$3': $said"
}

start
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
wait_until 10 "the policies' API" k get clusterreloadpolicies,reloadpolicies
for namespace in team spared; do
  k create namespace "$namespace" >/dev/null
  for name in annotated governed; do workload "$namespace" "$name"; done
  k -n "$namespace" annotate deployment annotated "$interval=1s" >/dev/null
  k -n "$namespace" apply -f - >/dev/null <<'Y'
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: hasty}
spec: {minInterval: 1s, workloads: {names: [governed]}}
Y
done
k apply -f - >/dev/null <<'Y'
apiVersion: kubexx.io/v1alpha1
kind: ClusterReloadPolicy
metadata: {name: platform}
spec: {enforce: true, minInterval: 1h, excludedNamespaces: [spared]}
Y

run_operator "$KUBECONFIG"
for namespace in team spared; do
  for name in annotated governed; do wait_until 20 "the record of $namespace/$name" recorded "$namespace" "$name"; done
done
edit_all() {
  local namespace name
  for namespace in team spared; do
    for name in annotated governed; do edit "$namespace" "$name" "$1"; done
  done
}
log "the first rollout of each"
edit_all 2
for namespace in team spared; do
  for name in annotated governed; do wait_until 20 "the rollout of $namespace/$name" rolled_for "$namespace" "$name" 2; done
done
enforced="minInterval 1s; ClusterReloadPolicy platform, enforced: 1h0m0s"
wait_until 20 "the Event that tells the team" event_says team annotated PolicyEnforced "annotation $interval asks for $enforced"
wait_until 20 "the Event that tells the team" event_says team governed PolicyEnforced "ReloadPolicy team/hasty asks for $enforced"
log "the second waits for an hour, where nothing is enforced for a second"
edit_all 3
for name in annotated governed; do
  wait_until 20 "the rollout of spared/$name" rolled_for spared "$name" 3
  wait_until 20 "the Event that $name waits" event_says team "$name" ReloadPending MinInterval
  still team "$name" 2 "the interval is enforced"
  explains team "$name" "asks for $enforced"
done
log "the operator is killed and begins again"
kill -9 "$operator"
wait "$operator" || true
run_operator "$KUBECONFIG"
wait_until 20 "the operator" is_ready
wait_until 20 "the looks" has_looked 4
edit_all 4
for name in annotated governed; do
  wait_until 20 "the rollout of spared/$name" rolled_for spared "$name" 4
  still team "$name" 2 "a restart has forgotten what is enforced"
  ! event_says spared "$name" PolicyEnforced "" || fail "spared/$name is told of a policy that is not about it"
done
log "the platform enforces it no more"
k patch clusterreloadpolicy platform --type merge -p '{"spec":{"enforce":false}}' >/dev/null
for name in annotated governed; do wait_until 60 "the rollout of team/$name" rolled_for team "$name" 4; done
stop_operator
log "PASSED"
