#!/usr/bin/env bash
# --workload-kinds, on kubexx-apiserver: workloads of two kinds that the operator does not know by itself, one with its pod template where a Deployment
# has it and one elsewhere, are rolled as others are; a limit follows their status; the commands know them; the operator goes on when their API comes late.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

kinds='[{"group":"apps.example.com","version":"v1alpha1","kind":"CloneSet","resource":"clonesets"},
  {"group":"stable.example.com","version":"v1","kind":"Worker","resource":"workers","podTemplate":"spec.pool.podTemplate",
   "done":[{"field":"status.updated","sameAs":"spec.pool.size"}],"failed":[{"condition":"Ready","status":"False","reason":"Crashing"}]}]'
crd() { # crd GROUP VERSION KIND PLURAL
  k apply -f - >/dev/null <<Y
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $4.$1}
spec:
  group: $1
  scope: Namespaced
  names: {kind: $3, plural: $4, singular: ${3,,}}
  versions:
    - name: $2
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
Y
  wait_for 20 "the CRD $4" k get "$4.$1" -A >/dev/null 2>&1 || fail "$4 is not served"
}
pods() { echo "{metadata: {labels: {app: $1}}, spec: {containers: [{name: app, image: a, extra: kept, envFrom: [{configMapRef: {name: settings}}]}]}}"; }
clone_set() {
  k -n shop apply -f - >/dev/null <<Y
apiVersion: apps.example.com/v1alpha1
kind: CloneSet
metadata: {name: $1, annotations: {reloader.stakater.com/auto: "true"}}
spec: {replicas: 2, unknown: {kept: true}, template: $(pods "$1")}
Y
}
worker() {
  k -n shop apply -f - >/dev/null <<Y
apiVersion: stable.example.com/v1
kind: Worker
metadata: {name: $1, annotations: {reloader.stakater.com/auto: "true"}}
spec: {pool: {size: 2, podTemplate: $(pods "$1")}}
Y
}
# is_done WORKER: as its controller would say after a rollout.
is_done() {
  k -n shop patch worker "$1" --subresource=status --type=merge >/dev/null \
    -p "{\"status\":{\"observedGeneration\":$(k -n shop get worker "$1" -o 'jsonpath={.metadata.generation}'),\"updated\":2,\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
}
value_of() { # value_of RESOURCE NAME PATH
  k -n shop get "$1" "$2" -o json | jq -r --arg path "$3" 'getpath($path | split(".")).spec.containers[0].env // [] | .[] | select(.name == "STAKATER_SETTINGS_CONFIGMAP").value'
}
worker_has() { [ "$(value_of worker "$1" spec.pool.podTemplate)" = "$2" ]; }
clone_set_has() { [ "$(value_of cloneset "$1" spec.template)" = "$2" ]; }
has_baseline() { k -n shop get "$1" "$2" -o json | grep -q '"reloader.kubexx.io/baseline"'; }
sha() { printf '%s' "$1" | sha1sum | cut -d' ' -f1; }
tells() { # tells STATUS WORDS COMMAND...
  local wanted=$1 words=$2 status=0
  shift 2
  timeout 60 "$reloader" "$@" >"$work/said" 2>&1 || status=$?
  { [ "$status" = "$wanted" ] && grep -qF -e "$words" "$work/said"; } || fail "$*: status $status, wanted $wanted and '$words': $(cat "$work/said")"
}

start
k create namespace shop >/dev/null
k -n shop create configmap settings --from-literal=A=1 >/dev/null
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
wait_for 20 "the CRD" k get reloadpolicies -A >/dev/null || fail "the CRD is not served"
crd apps.example.com v1alpha1 CloneSet clonesets
clone_set front

log "a list that cannot be read ends the operator, with what is wrong"
tells 1 '--workload-kinds: [0].resource: "" is no resource' --workload-kinds='[{group: a.example.com, version: v1, kind: A}]'

log "one whose API is there is rolled, and one whose API comes later is found"
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --workload-kinds="$kinds" --history=3
wait_until 30 "the baseline" has_baseline cloneset front
k -n shop patch configmap settings -p '{"data":{"A":"2"}}' >/dev/null
wait_until 30 "the CloneSet" clone_set_has front "$(sha A=2)"
k -n shop get cloneset front -o json | jq -e '.spec.unknown.kept and .spec.template.spec.containers[0].extra == "kept" and .spec.template.metadata.labels.app == "front"' >/dev/null ||
  fail "the rollout has changed more than its variable"
crd stable.example.com v1 Worker workers
for name in worker-1 worker-2; do
  worker "$name"
  is_done "$name"
done
for name in worker-1 worker-2; do wait_until 120 "the baseline of $name" has_baseline worker "$name"; done

log "a limit follows what their status says"
k -n shop apply -f - >/dev/null <<'Y'
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: one-by-one}
spec: {workloads: {kinds: [Worker]}, maxConcurrentRollouts: 1, stopAfterFailures: 1}
Y
k -n shop wait reloadpolicy/one-by-one --for condition=Ready --timeout 90s >/dev/null || fail "the operator does not read the policy"
tells 0 'ReloadPolicy shop/one-by-one' explain worker/worker-1 -n shop
k -n shop patch configmap settings -p '{"data":{"A":"3"}}' >/dev/null
one_has() { worker_has worker-1 "$1" || worker_has worker-2 "$1"; }
both_have() { worker_has worker-1 "$1" && worker_has worker-2 "$1"; }
wait_until 60 "the first one" one_has "$(sha A=3)"
first=worker-1 second=worker-2
worker_has worker-1 "$(sha A=3)" || first=worker-2 second=worker-1
waits() { timeout 60 "$reloader" explain "worker/$second" -n shop >"$work/said" 2>&1 && grep -q 'ConcurrencyLimit' "$work/said"; }
wait_until 30 "the second one to wait" waits
! both_have "$(sha A=3)" || fail "the limit is not kept"
is_done "$first"
wait_until 60 "the second one" both_have "$(sha A=3)"
k -n shop patch worker "$second" --subresource=status --type=merge -p "{\"status\":{\"observedGeneration\":$(k -n shop get worker "$second" -o 'jsonpath={.metadata.generation}'),\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"Crashing\"}]}}" >/dev/null
has_failed() { k -n shop get worker "$second" -o json | grep -q '"reloader.kubexx.io/rollout-state": "failed'; }
wait_until 60 "the failure" has_failed

log "the commands know them"
tells 0 "Worker shop/$second" explain "workers.stable.example.com/$second" -n shop
tells 0 'ConfigMap settings' history "worker/$first" -n shop
tells 0 'CloneSet shop/front' history configmap/settings -n shop
tells 0 'retried: its pods are made anew' retry "worker/$second" -n shop
k -n shop get worker "$second" -o json | jq -e '.spec.pool.podTemplate.metadata.annotations["kubectl.kubernetes.io/restartedAt"] and (.spec.template | not)' >/dev/null || fail "the retry is not in the pod template"
is_done "$second"
tells 0 'paused; rollouts' pause cloneset/front -n shop
k -n shop patch configmap settings -p '{"data":{"A":"4"}}' >/dev/null
wait_until 60 "a worker" one_has "$(sha A=4)"
clone_set_has front "$(sha A=3)" || fail "a paused one was rolled"
tells 0 'resumed' resume cloneset/front -n shop
wait_until 30 "the resumed one" clone_set_has front "$(sha A=4)"
tells 2 'is not a kind of workload' explain pods/x -n shop

log "a restart rolls nothing, and makes up for what was missed"
# The workers' controller, until both have it.
all_roll() {
  is_done worker-1
  is_done worker-2
  both_have "$1" && clone_set_has front "$1"
}
wait_until 120 "all of them" all_roll "$(sha A=4)"
for name in worker-1 worker-2; do is_done "$name"; done
stop_operator
generations() { k -n shop get workers,clonesets -o json | jq -c '[.items[] | [.metadata.name, .metadata.generation]]'; }
before=$(generations)
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --workload-kinds="$kinds" --history=3
wait_until 30 "the operator" is_ready
wait_until 30 "its looks" has_looked 3
stop_operator
[ "$(generations)" = "$before" ] || fail "a restart has rolled something: $before, $(generations)"
k -n shop patch configmap settings -p '{"data":{"A":"5"}}' >/dev/null
run_operator "$KUBECONFIG" --workload-kinds="$kinds"
wait_until 120 "what was missed" all_roll "$(sha A=5)"
stop_operator

log "where the API server drops annotations of the pod template, none is recorded as rolled"
k apply -f - >/dev/null <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pruners.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {kind: Pruner, plural: pruners, singular: pruner}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                template:
                  type: object
                  properties:
                    metadata: {type: object}
                    spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
Y
wait_for 20 "the CRD" k get pruners -A >/dev/null 2>&1 || fail "pruners is not served"
k -n shop apply --validate=ignore -f - >/dev/null <<Y
apiVersion: stable.example.com/v1
kind: Pruner
metadata: {name: bare, annotations: {reloader.stakater.com/auto: "true"}}
spec: {template: $(pods bare)}
Y
pruner='[{"group":"stable.example.com","version":"v1","kind":"Pruner","resource":"pruners"}]'
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --workload-kinds="$pruner" --reload-strategy=annotations
wait_until 60 "its baseline" has_baseline pruner bare
before=$(k -n shop get pruner bare -o json | jq -c '[.metadata.generation, .metadata.annotations]')
k -n shop patch configmap settings -p '{"data":{"A":"6"}}' >/dev/null
says_so() { grep -q 'drops annotations of the pod template of a Pruner' "$work/operator.log"; }
wait_until 30 "the reason" says_so
[ "$(k -n shop get pruner bare -o json | jq -c '[.metadata.generation, .metadata.annotations]')" = "$before" ] || fail "something was recorded"
stop_operator
run_operator "$KUBECONFIG" --workload-kinds="$pruner"
pruner_has() { [ "$(value_of pruner bare spec.template)" = "$1" ]; }
wait_until 60 "the variable" pruner_has "$(sha A=6)"
stop_operator

log "clean-up finds what is on them"
tells 0 'Worker shop/worker-1: would take away' clean-up --templates --force --workload-kinds="$kinds"
tells 0 'Worker shop/worker-1: took away' clean-up --templates --force --dry-run=false --workload-kinds="$kinds"
clone_set_has front "" || fail "the variable is still there"
! has_baseline worker worker-1 || fail "the baseline is still there"
log "PASSED"
