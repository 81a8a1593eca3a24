#!/usr/bin/env bash
# Runs the operator with --tracing against a real API server, and has a real OpenTelemetry collector, built from its Go modules, tell
# what it got: the span of a workload that was rolled, and that of its PATCH below it. Then the collector goes away, which holds nobody up.
#
# Environment: KUBEXX_BUILD_DIR has the operator, KUBEXX_TEST_KUBECONFIG names the server, KUBEXX_CACHE has kubectl, and gets the collector.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
# shellcheck source=../../hack/lib/go.sh
. "$root/hack/lib/go.sh"
# shellcheck source=../../hack/lib/cluster_settings.sh
. "$root/hack/lib/cluster_settings.sh"
: "${KUBEXX_BUILD_DIR:?}" "${KUBEXX_TEST_KUBECONFIG:?}"
export KUBECONFIG=$KUBEXX_TEST_KUBECONFIG PATH=$KUBEXX_CACHE/bin:$PATH
namespace=tracing-$$
work=$(mktemp -d)
pids=()
finish() {
  local status=$?
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  kubectl delete namespace "$namespace" --wait=false >/dev/null 2>&1 || true
  [ "$status" -eq 0 ] || tail -n 40 "$work"/*.log >&2 || true
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

install_go
mkdir -p "$KUBEXX_CACHE/logs"
long_step "building the collector" "$KUBEXX_CACHE/logs/collector.log" \
  env GOMODCACHE="$KUBEXX_CACHE/mod" go build -C "$root/test/tracing/collector" -o "$work/collector" .

port=$(free_port $((20000 + RANDOM % 12000)))
cat >"$work/collector.yaml" <<YAML
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:$port"}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [debug]}}
YAML
"$work/collector" --config "file:$work/collector.yaml" >"$work/collector.log" 2>&1 &
pids+=($!)
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
wait_for 30 "the collector" listens || die "the collector does not start"

kubectl create namespace "$namespace" >/dev/null
kubectl apply -n "$namespace" -f - >/dev/null <<YAML
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {key: "1"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {configmap.reloader.stakater.com/reload: settings}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web}]}
YAML
metrics_port=$(free_port $((20000 + RANDOM % 12000)))
is_ready() { curl -sf -o /dev/null "http://127.0.0.1:$metrics_port/ready"; }
start_operator() {
  OTEL_BSP_SCHEDULE_DELAY=100 OTEL_RESOURCE_ATTRIBUTES=test.run=$namespace OTEL_EXPORTER_OTLP_COMPRESSION=$1 \
    "$KUBEXX_BUILD_DIR/bin/kubexx-reloader" --kubeconfig "$KUBECONFIG" --namespaces "$namespace" --metrics-addr "127.0.0.1:$metrics_port" \
    --tracing --otlp-endpoint "http://127.0.0.1:$port" >>"$work/operator.log" 2>&1 &
  pids+=($!)
  operator=$!
}
rolled() { # rolled TEXT: the template has changed since
  [ "$(kubectl get -n "$namespace" deployment web -o jsonpath='{.spec.template}')" != "$1" ]
}
change_to() { # change_to VALUE: the operator rolls the Deployment for it
  local before
  before=$(kubectl get -n "$namespace" deployment web -o jsonpath='{.spec.template}')
  kubectl patch -n "$namespace" configmap settings --type merge -p "{\"data\":{\"key\":\"$1\"}}" >/dev/null
  wait_for 60 "the rollout" rolled "$before" || die "the Deployment is not rolled"
}
found() { /usr/bin/python3 - "$work/collector.log" "$namespace" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
spans = []
for part in re.split(r"^Span #\d+", text, flags=re.M)[1:]:
    fields = {key.strip(): value.strip() for key, value in re.findall(r"^ {4}([A-Z][A-Za-z ]+?) *: ?(.*)$", part, re.M)}
    fields["attributes"] = dict(re.findall(r"^ +-> ([^:]+): \w+\((.*)\)$", part.split("\nResourceSpans")[0], re.M))
    spans.append(fields)
rolls = [s for s in spans if s["Name"] == "reconcile workload" and s["attributes"].get("reloader.outcome") == "rolled"]
assert rolls, "no reconcile with a rollout among " + str(len(spans))
roll = rolls[-1]
assert roll["Parent ID"] == "" and roll["Kind"] == "Internal", roll
expected = {"k8s.object.kind": "Deployment", "k8s.namespace.name": sys.argv[2], "k8s.object.name": "web"}
assert expected.items() <= roll["attributes"].items(), roll
below = [s for s in spans if s["Parent ID"] == roll["ID"] and s["Trace ID"] == roll["Trace ID"]]
patches = [s for s in below if s["Name"] == "patch deployments"]
assert patches, [s["Name"] for s in below]
patch = patches[0]
assert patch["Kind"] == "Client" and patch["attributes"]["http.response.status_code"] == "200", patch
assert patch["attributes"]["http.request.method"] == "PATCH", patch
assert any(s["Name"] == "GET" and s["attributes"]["url.full"].endswith("/apis") for s in spans), "no discovery"
for attribute in ("service.name: Str(kubexx-reloader)", "test.run: Str(" + sys.argv[2] + ")", "telemetry.sdk.language: Str(cpp)"):
    assert attribute in text, attribute
print("the collector has", len(spans), "spans")
END
}
seen() { grep -q "reloader.outcome: Str(rolled)" "$work/collector.log" && found; }

start_operator gzip
wait_for 60 "the operator" is_ready || die "the operator does not become ready"
change_to 2
wait_for 30 "the spans" seen || { found || true; die "the collector does not have the spans"; }

# The collector goes away.
kill "${pids[0]}"
wait "${pids[0]}" 2>/dev/null || true
change_to 3
end=$SECONDS
kill -TERM "$operator"
wait "$operator" || die "the operator ended with status $?"
[ $((SECONDS - end)) -lt $((20 * ${KUBEXX_PATIENCE:-1})) ] || die "the operator waited for the collector"
echo "the operator works and ends without a collector"
