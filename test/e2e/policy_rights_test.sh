#!/usr/bin/env bash
# What the operator does about policies that it may not read, on kubexx-apiserver: nothing is rolled that they may hold back, however
# often it is started, and it says which right it lacks. Where their CRDs are not served nothing waits for them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

server_flags=(--authorization-mode RBAC --token-auth-file "$work/tokens" --controllers namespace)
echo 'operators-token,operator,operator' >"$work/tokens"
start
k config view --raw -o json | jq '.users[].user = {token: "operators-token"}' >"$work/rights"
export RELOADER_NAMESPACE=default # where it tells of itself

held_for() { # held_for NAMESPACE WORDS: an Event on web says so
  k -n "$1" get events -o json | jq -e --arg words "$2" \
    'any(.items[]; .involvedObject.name == "web" and .reason == "ReloadPending" and (.message | contains($words)))' >/dev/null
}
explain_says() { # explain_says NAMESPACE WORDS
  "$reloader" explain --kubeconfig "$KUBECONFIG" -n "$1" deployment/web >"$work/explained" 2>&1 && grep -qF -e "$2" "$work/explained"
}
may_read_policies() { k create clusterrolebinding policies --clusterrole=policies --user=operator >/dev/null; }
may_not_read_policies() { k delete clusterrolebinding policies >/dev/null; }

k create clusterrole operator --verb=get,list,watch,patch,create,update,delete \
  --resource=configmaps,secrets,deployments.apps,statefulsets.apps,daemonsets.apps,jobs.batch,cronjobs.batch,events >/dev/null
k create clusterrolebinding operator --clusterrole=operator --user=operator >/dev/null
for namespace in paused free; do
  k create namespace "$namespace" >/dev/null
  workload "$namespace" web
done

log "without the CRDs, and without rights on them"
run_operator "$work/rights"
wait_until 20 "the operator" is_ready
wait_until 20 "the record" recorded free web
edit free web 2
wait_until 20 "the rollout" rolled_for free web 2
stop_operator

log "a policy pauses one namespace"
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
wait_until 20 "the policies' API" k get reloadpolicies,clusterreloadpolicies -A
k apply -f - >/dev/null <<Y
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: closed, namespace: paused}
spec: {paused: true}
Y
k create clusterrole policies --verb=list,watch --resource=reloadpolicies.kubexx.io,clusterreloadpolicies.kubexx.io >/dev/null
may_read_policies
run_operator "$work/rights"
wait_until 20 "the operator" is_ready
edit paused web 2
wait_until 20 "the pause" held_for paused Paused
stop_operator

log "the right is lost, and the operator is started"
may_not_read_policies
run_operator "$work/rights"
wait_until 60 "the reason" held_for paused "PoliciesUnread: ReloadPolicies may not be read"
still paused web "" "its policy could not be read"
edit free web 3
wait_until 30 "the reason of another namespace" held_for free PoliciesUnread
still free web 2 "its policies could not be read"
wait_until 20 "not ready" ready_says '^may not list (cluster)?reloadpolicies: .* 503$'
metric_is 'kubexx_reloader_rollouts_held{reason="PoliciesUnread"}' 2 || fail "the metric does not tell"
metric_is 'kubexx_reloader_refused{resource="reloadpolicies",verb="list"}' 1 || fail "the metric does not tell what is refused"
wait_until 20 "explain" explain_says free "waits: PoliciesUnread: ReloadPolicies may not be read"
[ "$(grep -c 'The operator may not read reload policies.*policies=ReloadPolicies' "$work/operator.log")" = 1 ] || fail "the log does not tell once"

log "the right is given back"
may_read_policies
wait_until 150 "what no policy holds back" rolled_for free web 3
still paused web "" "it is paused"
wait_until 60 "that all is well" ready_says '^ready 200$'
wait_until 60 "explain" explain_says paused "waits: Paused"
stop_operator

log "some namespaces, and the right in one of them"
may_not_read_policies
k -n free create rolebinding policies --clusterrole=policies --user=operator >/dev/null
run_operator "$work/rights" --namespaces=paused,free
wait_until 60 "the operator" is_ready
wait_until 60 "what is missing" ready_says '^ready, but may not list reloadpolicies in namespace paused: .* 200$'
edit free web 4
wait_until 20 "the rollout where the right is" rolled_for free web 4
wait_until 30 "the reason where it is not" held_for paused "PoliciesUnread: ReloadPolicies of the namespace paused may not be read"
still paused web "" "its policy could not be read"
stop_operator

log "policies of the cluster that are needed"
run_operator "$work/rights" --namespaces=free --require-cluster-policies
edit free web 5
wait_until 60 "the reason" held_for free "PoliciesUnread: ClusterReloadPolicies may not be read"
still free web 4 "the cluster's policies could not be read"
may_read_policies
wait_until 150 "the rollout" rolled_for free web 5
stop_operator

log "without policies"
may_not_read_policies
run_operator "$work/rights" --reload-policies=false
wait_until 20 "the operator" is_ready
wait_until 20 "the rollout that its policy held back" rolled_for paused web 2
stop_operator
log "PASSED"
