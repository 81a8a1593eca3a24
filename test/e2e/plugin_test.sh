#!/usr/bin/env bash
# kubexx-reloader as a plugin of kubectl, on kubexx-apiserver with an operator: kubectl finds it, its commands do what they say, and kubectl
# completes their words.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

# kubectl looks for plugins in PATH.
mkdir "$work/bin"
ln -s "$reloader" "$work/bin/kubectl-reloader"
ln -s "$reloader" "$work/bin/kubectl_complete-reloader"
export PATH=$work/bin:$PATH

# says STATUS WORDS ARGUMENT...: what `kubectl reloader` prints is in $work/said.
says() {
  local wanted=$1 words=$2 status=0
  shift 2
  k reloader "$@" >"$work/said" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || fail "kubectl reloader $*: status $status instead of $wanted: $(cat "$work/said")"
  grep -qF -e "$words" "$work/said" || fail "kubectl reloader $*: does not say '$words': $(cat "$work/said")"
}
# completes WANTED WORD...: the candidates and the directive, as kubectl asks the plugin for them: kubectl's own __complete.
completes() {
  local wanted=$1 got
  shift
  got=$(k __complete reloader "$@" 2>/dev/null | cut -f1 | paste -sd' ')
  [ "$got" = "$wanted" ] || fail "completion of '$*': got '$got', wanted '$wanted'"
}
has_baseline() { k -n shop get deployment "$1" -o json | grep -q '"reloader.kubexx.io/baseline": "v[12] '; }
state() { k -n shop get deployment "$1" -o json | jq -r '.metadata.annotations["reloader.kubexx.io/rollout-state"] // ""'; }
has_failed() { [[ $(state web) = 'failed '* ]]; }

start
k create namespace shop >/dev/null
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
has_policies() { k get reloadpolicies -A >/dev/null 2>&1; }
wait_until 30 "the CRDs" has_policies
workload shop web
workload shop api
k -n shop apply -f - >/dev/null <<'Y'
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: gentle}
spec: {healthGate: {timeout: 1s, soakTime: 0s}}
Y
run_operator "$KUBECONFIG"
wait_until 30 "the baselines" has_baseline web
wait_until 30 "the baselines" has_baseline api

log "kubectl knows the plugin, and it never runs an operator"
k plugin list 2>&1 | grep -q 'kubectl-reloader' || fail "kubectl does not list the plugin"
says 0 'kubectl reloader [flags] COMMAND'
says 0 'kubectl reloader [flags] COMMAND' help
says 0 'kubectl reloader explain [flags]' explain --help
says 0 'kubectl reloader 0.' version
says 2 'there is no command "run"' run
says 2 'unknown flag: --auto-reload-all' --auto-reload-all

log "explain and status"
says 0 'Deployment shop/web: rollout' explain deployment/web -n shop
says 0 'ReloadPolicy shop/gentle: ' status -n shop
# The operator writes the policy's status a moment after it has read the policy.
is_seen() { k reloader status -A -o json | grep -q '"policy":"ReloadPolicy shop/gentle","seen":true'; }
wait_until 30 "the policy's status" is_seen
says 0 'Policies: none' status -n default
says 2 'invalid value "yaml"' status -o yaml

log "a pause holds until it is resumed"
says 0 'Deployment shop/web: paused' pause deployment/web -n shop
says 0 'was paused already' pause deploy web -n shop
edit shop web 2
holds() { k reloader explain deployment/web -n shop | grep -q 'A rollout is due and waits'; }
wait_until 30 "the pause" holds
rolled_for shop web 2 && fail "it was rolled although it is paused"
says 0 'Deployment shop/web: resumed' resume deployment/web -n shop
wait_until 30 "the rollout" rolled_for shop web 2
says 0 'is not paused by an annotation' resume deployment/web -n shop
says 0 'ConfigMap shop/api: paused' pause configmap/api -n shop
says 0 'ConfigMap shop/api: resumed' resume cm/api -n shop
says 0 'ReloadPolicy shop/gentle: paused' pause reloadpolicy/gentle -n shop
says 0 'paused; ' status -n shop
says 0 'ReloadPolicy shop/gentle: resumed' resume rlp/gentle -n shop
says 1 'not found' pause deployment/nothing -n shop
says 2 'is not a kind of workload, source or policy' pause pod/web -n shop
# As `kubectl get -o name` names objects, and with a version as well.
for name in deployment.apps/web deployments.v1.apps/web deploy.apps/web; do says 0 'Deployment shop/web: rollout' explain "$name" -n shop; done
says 0 'ReloadPolicy shop/gentle: is not paused' resume reloadpolicy.kubexx.io/gentle -n shop
says 2 'is not a kind of workload' explain deployment.batch/web -n shop
says 1 'the API server does not serve rollouts.argoproj.io; their CRD is not installed' pause rollout/web -n shop

log "what has failed is retried, and declared to be mended"
wait_until 60 "the failure, since nothing makes pods here" has_failed
has_told() { k reloader status -n shop | grep -q 'Deployment/web has failed'; }
wait_until 30 "the status" has_told
stop_operator  # it would roll once more what is retried, since nothing here says that a rollout ends
before=$(k -n shop get deployment web -o 'jsonpath={.metadata.generation}')
says 0 'Deployment shop/web: retried' retry deployment/web -n shop
[ "$(k -n shop get deployment web -o 'jsonpath={.metadata.generation}')" -gt "$before" ] || fail "retry makes no new pods"
says 0 'counts as mended' retry deployment/web -n shop --mended
[[ $(state web) = 'completed '* ]] || fail "it is not mended: $(state web)"
says 1 'no rollout of it has failed' retry deployment/api -n shop
says 1 'a ConfigMap has no rollouts' retry configmap/api -n shop

log "kubectl completes"
completes 'explain :4' expl
completes 'ui :4' u
completes '--address= :6' ui --addr
completes 'pause :4' pa
completes '--output= :6' status --out
completes 'json :4' status -o j
completes 'deployment/ deploymentconfig/ :6' explain depl
completes 'reloadpolicy/ :6' pause rel
completes 'deployment/api deployment/web :4' explain -n shop deployment/
completes 'deploy/web :4' retry --namespace shop deploy/w
completes 'cm/web :4' pause -n shop cm/w
completes ':4' explain -n shop configmap/w
completes 'cm/web :4' history -n shop cm/w
completes ':4' history rel
completes '--output= :6' history deployment/web --out
says 0 'Deployment shop/web: no rollout is recorded' history deployment/web -n shop
says 2 'has no history' history rlp/gentle -n shop
completes ':0' explain --kubeconfig ''
log "PASSED"
