#!/usr/bin/env bash
# Replicas with different --shards side by side, on kubexx-apiserver: those that were there first go on with all namespaces, the others
# wait and say so, and take over when the last of the first has gone. The same with a replica that works on all namespaces together.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

declare -A process=() address=()
end_replicas() {
  local status=$? name
  for name in "${!process[@]}"; do kill -9 "${process[$name]}" 2>/dev/null || true; done
  [ "$status" -eq 0 ] || tail -n 20 "$work"/replica-*.log >&2 || true
  set +e
  (exit "$status")
  end_all
}
trap end_replicas EXIT

replica() { # replica NAME SHARDS
  POD_NAME=$1 POD_NAMESPACE=tools "$reloader" --kubeconfig "$KUBECONFIG" --metrics-addr=127.0.0.1:0 --enable-ha --shards="$2" \
    >"$work/replica-$1.log" 2>&1 &
  process[$1]=$!
  operator=$!
  wait_until 20 "the port of $1" has_port
  operator=
  address[$1]=127.0.0.1:$port
}
ends() { # ends NAME
  kill "${process[$1]}"
  wait "${process[$1]}" || fail "$1 did not end well"
  unset "process[$1]"
}
answers() { curl -s --max-time 5 -w ' %{http_code}' "http://${address[$1]}/ready"; }
is_at_work() { [ "$(answers "$1")" = 'ready 200' ] && holds "$1"; }
holds() { curl -s --max-time 5 "http://${address[$1]}/metrics" | grep '^kubexx_reloader_shard_held{.*} 1$' >/dev/null; } # all is read
waits_for() { # waits_for NAME OTHER
  [[ $(answers "$1") =~ ^'ready, but this replica '.*', and waits until the replica '$2', which '.*' is gone 200'$ ]]
}
value=1
namespaces=$(printf 'ns-%s ' 0 1 2 3 4 5 6 7 8 9)
each() { # each COMMAND: in all namespaces
  local namespace
  for namespace in $namespaces; do "$@" "$namespace" || return 1; done
}
is_rolled() { rolled_for "$1" web "$value"; }
all_are_rolled() { # all_are_rolled WHEN
  local namespace
  value=$((value + 1))
  for namespace in $namespaces; do edit "$namespace" web "$value"; done
  wait_for 60 "rollouts in all namespaces $1" each is_rolled || fail "some namespaces have no operator $1"
}

start
k create namespace tools >/dev/null
for namespace in $namespaces; do
  k create namespace "$namespace" >/dev/null
  workload "$namespace" web
done

log "two replicas with eight shards, and one with four"
replica a 8
replica b 8
wait_for 60 "two replicas at work" eval 'is_at_work a && is_at_work b' || fail "they do not work"
all_are_rolled "with eight shards"
replica c 4
wait_for 30 "c to wait" eval 'waits_for c a || waits_for c b' || fail "c says: $(answers c)"
wait_for 10 "c to log it" grep -q 'This replica waits' "$work/replica-c.log" || fail "c says nothing in its log"
all_are_rolled "while one with four shards waits"
! holds c || fail "c takes shards beside those with eight"
k -n tools get lease stakater-reloader-lock-member-a -o json | jq -e '.metadata.annotations["kubexx.io/reloader-shards"] == "8"' >/dev/null ||
  fail "a does not tell its number of shards"

log "the old ones go one after the other"
ends a
all_are_rolled "with one old replica left"
waits_for c b || fail "c says: $(answers c)"
replica d 4
ends b
wait_for 60 "c and d at work" eval 'is_at_work c && is_at_work d' || fail "they say: $(answers c), $(answers d)"
all_are_rolled "with four shards"

log "from several shards to one, and back"
replica e 1
waits() { waits_for e c || waits_for e d; }
wait_for 30 "e to wait" waits || fail "e says: $(answers e)"
all_are_rolled "while one without shards waits"
ends c
ends d
wait_for 60 "e at work" is_at_work e || fail "e says: $(answers e)"
all_are_rolled "without shards"
replica f 2
wait_for 30 "f to wait" waits_for f e || fail "f says: $(answers f)"
all_are_rolled "while one with shards waits"
ends e
wait_for 60 "f at work" is_at_work f || fail "f says: $(answers f)"
all_are_rolled "with two shards"
ends f
log "PASSED"
