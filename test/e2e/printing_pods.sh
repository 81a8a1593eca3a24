# Pods that print their data when they begin, so that a test sees what their processes really read; and an operator on this
# machine that can be killed at any step of a sequence. To be sourced after lib.sh; `work` is a folder for logs.
# shellcheck shell=bash

program=${KUBEXX_BUILD_DIR:=$kx_root/build/release}/bin/kubexx-reloader
[ -x "$program" ] || program=$KUBEXX_BUILD_DIR/release/bin/kubexx-reloader
[ -x "$program" ] || fail "there is no $KUBEXX_BUILD_DIR/bin/kubexx-reloader: 'hack/build release kubexx-reloader' builds it"
work=$(mktemp -d)

# printing_workload KIND NAMESPACE [NAME]: its pods print "data=... release=..." when they begin, and live. They take the text of
# ConfigMap "data".
printing_workload() {
  local also='' name=${3:-app}
  [ "$1" = DaemonSet ] || also='replicas: 1'
  [ "$1" != StatefulSet ] || also+=$'\n  serviceName: none'
  cat <<Y
---
apiVersion: apps/v1
kind: $1
metadata: {name: $name, namespace: $2, annotations: {reloader.stakater.com/auto: "true"}}
spec:
  $also
  selector: {matchLabels: {app: ${1,,}, name: $name}}
  template:
    metadata: {labels: {app: ${1,,}, name: $name}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: app
        image: localhost/busybox:1
        imagePullPolicy: Never
        command: [sh, -c, 'echo "data=\$DATA release=\$RELEASE"; exec sleep 100000']
        env:
        - {name: RELEASE, value: one}
        - {name: DATA, valueFrom: {configMapKeyRef: {name: data, key: text}}}
Y
}
put_data() { # put_data TEXT NAMESPACE...
  local text=$1 namespace
  shift
  for namespace in "$@"; do do_now put_data_in "$namespace" "$text"; done
}
put_data_in() {
  kubectl -n "$1" create configmap data --from-literal=text="$2" --dry-run=client -o yaml | kubectl apply -f -
}

# Every pod of the workload that is not on its way out has begun with this line, and there is one.
pods_have() { # pods_have NAMESPACE KIND/NAME LINE
  local pods pod
  pods=$(kubectl -n "$1" get pods -l "app=${2%%/*},name=${2##*/}" -o json |
    jq -r '.items[] | select(.metadata.deletionTimestamp == null) | .metadata.name')
  [ -n "$pods" ] || return 1
  for pod in $pods; do kubectl -n "$1" logs "$pod" | grep -qxF "$3" || return 1; done
}
# A marker is a Deployment without pods that uses a ConfigMap of its own. The test changes that ConfigMap after everything else, so an
# operator that has rolled the marker has already acted on all events before that, rightly or wrongly.
apply_marker() { # apply_marker NAMESPACE
  kubectl apply -f - <<Y
apiVersion: v1
kind: ConfigMap
metadata: {name: marker, namespace: $1, labels: {watched: "yes"}}
data: {text: first}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: marker, namespace: $1, annotations: {reloader.stakater.com/auto: "true"}}
spec:
  replicas: 0
  selector: {matchLabels: {name: marker}}
  template:
    metadata: {labels: {name: marker}}
    spec: {containers: [{name: app, image: "localhost/busybox:1", envFrom: [{configMapRef: {name: marker}}]}]}
Y
}
has_marker() { kubectl -n "$1" get deployment marker >/dev/null 2>&1; } # has_marker NAMESPACE
need_marker() {                                                         # need_marker NAMESPACE: returns when the operator knows it
  has_marker "$1" || {
    do_now apply_marker "$1"
    wait_until 60 "the record of the marker in $1" recorded "$1" deployment/marker first marker
  }
}
change_marker() { # change_marker NAMESPACE: changes its data, and waits until it is rolled
  local text
  text=$(date +%s%N)
  do_now kubectl -n "$1" patch configmap marker -p "{\"data\":{\"text\":\"$text\"}}"
  wait_until 60 "the rollout of the marker in $1" is_rolled_for "$1" deployment/marker "$text"
}
is_rolled_for() { # is_rolled_for NAMESPACE KIND/NAME TEXT: by either strategy
  kubectl -n "$1" get "$2" -o json | jq -e --arg digest "$(digest "text=$3")" '.spec.template | tojson | contains($digest)' >/dev/null
}
# The second change comes when the first one has been through a whole settle window, and so has every event before it.
caught_up() { # caught_up NAMESPACE...
  local namespace
  for namespace in "$@"; do
    need_marker "$namespace"
    change_marker "$namespace"
    change_marker "$namespace"
  done
}
templates_now() { # templates_now NAMESPACE...: the pod templates of all workloads but the marker
  local namespace
  for namespace in "$@"; do
    kubectl -n "$namespace" get deployments,statefulsets,daemonsets -o json |
      jq -c '[.items[] | select(.metadata.name != "marker") | {kind, name: .metadata.name, template: .spec.template}] | sort_by(.kind, .name)' || return 1
  done
}
# nothing_rolls WHEN NAMESPACE...: no pod template is changed up to the rollout of the marker, which is in the same namespaces, or in
# those that `markers` names.
nothing_rolls() {
  local before after where=("${@:2}")
  [ -z "${markers:-}" ] || where=("$markers")
  before=$(answer templates_now "${@:2}")
  caught_up "${where[@]}"
  after=$(answer templates_now "${@:2}")
  [ "$after" = "$before" ] || fail "$1: something was rolled: $before became $after"
}
# recorded NAMESPACE KIND/NAME TEXT [CONFIGMAP]: its baseline says that its pods have these data.
recorded() {
  kubectl -n "$1" get "$2" -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}' |
    grep -q "configmap/${4:-data}=$(digest "text=$3")"
}

declare -A process
start_operator() { # start_operator NAME FLAGS...: its log is NAME.log
  local name=$1
  shift
  "$program" --metrics-addr=127.0.0.1:0 "$@" >>"$work/$name.log" 2>&1 &
  process[$name]=$!
}
# As a machine that goes: no last word.
kill_operators() {
  local name
  for name in "${!process[@]}"; do
    kill -KILL "${process[$name]}" 2>/dev/null || true
    wait "${process[$name]}" 2>/dev/null || true
  done
  process=()
}
# step N COMMAND...: when `down` is N the operators are killed before it, and begin again after it (start_operators, which the
# test has). A step 0 is none: with down=0 they live on.
down=0
step() {
  local number=$1
  shift
  [ "$number" != "$down" ] || kill_operators
  "$@"
  [ "$number" != "$down" ] || start_operators
}
failed_logs=() # the operators' logs that a failed test shows; empty: all
last_lines_of_pods() {
  local namespace
  for namespace in $(kubectl get namespaces -o name); do kubectl -n "${namespace#*/}" logs -l app --prefix --tail 1; done
}
finish_printing() {
  local status=$?
  kill_operators
  local logs=("$work"/*.log)
  [ ${#failed_logs[@]} -eq 0 ] || logs=("${failed_logs[@]}")
  [ "$status" -eq 0 ] || {
    tail -n 40 "${logs[@]}"
    last_lines_of_pods
  } >&2 || true
  rm -rf "$work"
  end_test "$status"
}
