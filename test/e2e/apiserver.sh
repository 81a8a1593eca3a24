# A kubexx-apiserver with a file, and kubectl for it. To be sourced after hack/lib/common.sh.
# shellcheck shell=bash disable=SC2154

program=${KUBEXX_BUILD_DIR:-$kx_root/build/release}/bin/kubexx-apiserver
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig KUBECACHEDIR=$work/cache
server=

fail() { die "FAILED: $*"; }
end() {
  local status=$?
  [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
  [ "$status" -eq 0 ] || cat "$work"/server.log >&2
  rm -rf "$work"
}
trap end EXIT

# With the flags in server_flags besides. Without a data_file everything is in memory only.
# server_port: by default the kernel chooses one. Whoever starts the server again at the same one sets a port that
# the kernel gives to nobody else meanwhile.
server_port=0
server_flags=()
data_file=$work/data
start() {
  rm -f "$KUBECONFIG"
  "$program" --address "127.0.0.1:$server_port" ${data_file:+--data-file "$data_file"} --write-kubeconfig "$KUBECONFIG" "${server_flags[@]}" >>"$work/server.log" 2>&1 &
  server=$!
  for _ in $(seq 1200); do
    grep -qs current-context "$KUBECONFIG" && return
    kill -0 "$server" || fail "the server did not start"
    sleep 0.05
  done
  fail "the server wrote no kubeconfig"
}
# SIGTERM: it has to end well.
stop() {
  kill "$server"
  wait "$server" || fail "the server did not end well"
  server=
}
k() { timeout 120 "$kx_bin/kubectl" "$@"; }
# is WANTED COMMAND...: the command's output.
is() {
  local wanted=$1 got
  shift
  got=$(k "$@") || fail "kubectl $*"
  [ "$got" = "$wanted" ] || fail "kubectl $*: got '$got', wanted '$wanted'"
}
# has PATTERN COMMAND...: a line of the command's output matches.
has() {
  local pattern=$1 got
  shift
  got=$(k "$@" 2>&1) || fail "kubectl $*: $got"
  grep -qE -- "$pattern" <<<"$got" || fail "kubectl $*: got '$got', wanted a line with '$pattern'"
}
refuses() { # refuses TEXT COMMAND...
  local text=$1 got
  shift
  if got=$(k "$@" 2>&1); then fail "kubectl $* was not refused"; fi
  [[ $got == *"$text"* ]] || fail "kubectl $*: got '$got', wanted '$text'"
}
deployment() { # deployment IMAGE
  cat <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, image: "$1"}, {name: b, image: "b:1"}]}
Y
}
