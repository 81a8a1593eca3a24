#!/usr/bin/env bash
# own_apiserver.sh COMMAND: kubexx-apiserver in place of a cluster for the integration tests, with the commands of hack/cluster
# that they use: up, kill-apiserver, start-apiserver, down.
#
# Environment: KUBEXX_OWN_APISERVER is its folder, KUBEXX_BIN_DIR has the program. Objects survive a kill, in a file there.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=../../hack/lib/cluster_settings.sh
. "$(dirname "$0")/../../hack/lib/cluster_settings.sh"
dir=${KUBEXX_OWN_APISERVER:?is not set}

# The process may have ended, and its id be that of another one.
running() { [ -f "$dir/pid" ] && tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$dir/pid")/cmdline" | grep -qF -- "--data-file $dir/data "; }
start() {
  rm -f "$dir/kubeconfig.new"
  setsid "${KUBEXX_BIN_DIR:?is not set}/kubexx-apiserver" --address "127.0.0.1:$(cat "$dir/port")" --data-file "$dir/data" \
    --tls-cert-file "$dir/server.crt" --tls-private-key-file "$dir/server.key" --token-file "$dir/token" \
    --write-kubeconfig "$dir/kubeconfig.new" </dev/null >>"$dir/log" 2>&1 &
  echo $! >"$dir/pid"
  wait_for 20 "the API server" grep -qs current-context "$dir/kubeconfig.new" || die "it does not start: $(tail -n 5 "$dir/log")"
  # The same for all tests, also while it is written anew.
  mv "$dir/kubeconfig.new" "$dir/kubeconfig"
}
end() {
  local pid
  running || return 0
  pid=$(cat "$dir/pid")
  kill "-$1" "$pid"
  while running; do sleep 0.02; done
}

case ${1:-} in
  up)
    end KILL
    rm -rf "$dir"
    mkdir -p "$dir"
    # Not from the range that the kernel gives to clients: while the server is killed nobody else gets it.
    free_port $((20000 + RANDOM % 12000)) >"$dir/port"
    head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/token"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
      -addext subjectAltName=DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1 -keyout "$dir/server.key" -out "$dir/server.crt" 2>/dev/null
    start
    ;;
  kill-apiserver) end KILL ;;
  start-apiserver) running || start ;;
  down)
    end TERM
    rm -rf "$dir"
    ;;
  *) die "unknown command '${1:-}'" ;;
esac
