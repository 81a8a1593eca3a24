#!/usr/bin/env bash
# Waves of a policy: a bad ConfigMap reaches the canaries and no other workload, however often the operator is killed, also when the failed canary becomes
# healthy by itself or is undone; mended data are rolled out to all, canaries first; a person lets the waves go on; with onFailure: Restore the last good data
# are put back, once. Runs on kubexx-apiserver; the test plays
# the controller and writes the status of Deployments. KUBEXX_WAVES_APPS workloads (24 by default), KUBEXX_RESTARTS kills (3 by default).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$here/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$here/apiserver.sh"
# shellcheck source=operator.sh
. "$here/operator.sh"
export RELOADER_NAMESPACE=default # where the key of snapshots is
count=${KUBEXX_WAVES_APPS:-24}
restarts=${KUBEXX_RESTARTS:-3}
canaries=5

all_become() { # all_become healthy|failed [NAME...]: these, or all
  local health=$1 available=1 conditions='[]' generations
  if [ "$health" = failed ]; then
    available=0 conditions='[{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]'
  fi
  shift
  generations=$(k get deployments -o json | jq -r '.items[] | [.metadata.name, .metadata.generation] | @tsv')
  while read -r name generation; do
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    k patch deployment "$name" --subresource=status --type=merge >/dev/null -p "{\"status\":{\"observedGeneration\":$generation,\"replicas\":1,
      \"updatedReplicas\":1,\"readyReplicas\":$available,\"availableReplicas\":$available,\"conditions\":$conditions}}"
  done <<<"$generations"
}
config_becomes() { k create configmap config --from-literal="A=$1" --dry-run=client -o json | k apply -f - >/dev/null; }
counted=all # or key: A alone counts, and digests are over those of the keys
digest_of() {
  case $counted-$1 in
    key-*) printf 'A=%s' "$(printf '%s' "$1" | sha1sum | cut -d' ' -f1)" ;;
    all-two) printf 'A=two;B=1' ;;
    *) printf 'A=%s' "$1" ;;
  esac | sha1sum | cut -d' ' -f1
}
rolled() { # rolled VALUE: those whose pods would begin with it
  k get deployments -o json | jq -r --arg digest "$(digest_of "$1")" \
    '.items[] | select(any(.spec.template.spec.containers[0].env[]?; .value == $digest)) | .metadata.name'
}
rolled_are() { # rolled_are COUNT VALUE
  [ "$(rolled "$2" | wc -l)" = "$1" ]
}
policy_says() { k get reloadpolicy careful -o json | jq -e "$1" >/dev/null; }
condition() { echo "any(.status.conditions[]; .type == \"WaveFailed\" and .status == \"$1\")"; }
on() { k get deployment "$1" -o json | jq -r --arg key "reloader.kubexx.io/$2" '.metadata.annotations[$key] // ""'; }
has_failed() { [[ $(on "$1" rolled-data) == "failed "* ]]; }
has_event() { # has_event REASON NAME
  k get events -o json | jq -e --arg reason "$1" --arg name "$2" 'any(.items[]; .reason == $reason and .involvedObject.name == $name)' >/dev/null
}
kill_operator() {
  kill -9 "$operator"
  wait "$operator" 2>/dev/null || true
  operator=
}
none_but_canaries() { # none_but_canaries VALUE WHEN
  rolled_are "$canaries" "$1" || fail "$2 the config went on to: $(rolled "$1" | xargs)"
}

start
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
config_becomes good
for i in $(seq -w "$count"); do
  k create deployment "app-$i" --image=app:1 --dry-run=client -o json |
    jq -c '.metadata.annotations["reloader.stakater.com/auto"] = "true" | .spec.template.spec.containers[0].envFrom = [{configMapRef: {name: "config"}}]'
done | k apply -f - >/dev/null
all_become healthy
wait_for 10 "the CRD" k get reloadpolicies || fail "the CRD is not served"
if k apply -f - >/dev/null 2>"$work/refused" <<'END'; then fail "a wave of 101 percent was taken"; fi
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: careful}
spec: {waves: {sizes: [{percent: 101}]}}
END
k apply -f - >/dev/null <<END
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: careful}
spec: {settleWindow: 100ms, waves: {sizes: [{count: $canaries}, {percent: 25}], healthyFor: 3s, timeout: 5m}}
END
run_operator "$KUBECONFIG" --namespaces default --history=2
wait_until 30 "the operator" is_ready

log "a bad edit reaches $canaries of $count workloads"
config_becomes bad
wait_until 60 "the canaries" rolled_are "$canaries" bad
mapfile -t chosen < <(rolled bad)
[ "${chosen[*]}" = "$(seq -w "$count" | head -n "$canaries" | sed 's/^/app-/' | xargs)" ] || fail "the canaries are ${chosen[*]}"
said=$("$reloader" explain "deployment/app-$count" -n default)
grep -q 'waits: Wave: wave 3 of 3 waits for Deployment/default/app-' <<<"$said" || fail "explain says: $said"
all_become healthy "${chosen[@]:1}"
all_become failed "${chosen[0]}"
wait_until 60 "the failure" policy_says "$(condition True)"
wait_until 30 "the mark" has_failed "${chosen[0]}"
policy_says ".status.failedWaves[0].workload == \"Deployment/${chosen[0]}\"" || fail "the status: $(k get reloadpolicy careful -o json)"
none_but_canaries bad "after the failure"
wait_until 30 "the Event on the policy" has_event WaveFailed careful
wait_until 30 "the Event on the workload" has_event RolloutFailed "${chosen[0]}"
wait_until 10 "the metric" metric_is kubexx_reloader_waves_failed 1
said=$("$reloader" explain "deployment/app-$count" -n default)
grep -q "waits: WaveFailed: the rollout of Deployment/default/${chosen[0]} for ConfigMap/config has failed" <<<"$said" || fail "explain says: $said"
"$reloader" history "deployment/${chosen[0]}" -n default -o json | jq -e '.rollouts | length == 1' >/dev/null || fail "the history has no entry"

log "it stays so across $restarts kills, and when the canary becomes healthy by itself"
for turn in $(seq "$restarts"); do
  kill_operator
  [ "$turn" != 2 ] || all_become healthy "${chosen[@]}"
  run_operator "$KUBECONFIG" --namespaces default --history=2
  wait_until 30 "the operator" is_ready
  wait_until 60 "the condition" policy_says "$(condition True)"
  none_but_canaries bad "restart $turn:"
done
ended() { [[ $(on "$1" rollout-state) == "completed "* ]]; }
wait_until 60 "the end of its rollout" ended "${chosen[0]}"
none_but_canaries bad "after it had become healthy"

log "mended data are rolled out to all, canaries first"
config_becomes mended
wait_until 60 "the canaries" rolled_are "$canaries" mended
[ "$(rolled mended | xargs)" = "${chosen[*]}" ] || fail "others came first: $(rolled mended | xargs)"
all_become healthy "${chosen[@]}"
second=$(((count + 3) / 4 + canaries))
wait_until 60 "the second wave" rolled_are "$second" mended
all_become healthy
wait_until 60 "the last wave" rolled_are "$count" mended
all_become healthy
wait_until 60 "the end of the hold" policy_says "$(condition False)"
rolled_are 0 bad || fail "some have the bad data still: $(rolled bad | xargs)"

log "a person lets the waves go on"
config_becomes odd
wait_until 60 "the canaries" rolled_are "$canaries" odd
all_become failed "${chosen[0]}"
all_become healthy "${chosen[@]:1}"
wait_until 60 "the failure" policy_says "$(condition True)"
wait_until 30 "the mark" has_failed "${chosen[0]}"
"$reloader" retry --mended "deployment/${chosen[0]}" -n default | grep -q 'later waves for ConfigMap/config' || fail "retry does not say that it lets waves go on"
wait_until 60 "the second wave" rolled_are "$second" odd
wait_until 60 "the end of the hold" policy_says "$(condition False)"
all_become healthy
wait_until 60 "the last wave" rolled_are "$count" odd
all_become healthy

roll_out() { # roll_out VALUE: to all, which are healthy with it
  config_becomes "$1"
  wait_until 60 "the canaries" rolled_are "$canaries" "$1"
  all_become healthy
  wait_until 60 "the second wave" rolled_are "$second" "$1"
  all_become healthy
  wait_until 60 "the last wave" rolled_are "$count" "$1"
  all_become healthy
}
break_canary() { # break_canary VALUE: the canaries get it, and the first one fails
  config_becomes "$1"
  wait_until 60 "the canaries" rolled_are "$canaries" "$1"
  all_become healthy "${chosen[@]:1}"
  all_become failed "${chosen[0]}"
}
value_is() { [ "$(k get configmap config -o jsonpath='{.data.A}')" = "$1" ]; }
has_snapshot() { # has_snapshot VALUE: an immutable one that the ConfigMap owns
  k get configmaps -l reloader.kubexx.io/snapshot-of -o json | jq -e --arg value "$1" --arg uid "$(k get configmap config -o jsonpath='{.metadata.uid}')" \
    'any(.items[]; .data == {A: $value} and .immutable and .metadata.ownerReferences[0].uid == $uid)' >/dev/null
}
restored_is() { policy_says "any(.status.conditions[]; .type == \"Restored\" and .status == \"$1\" and .reason == \"$2\")"; }

log "with onFailure: Restore the last good data are put back"
if k patch reloadpolicy careful --type=merge -p '{"spec":{"waves":{"onFailure":"Retry"}}}' 2>"$work/refused"; then fail "onFailure: Retry was taken"; fi
k patch reloadpolicy careful --type=merge -p '{"spec":{"waves":{"onFailure":"Restore"}}}' >/dev/null
wait_until 30 "the missing flag" restored_is False NotAllowed
kill_operator
run_operator "$KUBECONFIG" --namespaces default --history=2 --allow-restore
wait_until 30 "the operator" is_ready
roll_out steady
# The operator's own annotations raise the generation, which the controller that this test plays has to follow.
snapshot_comes() { all_become healthy && has_snapshot "$1"; }
wait_until 90 "the snapshot" snapshot_comes steady
restored_is False NothingToRestore || fail "the status: $(k get reloadpolicy careful -o json)"
# What somebody plants with everything that can be seen of a snapshot, and a copy that somebody keeps.
own=$(k get configmaps -l reloader.kubexx.io/snapshot-of -o json | jq -c '.items[0] | del(.metadata["uid", "resourceVersion", "creationTimestamp", "managedFields"])')
jq -c '.metadata.name = "config-good-0123456789abcdef" | .metadata.annotations["reloader.kubexx.io/snapshot-number"] = "99" |
  .data.A = "planted" | .metadata.annotations["reloader.kubexx.io/snapshot-digest"] = $digest' --arg digest "$(digest_of planted)" <<<"$own" | k create -f - >/dev/null
jq -c '.metadata.name = "kept-by-hand"' <<<"$own" | k create -f - >/dev/null
break_canary broken
wait_until 60 "the restore" value_is steady
wait_until 60 "the way back" rolled_are "$count" steady
rolled_are 0 broken || fail "some have the bad data still: $(rolled broken | xargs)"
wait_until 30 "the condition" restored_is True Restored
wait_until 30 "the Event on the ConfigMap" has_event Restored config
wait_until 30 "the Event on the policy" has_event Restored careful
all_become healthy
wait_until 60 "the end of the hold" policy_says "$(condition False)"
for name in "${chosen[@]}"; do wait_until 60 "the end of the way back of $name" ended "$name"; done
"$reloader" history "deployment/${chosen[0]}" -n default -o json >"$work/history"
grep -q kubexx-reloader-restore "$work/history" || fail "the history does not say who wrote the data: $(cat "$work/history")"

log "bad data that come back are not fought, and the operator says so across a kill"
break_canary broken
wait_until 60 "the failure" policy_says "$(condition True)"
wait_until 60 "the condition" restored_is False RestoredBefore
value_is broken || fail "the data were replaced once more"
wait_until 30 "the Event on the ConfigMap" has_event NotRestored config
none_but_canaries broken "after the failure"
kill_operator
run_operator "$KUBECONFIG" --namespaces default --history=2 --allow-restore
wait_until 30 "the operator" is_ready
wait_until 60 "the condition" restored_is False RestoredBefore
value_is broken || fail "the next process has replaced the data once more"
roll_out mended-again
wait_until 60 "the end of the hold" policy_says "$(condition False)"
wait_until 90 "the snapshot" snapshot_comes mended-again
# With the two that are not the operator's.
are_four() { [ "$(k get configmaps -l reloader.kubexx.io/snapshot-of -o name | wc -l)" = 4 ]; }
wait_until 30 "the end of the oldest snapshot" are_four
k get configmap kept-by-hand config-good-0123456789abcdef >/dev/null || fail "what the operator has not made was deleted"

log "a tool that applies with force gets what it says, bad data are replaced once, and a key that a release removes goes"
applied_is() { # applied_is JSON: as GitOps tools do
  jq -cn --argjson data "$1" '{apiVersion: "v1", kind: "ConfigMap", metadata: {name: "config"}, data: $data}' |
    k apply --server-side --force-conflicts --field-manager gitops -f - >/dev/null
}
data_are() { k get configmap config -o json | jq -e --argjson data "$1" '.data == $data' >/dev/null; }
k delete configmap config --wait >/dev/null
applied_is '{"A": "two", "B": "1"}'
await_all() { # await_all VALUE
  wait_until 60 "the canaries" rolled_are "$canaries" "$1"
  all_become healthy
  wait_until 60 "the second wave" rolled_are "$second" "$1"
  all_become healthy
  wait_until 60 "the last wave" rolled_are "$count" "$1"
  all_become healthy
}
await_all two
both_snapshot() { all_become healthy && k get configmaps -l reloader.kubexx.io/snapshot-of -o json | jq -e 'any(.items[]; .data == {A: "two", B: "1"} and .immutable)' >/dev/null; }
wait_until 90 "the snapshot" both_snapshot
applied_is '{"A": "gone"}'
wait_until 60 "the canaries" rolled_are "$canaries" gone
all_become healthy "${chosen[@]:1}"
all_become failed "${chosen[0]}"
wait_until 60 "the restore" data_are '{"A": "two", "B": "1"}'
wait_until 30 "the condition" restored_is True Restored
owned_by_tool() {
  k get configmap config -o json --show-managed-fields | jq -e '[.metadata.managedFields[] | select(.fieldsV1 | has("f:data"))] |
    length == 1 and .[0].manager == "gitops" and .[0].operation == "Apply" and (.[0].fieldsV1["f:data"] | has("f:A") and has("f:B"))' >/dev/null
}
wait_until 30 "the keys' way back to the tool" owned_by_tool
said=$("$reloader" status -n default)
grep -q 'restored: .*ConfigMap/default/config' <<<"$said" || fail "status says: $said"
said=$("$reloader" explain "deployment/${chosen[0]}" -n default)
grep -q 'ConfigMap config: .*the operator has put these data back' <<<"$said" || fail "explain says: $said"
wait_until 60 "the way back" rolled_are "$count" two
all_become healthy
wait_until 60 "the end of the hold" policy_says "$(condition False)"
for name in "${chosen[@]}"; do wait_until 60 "the end of the way back of $name" ended "$name"; done
applied_is '{"A": "gone"}'
data_are '{"A": "gone"}' || fail "a key stays that the tool has removed: $(k get configmap config -o yaml)"
wait_until 60 "the canaries" rolled_are "$canaries" gone
all_become healthy "${chosen[@]:1}"
all_become failed "${chosen[0]}"
wait_until 60 "the condition" restored_is False RestoredBefore
data_are '{"A": "gone"}' || fail "the data were replaced once more"

log "another key that somebody has written since is told, and left alone"
k annotate configmap config reloader.kubexx.io/keys=A >/dev/null
applied_is '{"A": "fine"}'
counted=key
await_all fine
fine_snapshot() { all_become healthy && k get configmaps -l reloader.kubexx.io/snapshot-of -o json | jq -e 'any(.items[]; .data == {A: "fine"} and .immutable)' >/dev/null; }
wait_until 90 "the snapshot" fine_snapshot
applied_is '{"A": "unfit"}'
wait_until 60 "the canaries" rolled_are "$canaries" unfit
applied_is '{"A": "unfit", "NOTE": "of somebody"}'
all_become healthy "${chosen[@]:1}"
all_become failed "${chosen[0]}"
wait_until 60 "the condition" restored_is False ChangedSince
data_are '{"A": "unfit", "NOTE": "of somebody"}' || fail "what somebody has written was taken away"
wait_until 30 "the Event on the ConfigMap" has_event NotRestored config

log "a source that is gone is told"
k delete configmap config --wait >/dev/null
wait_until 60 "the condition" restored_is False SourceDeleted
policy_says "$(condition True)" || fail "the hold is not told: $(k get reloadpolicy careful -o json)"
said=$("$reloader" status -n default)
grep -q 'has failed in a wave since .* for ConfigMap/config' <<<"$said" || fail "status says: $said"
grep -q 'not restored: SourceDeleted' <<<"$said" || fail "status says: $said"
said=$("$reloader" explain "deployment/${chosen[0]}" -n default)
grep -q 'The operator says: .* has failed in a wave' <<<"$said" || fail "explain says: $said"
grep -q 'The operator says: .* SourceDeleted: ' <<<"$said" || fail "explain says: $said"
log "PASSED"
