# Helpers of the end-to-end tests: a cluster with a node and the operator in it. To be sourced.
# shellcheck shell=bash disable=SC2034

kx_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$kx_top/hack/lib/common.sh"
cluster=$kx_top/hack/cluster
system=kubexx-system
operator=kubexx-reloader

# What a test failed of, one line each: shown last, after all that end_test shows of the cluster. Its processes share the file;
# `playing` says in which of them it was, where there are several.
failures=${TMPDIR:-/tmp}/kubexx-e2e-$$.failures
fail() {
  printf '%s\n' "${playing:+$playing: }$*" >>"$failures"
  die "FAILED: $*"
}
# A command that ends the test without fail: which one. Not for those whose result is asked for.
set -o errtrace
trap 'printf "%s returned %s (%s, line %s)\n" "${playing:+$playing: }$BASH_COMMAND" "$?" "${BASH_SOURCE[0]##*/}" "$LINENO" >>"$failures"' ERR

# A node needs root: through sudo when that asks for nothing, else the test fails and says so.
become_root() {
  is_root && return 0
  sudo -n true 2>/dev/null || fail "pods need root; run as root, or allow sudo without a password"
  local name settings=("PATH=$PATH")
  for name in "${!KUBEXX_@}"; do settings+=("$name=${!name}"); done
  exec sudo -n -- env "${settings[@]}" "$0" "$@"
}

use_cluster_environment() { eval "$("$cluster" env)"; }

# end_test [STATUS]: called on exit: tells what the cluster looked like when the test failed, then takes it away.
end_test() {
  local status=${1:-$?}
  if [ "$status" -ne 0 ]; then
    log "what the cluster looks like:"
    {
      kubectl get deployments,statefulsets,daemonsets,pods -A -o wide
      kubectl get events -A --sort-by .lastTimestamp | tail -n 30
      kubectl -n "$system" logs "deployment/$operator" --tail 200
    } >&2 || true
  fi
  "$cluster" down
  if [ "$status" -ne 0 ] && [ -f "$failures" ]; then sed 's/^/FAILED: /' "$failures" >&2; fi
  rm -f "$failures"
  exit "$status"
}

# wait_until SECONDS WHAT COMMAND...: as wait_for, but failing the test.
wait_until() { wait_for "$@" || fail "waited $1 s in vain for $2"; }

# What a busy server did not answer is no finding, so it is asked again, and so is a write that may be made twice.
#
# answer COMMAND...: what it prints when it succeeds.
answer() {
  local file
  file=$(mktemp)
  # shellcheck disable=SC2317 # wait_until calls it
  keep_answer() { "$@" >"$file"; }
  wait_until 30 "an answer to: $*" keep_answer "$@"
  cat "$file"
  rm -f "$file"
}
# do_now COMMAND...: waits until it succeeds.
do_now() { wait_until 30 "this to be done: $*" "$@"; }

rolled_out() { # rolled_out NAMESPACE KIND/NAME...
  local namespace=$1 one
  shift
  for one in "$@"; do
    kubectl -n "$namespace" rollout status --timeout "$((300 * ${KUBEXX_PATIENCE:-1}))s" "$one" >/dev/null || fail "$one was not rolled out"
  done
}

# variable NAME KIND/NAME: its value in the pod template in namespace shop; empty when absent.
variable() {
  kubectl -n shop get "$2" -o "jsonpath={.spec.template.spec.containers[0].env[?(@.name==\"$1\")].value}"
}
variable_is() { [ "$(variable "$1" "$2")" = "$3" ]; }
# How often the pod template was set. A Deployment's generation counts its annotations too.
revision() {
  case $1 in
    deployment/*) kubectl -n shop get "$1" -o 'jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}' ;;
    *) kubectl -n shop get "$1" -o 'jsonpath={.metadata.generation}' ;;
  esac
}
digest() { printf '%s' "$1" | sha1sum | cut -d' ' -f1; }

# Every running pod with label app=$1 that is not on its way out has printed line $2.
all_pods_print() {
  local pods pod
  pods=$(kubectl -n shop get pods -l "app=$1" -o json |
    jq -r '.items[] | select(.metadata.deletionTimestamp == null) | .metadata.name')
  [ -n "$pods" ] || return 1
  for pod in $pods; do kubectl -n shop logs "$pod" | grep -qxF "$2" || return 1; done
}

operator_pod() { kubectl -n "$system" get pods -l "app=$operator" -o 'jsonpath={.items[0].metadata.name}'; }
operator_http() { kubectl get --raw "/api/v1/namespaces/$system/pods/$(operator_pod):9090/proxy$1"; }

# metric NAME: the sum of all its series.
metric() { operator_http /metrics | awk -v name="$1" '$1 ~ "^" name "({|$)" { sum += $NF; found = 1 } END { if (!found) exit 1; print sum }'; }
metric_at_least() { # metric_at_least NAME MINIMUM
  local value
  value=$(metric "$1") || fail "there is no metric $1"
  awk -v value="$value" -v minimum="$2" 'BEGIN { exit !(value >= minimum) }' || fail "metric $1 is $value, expected at least $2"
}

# The process of the operator's container, on this machine.
operator_process() {
  local id
  id=$(kubectl -n "$system" get pod "$(operator_pod)" -o 'jsonpath={.status.containerStatuses[0].containerID}')
  cat "$KUBEXX_CACHE/clusters/$KUBEXX_CLUSTER_NAME/node/state/io.containerd.runtime.v2.task/k8s.io/${id#containerd://}/init.pid"
}
