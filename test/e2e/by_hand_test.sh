#!/usr/bin/env bash
# What people do beside the operator, against a real API server without controllers: they pause and resume Deployments that it
# has paused, while it runs and while it does not; and they ask it why.
set -euo pipefail
export KUBEXX_CLUSTER_NAME=by-hand-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
program=${KUBEXX_BUILD_DIR:-$kx_top/build/release}/bin/kubexx-reloader
work=$(mktemp -d)
period=deployment.reloader.stakater.com/pause-period
paused_at=deployment.reloader.stakater.com/paused-at
operator_pid=
operator_flags=()

finish() {
  local status=$?
  stop_operator
  [ "$status" -eq 0 ] || tail -n 40 "$work/log" >&2 || true
  "$cluster" down
  rm -rf "$work"
  exit "$status"
}

start_operator() {
  RELOADER_NAMESPACE=default "$program" --metrics-addr=127.0.0.1:0 --settle-window=0s "${operator_flags[@]}" >>"$work/log" 2>&1 &
  operator_pid=$!
}
stop_operator() {
  [ -n "$operator_pid" ] || return 0
  kill "$operator_pid" 2>/dev/null || true
  wait "$operator_pid" || true
  operator_pid=
}

# uses_config NAME [ANNOTATION=VALUE...]: a Deployment that rolls for the ConfigMap `config`.
uses_config() {
  local name=$1
  shift
  kubectl create deployment "$name" --image=localhost/busybox:1 --replicas=0 --dry-run=client -o json -- sleep 100000 |
    jq '.metadata.annotations["reloader.stakater.com/auto"] = "true" |
      .spec.template.spec.containers[0].envFrom = [{configMapRef: {name: "config"}}] |
      reduce $ARGS.positional[] as $each (.; ($each | split("=")) as $pair | .metadata.annotations[$pair[0]] = $pair[1])' \
      --args "$@" | kubectl create -f - >/dev/null
}
config_becomes() { kubectl patch configmap config --type merge -p "{\"data\":{\"KEY\":\"$1\"}}" >/dev/null; }
of() { kubectl get deployment "$1" -o json | jq -r "$2"; } # of NAME FILTER
rolled_for() { # rolled_for NAME VALUE
  [ "$(of "$1" '.spec.template.spec.containers[0].env[]? | select(.name == "STAKATER_CONFIG_CONFIGMAP") | .value')" = "$(digest "KEY=$2")" ]
}
is_paused() { [ "$(of "$1" .spec.paused)" = true ]; }
is_resumed() { ! is_paused "$1"; }
is_marked() { [ "$(of "$1" ".metadata.annotations[\"$paused_at\"] // \"\"")" != "" ]; }
is_unmarked() { ! is_marked "$1"; }
# What changes from now on rolls it.
is_recorded() { [ "$(of "$1" '.metadata.annotations["reloader.kubexx.io/baseline"] // ""')" != "" ]; }

# What the operator would do wrong it would do within milliseconds of an event; this one comes after it.
marker_turn=0
operator_has_caught_up() {
  marker_turn=$((marker_turn + 1))
  kubectl patch configmap marker --type merge -p "{\"data\":{\"KEY\":\"$marker_turn\"}}" >/dev/null
  wait_until 30 "the operator" marker_has_rolled
}
has_marker() { # has_marker NAME
  [ "$(of "$1" '.spec.template.spec.containers[0].env[]? | select(.name == "STAKATER_MARKER_CONFIGMAP") | .value')" = "$(digest "KEY=$marker_turn")" ]
}
marker_has_rolled() { has_marker marker; }
timer_has_rolled() { has_marker timer; }
stay_paused() { # stay_paused NAME...
  local name
  operator_has_caught_up
  # The timer was rolled with the marker, and paused for as long as the shortest period here.
  wait_until 30 "the rollout of the timer" timer_has_rolled
  wait_until 30 "the end of the timer's pause" is_unmarked timer
  operator_has_caught_up
  for name in "$@"; do
    # The pauses are looked after by another thread than the marker.
    wait_until 30 "$name to say no more that the operator paused it" is_unmarked "$name"
    is_paused "$name" || fail "the operator has resumed $name, which a person has paused"
  done
}

start() {
  "$cluster" down
  "$cluster" up
  use_cluster_environment
  kubectl create configmap config --from-literal=KEY=first >/dev/null
  kubectl create configmap marker --from-literal=KEY=0 >/dev/null
  for name in marker timer; do
    kubectl create deployment "$name" --image=localhost/busybox:1 --replicas=0 >/dev/null
    kubectl set env "deployment/$name" --from=configmap/marker >/dev/null
    kubectl annotate deployment "$name" reloader.stakater.com/auto=true >/dev/null
  done
  kubectl annotate deployment timer "$period=2s" >/dev/null
  uses_config short "$period=2s"
  for name in resumed restarted unseen applied kept withdrawn; do uses_config "$name" "$period=1h"; done
  start_operator
  for name in marker timer; do wait_until 30 "the record of $name" is_recorded "$name"; done
  operator_has_caught_up
}

pauses_by_hand() {
  log "the operator pauses, and resumes what it has paused"
  config_becomes second
  wait_until 30 "the end of a pause" rolled_for short second
  wait_until 30 "the end of a pause" is_resumed short
  wait_until 30 "the end of a pause" is_unmarked short
  for name in resumed restarted unseen applied kept withdrawn; do wait_until 30 "the pause of $name" is_marked "$name"; done

  log "somebody resumes one, and pauses it"
  kubectl rollout resume deployment/resumed >/dev/null
  wait_until 30 "the mark to go" is_unmarked resumed
  is_resumed resumed || fail "what a person has resumed is paused"
  kubectl rollout pause deployment/resumed >/dev/null

  log "the same while the operator is away, with a start in between; and both unseen"
  stop_operator
  kubectl rollout resume deployment/restarted >/dev/null
  start_operator
  wait_until 30 "the mark to go" is_unmarked restarted
  stop_operator
  kubectl rollout pause deployment/restarted >/dev/null
  for name in unseen short; do
    # It says that the operator has paused it, long ago.
    kubectl annotate --overwrite deployment "$name" "$paused_at=2020-01-01T00:00:00Z" >/dev/null
    kubectl rollout resume "deployment/$name" >/dev/null 2>&1 || true
    kubectl rollout pause "deployment/$name" >/dev/null
  done

  log "somebody applies the pause as well, or takes the mark away; a period is withdrawn"
  printf '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"applied"},"spec":{"paused":true}}' |
    kubectl apply --server-side --field-manager=gitops -f - >/dev/null
  kubectl annotate --overwrite deployment applied "$paused_at=2020-01-01T00:00:00Z" >/dev/null
  kubectl annotate deployment kept "$paused_at-" >/dev/null
  start_operator
  kubectl annotate deployment withdrawn "$period-" >/dev/null
  wait_until 30 "the end of a pause without a period" is_resumed withdrawn
  stay_paused resumed restarted unseen short applied kept
}

explain() { "$program" explain "$@" 2>&1; }
says() { # says WORDS EXPLAIN-ARGUMENT...
  local words=$1 said
  shift
  said=$(explain "$@") || fail "explain $*: $said"
  grep -qF -e "$words" <<<"$said" || fail "explain $*: does not say '$words': $said"
}

explain_tells() {
  log "explain goes by the running operator's flags, and tells of pauses and refusals"
  says 'Paused by somebody else' deployment/kept
  uses_config bad "$period=soon"
  wait_until 30 "the record of bad" is_recorded bad
  config_becomes third
  wait_until 30 "the refusal" has_event bad ReloadFail
  wait_until 30 "the Event on what a person has paused" has_event resumed Reloaded 'it is paused, and its pods follow'
  says 'A rollout is due and is refused: annotation' deployment/bad
  kubectl create deployment plain --image=localhost/busybox:1 --replicas=0 >/dev/null
  kubectl set env deployment/plain --from=configmap/config >/dev/null
  says 'no annotation asks for it' deployment/plain
  says 'By the flags of the operator in namespace default.' deployment/plain
  stop_operator
  operator_flags=(--auto-reload-all --namespaces-to-ignore=kube-system)
  start_operator
  wait_until 30 "the flags" tells_auto_reload_all
  says 'because of --namespaces-to-ignore' deployment/coredns -n kube-system
  says 'By the flags of the operator in namespace default.' deployment/coredns -n kube-system
  says 'no annotation asks for it' deployment/plain --auto-reload-all=false
  says 'By the flags of the operator in namespace default, and those given here.' deployment/plain --auto-reload-all=false
  says 'no operator has published them' deployment/plain --operator-namespace=kube-system
  stop_operator
  kubectl patch configmap reloader-meta-info --type merge -p '{"data":{"deploymentInfo":"{\"name\":\"gone\"}"}}' >/dev/null
  says 'those of the running operator are not known: the Deployment' deployment/plain
  says 'cannot be read' deployment/plain --kubeconfig="$(kubeconfig_of_a_stranger)"
}
has_event() { # has_event NAME REASON [WORDS]
  kubectl get events -o json | jq -e --arg name "$1" --arg reason "$2" --arg words "${3:-}" \
    'any(.items[]; .involvedObject.name == $name and .reason == $reason and (.message | contains($words)))'
}
tells_auto_reload_all() { explain deployment/plain | grep -qF -e '--auto-reload-all is on'; }
# Somebody who may look at the namespace, and at nothing else.
kubeconfig_of_a_stranger() {
  kubectl create serviceaccount stranger >/dev/null
  kubectl create role look --verb=get,list,watch --resource=configmaps,secrets,deployments.apps,statefulsets.apps,daemonsets.apps,jobs.batch,cronjobs.batch >/dev/null
  kubectl create rolebinding look --role=look --serviceaccount=default:stranger >/dev/null
  kubectl config view --raw -o json |
    jq --arg token "$(kubectl create token stranger)" '.users[0].user = {token: $token}' >"$work/stranger"
  echo "$work/stranger"
}

trap finish EXIT
start
pauses_by_hand
explain_tells
log "PASSED"
