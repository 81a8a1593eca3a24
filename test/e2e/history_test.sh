#!/usr/bin/env bash
# `--history` and `kubexx-reloader history`, on kubexx-apiserver with its controllers: a rollout's entry comes with the rollout, in no write of its own
# and not in the pod template; it names keys, their writer and the outcome, and no value; a copy and a broken annotation are told and replaced.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

# says STATUS WORDS ARGUMENT...: what history prints is in $work/said.
says() {
  local wanted=$1 words=$2 status=0
  shift 2
  timeout 60 "$reloader" history "$@" >"$work/said" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || fail "history $*: status $status instead of $wanted: $(cat "$work/said")"
  grep -qF -e "$words" "$work/said" || fail "history $*: does not say '$words': $(cat "$work/said")"
  if grep -n 'hunter' "$work/said"; then fail "history $*: shows a value"; fi
}
also() { grep -qF -e "$1" "$work/said" || fail "history does not say '$1': $(cat "$work/said")"; }
history_of() { k -n shop get "$1" "$2" -o json | jq -r '.metadata.annotations["reloader.kubexx.io/history"] // ""'; }
entries() { history_of deployment "$1" | jq '.rollouts | length'; }
has_entries() { [ "$(entries "$1" 2>/dev/null)" = "$2" ]; }
outcome_is() { "$reloader" history deployment/web -n shop -o json | jq -e --arg outcome "$1" '.rollouts[0].outcome == $outcome' >/dev/null; }
has_baseline() { k -n shop get deployment "$1" -o json | grep -q '"reloader.kubexx.io/baseline": "v[12] '; }

server_flags=(--controllers all --pod-start-delay 50ms)
start
k create namespace shop >/dev/null
workload shop web
workload shop api
k -n shop label deployment web app=web >/dev/null
k -n shop scale deployment web --replicas=2 >/dev/null
says 0 'Deployment shop/web: no rollout is recorded; an operator records them with --history' deployment/web -n shop
run_operator "$KUBECONFIG" --history=3
for each in web api; do wait_until 30 "the baseline of $each" has_baseline "$each"; done
[ -z "$(history_of deployment web)" ] || fail "there is a history without a rollout"

log "a rollout comes with its entry"
# Not by k: the kill would end the shell of the function, and leave the watch alone.
timeout 300 "$kx_bin/kubectl" -n shop get deployment web -w -o json --show-managed-fields 2>/dev/null >"$work/versions" &
watcher=$!
wait_until 30 "the watch" test -s "$work/versions"
k -n shop patch configmap web --field-manager=night-job -p '{"data":{"KEY":"hunter2","OTHER":"hunter3"}}' >/dev/null
wait_until 30 "the entry" has_entries web 1
wait_until 30 "the end" outcome_is 'done'
wait_until 30 "the watch to see it" grep -q '"reloader.kubexx.io/history"' "$work/versions"
kill "$watcher"
wait "$watcher" 2>/dev/null || true
# The variable and the entry came in one version: none has one of the two without the other.
jq -es 'all(.[]; ([.spec.template.spec.containers[0].env[]?.name] | any(. == "STAKATER_WEB_CONFIGMAP")) == (.metadata.annotations["reloader.kubexx.io/history"] != null))' \
  "$work/versions" >/dev/null || fail "the entry came in another write than the rollout"
jq -es 'all(.[]; .spec.template.metadata.annotations // {} | has("reloader.kubexx.io/history") | not)' "$work/versions" >/dev/null ||
  fail "the history is in the pod template"
writes=$(jq -s '[.[].metadata.managedFields[]? | select(.manager == "Reloader") | .manager] | unique | length' "$work/versions")
[ "$writes" = 1 ] || fail "the operator did not write under its own name"
says 0 'Deployment shop/web: 1 rollout' deployment/web -n shop
also ' done in '
also 'ConfigMap web (data '
also 'KEY changed to '
also 'OTHER added as '
also 'written by night-job at 20'
says 0 '"by":"night-job"' deploy web -n shop -o json

log "a Secret shows no digest of a single value, and a source the rollouts of all workloads"
k -n shop patch secret web -p '{"stringData":{"PASSWORD":"hunter4"}}' >/dev/null
wait_until 30 "the second entry" has_entries web 2
says 0 'PASSWORD changed' deployment/web -n shop
jq -e 'true' <<<"$(history_of deployment web)" >/dev/null
history_of deployment web | jq -e '[.rollouts[0].sources[0].keys[] | has("digest")] == [false]' >/dev/null || fail "the history has a digest of a Secret's value"
k -n shop patch deployment api --type json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/envFrom","value":[{"configMapRef":{"name":"web"}}]}]' >/dev/null
k -n shop patch configmap web --type json -p '[{"op":"remove","path":"/data/OTHER"}]' >/dev/null
wait_until 30 "the entry of api" has_entries api 1
wait_until 30 "the third entry" has_entries web 3
says 0 'ConfigMap shop/web: 3 rollouts, the newest first' configmap/web -n shop
also 'Deployment shop/api: '
also 'OTHER removed'
says 0 'Secret shop/web: 1 rollout' secret web -n shop
"$reloader" history configmap/web -n shop -o json | jq -e '[.rollouts[].workload.name] | unique == ["api", "web"]' >/dev/null || fail "the JSON of a source: $(cat "$work/said")"

log "it is bounded, and the outcome of the last rollout is written with the next"
edit shop web 9
entry_for() { history_of deployment web | jq -e '.rollouts[0].sources[0].keys[0].key == "KEY" and (.rollouts | length) == 3' >/dev/null; }
wait_until 30 "the fourth rollout" entry_for
history_of deployment web | jq -e '.rollouts[1].outcome | IN("done", "superseded")' >/dev/null || fail "the outcome: $(history_of deployment web)"

log "a copy does not bring it along, and a broken one is replaced"
k -n shop get deployment web -o json | jq 'del(.metadata.uid, .metadata.resourceVersion) | .metadata.name = "copy" | .spec.selector.matchLabels.app = "copy" |
  .spec.template.metadata.labels.app = "copy"' | k -n shop create -f - >/dev/null
says 0 'belongs to another object, from which it was copied' deployment/copy -n shop
k -n shop annotate deployment api --overwrite reloader.kubexx.io/history='{"v":1,"rollouts":[[[' >/dev/null
says 0 'cannot be read' deployment/api -n shop
wait_until 30 "the baseline of the copy" has_baseline copy
edit shop web 10
of_copy() { [ "$(history_of deployment copy | jq -r '.of')" = "$(k -n shop get deployment copy -o 'jsonpath={.metadata.uid}')" ]; }
wait_until 30 "the copy's own history" of_copy
has_entries copy 1 || fail "the copy has entries of another: $(history_of deployment copy)"
wait_until 30 "the mended history" has_entries api 1
grep -q 'Cannot read the history on a workload' "$work/operator.log" || fail "the broken annotation was not told"

log "errors"
says 2 'one object is needed' -n shop
says 2 'a ReloadPolicy has no history' reloadpolicy/x -n shop
says 2 'is not a kind of workload' pod/x
says 1 'not found' deployment/nothing -n shop
says 0 'no rollout is recorded for it' configmap/nothing -n shop

log "without the flag it goes with the next rollout"
stop_operator
run_operator "$KUBECONFIG"
wait_until 30 "the operator" is_ready
edit shop web 11
is_gone() { [ -z "$(history_of deployment "$1")" ]; }
for each in web api copy; do wait_until 30 "the end of the history of $each" is_gone "$each"; done
log "PASSED"
