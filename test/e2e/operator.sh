# kubexx-reloader beside a kubexx-apiserver, what it says of itself, and workloads that it rolls. To be sourced after apiserver.sh.
# shellcheck shell=bash disable=SC2154

reloader=${KUBEXX_RELOADER:-${KUBEXX_BUILD_DIR:-$kx_root/build/release}/bin/kubexx-reloader}
operator=

end_all() {
  local status=$?
  [ -z "$operator" ] || kill -9 "$operator" 2>/dev/null || true
  [ "$status" -eq 0 ] || tail -n 30 "$work"/operator.log >&2 || true
  set +e
  (exit "$status")
  end
}
trap end_all EXIT

# operator KUBECONFIG FLAGS...: starts it.
run_operator() {
  local config=$1
  shift
  "$reloader" --kubeconfig "$config" --metrics-addr=127.0.0.1:0 "$@" >"$work/operator.log" 2>&1 &
  operator=$!
  wait_until 10 "the operator's port" has_port
}
# The one that serves /metrics: with --enable-pprof there are two, and ss lists them in no order.
has_port() {
  for port in $(ss -ltnpH | sed -n "s/.*127\.0\.0\.1:\([0-9]*\) .*pid=$operator,.*/\1/p"); do
    ! curl -sf --max-time 5 -o /dev/null "http://127.0.0.1:$port/metrics" || return 0
  done
  return 1
}
stop_operator() {
  kill "$operator"
  wait "$operator" || fail "the operator did not end well"
  operator=
}
ready() { curl -s --max-time 5 -w ' %{http_code}' "http://127.0.0.1:$port/ready"; }
is_ready() { [[ $(ready) = ready*" 200" ]]; }
ready_says() { [[ $(ready) =~ $1 ]]; }
metric() { curl -s --max-time 5 "http://127.0.0.1:$port/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
metric_is() { [ "$(metric "$1")" = "$2" ]; }
secrets_are() { [ "$(curl -s --max-time 5 "http://127.0.0.1:$port/metrics" | awk '/^informer_store_objects.*resource="secrets"/ { print $2 }')" = "$1" ]; }
looks() { curl -s --max-time 5 "http://127.0.0.1:$port/metrics" | awk '/^reloader_reconcile_total/ { sum += $2 } END { print sum + 0 }'; }
has_looked() { [ "$(looks)" -ge "$1" ]; }
# Edits of ConfigMaps that have come to it, also such as it leaves alone.
edits() { curl -s --max-time 5 "http://127.0.0.1:$port/metrics" | awk '/^reloader_events_processed_total.*event_type="update".*resource_type="configmaps"/ { sum += $2 } END { print sum + 0 }'; }
has_had_edits() { [ "$(edits)" -ge "$1" ]; }
wait_until() { wait_for "$@" || fail "waited $1 s in vain for $2: $(ready)"; }

workload() { # workload NAMESPACE NAME: a ConfigMap and a Secret, and a Deployment that takes both
  k -n "$1" create configmap "$2" --from-literal=KEY=1 >/dev/null
  k -n "$1" create secret generic "$2" --from-literal=PASSWORD=1 >/dev/null
  k -n "$1" apply -f - >/dev/null <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: $2, annotations: {reloader.stakater.com/auto: "true"}}
spec:
  replicas: 0
  selector: {matchLabels: {app: $2}}
  template:
    metadata: {labels: {app: $2}}
    spec: {containers: [{name: app, image: "example.com/app:1", envFrom: [{configMapRef: {name: $2}}, {secretRef: {name: $2}}]}]}
Y
}
edit() { k -n "$1" patch configmap "$2" -p "{\"data\":{\"KEY\":\"$3\"}}" >/dev/null; }
# rolled_for NAMESPACE NAME VALUE: the variables in the pod template are what a rollout for that value sets; none when it is empty.
rolled_for() {
  local wanted=
  [ -z "$3" ] || wanted="STAKATER_$(tr '[:lower:]' '[:upper:]' <<<"$2")_CONFIGMAP=$(printf 'KEY=%s' "$3" | sha1sum | cut -d' ' -f1) "
  [ "$(k -n "$1" get deployment "$2" -o 'jsonpath={range .spec.template.spec.containers[0].env[*]}{.name}={.value} {end}')" = "$wanted" ]
}
recorded() { k -n "$1" get deployment "$2" -o json | grep -q '"reloader.kubexx.io/baseline": "v[12] .* configmap/.* secret/'; }
# caught_up NAMESPACE: waits until the operator has rolled the workload `marker` of the namespace, which the test has made, for a change
# that is made now. What it would do wrong for an event of before it would have done by then.
marker_turn=1
caught_up() {
  marker_turn=$((marker_turn + 1))
  edit "$1" marker "$marker_turn"
  wait_until 20 "the rollout of the marker" rolled_for "$1" marker "$marker_turn"
}
still() { rolled_for "$1" "$2" "$3" || fail "$1/$2 has been rolled: $4"; }
