#!/usr/bin/env bash
# `kubexx-reloader clean-up` and `self-test`, on kubexx-apiserver: what an operator has left goes and nothing rolls by it, what is in pod
# templates goes when that is asked for, what people have set stays, and nothing is written by a dry run or beside an operator.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

# says STATUS WORDS ARGUMENT...: what clean-up prints is in $work/said.
says() {
  local wanted=$1 words=$2 status=0
  shift 2
  timeout 60 "$reloader" clean-up "$@" >"$work/said" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || fail "clean-up $*: status $status instead of $wanted: $(cat "$work/said")"
  grep -qF -e "$words" "$work/said" || fail "clean-up $*: does not say '$words': $(cat "$work/said")"
}
# What is not the controllers'.
written() { k get deployments,statefulsets,daemonsets,cronjobs,jobs -A -o json | jq -c '[.items[] | {(.kind + "/" + .metadata.namespace + "/" + .metadata.name): [.metadata.annotations, .metadata.generation, .spec]}] | add'; }
templates() { k get deployments,statefulsets,daemonsets -A -o json | jq -c '[.items[] | {(.kind + "/" + .metadata.namespace + "/" + .metadata.name): .spec.template}] | add'; }
# Those that only an operator writes.
traces() {
  k get deployments,statefulsets,daemonsets,cronjobs,jobs -A -o json |
    jq -r '.items[] | .metadata.annotations // {} | keys[] | select(IN("reloader.kubexx.io/baseline", "reloader.kubexx.io/history", "reloader.kubexx.io/last-rollout",
      "reloader.kubexx.io/rollout-state", "reloader.kubexx.io/rolled-data", "kubexx.io/rolled-for"))' | sort -u
}
other_kind() { # other_kind KIND NAME: as workload makes Deployments, of the same ConfigMap
  k -n shop get deployment web -o json | jq --arg kind "$1" --arg name "$2" '
    {apiVersion: "apps/v1", kind: $kind, metadata: {name: $name, annotations: {"reloader.stakater.com/auto": "true"}},
     spec: ({selector: {matchLabels: {app: $name}},
       template: (.spec.template | .metadata.labels.app = $name | del(.spec.containers[0].env))} + (if $kind == "StatefulSet" then {serviceName: $name, replicas: 0} else {} end))}' |
    k -n shop apply -f - >/dev/null
}
has_baseline() { k -n shop get "$1" "$2" -o json | grep -q '"reloader.kubexx.io/baseline": "v[12] '; }
has_variable() { k -n shop get "$1" "$2" -o json | grep -q '"name": "STAKATER_WEB_CONFIGMAP"'; }
has_run() { k -n shop get jobs -o json | jq -e 'any(.items[]; .metadata.annotations["kubexx.io/rolled-for"] != null)' >/dev/null; }
is_paused() { [ "$(k -n shop get deployment paused -o 'jsonpath={.spec.paused}')" = true ]; }
tells_of_itself() { k -n tools get configmap reloader-meta-info >/dev/null 2>&1; }

server_flags=(--controllers all --pod-start-delay 50ms --authorization-mode RBAC --token-auth-file "$work/tokens")
echo 'teams-token,team,team' >"$work/tokens"
start
k config view --raw -o json | jq '.users[].user = {token: "teams-token"}' >"$work/team"

log "an operator, and what it leaves"
for namespace in shop other tools; do k create namespace "$namespace" >/dev/null; done
workload shop web
k -n shop label deployment web app=web >/dev/null
workload other web
other_kind StatefulSet db
other_kind DaemonSet agent
workload shop paused
k -n shop annotate deployment paused deployment.reloader.stakater.com/pause-period=1h >/dev/null
k -n shop create cronjob report --image=example.com/app:1 --schedule='0 3 * * *' --dry-run=client -o json |
  jq '.metadata.annotations["reloader.stakater.com/auto"] = "true" |
    .spec.jobTemplate.spec.template.spec.containers[0].envFrom = [{configMapRef: {name: "web"}}]' | k -n shop apply -f - >/dev/null
k -n tools create deployment operator --image=example.com/operator:1 --replicas=0 >/dev/null
export RELOADER_NAMESPACE=tools RELOADER_DEPLOYMENT_NAME=operator
run_operator "$KUBECONFIG" --min-rollout-interval=1ms
wait_until 30 "the baselines" has_baseline deployment web
for each in 'deployment paused' 'statefulset db' 'daemonset agent' 'cronjob report'; do
  # shellcheck disable=SC2086 # two words
  wait_until 30 "the baseline of $each" has_baseline $each
done
for namespace in shop other; do edit "$namespace" web 2; done
edit shop paused 2
for each in 'deployment web' 'statefulset db' 'daemonset agent'; do
  # shellcheck disable=SC2086 # two words
  wait_until 30 "the rollout of $each" has_variable $each
done
wait_until 30 "the rollout elsewhere" rolled_for other web 2
wait_until 30 "the Job" has_run
wait_until 30 "the pause" is_paused
wait_until 30 "what the operator tells of itself" tells_of_itself

log "self-test sees that it works"
"$reloader" self-test --namespace shop --timeout 30s >"$work/said" 2>&1 || fail "self-test: $(cat "$work/said")"
grep -q 'was rolled for a change of its ConfigMap' "$work/said" || fail "self-test: $(cat "$work/said")"
! k -n shop get configmaps,deployments -o name | grep self-test || fail "self-test leaves something"

log "beside an operator nothing is changed"
says 1 'the operator tools/operator runs, and would write the same again: uninstall it first, or give --force' --dry-run=false
says 0 'the operator tools/operator runs'
stop_operator
k -n tools delete deployment operator >/dev/null
if "$reloader" self-test --namespace shop --timeout 2s >"$work/said" 2>&1; then fail "self-test needs no operator"; fi
grep -q 'the operator has written nothing to the Deployment' "$work/said" || fail "self-test: $(cat "$work/said")"
! k -n shop get configmaps,deployments -o name | grep self-test || fail "self-test leaves something when it fails"

log "a dry run writes nothing"
before=$(written)
says 0 'Deployment shop/web: would take away annotation reloader.kubexx.io/baseline'
says 0 'Nothing was changed. --dry-run=false does it.'
says 0 'a pause that no operator ends any more'
says 0 'ConfigMap tools/reloader-meta-info: would be deleted'
[ "$(written)" = "$before" ] || fail "a dry run has written: $(written) instead of $before"

log "somebody who may not: nothing is done, and that is told"
says 1 'cannot list resource "deployments"' --dry-run=false --kubeconfig "$work/team"
k -n other create role clean --verb=list,patch --resource=deployments.apps >/dev/null
k -n other create rolebinding clean --role=clean --user=team >/dev/null
says 1 'Deployment other/web: took away annotation' --dry-run=false --kubeconfig "$work/team" -n other
! k -n other get deployment web -o json | grep -q reloader.kubexx.io/baseline || fail "a namespace that may be written was not cleaned"

log "what rolls nothing goes, and nothing rolls"
rolled=$(templates)
says 0 'Deployment shop/web: took away annotation' --dry-run=false -n shop -l app=web
has_baseline statefulset db || fail "a selector leaves nothing out"
says 0 'ConfigMap tools/reloader-meta-info: is kept, as not all workloads are clean' --dry-run=false -l app=nobody
tells_of_itself || fail "a further run does not know which kinds there were"
says 0 'ConfigMap tools/reloader-meta-info: is kept, as not all workloads are clean' --dry-run=false -n tools
tells_of_itself || fail "a run for one namespace takes away what others need"
says 0 'leaves variable STAKATER_WEB_CONFIGMAP of container app' --dry-run=false
[ -z "$(traces)" ] || fail "these are left: $(traces)"
[ "$(templates)" = "$rolled" ] || fail "pod templates were changed: $(templates)"
! tells_of_itself || fail "what a gone operator tells of itself is left"
k -n shop get deployment web -o json | grep -q '"reloader.stakater.com/auto": "true"' || fail "what people have set has gone"
is_paused || fail "a pause was ended that nobody asked for"
says 0 '0 have traces of an operator' -n other --selector app=nobody

log "what is in pod templates goes when that is asked for, and pauses end"
says 0 '0 would be cleaned' # the rest has to be asked for
says 0 'Deployment shop/paused: took away ' --dry-run=false --templates --resume
! templates | grep STAKATER_ || fail "variables are left"
! is_paused || fail "the pause goes on"
says 0 '0 have traces of an operator' --templates --resume

log "the next operator begins with the data of the moment"
run_operator "$KUBECONFIG"
wait_until 30 "the baselines" has_baseline deployment web
wait_until 30 "the baselines" has_baseline statefulset db
! has_variable statefulset db || fail "a start has rolled db"
! has_variable deployment web || fail "a start has rolled web"
stop_operator
stop
log "PASSED"
