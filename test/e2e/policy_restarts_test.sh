#!/usr/bin/env bash
# A policy that has stopped stays so, however often the operator is killed: no restart forgets a failed rollout, also when the
# app that crashes again and again looks healthy for an instant just then. Runs on kubexx-apiserver; the test plays the
# controller and writes the status of Deployments. KUBEXX_RESTARTS kills (6 by default) of KUBEXX_RELOADER (by default the one that was built).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$here/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$here/apiserver.sh"
reloader=${KUBEXX_RELOADER:-${KUBEXX_BUILD_DIR:-$kx_root/build/release}/bin/kubexx-reloader}
restarts=${KUBEXX_RESTARTS:-6}
operator=
player=

end_all() {
  local status=$?
  [ -z "$player" ] || kill "$player" 2>/dev/null || true
  [ -z "$operator" ] || kill -9 "$operator" 2>/dev/null || true
  [ "$status" -eq 0 ] || tail -n 40 "$work"/operator.log >&2 || true
  (exit "$status")
  end
}
trap end_all EXIT

apps=(app-1 app-2 app-3 app-4)
make_app() { # make_app NAME [NAMESPACE CONFIG]
  k -n "${2:-default}" create deployment "$1" --image=app:1 --dry-run=client -o json |
    jq --arg config "${3:-config}" '.metadata.annotations["reloader.stakater.com/auto"] = "true" |
      .spec.template.spec.containers[0].envFrom = [{configMapRef: {name: $config}}]' | k -n "${2:-default}" apply -f - >/dev/null
}
digest() { printf 'A=%s' "$1" | sha1sum | cut -d' ' -f1; }
config_becomes() { k create configmap config --from-literal="A=$1" --dry-run=client -o json | k apply -f - >/dev/null; }
# The status of a Deployment with one replica, of which so many are available.
status_becomes() { # status_becomes NAME AVAILABLE
  local generation
  generation=$(k get deployment "$1" -o 'jsonpath={.metadata.generation}') && set_status "$1" "$generation" "$2"
}
set_status() { # set_status NAME GENERATION AVAILABLE
  k patch deployment "$1" --subresource=status --type=merge >/dev/null \
    -p "{\"status\":{\"observedGeneration\":$2,\"replicas\":1,\"updatedReplicas\":1,\"availableReplicas\":$3}}"
}
rolled_apps() { # rolled_apps VALUE: those that run with it
  k get deployments -o json | jq -r --arg digest "$(digest "$1")" \
    '.items[] | select(any(.spec.template.spec.containers[0].env[]?; .value == $digest)) | .metadata.name'
}
rolled_one() { [ "$(rolled_apps "$1" | wc -l)" = 1 ]; }
rolled_all() { [ "$(rolled_apps "$1" | wc -l)" = "${#apps[@]}" ]; }

start_operator() {
  "$reloader" --kubeconfig "$KUBECONFIG" --metrics-addr "127.0.0.1:$port" --namespaces default,marker >>"$work/operator.log" 2>&1 &
  operator=$!
  wait_for 10 "the operator" is_ready_or_gone || fail "the operator did not get ready: $(cat "$work/ready")"
  kill -0 "$operator" || fail "the operator did not start"
}
is_ready_or_gone() {
  ! kill -0 "$operator" 2>/dev/null || [ "$(curl -s -o "$work/ready" -w '%{http_code}' "http://127.0.0.1:$port/ready")" = 200 ]
}
kill_operator() {
  kill -9 "$operator"
  wait "$operator" 2>/dev/null || true
  operator=
}
# A container that ends at once and is started again and again, until there is a file "crashed-enough". It is healthy for an
# instant only, also on a machine on which requests take long: the two sleeps are how long the container runs, and how long the kubelet
# waits before it starts it again. "crashes" gets a line for each time.
crash_loops() {
  local generation
  while [ ! -e "$work/crashed-enough" ]; do
    generation=$(k get deployment "$1" -o 'jsonpath={.metadata.generation}') || continue
    set_status "$1" "$generation" 1 || true
    sleep 0.4
    until set_status "$1" "$generation" 0; do sleep 0.1; done
    echo >>"$work/crashes"
    sleep 0.4
  done 2>/dev/null
}
crashes() { wc -l <"$work/crashes"; }
has_crashed() { [ "$(crashes)" -ge "$1" ]; }
# A Deployment in a namespace without policies. The test changes its ConfigMap after everything else, so an operator that has rolled it
# has already acted on all events before that, rightly or wrongly. The second change comes when those have been through the settle window.
caught_up() {
  local turn
  for turn in 1 2; do
    marker_becomes "$(date +%s%N)-$turn"
    wait_for 30 "the rollout of the marker" marked || fail "the operator has not rolled the marker"
  done
}
marker_becomes() {
  marker=$1
  k -n marker create configmap marker --from-literal="A=$1" --dry-run=client -o json | k apply -f - >/dev/null
}
marked() { k -n marker get deployment marker -o json | grep -q "\"value\": \"$(digest "$marker")\""; }
marker_recorded() {
  k -n marker get deployment marker -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}' | grep -q "$(digest "$marker")"
}
policy_says() { k get reloadpolicy gentle -o json | jq -e "$1" >/dev/null; }
stopped='.status.failed == 1 and any(.status.conditions[]; .type == "Stopped" and .status == "True")'

# One that the kernel gives to no outgoing connection: each restart wants it back.
port=$((20000 + RANDOM % 12000))
while ss -ltnH "sport = :$port" | grep -q .; do port=$((20000 + RANDOM % 12000)); done
start
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
config_becomes good
for app in "${apps[@]}"; do make_app "$app"; done
k create namespace marker >/dev/null
marker_becomes first
make_app marker marker marker
for app in "${apps[@]}"; do status_becomes "$app" 1; done
wait_for 10 "the CRD" k get reloadpolicies || fail "the CRD is not served"
k apply -f - >/dev/null <<'END'
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: gentle}
spec: {settleWindow: 100ms, maxConcurrentRollouts: 1, healthGate: {timeout: 8s}, stopAfterFailures: 1}
END
start_operator
wait_for 20 "the record" marker_recorded || fail "nothing is recorded of the marker"
for app in "${apps[@]}"; do status_becomes "$app" 1; done

log "an edit that breaks the first app"
config_becomes bad
wait_for 20 "the first rollout" rolled_one bad || fail "not one of them was rolled: $(rolled_apps bad)"
broken=$(rolled_apps bad)
crash_loops "$broken" &
player=$!
wait_for 30 "the stop" policy_says "$stopped" || fail "the policy does not stop: $(k get reloadpolicy gentle -o json)"

# An operator that is killed tells nothing any more, and the next one does not tell it again.
has_event() { k get events -o json | jq -e --arg name "$broken" 'any(.items[]; .reason == "RolloutFailed" and .involvedObject.name == $name)' >/dev/null; }
wait_for 20 "the Event" has_event || fail "there is no Event RolloutFailed on $broken"

log "$restarts restarts"
for turn in $(seq "$restarts"); do
  kill_operator
  [ $((turn % 3)) -ne 0 ] || sleep "0.$((RANDOM % 9))" # the operator is away for some part of a crash
  begun=$(crashes)
  start_operator
  wait_for 20 "two crashes" has_crashed $((begun + 2)) || fail "the app does not crash any more"
  caught_up
  rolled_one bad || fail "restart $turn let the config go on to: $(rolled_apps bad | xargs)"
  policy_says "$stopped" || fail "restart $turn lifted the stop: $(k get reloadpolicy gentle -o json)"
done

policy_says '.status.failedRollouts[0].workload == "Deployment/'"$broken"'"' || fail "the status does not name $broken"
logged() { grep -q "Rollouts of a workload need attention.*workload=$1 .*reason=RolloutFailed" "$work/operator.log"; }
wait_for 10 "the log" logged "$broken" || fail "the log does not name $broken"
said=$("$reloader" explain --kubeconfig "$KUBECONFIG" "deployment/$broken")
grep -q 'has failed' <<<"$said" || fail "explain does not say that $broken has failed: $said"

log "the source is mended: the failed app rolls first, and the others when it is healthy"
touch "$work/crashed-enough"
wait "$player"
player=
config_becomes mended
wait_for 20 "the rollout that mends it" rolled_one mended || fail "rolled: $(rolled_apps mended | xargs)"
kill_operator
begun=$(date +%s)
status_becomes "$broken" 1
start_operator
all_rolled_for() { # all_rolled_for VALUE: while all are healthy
  local app
  for app in "${apps[@]}"; do status_becomes "$app" 1; done
  rolled_all "$1"
}
wait_for 90 "the other rollouts" all_rolled_for mended || fail "rolled: $(rolled_apps mended | xargs)"
# none_before SECONDS VALUE APP: the operator writes on each workload when it rolled it. No other than this app was rolled with the value
# earlier than so many seconds after `begun`, when the app became healthy. Times are in whole seconds.
none_before() {
  local early
  early=$(k get deployments -o json | jq -r --arg digest "$(digest "$2")" --arg app "$3" --argjson first $((begun + $1)) \
    '.items[] | select(.metadata.name != $app and any(.spec.template.spec.containers[0].env[]?; .value == $digest)) |
      .metadata.annotations["reloader.kubexx.io/last-rollout"] as $at | select(($at | fromdate) < $first) | "\(.metadata.name) at \($at)"')
  [ -z "$early" ] || fail "rolled before $3 had been healthy for $1 s from $(date -u -d "@$begun" +%FT%TZ) on: $early"
}
none_before 10 mended "$broken"
lifted='.status.failed == 0 and (.status.failedRollouts // [] | length) == 0'
# The app that is rolled last gets healthy, too: its status is of before its rollout when all_rolled_for ends.
is_lifted() {
  local app
  for app in "${apps[@]}"; do status_becomes "$app" 1; done
  policy_says "$lifted"
}
wait_for 20 "the end of the stop" is_lifted || fail "$(k get reloadpolicy gentle -o json)"

# As kubectl rollout undo does it: the pod template and the annotations of the revision before.
undo() {
  jq -c '[{op: "replace", path: "/spec/template", value: .spec.template},
    {op: "replace", path: "/metadata/annotations", value: .metadata.annotations}]' "$work/before-$1.json" >"$work/undo.json"
  k patch deployment "$1" --type=json --patch-file "$work/undo.json" --field-manager=kubectl >/dev/null
}
# What the operator notes on the undone app changes its generation, too: whoever plays the controller says again that all is well.
rolled_another() { # rolled_another VALUE UNDONE
  status_becomes "$2" 1
  rolled_apps "$1" | grep -qvx "$2"
}
# An undo lifts the stop when the app has been healthy for ten seconds, and not before: then the config goes on to the next one.
undone() { # undone killed|running
  local bad=bad-$1
  log "the failed app is undone, with the operator $1"
  for app in "${apps[@]}"; do k get deployment "$app" -o json >"$work/before-$app.json"; done
  config_becomes "$bad"
  wait_for 20 "the first rollout" rolled_one "$bad" || fail "not one of them was rolled: $(rolled_apps "$bad")"
  broken=$(rolled_apps "$bad")
  status_becomes "$broken" 0
  wait_for 30 "the stop" policy_says "$stopped" || fail "the policy does not stop: $(k get reloadpolicy gentle -o json)"
  [ "$1" = running ] || kill_operator
  begun=$(date +%s)
  undo "$broken"
  status_becomes "$broken" 1
  [ "$1" = running ] || start_operator
  wait_for 60 "the next rollout" rolled_another "$bad" "$broken" || fail "the stop was not lifted: $(k get reloadpolicy gentle -o json)"
  none_before 10 "$bad" "$broken"
  config_becomes "mended-$1"
  wait_for 120 "the rollouts of what was mended" all_rolled_for "mended-$1" || fail "rolled: $(rolled_apps "mended-$1" | xargs)"
  wait_for 60 "the end of the stop" is_lifted || fail "$(k get reloadpolicy gentle -o json)"
}
undone running
undone killed
log "PASSED: $restarts restarts"
