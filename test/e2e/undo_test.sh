#!/usr/bin/env bash
# Pods read the data that they should after a rollout is undone and the data are mended, for each kind, with both strategies,
# and with the operator killed at each step once; and one release that changes the data and the template is one rollout. What
# pods read is what real containers under a real kubelet print when they begin.
#
#   undo_test.sh [undo|release]   only the one or the other half
set -euo pipefail
halves=${1:-undo release}
export KUBEXX_CLUSTER_NAME=${halves%% *}-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
become_root "$@"
# shellcheck source=printing_pods.sh
. "$(dirname "$0")/printing_pods.sh"
kinds=(deployment/app daemonset/app statefulset/app)
strategies=(env-vars annotations)

window=3s # of what Helm writes; the default
start_operators() {
  local strategy
  for strategy in "${strategies[@]}"; do
    start_operator "$strategy" --namespaces="$strategy" --reload-strategy="$strategy" --release-settle-window=$window
  done
}
set_data() { put_data "$1" "${strategies[@]}"; }
each_has() { # each_has LINE
  local strategy kind
  for strategy in "${strategies[@]}"; do
    for kind in "${kinds[@]}"; do pods_have "$strategy" "$kind" "$1" || return 1; done
  done
}
undo_all() {
  local strategy
  for strategy in "${strategies[@]}"; do
    kubectl -n "$strategy" rollout undo "${kinds[@]}" >/dev/null
  done
  wait_until 60 "the rollouts to be undone" rolled_out_all
  wait_until 60 "pods of the undone rollout that have the data of the moment" each_has "data=$1 release=one"
}
rolled_out_all() {
  local strategy kind
  for strategy in "${strategies[@]}"; do
    for kind in "${kinds[@]}"; do
      kubectl -n "$strategy" rollout status --timeout 10s "$kind" >/dev/null || return 1
    done
  done
}
recorded_all() { # recorded_all TEXT: the baseline of each says that it has these data
  local strategy kind
  for strategy in "${strategies[@]}"; do
    for kind in "${kinds[@]}"; do recorded "$strategy" "$kind" "$1" || return 1; done
  done
}
nothing_is_due() { # nothing_is_due WHEN
  local strategy kind said
  for strategy in "${strategies[@]}"; do
    for kind in "${kinds[@]}"; do
      said=$("$program" explain --reload-strategy="$strategy" -n "$strategy" "$kind")
      grep -qF "No rollout is due." <<<"$said" || fail "$1: explain says of $kind ($strategy): $said"
    done
  done
}

# sequence DOWN: the operator is killed before step DOWN and begins again after it; 0: it lives on.
sequence() {
  local good=good-$1 bad=bad-$1
  down=$1
  step 1 set_data "$good"
  wait_until 60 "pods with the good data" each_has "data=$good release=one"
  wait_until 60 "the good data to be recorded" recorded_all "$good"
  step 2 set_data "$bad"
  wait_until 60 "pods with the bad data" each_has "data=$bad release=one"
  wait_until 60 "rollouts to end" rolled_out_all
  next_second # what is written in the second of the undo may be newer
  step 3 undo_all "$bad"
  nothing_rolls "an undo" "${strategies[@]}"
  nothing_is_due "an undo"
  if [ "$down" = 4 ]; then # and once more between the two, with nothing written meanwhile
    kill_operators
    start_operators
    nothing_rolls "a restart after an undo" "${strategies[@]}"
  fi
  step 4 set_data "$good"
  wait_until 60 "pods with the data that were mended" each_has "data=$good release=one"
  wait_until 60 "rollouts to end" rolled_out_all
  nothing_rolls "a mended workload" "${strategies[@]}"
}

# The revision before the first rollout has no variable: its undo takes one away and sets nothing.
first_rollout() { # first_rollout DOWN: 1: the operator is killed before the undo and begins again after it
  wait_until 60 "rollouts to end" rolled_out_all
  set_data "second-$1"
  wait_until 60 "pods of the first rollout" each_has "data=second-$1 release=one"
  wait_until 60 "rollouts to end" rolled_out_all
  next_second
  [ "$1" = 0 ] || kill_operators
  undo_all "second-$1"
  [ "$1" = 0 ] || start_operators
  nothing_rolls "an undo of the first rollout (killed: $1)" "${strategies[@]}"
  nothing_is_due "an undo of the first rollout"
}

deployment_revision() { # deployment_revision NAMESPACE
  kubectl -n "$1" get deployment app -o 'jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}'
}
make_release() { # make_release NAME: data and template
  local strategy
  for strategy in "${strategies[@]}"; do
    {
      kubectl -n "$strategy" create configmap data --from-literal="text=released-$1" --dry-run=client -o yaml
      for kind in Deployment DaemonSet StatefulSet; do printing_workload "$kind" "$strategy" | sed "s/value: one/value: release-$1/"; done
    } | kubectl apply -f - >/dev/null
  done
}
# one_release_is_one_rollout DOWN: the operator is killed before that step and begins again after it. One that was away for a part
# of the release cannot tell which came first, and may roll once more: never does the release go without its data.
present=one # release
one_release_is_one_rollout() {
  local strategy before most=1
  declare -A before
  down=$1
  case $1 in 1 | 2) most=2 ;; esac
  # Only what an operator has seen before the release is it told of by a watch.
  set_data "settled-$1"
  wait_until 60 "pods with the data before the release" each_has "data=settled-$1 release=$present"
  wait_until 60 "rollouts to end" rolled_out_all
  wait_until 60 "the data before the release to be recorded" recorded_all "settled-$1"
  for strategy in "${strategies[@]}"; do before[$strategy]=$(deployment_revision "$strategy"); done
  step 1 make_release "$1"
  present=release-$1
  step 2 true # an operator that is killed here is killed within its settle window
  wait_until 60 "pods of the release" each_has "data=released-$1 release=$present"
  # The rollout of an operator that cannot tell is in the same write as the record.
  wait_until 60 "the data of the release to be recorded" recorded_all "released-$1"
  wait_until 60 "rollouts to end" rolled_out_all
  step 3 true
  # The marker belongs to the release, so it comes after the settle window of releases, in which an operator that begins looks at all.
  nothing_rolls "a release, the operator down at step $1" "${strategies[@]}"
  for strategy in "${strategies[@]}"; do
    [ "$(deployment_revision "$strategy")" -le $((before[$strategy] + most)) ] || fail "one release made several ReplicaSets ($strategy)"
  done
}

trap finish_printing EXIT
"$cluster" down
"$cluster" node
use_cluster_environment
for strategy in "${strategies[@]}"; do kubectl create namespace "$strategy" >/dev/null; done
set_data first
all_workloads() {
  local strategy kind
  for strategy in "${strategies[@]}"; do
    for kind in Deployment DaemonSet StatefulSet; do printing_workload "$kind" "$strategy"; done
  done
}
all_workloads | kubectl apply -f - >/dev/null
wait_until 60 "the first pods" each_has "data=first release=one"
start_operators
wait_until 60 "the first baselines" recorded_all first
# KUBEXX_UNDO_STEPS and KUBEXX_RELEASE_STEPS: some of what is done here, for an operator that fails early.
undo_steps=${KUBEXX_UNDO_STEPS-first 0 1 2 3 4}
release_steps=${KUBEXX_RELEASE_STEPS-0 1 2 3}
case $halves in
  undo) release_steps= ;;
  release) undo_steps= ;;
  "undo release") ;;
  *) fail "usage: undo_test.sh [undo|release]" ;;
esac
for turn in $undo_steps; do
  if [ "$turn" = first ]; then
    log "the first rollout undone"
    first_rollout 0
    all_workloads | kubectl delete --wait -f - >/dev/null
    all_workloads | kubectl apply -f - >/dev/null
    wait_until 60 "baselines of new workloads" recorded_all second-0
    log "the first rollout undone, the operator down"
    first_rollout 1
    continue
  fi
  log "undone and mended, the operator down at step $turn"
  sequence "$turn"
done
if [ -z "$release_steps" ]; then
  log "PASSED"
  exit 0
fi
log "one release"
kill_operators
for strategy in "${strategies[@]}"; do # as Helm marks what it makes
  has_marker "$strategy" || do_now apply_marker "$strategy"
  kubectl -n "$strategy" annotate configmap/data configmap/marker deployment/marker "${kinds[@]}" meta.helm.sh/release-name=shop meta.helm.sh/release-namespace="$strategy" >/dev/null
done
window=$((3 * ${KUBEXX_PATIENCE:-1}))s # a release takes as long as that on a loaded machine
start_operators
for strategy in "${strategies[@]}"; do caught_up "$strategy"; done
for turn in $release_steps; do
  log "one release, the operator down at step $turn"
  one_release_is_one_rollout "$turn"
done
log "PASSED"
