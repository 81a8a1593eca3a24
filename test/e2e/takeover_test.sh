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
config_becomes() { k create configmap config --from-literal="A=$1" --dry-run=client -o json | k apply -f - >/dev/null; }
digest() { printf 'A=%s' "$1" | sha1sum | cut -d' ' -f1; }
rolled_for() { k get deployment app -o json | grep -q "\"value\": \"$(digest "$1")\""; }
recorded() { k get deployment app -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}' | grep -q "$(digest "$1")"; }
pod_template() { k get deployment app -o 'jsonpath={.spec.template}'; }

start
config_becomes 1
k create deployment app --image=app:1 --dry-run=client -o json |
  jq '.metadata.annotations["reloader.stakater.com/auto"] = "true" |
    .spec.template.spec.containers[0].envFrom = [{configMapRef: {name: "config"}}]' | k apply -f - >/dev/null
run_replica a
wait_for 30 "the leader" leads a || fail "a does not lead"
wait_for 30 "the record" recorded 1 || fail "nothing is recorded"
run_replica b

log "a change, a release of somebody else's, and a change"
sleep 1 # b has its caches
config_becomes 2
wait_for 30 "a rollout" rolled_for 2 || fail "a has not rolled"
k set image deployment/app app=app:2 >/dev/null
sleep 1
config_becomes 3
wait_for 30 "a rollout" rolled_for 3 || fail "a has not rolled again"
wait_for 30 "the record" recorded 3 || fail "a has not recorded it"
before=$(pod_template)

log "the leader goes"
kill "${process[a]}"
wait "${process[a]}" || fail "a did not end well"
unset 'process[a]'
wait_for 60 "the next leader" leads b || fail "b does not lead"
sleep 3
[ "$(pod_template)" = "$before" ] || fail "b rolled what a had rolled: $(pod_template)"

log "the next one is killed, and what the first release had comes back while nobody leads"
run_replica c
sleep 1
config_becomes 4
wait_for 30 "a rollout" rolled_for 4 || fail "b has not rolled"
k set image deployment/app app=app:3 >/dev/null
sleep 1
config_becomes 5
wait_for 30 "a rollout" rolled_for 5 || fail "b has not rolled again"
wait_for 30 "the record" recorded 5 || fail "b has not recorded it"
kill -9 "${process[b]}"
wait "${process[b]}" 2>/dev/null || true
unset 'process[b]'
config_becomes 4
wait_for 90 "the rollout by the next leader" rolled_for 4 || fail "c missed the change"
log "PASSED"
