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

log "no kind is called as another one"
for kind in 'kind: ConfigMap, resource: foos' 'kind: Foo, resource: deployments' 'kind: ReloadPolicy, resource: foos'; do
  tells 1 'is what the operator calls a kind of its own' --workload-kinds="[{group: a.example.com, version: v1, $kind}]"
done
tells 1 'is no API group of custom resources' --workload-kinds='[{group: apps, version: v1, kind: Foo, resource: deployments}]'

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

log "nobody redefines a kind for another"
# passes_for_operator FLAGS...: what a tenant of the namespace aaa may write.
passes_for_operator() {
  k -n aaa create configmap reloader-meta-info --from-literal=kubexxArguments="$(jq -cn '$ARGS.positional' --args -- "$@")" --dry-run=client -o yaml | k apply -f - >/dev/null
  k -n aaa label --overwrite configmap reloader-meta-info reloader.stakater.com/meta-info=reloader >/dev/null
}
is_paused() { k -n shop get "$1" "$2" -o json | grep -q '"reloader.kubexx.io/paused"'; }
k create namespace aaa >/dev/null
for other in '"group":"evil.example.com"' '"resource":"others"' '"podTemplate":"spec.other"' '"done":[{"condition":"Ready"}]'; do
  passes_for_operator "--workload-kinds=[$(jq -cn --argjson with "{$other}" '{group:"apps.example.com",version:"v1alpha1",kind:"CloneSet",resource:"clonesets"} + $with')]"
  tells 1 'two operators describe CloneSet differently' pause cloneset/front -n shop
done
tells 1 'the operator in namespace aaa' retry cloneset/front -n shop
tells 1 'name the namespace of yours with --operator-namespace' explain cloneset/front -n shop
tells 1 'say with --workload-kinds which one you mean' clean-up --force
tells 0 'two operators describe CloneSet differently' history configmap/settings -n shop
! is_paused cloneset front || fail "a kind of aaa was paused"
tells 0 'clonesets.v1alpha1.apps.example.com with the pod template at spec.template, as the operator in namespace shop describes it' pause cloneset/front -n shop --operator-namespace=shop
is_paused cloneset front || fail "it was not paused"
tells 0 'resumed' resume cloneset/front -n shop --operator-namespace=shop
passes_for_operator --namespaces=aaa '--workload-kinds=[{"group":"evil.example.com","version":"v1","kind":"CloneSet","resource":"clonesets"}]'
tells 0 'CloneSet shop/front' explain cloneset/front -n shop
passes_for_operator '--workload-kinds=[{"group":"evil.example.com","version":"v1","kind":"Fine","resource":"cloneset"}]'
tells 1 'two operators describe' pause cloneset/front -n shop
k delete namespace aaa >/dev/null
k -n aaa delete configmap reloader-meta-info >/dev/null 2>&1 || true

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

log "a status without observedGeneration counts when it is written anew, or when it stays for settledFor"
crd quiet.example.com v1 Quiet quiets
quiet() {
  k -n shop apply -f - >/dev/null <<Y
apiVersion: quiet.example.com/v1
kind: Quiet
metadata: {name: $1, annotations: {reloader.stakater.com/auto: "true"}}
spec: {template: $(pods "$1")}
Y
  k -n shop patch quiet "$1" --subresource=status --type=merge -p '{"status":{"phase":"Running"}}' >/dev/null
}
quiet_kinds() { echo "[{\"group\":\"quiet.example.com\",\"version\":\"v1\",\"kind\":\"Quiet\",\"resource\":\"quiets\",\"done\":[{\"field\":\"status.phase\",\"value\":\"Running\"}]$1}]"; }
state_of() { k -n shop get quiet "$1" -o json | jq -r '.metadata.annotations["reloader.kubexx.io/rollout-state"] // "" | split(" ")[0]'; }
is_in() { [ "$(state_of "$1")" = "$2" ]; }
k -n shop apply -f - >/dev/null <<'Y'
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: quiet}
spec: {workloads: {kinds: [Quiet]}, maxConcurrentRollouts: 1, stopAfterFailures: 1, healthGate: {timeout: 20s, soakTime: 1s}}
Y
quiet calm
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --workload-kinds="$(quiet_kinds '')"
wait_until 60 "the baseline" has_baseline quiet calm
k -n shop wait reloadpolicy/quiet --for condition=Ready --timeout 90s >/dev/null || fail "the operator does not read the policy"
k -n shop patch configmap settings -p '{"data":{"A":"7"}}' >/dev/null
wait_until 30 "the rollout" is_in calm started
k -n shop patch quiet calm --subresource=status --type=merge -p '{"status":{"phase":"Rolling"}}' >/dev/null
k -n shop patch quiet calm --subresource=status --type=merge -p '{"status":{"phase":"Running"}}' >/dev/null
wait_until 15 "a status that has come back" is_in calm completed
k -n shop label quiet calm a=b >/dev/null
k -n shop patch configmap settings -p '{"data":{"A":"8"}}' >/dev/null
wait_until 30 "the next rollout" is_in calm started
wait_until 60 "a silent status to fail" is_in calm failed
says_what_to_do() { k -n shop get events -o json | grep -q 'settledFor in --workload-kinds'; }
wait_until 30 "what to do about it" says_what_to_do
stop_operator
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --workload-kinds="$(quiet_kinds ',"settledFor":"3s"')"
wait_until 60 "the same with settledFor" is_in calm completed
k -n shop patch configmap settings -p '{"data":{"A":"9"}}' >/dev/null
quiet_has() { [ "$(value_of quiet calm spec.template)" = "$1" ]; }
wait_until 30 "another rollout" quiet_has "$(sha A=9)"
wait_until 30 "its end" is_in calm completed
stop_operator
k -n shop delete reloadpolicy quiet >/dev/null

log "clean-up finds what is on them"
tells 0 'Worker shop/worker-1: would take away' clean-up --templates --force --workload-kinds="$kinds"
tells 0 'Worker shop/worker-1: took away' clean-up --templates --force --dry-run=false --workload-kinds="$kinds"
clone_set_has front "" || fail "the variable is still there"
! has_baseline worker worker-1 || fail "the baseline is still there"
log "PASSED"
