#!/usr/bin/env bash
# What people do one after the other, in a cluster with a real kubelet, and what the processes of pods read then: rights that go
# and come back, pauses by hand, another reload strategy, data with which the app does not start, label selectors. Each sequence runs as
# often as KUBEXX_SEQUENCE_STEPS has numbers: the operator is killed before the step of that number and begins again after it;
# 0: it lives on. The default leaves some out; "0 1 2 3 4 5" kills it at each step once. KUBEXX_SEQUENCES names some of them.
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
    do_now has_namespace "$namespace"
    put_data first "$namespace"
    do_now apply_workload "$namespace"
  done
  for namespace in "$@"; do has "$namespace" first; done
  start_operators
  for namespace in "$@"; do wait_until 90 "the record in $namespace" recorded "$namespace" deployment/app first; done
}
has_namespace() { kubectl create namespace "$1" --dry-run=client -o yaml | kubectl apply -f -; }
apply_workload() { printing_workload Deployment "$1" | kubectl apply -f -; }
has() { wait_until 90 "$1: pods with the data $2" pods_have "$1" deployment/app "data=$2 release=one"; }
has_not() { ! pods_have "$1" deployment/app "data=$2 release=one" || fail "$1: pods have the data $2"; }
in_namespaces() { start_operator "$name" --namespaces="$1" "${@:2}"; }

# A namespace and its rights go; the other rolls on; what changed meanwhile is made up for when they come back.
sequence_rights() {
  local a=$name-a b=$name-b
  start_operators() { in_namespaces "$a,$b" --kubeconfig="$work/$name.kubeconfig"; }
  grant() {
    kubectl -n "$1" create rolebinding operator --clusterrole=operator --serviceaccount="default:$name" --dry-run=client -o yaml | kubectl apply -f -
  }
  kubectl -n default create serviceaccount "$name" >/dev/null
  kubectl config view --raw -o json |
    jq --arg token "$(answer kubectl -n default create token "$name")" '.users[].user = {token: $token}' >"$work/$name.kubeconfig"
  do_now has_namespace "$a"
  do_now has_namespace "$b"
  do_now grant "$a"
  do_now grant "$b"
  begin "$a" "$b"
  step 1 do_now kubectl -n "$b" delete rolebinding operator --ignore-not-found
  step 2 put_data second "$a" "$b"
  has "$a" second
  step 3 put_data third "$a" "$b"
  has "$a" third
  markers=$a nothing_rolls "no right in $b" "$b"
  has "$b" first
  step 4 do_now grant "$b"
  has "$b" third
  step 5 put_data fourth "$a" "$b"
  has "$a" fourth && has "$b" fourth
}

# A pause of the operator that a person ends is over; a pause that a person begins is ended by no operator.
sequence_pause() {
  local ns=$name
  start_operators() { in_namespaces "$ns"; }
  paused_field() { kubectl -n "$ns" get deployment app -o 'jsonpath={.spec.paused}'; }
  is_paused() { [ "$(paused_field)" = true ]; }
  stays_paused() { [ "$(answer paused_field)" = true ] || fail "$1"; }
  # kubectl refuses to do it a second time.
  pause_by_hand() { is_paused || kubectl -n "$ns" rollout pause deployment/app; }
  resume_by_hand() {
    local paused
    paused=$(paused_field) || return 1
    [ "$paused" != true ] || kubectl -n "$ns" rollout resume deployment/app
  }
  is_unmarked() { kubectl -n "$ns" get deployment app -o json | jq -e '.metadata.annotations | has("deployment.reloader.stakater.com/paused-at") | not'; }
  # The operator pauses the marker, too, later and for as long. When it has ended that pause it would have ended any other one as well.
  a_pause_is_over() {
    change_marker "$ns"
    wait_until 60 "the end of the marker's pause" marker_goes_on
  }
  marker_goes_on() { kubectl -n "$ns" get deployment marker -o json | jq -e '.spec.paused != true'; }
  begin "$ns"
  need_marker "$ns"
  do_now kubectl -n "$ns" annotate deployment marker deployment.reloader.stakater.com/pause-period=6s --overwrite
  do_now kubectl -n "$ns" annotate deployment app deployment.reloader.stakater.com/pause-period=1h --overwrite
  step 1 put_data second "$ns"
  wait_until 30 "the operator's pause" is_paused
  step 2 do_now resume_by_hand
  has "$ns" second
  wait_until 30 "the operator to see that" is_unmarked
  # Short enough to wait for; before, it would be the operator who ends its pause on a busy machine.
  do_now kubectl -n "$ns" annotate deployment app deployment.reloader.stakater.com/pause-period=6s --overwrite
  step 3 do_now pause_by_hand
  a_pause_is_over
  stays_paused "a pause by hand was ended"
  step 4 put_data third "$ns"
  a_pause_is_over
  stays_paused "a pause by hand was ended after a change"
  has_not "$ns" third
  step 5 do_now resume_by_hand
  has "$ns" third
  do_now kubectl -n "$ns" annotate deployment app deployment.reloader.stakater.com/pause-period=1s --overwrite
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

# An app that does not start with the new data stops the rollouts of the others, whatever happens to the operator.
sequence_crash() {
  # What never gets ready no node can report too late.
  # shellcheck disable=SC2016 # the shell of the pod reads it
  app_that_ends() {
    printing_workload Deployment "$1" "$2" | sed 's/^      containers:/      initContainers:\
      - name: check\
        image: localhost\/busybox:1\
        imagePullPolicy: Never\
        command: [sh, -c, '\''test "$DATA" != bad'\'']\
        env: [{name: DATA, valueFrom: {configMapKeyRef: {name: data, key: text}}}]\
      containers:/'
  }
  has_ended() { true; }
  bad_data_stop 'timeout: 20s, soakTime: 8s'
}

# The same of an app without a probe that is available for a moment each time that it is started: the second end of its container is
# followed by ten seconds without one, which is well within the soak time however late the node reports it.
sequence_loop() {
  # shellcheck disable=SC2016 # the shell of the pod reads it
  app_that_ends() {
    printing_workload Deployment "$1" "$2" | sed 's/exec sleep 100000/if [ "$DATA" = bad ]; then sleep 1; exit 1; fi; exec sleep 100000/'
  }
  has_ended() { # has_ended APP: again and again
    kubectl -n "$ns" get pods -l "name=$1" -o json | jq -e 'any(.items[].status.containerStatuses[]?; .restartCount >= 2)' >/dev/null
  }
  bad_data_stop 'timeout: 45s, soakTime: 30s'
}
bad_data_stop() { # bad_data_stop HEALTH-GATE
  local ns=$name gate=$1 app bad
  # The marker is in a namespace without the policy, which would hold it back.
  start_operators() { in_namespaces "$ns,$ns-marker"; }
  with_bad() { # the names of the apps that were rolled with the bad data
    kubectl -n "$ns" get deployments -o json |
      jq -r --arg digest "$(digest text=bad)" '.items[] | select(any(.spec.template.spec.containers[0].env[]; .value == $digest)) | .metadata.name'
  }
  one_with_bad() { [ "$(with_bad | wc -w)" = 1 ]; }
  has_bad_pod() { # has_bad_pod APP
    kubectl -n "$ns" get pods -l "name=$1" -o json |
      jq -e --arg digest "$(digest text=bad)" 'any(.items[]; any(.spec.containers[0].env[]?; .value == $digest))' >/dev/null
  }
  are_available() {
    kubectl -n "$ns" get deployments -o json |
      jq -e '[.items[] | select(.status.observedGeneration == .metadata.generation and .status.availableReplicas == 1)] | length == 3'
  }
  apply_apps() { for app in app-1 app-2 app-3; do app_that_ends "$ns" "$app"; done | kubectl apply -f -; }
  apply_policy() { kubectl -n "$ns" apply -f "$work/$name.yaml"; }
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
  do_now has_namespace "$ns"
  do_now has_namespace "$ns-marker"
  put_data first "$ns"
  do_now apply_apps
  cat >"$work/$name.yaml" <<Y
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: gentle}
spec: {settleWindow: 100ms, maxConcurrentRollouts: 1, healthGate: {$gate}, stopAfterFailures: 1}
Y
  do_now apply_policy
  wait_until 90 "the first pods" each_has first
  wait_until 60 "available apps" are_available
  start_operators
  wait_until 60 "the records" each_recorded first
  step 1 put_data bad "$ns"
  wait_until 60 "the first rollout" one_with_bad
  bad=$(answer with_bad)
  step 2 wait_until 60 "a pod of $bad with the bad data" has_bad_pod "$bad"
  wait_until 90 "$bad to end again and again" has_ended "$bad"
  step 3 wait_until 120 "the stop" stopped_or_down
  wait_until 120 "the stop" has_stopped
  step 4 true
  caught_up "$ns-marker"
  bad=$(answer with_bad)
  [ "$(wc -w <<<"$bad")" = 1 ] || fail "the bad data went on to others: ${bad//$'\n'/ }"
  step 5 put_data mended "$ns"
  wait_until 300 "pods with the mended data" each_has mended
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
  step 3 do_now kubectl -n "$ns" label configmap data watched=yes --overwrite
  nothing_rolls "a label brings the source" "$ns"
  step 4 change_flags 4
  nothing_rolls "the selector is gone" "$ns"
  step 5 put_data third "$ns" # which takes no label away
  has "$ns" third
}

# Of two sources' rollouts the second is undone, which only takes its variable away: that of the first stays in the template.
sequence_older() {
  local ns=$name
  start_operators() { in_namespaces "$ns"; }
  apply_workload() {
    printing_workload Deployment "$1" |
      sed 's/{name: RELEASE, value: one}/{name: RELEASE, valueFrom: {configMapKeyRef: {name: release, key: text}}}/' | kubectl apply -f -
  }
  put_release() { kubectl -n "$ns" create configmap release --from-literal=text="$1" --dry-run=client -o yaml | kubectl apply -f -; }
  reads() { wait_until 90 "$ns: pods with the data $1 and the release $2" pods_have "$ns" deployment/app "data=$1 release=$2"; }
  is_undone() { # The release's variable is gone, that of the data is there.
    kubectl -n "$ns" get deployment app -o json |
      jq -e '[.spec.template.spec.containers[0].env[].name] | contains(["STAKATER_DATA_CONFIGMAP"]) and (contains(["STAKATER_RELEASE_CONFIGMAP"]) | not)' >/dev/null
  }
  undo() { is_undone || kubectl -n "$ns" rollout undo deployment/app; } # a second one would undo the first
  is_through() { kubectl -n "$ns" rollout status deployment/app --timeout=1s; }
  do_now has_namespace "$ns"
  do_now put_release one
  begin "$ns"
  step 1 put_data second "$ns"
  reads second one
  step 2 do_now put_release two
  reads second two
  wait_until 60 "the rollout's end" is_through
  step 3 do_now undo
  wait_until 60 "the undo's end" is_through
  is_undone || fail "$ns: the undo did not leave the variable of the data alone"
  next_second # so that the next change is later than the undo
  nothing_rolls "undone" "$ns"
  step 4 do_now put_release one
  reads second one
  step 5 put_data third "$ns"
  reads third one
}

trap finish_printing EXIT
"$cluster" down
"$cluster" node
use_cluster_environment
kubectl apply -f "$kx_top/manifests/crds.yaml" >/dev/null
kubectl wait --timeout "$((30 * ${KUBEXX_PATIENCE:-1}))s" --for condition=Established crd/reloadpolicies.kubexx.io crd/clusterreloadpolicies.kubexx.io >/dev/null
wait_until 30 "the policies' API" kubectl get reloadpolicies,clusterreloadpolicies -A
kubectl create clusterrole operator --verb=get,list,watch,patch,create,update,delete \
  --resource=configmaps,secrets,deployments.apps,statefulsets.apps,daemonsets.apps,jobs.batch,cronjobs.batch,events,events.events.k8s.io,reloadpolicies.kubexx.io >/dev/null

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
  for sequence in ${KUBEXX_SEQUENCES:-rights pause strategy crash loop selector older}; do
    play "$sequence" "$turn" &
    players[$sequence]=$!
  done
  for sequence in "${!players[@]}"; do wait "${players[$sequence]}" || failed_logs+=("$work/$sequence-$turn.log"); done
  [ ${#failed_logs[@]} -eq 0 ] || die "a sequence failed with the operator down at step $turn"
done
log "PASSED: $turns"
