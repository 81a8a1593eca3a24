#!/usr/bin/env bash
# The operator, in a cluster from an image with a service account of its own, rolls workloads under a real kubelet when
# their ConfigMap or Secret changes, and only then.
set -euo pipefail
export KUBEXX_CLUSTER_NAME=e2e-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
become_root "$@"
here=$kx_top/test/e2e
message=STAKATER_APP_CONFIG_CONFIGMAP
password=STAKATER_APP_SECRET_SECRET

start() {
  local tar
  "$cluster" down
  "$cluster" node
  use_cluster_environment
  log "the operator, from an image, by manifests/"
  tar=$KUBEXX_CACHE/images/$KUBEXX_CLUSTER_NAME.tar
  "$kx_top/hack/image" --from-build --output "$tar"
  "$cluster" load "$tar"
  rm "$tar"
  kubectl apply -f "$kx_top/manifests/" >/dev/null
  log "workloads that use a ConfigMap and a Secret"
  kubectl apply -f "$here/workloads.yaml" >/dev/null
  rolled_out "$system" "deployment/$operator"
  rolled_out shop deployment/web deployment/bystander statefulset/db daemonset/agent
  wait_until 30 "the first message" all_pods_print web message=first
  wait_until 30 "the first message" all_pods_print agent message=first
  wait_until 30 "the first password" all_pods_print db length=17
  operator_http /live >/dev/null || fail "/live does not answer"
  operator_http /ready >/dev/null || fail "/ready does not answer"
}

config_map_change_rolls() {
  log "an edit of the ConfigMap rolls the Deployment and the DaemonSet"
  kubectl -n shop patch configmap app-config -p '{"data":{"MESSAGE":"second"}}' >/dev/null
  wait_until 30 "the Deployment's variable" variable_is $message deployment/web "$(digest MESSAGE=second)"
  wait_until 30 "the DaemonSet's variable" variable_is $message daemonset/agent "$(digest MESSAGE=second)"
  rolled_out shop deployment/web daemonset/agent
  wait_until 60 "pods with the new message" all_pods_print web message=second
  wait_until 60 "pods with the new message" all_pods_print agent message=second
}

# An edit that changes no data comes first: had it rolled anything, the generations would tell at the end.
secret_change_rolls() {
  local before
  before="$(revision deployment/web) $(revision daemonset/agent)"
  log "a label on the ConfigMap rolls nothing, an edit of the Secret rolls the StatefulSet"
  kubectl -n shop label configmap app-config colour=blue >/dev/null
  kubectl -n shop patch secret app-secret -p '{"stringData":{"PASSWORD":"correct-horse-second"}}' >/dev/null
  wait_until 30 "the StatefulSet's variable" variable_is $password statefulset/db "$(digest PASSWORD=correct-horse-second)"
  rolled_out shop statefulset/db
  wait_until 60 "a pod with the new password" all_pods_print db length=20
  [ "$(revision deployment/web) $(revision daemonset/agent)" = "$before" ] || fail "a label rolled workloads"
}

metrics_move() {
  log "metrics"
  metric workqueue_depth >/dev/null || fail "there is no metric workqueue_depth"
  metric_at_least workqueue_adds_total 3
  metric_at_least reflector_lists_total 5
  metric_at_least reflector_watches_total 5
}

stops_on_sigterm() {
  local process started took code
  log "SIGTERM ends the operator in time, and cleanly"
  process=$(operator_process)
  started=$(date +%s%N)
  kill -TERM "$process"
  wait_until 30 "the operator's end" process_is_over "$process"
  took=$((($(date +%s%N) - started) / 1000000))
  log "it took $took ms"
  # Before the kubelet, after 30 s of grace, would kill it.
  [ "$took" -lt 25000 ] || fail "the operator took $took ms to stop"
  wait_until 60 "the restart" restarted_and_ready
  code=$(kubectl -n "$system" get pod "$(operator_pod)" -o 'jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}')
  [ "$code" = 0 ] || fail "the operator's exit status was $code"
}
process_is_over() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:\s*Z' "/proc/$1/status"; }
restarted_and_ready() {
  kubectl -n "$system" get pod "$(operator_pod)" -o json |
    jq -e '.status.containerStatuses[0] | .ready and .restartCount == 1' >/dev/null
}

missed_change_is_made_up_for() {
  local db
  db=$(revision statefulset/db)
  log "a change while the operator is away is acted on when it is back; nothing else rolls"
  scan_logs
  kubectl -n "$system" scale deployment "$operator" --replicas 0 >/dev/null
  wait_until 60 "the operator to be gone" operator_is_gone
  kubectl -n shop patch configmap app-config -p '{"data":{"MESSAGE":"third"}}' >/dev/null
  kubectl -n "$system" scale deployment "$operator" --replicas 1 >/dev/null
  wait_until 60 "the Deployment's variable" variable_is $message deployment/web "$(digest MESSAGE=third)"
  rolled_out shop deployment/web
  wait_until 60 "pods with the third message" all_pods_print web message=third
  [ "$(revision statefulset/db)" = "$db" ] || fail "the restart of the operator rolled the StatefulSet"
}

operator_is_gone() { [ -z "$(kubectl -n "$system" get pods -o name)" ]; }

# No value of a Secret, plain or encoded, in what the operator says.
scan_logs() {
  local logs value
  logs=$({ kubectl -n "$system" logs "$(operator_pod)"; kubectl -n "$system" logs -p "$(operator_pod)" 2>/dev/null || true; operator_http /metrics; })
  [ -n "$logs" ] || fail "the operator logs nothing"
  for value in correct-horse "$(printf correct-horse-one | base64)" "$(printf correct-horse-second | base64)"; do
    ! grep -qF "$value" <<<"$logs" || fail "the operator tells a secret"
  done
}

trap end_test EXIT
start
config_map_change_rolls
secret_change_rolls
[ "$(revision deployment/bystander)" = 1 ] || fail "a Deployment without annotations was changed"
metrics_move
stops_on_sigterm
missed_change_is_made_up_for
scan_logs
[ "$(revision deployment/bystander)" = 1 ] || fail "a Deployment without annotations was changed"
log "PASSED"
