#!/usr/bin/env bash
# A Job that the operator has made anew, and an operator that ends soon afterwards: the next one makes up for what changed meanwhile,
# and for nothing else. Runs on kubexx-apiserver.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

job() { # job NAME CONFIGS
  k -n shop apply -f - >/dev/null <<Y
apiVersion: batch/v1
kind: Job
metadata: {name: $1, annotations: {configmap.reloader.stakater.com/reload: "$2"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: "example.com/app:1"}]}}}
Y
}
of() { k -n shop get job "$1" -o json | jq -r "$2"; }
baseline() { of "$1" '.metadata.annotations["reloader.kubexx.io/baseline"] // ""'; }
uid() { of "$1" .metadata.uid; }
sha() { printf 'KEY=%s' "$1" | sha1sum | cut -d' ' -f1; }
says() { [[ $(baseline "$1") =~ $2 ]]; } # says NAME EXPRESSION
is_anew() { # is_anew NAME UID: it is there, and is not the one with that UID
  local now
  now=$(uid "$1" 2>/dev/null) && [ -n "$now" ] && [ "$now" != "$2" ]
}

start
k create namespace shop >/dev/null
for config in ma mb; do k -n shop create configmap "$config" --from-literal=KEY=1 >/dev/null; done
workload shop marker
job two ma,mb
job still ma
run_operator "$KUBECONFIG" --reload-policies=false
wait_until 20 "the operator" is_ready
for name in two still; do wait_until 20 "the record of $name" says "$name" "^v1 $(uid "$name") configmap/ma=$(sha 1)"; done
before=$(uid two)
edit shop ma 2
for name in two still; do wait_until 20 "the Job $name made anew" says "$name" "ma=$(sha 2)"; done
is_anew two "$before" || fail "the Job is the old one"
says two "^v1 >$before " || fail "the record names no Job: $(baseline two)"
still=$(uid still)
stop_operator

log "one source changed while no operator ran; of a copy nobody knows what it had"
k -n shop get job two -o json | jq '.metadata |= {name: "copy", namespace, annotations}
  | del(.spec.template.metadata, .spec.selector, .status)' | k create -f - >/dev/null
before=$(uid two)
copy=$(uid copy)
edit shop mb 2
run_operator "$KUBECONFIG" --reload-policies=false
wait_until 20 "the Job made anew" is_anew two "$before"
wait_until 20 "the record" says two "^v1 >$before .*mb=$(sha 2)"
wait_until 20 "the record in the Job's own name" says still "^v1 $still configmap/ma=$(sha 2)"
caught_up shop
[ "$(uid still)" = "$still" ] || fail "a Job was made anew for nothing"
[ "$(uid copy)" = "$copy" ] || fail "a Job was made anew for the record of another"

log "the strategy is another after a restart"
stop_operator
job new mb
run_operator "$KUBECONFIG" --reload-policies=false --reload-strategy=annotations
wait_until 20 "the record" says new "^v1 $(uid new) configmap/mb=$(sha 2)"
before=$(uid new)
edit shop mb 3
wait_until 20 "the Job made anew" says new "^v1 >$before "
stop_operator
before=$(uid new)
edit shop mb 4
run_operator "$KUBECONFIG" --reload-policies=false
wait_until 20 "the Job made anew" is_anew new "$before"
log "PASSED"
