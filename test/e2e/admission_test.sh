#!/usr/bin/env bash
# `--admission` with a real kube-apiserver: what is created or gets another template has the digests of its sources from the start, so that the
# operator has nothing to roll; a dry run, other kinds and other changes are left alone; whoever updates a source is warned of what that rolls;
# and without the webhooks everything goes on.
set -euo pipefail
export KUBEXX_CLUSTER_NAME=admission-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=../../hack/lib/cluster_settings.sh
. "$kx_top/hack/lib/cluster_settings.sh"
program=${KUBEXX_BUILD_DIR:-$kx_top/build/release}/bin/kubexx-reloader
work=$(mktemp -d)
operator_pid=
metrics_port=
webhook_port=

finish() {
  local status=$?
  stop_operator
  [ "$status" -eq 0 ] || tail -n 40 "$work/log" >&2 || true
  "$cluster" down
  rm -rf "$work"
  exit "$status"
}
# a_port: one that nobody has, and that the kernel gives to no outgoing connection: the operator binds it a moment later, and again when it
# comes back.
a_port() { free_port $((20000 + RANDOM % 12000)); }
# start_operator FLAG...: with the webhook on webhook_port.
start_operator() {
  metrics_port=$(a_port)
  METRICS_COUNT_BY_NAMESPACE=enabled RELOADER_NAMESPACE=tools "$program" --metrics-addr="127.0.0.1:$metrics_port" --admission --admission-addr="127.0.0.1:$webhook_port" \
    --admission-url="https://127.0.0.1:$webhook_port" --admission-warnings "$@" >>"$work/log" 2>&1 &
  operator_pid=$!
  wait_until 30 "the operator" is_ready
}
stop_operator() {
  [ -n "$operator_pid" ] || return 0
  kill "$operator_pid" 2>/dev/null || true
  wait "$operator_pid" || true
  operator_pid=
}
metrics() { curl -s --max-time 5 "http://127.0.0.1:$metrics_port/metrics"; }
is_ready() { curl -sf --max-time 5 -o /dev/null "http://127.0.0.1:$metrics_port/ready"; }
count() { metrics | awk -v name="$1" '$1 == name { print $2 }'; } # count METRIC
# has_path KIND PATH: the operator has written the certificate and its path into the configuration.
has_path() {
  kubectl get "$1" tools.kubexx-reloader-admission -o json | jq -e --arg path "$2" '.webhooks[0].clientConfig | .caBundle != null and (.url | test("/" + $path + "/[0-9a-f]{40}$"))' >/dev/null
}
is_trusted() { has_path mutatingwebhookconfiguration stamp-workload && has_path validatingwebhookconfiguration warn-of-rollouts; }

# uses NAME KIND: a workload of the ConfigMap `settings` and the Secret `db`.
uses() {
  jq -n --arg name "$1" --arg kind "$2" '{apiVersion: "apps/v1", kind: $kind, metadata: {name: $name, annotations: {"reloader.stakater.com/auto": "true"}},
    spec: ({selector: {matchLabels: {app: $name}}, template: {metadata: {labels: {app: $name}},
      spec: {containers: [{name: "app", image: "localhost/busybox:1", envFrom: [{configMapRef: {name: "settings"}}, {secretRef: {name: "db"}}]}]}}}
      + (if $kind == "StatefulSet" then {serviceName: $name} else {} end))}'
}
# stamps_with WORD: the operator is ready when it knows the cluster, and its webhook answers a moment later.
stamps_with() { uses new Deployment | kubectl -n shop create --dry-run=server -f - -o json | grep -q "$1"; }
of() { kubectl -n shop get "$1" "$2" -o json | jq -r "$3"; }
env_of() { jq -r '[.spec.template.spec.containers[0].env[]? | .name + "=" + .value] | sort | join(" ")'; }
variables() { kubectl -n shop get "$1" "$2" -o json | env_of; }
recorded() { of "$1" "$2" '.metadata.annotations["reloader.kubexx.io/baseline"] // ""'; }
stamps() { printf 'STAKATER_DB_SECRET=%s STAKATER_SETTINGS_CONFIGMAP=%s' "$(digest "PASSWORD=$2")" "$(digest "KEY=$1")"; }
# What the operator would do wrong it would do within milliseconds of an event; this one comes after it.
marker_turn=1
caught_up() {
  local counted
  marker_turn=$((marker_turn + 1))
  counted=$(rollouts marker)
  kubectl -n marker patch configmap marker -p "{\"data\":{\"KEY\":\"$marker_turn\"}}" >/dev/null
  marked() { [ "$(kubectl -n marker get deployment marker -o json | env_of)" = "STAKATER_MARKER_CONFIGMAP=$(digest "KEY=$marker_turn")" ]; }
  wait_until 20 "the rollout of the marker" marked
  # The operator counts a rollout when it has the answer to its PATCH, and others see the object before that.
  wait_until 20 "the count of the marker's rollout" has_rolled marker $((counted + 1))
}
# rollouts NAMESPACE: how many the operator has counted.
rollouts() { metrics | awk -v namespace="namespace=\"$1\"" '/^reloader_reload_executed_total_by_namespace/ && index($0, namespace) { sum += $NF } END { print sum + 0 }'; }
has_rolled() { [ "$(rollouts "$1")" = "$2" ]; }

# p99 WEBHOOK: a bound of what the API server has measured, and of how many calls.
p99() {
  kubectl get --raw /metrics | grep "^apiserver_admission_webhook_admission_duration_seconds_bucket.*$1" >"$work/buckets"
  python3 - "$work/buckets" <<'P'
import re, sys
total = {}
for line in open(sys.argv[1]):
    bound = float(re.search(r'le="([^"]+)"', line).group(1))
    total[bound] = total.get(bound, 0) + float(line.split()[-1])
count = max(total.values())
print(next(bound for bound, seen in sorted(total.items()) if seen >= 0.99 * count), "s, of", int(count))
P
}

trap finish EXIT
"$cluster" up
use_cluster_environment
webhook_port=$(a_port)
kubectl create namespace tools >/dev/null
kubectl create namespace shop >/dev/null
kubectl create namespace marker >/dev/null
kubectl -n shop create configmap settings --from-literal=KEY=1 >/dev/null
kubectl -n shop create secret generic db --from-literal=PASSWORD=1 >/dev/null
kubectl -n marker create configmap marker --from-literal=KEY=1 >/dev/null
# As the chart makes it, with a URL in the Service's place.
"$kx_bin/helm" template reloader "$kx_top/helm/kubexx-reloader" --kube-version 1.33.0 --set kubexx.admission.enabled=true --set kubexx.admission.warnings=true --show-only templates/admission.yaml >"$work/chart.yaml"
kubectl create -f "$work/chart.yaml" --dry-run=client -o json | jq -s --arg url "https://127.0.0.1:$webhook_port" '
  .[] | select(.kind | endswith("WebhookConfiguration")) | .metadata.name = "tools.kubexx-reloader-admission" |
  .webhooks[0].clientConfig = {url: ($url + .webhooks[0].clientConfig.service.path)}' | kubectl create -f - >/dev/null

log "without the operator everything goes on"
uses early Deployment | kubectl -n shop create -f - >/dev/null
[ "$(variables deployment early)" = "" ] || fail "somebody has changed it"

log "what is created has its digests from the start"
start_operator
wait_until 30 "the certificate in the configuration" is_trusted
wait_until 30 "the webhook" stamps_with STAKATER_SETTINGS_CONFIGMAP
path=$(kubectl get mutatingwebhookconfiguration tools.kubexx-reloader-admission -o json | jq -r '.webhooks[0].clientConfig.url | split("/") | last')
metrics >"$work/metrics"
grep -q '^controller_runtime_webhook_latency_seconds_count{webhook="stamp-workload"}' "$work/metrics" || fail "no metrics of the webhook: $(grep webhook "$work/metrics")"
if cat "$work/metrics" "$work/log" | grep -n "$path"; then fail "whoever reads metrics or the log knows the path"; fi
jq -n '{apiVersion: "apps/v1", kind: "Deployment", metadata: {name: "marker", annotations: {"reloader.stakater.com/auto": "true"}},
  spec: {replicas: 0, selector: {matchLabels: {app: "marker"}}, template: {metadata: {labels: {app: "marker"}},
    spec: {containers: [{name: "app", image: "localhost/busybox:1", envFrom: [{configMapRef: {name: "marker"}}]}]}}}}' | kubectl -n marker create -f - >/dev/null
caught_up
for kind in Deployment StatefulSet DaemonSet; do
  name=$(tr '[:upper:]' '[:lower:]' <<<"$kind")-a
  uses "$name" "$kind" | kubectl -n shop create -f - -o json >"$work/made"
  [ "$(env_of <"$work/made")" = "$(stamps 1 1)" ] ||
    fail "$name was created with $(jq -c '.spec.template.spec.containers[0].env' "$work/made")"
  caught_up
  # The UID is not known at the creation, so the operator notes the baseline as ever. The template stays as it was made.
  has_baseline() { recorded "$kind" "$name" | grep -q "configmap/settings=$(digest KEY=1).*secret/db=$(digest PASSWORD=1)"; }
  wait_until 20 "the baseline of $name" has_baseline
  [ "$(of "$kind" "$name" '.spec.template | tojson')" = "$(jq -r '.spec.template | tojson' "$work/made")" ] || fail "the operator has rolled $name"
done
[ "$(rollouts shop)" = 0 ] || fail "the operator has rolled more than the marker"

log "a dry run, a scale and a label are left alone"
dry=$(uses dry Deployment | kubectl -n shop create --dry-run=server -f - -o json | jq -r '.spec.template.spec.containers[0].env | length')
[ "$dry" = 2 ] || fail "a dry run shows $dry variables"
if kubectl -n shop get deployment dry >/dev/null 2>&1; then fail "a dry run was stored"; fi
stamped=$(count 'kubexx_reloader_admission_total{result="stamped"}')
kubectl -n shop scale deployment deployment-a --replicas=3 >/dev/null
kubectl -n shop label deployment deployment-a team=a >/dev/null
kubectl -n shop patch deployment deployment-a --type json -p '[{"op":"remove","path":"/spec/template/spec/containers/0/env"}]' >/dev/null
[ "$(count 'kubexx_reloader_admission_total{result="stamped"}')" = "$stamped" ] || fail "something else than a template was stamped"

log "a change makes one rollout, and a release that brings both makes none besides"
kubectl -n shop patch configmap settings -p '{"data":{"KEY":"2"}}' >/dev/null
rolled() { [ "$(variables "$1" "$2")" = "$(stamps 2 1)" ]; }
wait_until 20 "the rollout" rolled statefulset statefulset-a
caught_up
kubectl -n shop patch secret db -p '{"stringData":{"PASSWORD":"2"}}' >/dev/null
has_both() { [ "$(variables statefulset statefulset-a)" = "$(stamps 2 2)" ]; }
wait_until 20 "the rollout for the Secret" has_both
caught_up
# Each of the four workloads for both changes.
wait_until 20 "the count of the rollouts" has_rolled shop 8
kubectl -n shop set image statefulset/statefulset-a app=localhost/busybox:2 >/dev/null
[ "$(variables statefulset statefulset-a)" = "$(stamps 2 2)" ] || fail "the digests of an update: $(variables statefulset statefulset-a)"
# The baseline that comes with an update says that it is of this template.
recorded statefulset statefulset-a | grep -q "^v2 .*configmap/settings=$(digest KEY=2)" || fail "the baseline: $(recorded statefulset statefulset-a)"
# As a release does that replaces the object: the variables are not in its manifest. The PUT names no version, since the operator, which notes
# the baseline, and the Deployment controller may write between a look at the object and its replacement.
uses replaced Deployment | kubectl -n shop create -f - >/dev/null
uses replaced Deployment | jq '.spec.template.spec.containers[0].image = "localhost/busybox:2"' |
  kubectl replace --raw /apis/apps/v1/namespaces/shop/deployments/replaced -f - >/dev/null
[ "$(variables deployment replaced)" = "$(stamps 2 2)" ] || fail "the digests of a replaced one: $(variables deployment replaced)"
caught_up
[ "$(rollouts shop)" = 8 ] || fail "the operator has rolled more than the marker: $(rollouts shop) instead of 8"

log "a source that does not exist is left out, and awaited by the operator"
uses late Deployment | jq '.spec.template.spec.containers[0].envFrom[1].secretRef = {name: "absent", optional: true}' | kubectl -n shop create -f - >/dev/null
[ "$(variables deployment late)" = "STAKATER_SETTINGS_CONFIGMAP=$(digest KEY=2)" ] || fail "the variables: $(variables deployment late)"
# The operator knows it when it has noted a baseline.
late_is_known() { [ "$(recorded deployment late)" != "" ]; }
wait_until 20 "the baseline of late" late_is_known

log "whoever changes a source is told what that rolls"
warned() { # warned WORDS COMMAND...: what kubectl says on standard error; nothing when WORDS is empty
  local words=$1
  shift
  "$@" 2>"$work/warnings" >/dev/null || fail "$*: $(cat "$work/warnings")"
  if grep -n 'hunter' "$work/warnings"; then fail "a warning shows a value"; fi
  if [ -z "$words" ]; then [ ! -s "$work/warnings" ] || fail "$*: $(cat "$work/warnings")"; return; fi
  grep -qF "$words" "$work/warnings" || fail "$*: does not say '$words': $(cat "$work/warnings")"
}
warned 'Warning: kubexx-reloader rolls 6 workloads: ' kubectl -n shop patch configmap settings --dry-run=server -p '{"data":{"KEY":"hunter2"}}'
warned 'rolls 5 workloads: Deployment/deployment-a, ' kubectl -n shop patch secret db --dry-run=server -p '{"stringData":{"PASSWORD":"hunter3"}}'
warned '' kubectl -n shop label configmap settings team=a
warned '' kubectl -n shop create configmap unused --from-literal=KEY=1
warned '' kubectl -n shop patch configmap unused -p '{"data":{"KEY":"2"}}'
kubectl -n marker annotate configmap marker reloader.kubexx.io/paused=true >/dev/null
is_held() { kubectl -n marker patch configmap marker --dry-run=server -p '{"data":{"KEY":"hunter4"}}' 2>&1 >/dev/null | grep -qF '1 of them cannot begin at once: Deployment/marker (SourcePaused)'; }
wait_until 20 "the pause" is_held
kubectl -n marker annotate configmap marker reloader.kubexx.io/paused- >/dev/null

log "how long it takes"
began=$(date +%s%N)
for i in $(seq 1 190); do uses "many-$i" Deployment | jq '.spec.replicas = 0'; done | jq -s '{apiVersion: "v1", kind: "List", items: .}' | kubectl -n shop create -f - >/dev/null
took=$((($(date +%s%N) - began) / 1000000))
log "190 Deployments took $took ms; of the webhook's calls, 99 of 100 took at most $(p99 stamp-workload)"
for i in $(seq 1 50); do
  kubectl -n shop patch configmap settings --dry-run=server -p "{\"data\":{\"KEY\":\"try-$i\"}}" 2>"$work/warnings" >/dev/null
done
grep -q '^Warning: kubexx-reloader rolls ' "$work/warnings" || fail "no warning beside many workloads: $(cat "$work/warnings")"
log "of the calls for warnings about some 200 workloads, 99 of 100 took at most $(p99 warn-of-rollouts)"
log "of very many workloads it looks at the first ones, and says so"
for i in $(seq 1 20); do uses "more-$i" Deployment | jq '.spec.replicas = 0'; done | jq -s '{apiVersion: "v1", kind: "List", items: .}' | kubectl -n shop create -f - >/dev/null
looks_at_some() { kubectl -n shop patch configmap settings --dry-run=server -p '{"data":{"KEY":"hunter5"}}' 2>&1 >/dev/null | grep -qE "Warning: kubexx-reloader rolls at least [1-9][0-9]* workloads: "; }
wait_until 20 "the warning about some of many" looks_at_some
[ "$(count 'kubexx_reloader_admission_total{result="failed"}')" = 0 ] || fail "answers have failed: $(grep 'being stored' "$work/log" | tail -n 3)"
of_many() { variables deployment many-190; }
[ "$(of_many)" = "$(stamps 2 2)" ] || fail "the last of many: $(of_many)"

log "the webhook is gone, and everything goes on"
stop_operator
began=$(date +%s)
uses last Deployment | kubectl -n shop create -f - >/dev/null
[ $(($(date +%s) - began)) -lt 10 ] || fail "it held a creation up"
[ "$(variables deployment last)" = "" ] || fail "somebody has changed it"

log "with the strategy annotations"
start_operator --reload-strategy=annotations
wait_until 30 "the webhook" stamps_with reloader.stakater.com/last-reloaded-from
uses other Deployment | kubectl -n shop create -f - >/dev/null
[ "$(of deployment other '.spec.template.metadata.annotations["reloader.stakater.com/last-reloaded-from"] | fromjson | .hash | length')" = 40 ] ||
  fail "the annotation: $(of deployment other '.spec.template.metadata')"
is_noted() { [ "$(recorded deployment other)" != "" ]; }
wait_until 20 "the baseline" is_noted
log "PASSED"
