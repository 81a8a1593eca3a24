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
# Those that are not on their way out: what a rollout left behind may take longer to go than the rollout.
pods_now() { # pods_now [NAMESPACE]: in all namespaces without one
  local where=(-A)
  [ $# -eq 0 ] || where=(-n "$1")
  kubectl get pods "${where[@]}" -l app -o json | jq -c '[.items[] | select(.metadata.deletionTimestamp == null) | .metadata.uid] | sort'
}
# Nothing is rolled for a while that a rollout would not take.
nothing_rolls() { # nothing_rolls WHEN [NAMESPACE]
  local before after
  before=$(answer pods_now "${@:2}")
  sleep 4
  after=$(answer pods_now "${@:2}")
  [ "$after" = "$before" ] || fail "$1: something was rolled: $before became $after"
}
# recorded NAMESPACE KIND/NAME TEXT: its baseline says that its pods have these data.
recorded() {
  kubectl -n "$1" get "$2" -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}' |
    grep -q "configmap/data=$(digest "text=$3")"
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
finish_printing() {
  local status=$?
  kill_operators
  local logs=("$work"/*.log)
  [ ${#failed_logs[@]} -eq 0 ] || logs=("${failed_logs[@]}")
  [ "$status" -eq 0 ] || { tail -n 40 "${logs[@]}"; kubectl logs -A -l app --prefix --tail 1; } >&2 || true
  rm -rf "$work"
  end_test "$status"
}
