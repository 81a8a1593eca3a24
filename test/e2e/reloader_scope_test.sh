#!/usr/bin/env bash
# What the operator does about sources that it does not see, on kubexx-apiserver: a label selector that comes and goes, namespaces
# and kinds that it may not read, a tenant that is deleted, namespaces that are selected later.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

server_flags=(--authorization-mode RBAC --token-auth-file "$work/tokens" --controllers namespace)
echo 'operators-token,operator,operator' >"$work/tokens"
start
k config view --raw -o json | jq '.users[].user = {token: "operators-token"}' >"$work/rights"

log "a label selector comes and goes"
k create namespace shop >/dev/null
for name in one two three four; do workload shop "$name"; done
run_operator "$KUBECONFIG" --reload-on-create=true --reload-on-delete=true
for name in one two three four; do wait_until 20 "the record of $name" recorded shop "$name"; done
edit shop one 2
wait_until 20 "the rollout of one" rolled_for shop one 2
stop_operator
run_operator "$KUBECONFIG" --reload-on-create=true --reload-on-delete=true --resource-label-selector=watched=yes
wait_until 20 "the looks" has_looked 4
for name in two three four; do still shop "$name" "" "what a selector leaves out counted as deleted"; done
still shop one 2 "what a selector leaves out counted as deleted"
k -n shop label configmap two watched=yes >/dev/null
wait_until 20 "a look" has_looked 5
still shop two "" "a label counted as a creation"
edit shop two 2
wait_until 20 "the rollout of two" rolled_for shop two 2
before=$(looks)
k -n shop label configmap two watched- >/dev/null
wait_until 20 "a look" has_looked $((before + 1))
still shop two 2 "a label that was taken away counted as a deletion"
k -n shop label configmap two watched=yes >/dev/null
wait_until 20 "a look" has_looked $((before + 2))
k -n shop delete configmap two >/dev/null
wait_until 20 "the rollout for the deletion" rolled_for shop two ""
stop_operator
run_operator "$KUBECONFIG" --reload-on-create=true --reload-on-delete=true
wait_until 20 "the looks" has_looked 4
for name in three four; do still shop "$name" "" "what a selector had left out counted as created"; done
stop_operator

log "a type is ignored for a while"
run_operator "$KUBECONFIG" --reload-on-create=true --reload-on-delete=true --resources-to-ignore=secrets
wait_until 20 "the looks" has_looked 4
stop_operator
run_operator "$KUBECONFIG" --reload-on-create=true --reload-on-delete=true
wait_until 20 "the looks" has_looked 4
for name in three four; do still shop "$name" "" "a type that was ignored"; done
stop_operator

log "Secrets of Helm are not watched"
k -n shop create secret generic sh.helm.release.v1.web.v1 --type helm.sh/release.v1 --from-literal=release=1 >/dev/null
run_operator "$KUBECONFIG"
wait_until 20 "the looks" has_looked 4
wait_until 20 "the Secrets that count, and no other" secrets_are 4
stop_operator

log "a namespace and a kind that are refused"
k create namespace a >/dev/null
k create namespace b >/dev/null
workload a web
workload b web
k create clusterrole operator --verb=get,list,watch,patch,create,update,delete \
  --resource=configmaps,secrets,deployments.apps,statefulsets.apps,daemonsets.apps,jobs.batch,cronjobs.batch,events >/dev/null
k -n a create rolebinding operator --clusterrole=operator --user=operator >/dev/null
run_operator "$work/rights" --namespaces=a,b --reload-on-delete=true
wait_until 20 "the operator" is_ready
wait_until 20 "the record" recorded a web
edit a web 2
wait_until 20 "the rollout in a" rolled_for a web 2
wait_until 20 "what is missing" ready_says '^ready, but may not list configmaps in namespace b: .* 200$'
metric_is 'kubexx_reloader_unavailable{resource="secrets",watched_namespace="b"}' 1 || fail "the metric does not tell"
k -n b create rolebinding operator --clusterrole=operator --user=operator >/dev/null
wait_until 90 "the record in b" recorded b web
edit b web 2
wait_until 20 "the rollout in b" rolled_for b web 2
wait_until 60 "that all is well" ready_says '^ready 200$'
log "the tenant goes, with its rights"
k delete namespace b --wait=true >/dev/null
edit a web 3
wait_until 20 "the rollout in a" rolled_for a web 3
stop_operator
run_operator "$work/rights" --namespaces=a,b --reload-on-delete=true
wait_until 20 "the operator" is_ready
edit a web 4
wait_until 20 "the rollout in a" rolled_for a web 4
stop_operator
k create clusterrole no-secrets --verb=get,list,watch,patch,create \
  --resource=configmaps,deployments.apps,statefulsets.apps,daemonsets.apps,jobs.batch,cronjobs.batch,events >/dev/null
k create clusterrolebinding no-secrets --clusterrole=no-secrets --user=operator >/dev/null
k -n a delete rolebinding operator >/dev/null
run_operator "$work/rights" --reload-on-delete=true
wait_until 20 "the operator" is_ready
edit a web 5
wait_until 20 "the rollout without Secrets" rolled_for a web 5
k -n a get deployment web -o json | grep -q 'secret/web=[0-9a-f]' || fail "the record of the Secret is lost"
stop_operator

log "the right to patch is missing in one namespace"
k create namespace full >/dev/null
k create namespace lacking >/dev/null
workload lacking web
k create clusterrole no-patch --verb=get,list,watch,create \
  --resource=configmaps,secrets,deployments.apps,statefulsets.apps,daemonsets.apps,jobs.batch,cronjobs.batch,events >/dev/null
k -n full create rolebinding operator --clusterrole=operator --user=operator >/dev/null
k -n lacking create rolebinding operator --clusterrole=no-patch --user=operator >/dev/null
k delete clusterrolebinding no-secrets >/dev/null
run_operator "$work/rights" --namespaces=full,lacking
wait_until 20 "the missing right" grep -q 'The operator lacks a right.*kind=Deployment.*verb=patch.*namespace=lacking' "$work/operator.log"
workload full web
wait_until 20 "the record where the right is not missing" recorded full web
edit lacking web 2
edit full web 2
wait_until 20 "the rollout where the right is not missing" rolled_for full web 2
still lacking web "" "the right is missing"
k -n lacking create rolebinding operator-too --clusterrole=operator --user=operator >/dev/null
wait_until 90 "the rollout that is made up for" rolled_for lacking web 2
stop_operator

log "a namespace is selected later"
k create namespace later >/dev/null
workload later web
k -n later apply -f - >/dev/null <<Y
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, annotations: {reloader.stakater.com/auto: "true"}}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: app, image: "example.com/app:1", envFrom: [{configMapRef: {name: web}}]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: work, annotations: {reloader.stakater.com/auto: "true"}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: app, image: "example.com/app:1", envFrom: [{configMapRef: {name: web}}]}]
Y
later_jobs() { k -n later get jobs -o 'jsonpath={range .items[*]}{.metadata.name}={.metadata.uid} {end}'; }
made_by_hand=$(later_jobs)
has_other_jobs() { [[ $(later_jobs) != *"$made_by_hand"* && $(later_jobs | wc -w) = 2 ]]; }
record_of() { k -n later get "$1" "$2" -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}' | grep -q 'configmap/web='; }
run_operator "$KUBECONFIG" --namespace-selector=watched=yes --reload-on-create=true --sync-after-restart
wait_until 20 "the operator" is_ready
seen=$(edits)
edit later web 2
wait_until 20 "the edit" has_had_edits $((seen + 1))
k label namespace later watched=yes >/dev/null
wait_until 20 "the record" recorded later web
wait_until 20 "the record of the CronJob" record_of cronjob backup
wait_until 20 "the record of the Job" record_of job work
still later web "" "an edit from before the namespace was selected"
[ "$(later_jobs)" = "$made_by_hand" ] || fail "an edit from before the namespace was selected has run Jobs: $(later_jobs)"
edit later web 3
wait_until 20 "the rollout" rolled_for later web 3
wait_until 20 "the CronJob's Job, and the other one made anew" has_other_jobs
stop_operator

log "a migration to the other strategy, either way"
# What stakater/Reloader left of the strategy that it had before: of the present data, or of older ones when it has changed its
# strategy since. Neither says that anything changed while nobody watched.
to_annotations() { # to_annotations NAME VALUE: a variable
  k -n moved set env "deployment/$1" "STAKATER_$(tr '[:lower:]' '[:upper:]' <<<"$1")_CONFIGMAP=$(printf 'KEY=%s' "$2" | sha1sum | cut -d' ' -f1)" --containers=app >/dev/null
}
to_variables() { # to_variables NAME VALUE: an annotation
  local from
  from="{\"type\":\"CONFIGMAP\",\"name\":\"$1\",\"namespace\":\"moved\",\"hash\":\"$(printf 'KEY=%s' "$2" | sha1sum | cut -d' ' -f1)\",\"containerRefs\":[\"app\"],\"observedAt\":1700000000}"
  k -n moved patch deployment "$1" -p "$(jq -n --arg from "$from" '{spec: {template: {metadata: {annotations: {"reloader.stakater.com/last-reloaded-from": $from}}}}}')" >/dev/null
}
moved_templates() { k -n moved get deployments -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.template}{"\n"}{end}'; }
names_source() { k -n moved get deployment "$1" -o 'jsonpath={.spec.template}' | grep -q "last-reloaded-from.*$(printf 'KEY=%s' "$2" | sha1sum | cut -d' ' -f1)"; }
has_variable() { k -n moved get deployment "$1" -o 'jsonpath={.spec.template}' | grep -q "\"STAKATER_$(tr '[:lower:]' '[:upper:]' <<<"$1")_CONFIGMAP\",\"value\":\"$(printf 'KEY=%s' "$2" | sha1sum | cut -d' ' -f1)"; }
for strategy in annotations variables; do
  k create namespace moved >/dev/null
  for name in present older; do workload moved "$name"; done
  "to_$strategy" present 1
  "to_$strategy" older 0
  before=$(moved_templates)
  if [ "$strategy" = annotations ]; then
    run_operator "$KUBECONFIG" --namespaces=moved --reload-strategy=annotations
  else
    run_operator "$KUBECONFIG" --namespaces=moved
  fi
  for name in present older; do wait_until 20 "the record of $name" recorded moved "$name"; done
  [ "$(moved_templates)" = "$before" ] || fail "the change of the strategy to $strategy has rolled: $(moved_templates)"
  for name in present older; do
    edit moved "$name" 2
    if [ "$strategy" = annotations ]; then
      wait_until 20 "the rollout of $name" names_source "$name" 2
    else
      wait_until 20 "the rollout of $name" has_variable "$name" 2
    fi
  done
  stop_operator
  k delete namespace moved --wait=true >/dev/null
done

log "what is recorded counts, and not who sets it back"
k create namespace records >/dev/null
workload records web
workload records gone
workload records marker
run_operator "$KUBECONFIG" --namespaces=records --reload-on-delete=true
for name in web gone marker; do wait_until 20 "the record of $name" recorded records "$name"; done
baseline() { k -n records get deployment "$1" -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}'; }
template() { k -n records get deployment "$1" -o 'jsonpath={.spec.template}'; }
old=$(baseline web)
edit records web 2
wait_until 20 "the rollout" rolled_for records web 2
before=$(template web)
for manager in kubectl-annotate argocd-controller; do
  looked=$(looks) was=$(baseline web)
  k -n records annotate deployment web --overwrite --field-manager="$manager" "reloader.kubexx.io/baseline=$old" >/dev/null
  # What the one before set back may still be there: then nothing has changed.
  [ "$was" = "$old" ] || wait_until 20 "a look" has_looked $((looked + 1))
  caught_up records
  [ "$(template web)" = "$before" ] || fail "a baseline that $manager set back has rolled: $(template web)"
done
log "an old record that somebody keeps in its place counts once, at the next start"
stop_operator
k -n records annotate deployment web --overwrite --field-manager=argocd-controller "reloader.kubexx.io/baseline=$old" >/dev/null
run_operator "$KUBECONFIG" --namespaces=records --reload-on-delete=true
is_other() { [ "$(template web)" != "$before" ]; }
wait_until 20 "the rollout for what the old record says" is_other
rolled_for records web 2 || fail "it is rolled for other data"
before=$(template web)
looked=$(looks)
k -n records annotate deployment web --overwrite --field-manager=argocd-controller "reloader.kubexx.io/baseline=$old" >/dev/null
wait_until 20 "a look" has_looked $((looked + 1))
caught_up records
[ "$(template web)" = "$before" ] || fail "the old record has rolled again while the operator runs: $(template web)"

log "a change while a workload is opted out"
looked=$(looks)
k -n records annotate deployment web --overwrite reloader.stakater.com/auto=false >/dev/null
wait_until 20 "a look" has_looked $((looked + 1))
edit records web 3
caught_up records
still records web 2 "it is opted out"
k -n records annotate deployment web --overwrite reloader.stakater.com/auto=true >/dev/null
wait_until 20 "the rollout for what changed meanwhile" rolled_for records web 3
log "a deletion that rolls nothing hides no change"
k -n records delete configmap gone >/dev/null
caught_up records
still records gone "" "it has no variable"
k -n records create configmap gone --from-literal=KEY=2 >/dev/null
wait_until 20 "the rollout for the source that was made anew" rolled_for records gone 2
stop_operator

log "what is written after an undo, while no operator runs"
k create namespace undone >/dev/null
workload undone edited
workload undone cut
k -n undone patch configmap cut -p '{"data":{"EXTRA":"1"}}' >/dev/null
run_operator "$KUBECONFIG" --namespaces=undone
for name in edited cut; do wait_until 20 "the record" recorded undone "$name"; done
digest_of_cut() { printf 'EXTRA=1;KEY=%s' "$1" | sha1sum | cut -d' ' -f1; }
undone_has() { k -n undone get deployment "$1" -o json | jq -e --arg digest "$2" 'any(.spec.template.spec.containers[0].env[]?; .value == $digest)'; }
edit_both() {
  edit undone edited "$1"
  edit undone cut "$1"
  wait_until 20 "the rollout" rolled_for undone edited "$1"
  wait_until 20 "the rollout" undone_has cut "$(digest_of_cut "$1")"
}
edit_both 2
for name in edited cut; do k -n undone get deployment "$name" -o json >"$work/$name.json"; done
edit_both 3
stop_operator
next_second # times in managed fields are whole seconds
for name in edited cut; do
  # As kubectl rollout undo does it.
  jq -c '[{op: "replace", path: "/spec/template", value: .spec.template},
    {op: "replace", path: "/metadata/annotations", value: .metadata.annotations}]' "$work/$name.json" >"$work/undo.json"
  k -n undone patch deployment "$name" --type=json --patch-file "$work/undo.json" --field-manager=kubectl >/dev/null
done
next_second
k -n undone patch configmap cut -p '{"data":{"EXTRA":null}}' >/dev/null
edit undone edited 4
run_operator "$KUBECONFIG" --namespaces=undone
wait_until 20 "the rollout for what was written after the undo" rolled_for undone edited 4
# No time tells when a key was taken away: see behaviour.md.
undone_has cut "$(digest_of_cut 2)" || fail "the page says that this is missed: $(k -n undone get deployment cut -o json)"
edit undone cut 4
wait_until 20 "the rollout for the next change" rolled_for undone cut 4
stop_operator

log "a suspended CronJob is not run by an edit"
k create namespace jobs >/dev/null
k -n jobs create configmap backup --from-literal=KEY=1 >/dev/null
k -n jobs apply -f - >/dev/null <<Y
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, annotations: {reloader.stakater.com/auto: "true"}}
spec:
  schedule: "0 3 * * *"
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: app, image: "example.com/app:1", envFrom: [{configMapRef: {name: backup}}]}]
Y
jobs() { k -n jobs get jobs -o name; }
has_jobs() { [ "$(jobs | wc -l)" = "$1" ]; }
cron_job_recorded() { k -n jobs get cronjob backup -o json | grep -q "$(printf 'KEY=%s' "$1" | sha1sum | cut -d' ' -f1)"; }
run_operator "$KUBECONFIG"
wait_until 20 "the record" cron_job_recorded 1
edit jobs backup 2
wait_until 20 "the record of the edit" cron_job_recorded 2
has_jobs 0 || fail "a suspended CronJob has been run: $(jobs)"
wait_until 20 "the log of it" grep -q 'workload left alone.*workload=backup.*it is suspended' "$work/operator.log"
k -n jobs annotate cronjob backup reloader.kubexx.io/run-suspended=true >/dev/null
edit jobs backup 3
wait_until 20 "the Job that was asked for" has_jobs 1
event_names_job() { k -n jobs get events -o 'jsonpath={.items[*].message}' | grep -qF "made Job '$(jobs | cut -d/ -f2)' of 'backup'"; }
wait_until 20 "the Event that names it" event_names_job
stop_operator
log "all is well"
