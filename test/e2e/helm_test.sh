#!/usr/bin/env bash
# The operator installed by Helm under exactly the rights of the chart, with real pods: every style of reference and every
# annotation (matrix.py), what another operator has left on workloads, bad input, and Prometheus with the chart's dashboard
# and alerts; in the end `helm test`.
#
# Environment: KUBEXX_DASHBOARD_PICTURE, a file to draw the dashboard to (takes 90 seconds more).
set -euo pipefail
export KUBEXX_CLUSTER_NAME=helm-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=../../hack/lib/cluster_settings.sh
. "$kx_top/hack/lib/cluster_settings.sh"
# shellcheck source=prometheus.sh
. "$(dirname "$0")/prometheus.sh"
# shellcheck source=kinds.sh
. "$(dirname "$0")/kinds.sh"
# shellcheck source=policies.sh
. "$(dirname "$0")/policies.sh"
# shellcheck source=sources.sh
. "$(dirname "$0")/sources.sh"
become_root "$@"
here=$kx_top/test/e2e
chart=$kx_top/helm/kubexx-reloader
system=ops
operator=reloader-reloader
work=$(mktemp -d)
settle_window=$((2500 + 2500 * ${KUBEXX_PATIENCE:-1})) # milliseconds: longer than two writes take while other tests run

receiver_process=
start_receiver() {
  local port address
  port=$(free_port 9290)
  address=$(kubectl get nodes -o 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}')
  receiver_url=http://$address:$port
  "$here/receiver.py" "$port" "$work/received" &
  receiver_process=$!
}

finish() {
  local status=$?
  [ -z "$receiver_process" ] || kill "$receiver_process" 2>/dev/null || true
  [ -z "$rightless_process" ] || kill "$rightless_process" 2>/dev/null || true
  stop_prometheus
  rm -rf "$work"
  end_test "$status"
}

start() {
  local tar=$work/image.tar
  "$kx_top/hack/deps" e2e
  "$cluster" down
  "$cluster" node
  use_cluster_environment
  "$kx_top/hack/image" --from-build --output "$tar"
  image_is_small "$tar"
  "$cluster" load "$tar"
  log "workloads, some of them rolled before by another operator; then the operator"
  "$here/matrix.py" objects | kubectl apply -f - >/dev/null
  apply_kinds
  start_receiver
  helm install reloader "$chart" -n "$system" --create-namespace --values - >/dev/null <<END
reloader:
  enableHA: true
  isArgoRollouts: true
  isOpenshift: true
  service: {port: 80}
  ignoreNamespaces: team,hooked,borrowed,sources,shop-1,shop-2,shop-3
  deployment:
    replicas: 2
    env:
      open: {ALERT_ON_RELOAD: "true"}
      secret: {ALERT_WEBHOOK_URL: "$receiver_url/alert", ALERT_ADDITIONAL_INFO: from the test}
kubexx: {settleWindow: ${settle_window}ms}
END
  install_scoped
  install_gentle
  install_sources
  start_rightless
  rolled_out "$system" "deployment/$operator"
  start_prometheus
}

# Two more operators, each for its own namespace alone: one with the other strategy, one that calls a webhook. The first leaves
# these namespaces alone.
install_scoped() {
  kubectl create namespace team >/dev/null
  kubectl -n team create configmap here --from-literal=KEY=first >/dev/null
  kubectl -n team create deployment plain --image=localhost/busybox:1 --replicas=0 -- sleep 100000 >/dev/null
  kubectl -n team set env deployment/plain --from=configmap/here >/dev/null
  kubectl -n team create deployment late --image=localhost/busybox:1 --replicas=0 -- sleep 100000 >/dev/null
  kubectl -n team patch deployment late --type json -p '[{"op": "add", "path": "/spec/template/spec/containers/0/envFrom",
    "value": [{"configMapRef": {"name": "later", "optional": true}}]}]' >/dev/null
  helm install second "$chart" -n team --values - >/dev/null <<END
reloader: {watchGlobally: false, reloadStrategy: annotations, autoReloadAll: true, reloadOnCreate: true, reloadOnDelete: true}
END
  kubectl create namespace hooked >/dev/null
  helm install third "$chart" -n hooked --values - >/dev/null <<END
reloader: {watchGlobally: false, webhookUrl: "$receiver_url/hook"}
END
}

webhook_is_called() {
  log "a webhook instead of rollouts"
  rolled_out hooked deployment/third-reloader
  kubectl -n hooked create configmap here --from-literal=KEY=first >/dev/null
  kubectl -n hooked patch configmap here -p '{"data":{"KEY":"second"}}' >/dev/null
  wait_until 30 "the call" grep -qF '/hook {"webhook":"update successful"}' "$work/received"
}

# last_reloaded DEPLOYMENT: what the annotation on its pod template says, as "TYPE NAME HASH".
last_reloaded() {
  kubectl -n team get deployment "$1" -o json |
    jq -r '.spec.template.metadata.annotations["reloader.stakater.com/last-reloaded-from"] // "{}" | fromjson | "\(.type) \(.name) \(.hash)"'
}
last_reloaded_is() { [ "$(last_reloaded "$1")" = "$2" ]; }

scoped_rolls() {
  local deleted
  log "the annotations strategy; a source that comes and goes"
  rolled_out team deployment/second-reloader
  kubectl -n team patch configmap here -p '{"data":{"KEY":"second"}}' >/dev/null
  kubectl -n team create configmap later --from-literal=KEY=new >/dev/null
  wait_until 30 "the annotation of an edit" last_reloaded_is plain "CONFIGMAP here $(digest KEY=second)"
  wait_until 30 "the annotation of a new source" last_reloaded_is late "CONFIGMAP later $(digest KEY=new)"
  kubectl -n team delete configmap later >/dev/null
  deleted=$(digest __RELOADER_EMPTY_DELETE_MARKER__)
  wait_until 30 "the annotation of a deleted source" last_reloaded_is late "CONFIGMAP later $deleted"
  kubectl -n team get deployment plain late -o json |
    jq -e '[.items[].spec.template.spec.containers[].env[]?.name | select(startswith("STAKATER_"))] == []' >/dev/null ||
    fail "the annotations strategy set a variable"
}

image_is_small() {
  local bytes
  bytes=$(stat -c %s "$1")
  log "the image has $((bytes / 1000)) kB compressed"
  [ "$bytes" -le 25000000 ] || fail "the image has $bytes bytes, more than 25 MB"
}

# matrix WORDS...: what matrix.py says of the workloads as they are.
matrix() {
  kubectl -n matrix get deployments,statefulsets,daemonsets -o json >"$work/workloads.json"
  "$here/matrix.py" "$@" "$work/workloads.json" >"$work/said" 2>&1
}
matrix_is() { # matrix_is SECONDS WORDS...
  local seconds=$1
  shift
  wait_for "$seconds" "the workloads ($*)" matrix "$@" || fail "$(cat "$work/said")"
  log "$(cat "$work/said")"
}

# Both sources of a workload, in two requests that are under way at the same time: kubectl sends one after the other, and on a
# busy machine the second may come when the settle window is over.
two_at_once() { # two_at_once VALUE
  local port proxy started took api
  local -a patch=(-fsS -o /dev/null -X PATCH -H "Content-Type: application/merge-patch+json")
  port=$(free_port 9490)
  api=http://127.0.0.1:$port/api/v1/namespaces/matrix
  kubectl proxy --port "$port" >/dev/null &
  proxy=$!
  wait_until 10 "kubectl proxy" curl -fs "$api"
  started=$(date +%s%N)
  curl --no-progress-meter --parallel --parallel-immediate "${patch[@]}" -d "{\"data\":{\"KEY\":\"$1\"}}" "$api/configmaps/config" \
    --next "${patch[@]}" -d "{\"stringData\":{\"KEY\":\"$1\"}}" "$api/secrets/secret"
  took=$((($(date +%s%N) - started) / 1000000))
  kill "$proxy"
  log "two sources are written in $took ms"
  [ "$took" -lt "$settle_window" ] || fail "this machine takes $took ms for two writes, longer than the settle window of $settle_window"
}

matrix_rolls() {
  matrix_is 60 started
  log "two sources of one workload are changed together; then the others, by one command"
  two_at_once second
  "$here/matrix.py" sources second | kubectl apply -f - >/dev/null
  matrix_is 60 rolled second
  kinds_have_rolled second
  rolled_out matrix deployment/running deployment/migrated statefulset/stateful daemonset/daemon
  log "an edit that changes no data; then the leader goes, and one source is changed"
  kubectl -n matrix label configmap,secret --all colour=blue >/dev/null
  kubectl -n "$system" delete pod "$(leader)" --wait=false >/dev/null
  kubectl -n matrix patch configmap config -p '{"data":{"KEY":"third"}}' >/dev/null
  matrix_is 60 rolled second third
}

leader() { kubectl -n "$system" get lease stakater-reloader-lock -o 'jsonpath={.spec.holderIdentity}'; }

# A flag with a wrong value ends the program at once with status 1, and the message names the flag.
refused() { # refused WORDS ARGUMENT...
  local words=$1 said status=0
  shift
  said=$(timeout 20 "$kx_top/build/release/bin/kubexx-reloader" --metrics-addr=127.0.0.1:0 "$@" 2>&1) || status=$?
  [ "$status" = 1 ] || fail "$*: exit status $status: $said"
  grep -qe "$words" <<<"$said" || fail "$*: said '$said'"
}
bad_flags_end_it() {
  log "bad flags"
  refused resource-label-selector '--resource-label-selector=???'
  refused reload-strategy --reload-strategy=restart
  refused resources-to-ignore --resources-to-ignore=pods
  refused resources-to-ignore --resources-to-ignore=secrets,configmaps
  refused settle-window --settle-window=soon
  refused namespace-selector '--namespace-selector=a in (b'
  refused maintenance-windows '--maintenance-windows=often 1h'
  refused health-timeout --health-timeout=0s
  refused min-rollout-interval --min-rollout-interval=-1s
  refused max-concurrent-rollouts --max-concurrent-rollouts=many
  refused POD_NAME --enable-ha
  refused shards --enable-ha --shards=0
  refused webhook-url --webhook-url=ftp://example.com
  refused unknown --unknown-flag
}

# Events on workloads, an alert for each rollout, and the ConfigMap that tells of the installation.
others_are_told() {
  log "Events, alerts, meta-info"
  kubectl -n matrix get events -o json | jq -e 'any(.items[]; .reason == "Reloaded" and .type == "Normal" and
    .involvedObject.name == "running" and (.message | startswith("Changes detected in")))' >/dev/null || fail "there is no Event"
  grep -qF 'of type CONFIGMAP in namespace matrix. Hence reloaded running of type Deployment in namespace matrix' "$work/received" ||
    fail "there is no alert: $(cat "$work/received")"
  grep -q '/alert from the test : ' "$work/received" || fail "the alert lacks the additional information"
  kubectl -n "$system" get configmap reloader-meta-info -o json | jq -e '.data.reloaderOptions | fromjson | .enableHA == true' >/dev/null ||
    fail "there is no meta-info"
}

# The API server turned nothing down: the chart's rights are enough. Only policies of the cluster are not for an operator of
# some namespaces, and one operator has borrowed its roles. A bad pattern is told.
log_is_clean() {
  ! prometheus_query "rest_client_requests_total{code=\"403\", job=\"$operator\"} > 0 or rest_client_requests_total{code=\"403\", job!=\"borrowed-reloader\", method!=\"GET\"} > 0" | jq -e '.data.result | length > 0' >/dev/null || fail "a right is missing"
  kubectl -n "$system" logs -l "app=$operator" --tail -1 >"$work/log"
  grep -q 'bad(' "$work/log" || fail "the malformed expression is not told"
}

prometheus_sees_it() {
  log "Prometheus: targets, rules, dashboard"
  rolled_out "$system" "deployment/$operator"
  kubectl -n matrix patch configmap matched -p '{"data":{"KEY":"for the dashboard"}}' >/dev/null
  list_targets
  wait_until 30 "a scrape" scrapes "$operator" 2
  wait_until 30 "the alert rules" rules_are_healthy
  operator_http /metrics >"$work/metrics"
  "$here/dashboard.py" names "$work/metrics" "$chart"/files/*
  "$here/dashboard.py" documented "$work/metrics" "$kx_top/docs/reloader/metrics.md"
  wait_for 40 "data in the dashboard" "$here/dashboard.py" check "$prometheus_url" "$chart/files/dashboard.json" ||
    "$here/dashboard.py" check "$prometheus_url" "$chart/files/dashboard.json"
}

# One source at a time, for the picture to have something to show.
draw_dashboard() {
  local turn name end=$((SECONDS + 90))
  for ((turn = 0; SECONDS < end; turn++)); do
    name=$(shuf -n 1 -e matched app.settings-v2 other)
    kubectl -n matrix patch configmap "$name" -p "{\"data\":{\"KEY\":\"turn-$turn\"}}" >/dev/null
    [ $((turn % 3)) -ne 0 ] || kubectl -n matrix label configmap "$name" "turn=$turn" --overwrite >/dev/null
  done
  /usr/bin/python3 "$here/dashboard.py" draw "$prometheus_url" "$chart/files/dashboard.json" "$KUBEXX_DASHBOARD_PICTURE"
}

# `helm test` sees that the release works, where the namespace is watched.
release_is_tested() {
  log "helm test"
  helm test reloader -n "$system" --timeout "$((120 * ${KUBEXX_PATIENCE:-1}))s" >"$work/said" 2>&1 || fail "helm test: $(cat "$work/said")"
  ! kubectl -n "$system" get pods,roles,serviceaccounts,configmaps,deployments -o name | grep -E 'reloader-test|self-test' || fail "helm test leaves something"
}

trap finish EXIT
start
list_targets
matrix_rolls
scoped_rolls
sources_roll
webhook_is_called
others_are_told
bad_flags_end_it
one_at_a_time
pauses_end
borrowed_roles_do
rightless_is_not_ready
nothing_crashed
shards_move
prometheus_sees_it
log_is_clean
[ -z "${KUBEXX_DASHBOARD_PICTURE:-}" ] || draw_dashboard
release_is_tested
log "PASSED"
