#!/usr/bin/env bash
# A replica that has looked on for a while takes over: it neither rolls what its leader has rolled nor misses what changed while
# nobody led. Runs on kubexx-apiserver.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$here/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$here/apiserver.sh"
reloader=${KUBEXX_RELOADER:-${KUBEXX_BUILD_DIR:-$kx_root/build/release}/bin/kubexx-reloader}
declare -A process

end_all() {
  local status=$? name
  for name in "${!process[@]}"; do kill -9 "${process[$name]}" 2>/dev/null || true; done
  [ "$status" -eq 0 ] || tail -n 30 "$work"/*.log >&2 || true
  (exit "$status")
  end
}
trap end_all EXIT

run_replica() { # run_replica NAME
  POD_NAME=$1 POD_NAMESPACE=default "$reloader" --kubeconfig "$KUBECONFIG" --metrics-addr 127.0.0.1:0 --enable-ha \
    >"$work/$1.log" 2>&1 &
  process[$1]=$!
}
leads() { grep -q 'This replica leads a shard' "$work/$1.log"; }
# page NAME PATH: from the replica's HTTP server.
page() {
  local port
  for port in $(ss -ltnpH | sed -n "s/.*127\.0\.0\.1:\([0-9]*\) .*pid=${process[$1]},.*/\1/p"); do
    ! curl -sf --max-time 5 "http://127.0.0.1:$port$2" || return 0
  done
  return 1
}
is_ready() { page "$1" /ready >/dev/null; }
looks() { page "$1" /metrics | awk '/^reloader_reconcile_total/ { sum += $2 } END { print sum + 0 }'; }
has_looked() { [ "$(looks "$1")" -ge "$2" ]; }
make_app() { # make_app NAME CONFIG
  k create deployment "$1" --image=app:1 --dry-run=client -o json |
    jq --arg config "$2" '.metadata.annotations["reloader.stakater.com/auto"] = "true" |
      .spec.template.spec.containers[0].envFrom = [{configMapRef: {name: $config}}]' | k apply -f - >/dev/null
}
becomes() { k create configmap "$1" --from-literal="A=$2" --dry-run=client -o json | k apply -f - >/dev/null; } # becomes CONFIG VALUE
config_becomes() { becomes config "$1"; }
digest() { printf 'A=%s' "$1" | sha1sum | cut -d' ' -f1; }
rolled_for() { k get deployment "${2:-app}" -o json | grep -q "\"value\": \"$(digest "$1")\""; }
recorded() { k get deployment "${2:-app}" -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}' | grep -q "$(digest "$1")"; }
release() { # release IMAGE REPLICA: somebody else's, which the leader has seen
  local looked
  looked=$(looks "$2")
  k set image deployment/app "app=$1" >/dev/null
  wait_for 30 "a look at the release" has_looked "$2" $((looked + 1)) || fail "$2 has not looked at the release"
}
pod_template() { k get deployment app -o 'jsonpath={.spec.template}'; }

start
config_becomes 1
becomes marker before
make_app app config
make_app marker marker
run_replica a
wait_for 30 "the leader" leads a || fail "a does not lead"
wait_for 30 "the record" recorded 1 || fail "nothing is recorded"
wait_for 30 "the record" recorded before marker || fail "nothing is recorded of the marker"
run_replica b
wait_for 30 "the caches of b" is_ready b || fail "b is not ready"

log "a change, a release of somebody else's, and a change"
config_becomes 2
wait_for 30 "a rollout" rolled_for 2 || fail "a has not rolled"
release app:2 a
config_becomes 3
wait_for 30 "a rollout" rolled_for 3 || fail "a has not rolled again"
wait_for 30 "the record" recorded 3 || fail "a has not recorded it"
before=$(pod_template)

log "the leader goes"
kill "${process[a]}"
wait "${process[a]}" || fail "a did not end well"
unset 'process[a]'
wait_for 60 "the next leader" leads b || fail "b does not lead"
# What b would do wrong as a new leader it would have done by then.
becomes marker after
wait_for 30 "the rollout of the marker" rolled_for after marker || fail "b has not rolled the marker"
[ "$(pod_template)" = "$before" ] || fail "b rolled what a had rolled: $(pod_template)"

log "the next one is killed, and what the first release had comes back while nobody leads"
run_replica c
wait_for 30 "the caches of c" is_ready c || fail "c is not ready"
config_becomes 4
wait_for 30 "a rollout" rolled_for 4 || fail "b has not rolled"
release app:3 b
config_becomes 5
wait_for 30 "a rollout" rolled_for 5 || fail "b has not rolled again"
wait_for 30 "the record" recorded 5 || fail "b has not recorded it"
kill -9 "${process[b]}"
wait "${process[b]}" 2>/dev/null || true
unset 'process[b]'
config_becomes 4
wait_for 90 "the rollout by the next leader" rolled_for 4 || fail "c missed the change"
log "PASSED"
