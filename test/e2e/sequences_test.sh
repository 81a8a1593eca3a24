#!/usr/bin/env bash
# What people do one after the other, in a cluster with a real kubelet, and what the processes of pods read then: rights that go
# and come back, pauses by hand, another reload strategy, data that make the app crash, label selectors. Each sequence runs as
# often as KUBEXX_SEQUENCE_STEPS has numbers: the operator is killed before the step of that number and begins again after it;
# 0: it lives on. The default leaves some out; "0 1 2 3 4 5" kills it at each step once.
# shellcheck disable=SC2317 # sequences are called by their names
set -euo pipefail
export KUBEXX_CLUSTER_NAME=sequences-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
become_root "$@"
# shellcheck source=printing_pods.sh
. "$(dirname "$0")/printing_pods.sh"
turns=${KUBEXX_SEQUENCE_STEPS:-0 3}

# begin NAMESPACE...: Deployments with data "first", which the operators, started here, have recorded.
begin() {
  local namespace
  for namespace in "$@"; do
    kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace" >/dev/null
    put_data first "$namespace"
    printing_workload Deployment "$namespace" | kubectl apply -f - >/dev/null
  done
  for namespace in "$@"; do has "$namespace" first; done
  start_operators
  for namespace in "$@"; do wait_until 90 "the record in $namespace" recorded "$namespace" deployment/app first; done
}
has() { wait_until 90 "$1: pods with the data $2" pods_have "$1" deployment/app "data=$2 release=one"; }
has_not() { ! pods_have "$1" deployment/app "data=$2 release=one" || fail "$1: pods have the data $2"; }
in_namespaces() { start_operator "$name" --namespaces="$1" "${@:2}"; }

# A namespace and its rights go; the other rolls on; what changed meanwhile is made up for when they come back.
sequence_rights() {
  local a=$name-a b=$name-b
  start_operators() { in_namespaces "$a,$b" --kubeconfig="$work/$name.kubeconfig"; }
  grant() { kubectl -n "$1" create rolebinding operator --clusterrole=operator --serviceaccount="default:$name" >/dev/null; }
  kubectl -n default create serviceaccount "$name" >/dev/null
  kubectl config view --raw -o json |
    jq --arg token "$(kubectl -n default create token "$name")" '.users[].user = {token: $token}' >"$work/$name.kubeconfig"
  kubectl create namespace "$a" >/dev/null && kubectl create namespace "$b" >/dev/null
  grant "$a" && grant "$b"
  begin "$a" "$b"
  step 1 kubectl -n "$b" delete rolebinding operator >/dev/null
  step 2 put_data second "$a" "$b"
  has "$a" second
  step 3 put_data third "$a" "$b"
  has "$a" third
  nothing_rolls "no right in $b" "$b"
  has "$b" first
  step 4 grant "$b"
  has "$b" third
  step 5 put_data fourth "$a" "$b"
  has "$a" fourth && has "$b" fourth
}

# A pause of the operator that a person ends is over; a pause that a person begins is ended by no operator.
sequence_pause() {
  local ns=$name
  start_operators() { in_namespaces "$ns"; }
  is_paused() { [ "$(kubectl -n "$ns" get deployment app -o 'jsonpath={.spec.paused}')" = true ]; }
  is_unmarked() { kubectl -n "$ns" get deployment app -o json | jq -e '.metadata.annotations | has("deployment.reloader.stakater.com/paused-at") | not'; }
  begin "$ns"
  kubectl -n "$ns" annotate deployment app deployment.reloader.stakater.com/pause-period=1h >/dev/null
  step 1 put_data second "$ns"
  wait_until 30 "the operator's pause" is_paused
  step 2 kubectl -n "$ns" rollout resume deployment/app >/dev/null
  has "$ns" second
  wait_until 30 "the operator to see that" is_unmarked
  # Shorter than the looks below; before, it would be the operator who ends its pause on a busy machine.
  kubectl -n "$ns" annotate deployment app deployment.reloader.stakater.com/pause-period=6s --overwrite >/dev/null
  step 3 kubectl -n "$ns" rollout pause deployment/app >/dev/null
  sleep 8
  is_paused || fail "a pause by hand was ended"
  step 4 put_data third "$ns"
  sleep 8
  is_paused || fail "a pause by hand was ended after a change"
  has_not "$ns" third
  step 5 kubectl -n "$ns" rollout resume deployment/app >/dev/null
  has "$ns" third
  kubectl -n "$ns" annotate deployment app deployment.reloader.stakater.com/pause-period=1s --overwrite >/dev/null
  put_data fourth "$ns"
  has "$ns" fourth # the operator's own pause ends by itself
}

# From one strategy to the other and back: what the first has left rolls nothing, and hides no change.
sequence_strategy() {
  local ns=$name strategy=env-vars
  start_operators() { in_namespaces "$ns" --reload-strategy=$strategy; }
  change_strategy() {
    kill_operators
    strategy=$1
    [ "$down" = "$2" ] || start_operators
  }
  begin "$ns"
  step 1 put_data second "$ns"
  has "$ns" second
  step 2 change_strategy annotations 2
  nothing_rolls "the strategy became annotations" "$ns"
  step 3 put_data third "$ns"
  has "$ns" third
  step 4 change_strategy env-vars 4
  nothing_rolls "the strategy became env-vars" "$ns"
  step 5 put_data second "$ns" # the variable that is left says so already
  has "$ns" second
  nothing_rolls "all is done" "$ns"
}

# An app that crashes with the new data stops the rollouts of the others, whatever happens to the operator.
sequence_crash() {
  local ns=$name app
  start_operators() { in_namespaces "$ns"; }
  with_bad() {
    local pods
    pods=$(kubectl -n "$ns" get deployments -o json |
      jq --arg digest "$(digest text=bad)" '[.items[] | select(any(.spec.template.spec.containers[0].env[]; .value == $digest))] | length')
    [ "$pods" = "$1" ]
  }
  has_stopped() {
    kubectl -n "$ns" get reloadpolicy gentle -o json | jq -e 'any(.status.conditions[]?; .type == "Stopped" and .status == "True")' >/dev/null
  }
  each_has() {
    local app
    for app in app-1 app-2 app-3; do pods_have "$ns" "deployment/$app" "data=$1 release=one" || return 1; done
  }
  each_recorded() {
    local app
    for app in app-1 app-2 app-3; do recorded "$ns" "deployment/$app" "$1" || return 1; done
  }
  kubectl create namespace "$ns" >/dev/null
  put_data first "$ns"
  for app in app-1 app-2 app-3; do
    # shellcheck disable=SC2016 # the pod's shell reads it
    printing_workload Deployment "$ns" "$app" | sed 's/; exec sleep/; test "$DATA" != bad || exit 1; exec sleep/'
  done | kubectl apply -f - >/dev/null
  kubectl -n "$ns" apply -f - >/dev/null <<Y
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: gentle}
spec: {settleWindow: 100ms, maxConcurrentRollouts: 1, healthGate: {timeout: 20s, soakTime: 8s}, stopAfterFailures: 1}
Y
  wait_until 90 "the first pods" each_has first
  start_operators
  wait_until 60 "the records" each_recorded first
  step 1 put_data bad "$ns"
  wait_until 60 "the first rollout" with_bad 1
  step 2 sleep 3
  step 3 wait_until 90 "the stop" stopped_or_down
  wait_until 60 "the stop" has_stopped
  step 4 sleep 2
  sleep 3
  with_bad 1 || fail "the bad data went on to others"
  step 5 put_data mended "$ns"
  wait_until 120 "pods with the mended data" each_has mended
}
stopped_or_down() { [ ${#process[@]} -eq 0 ] || has_stopped; }

# What a label selector leaves out is neither deleted nor created.
sequence_selector() {
  local ns=$name flags=()
  start_operators() { in_namespaces "$ns" --reload-on-create=true --reload-on-delete=true "${flags[@]}"; }
  change_flags() {
    kill_operators
    flags=("${@:2}")
    [ "$down" = "$1" ] || start_operators
  }
  begin "$ns"
  step 1 put_data second "$ns"
  has "$ns" second
  step 2 change_flags 2 --resource-label-selector=watched=yes
  nothing_rolls "a selector leaves the source out" "$ns"
  step 3 kubectl -n "$ns" label configmap data watched=yes >/dev/null
  nothing_rolls "a label brings the source" "$ns"
  step 4 change_flags 4
  nothing_rolls "the selector is gone" "$ns"
  step 5 put_data third "$ns" # which takes no label away
  has "$ns" third
}

trap finish_printing EXIT
"$cluster" down
"$cluster" node
use_cluster_environment
kubectl apply -f "$kx_top/manifests/crds.yaml" >/dev/null
kubectl create clusterrole operator --verb=get,list,watch,patch,create,update,delete \
  --resource=configmaps,secrets,deployments.apps,statefulsets.apps,daemonsets.apps,jobs.batch,cronjobs.batch,events,events.events.k8s.io >/dev/null

# One sequence in a process of its own: they do not wait for each other.
play() { # play SEQUENCE DOWN
  trap - EXIT
  name=$1-$2 down=$2 process=() playing=$1-$2
  trap kill_operators EXIT
  "sequence_$1"
  log "$1, the operator down at step $2: well"
}
for turn in $turns; do
  declare -A players=()
  for sequence in rights pause strategy crash selector; do
    play "$sequence" "$turn" &
    players[$sequence]=$!
  done
  for sequence in "${!players[@]}"; do wait "${players[$sequence]}" || failed_logs+=("$work/$sequence-$turn.log"); done
  [ ${#failed_logs[@]} -eq 0 ] || die "a sequence failed with the operator down at step $turn"
done
log "PASSED: $turns"
