#!/usr/bin/env bash
# How many frames a second the page of `kubexx-reloader ui` draws in headless Chromium while it shows many workloads, of which some change each second,
# and its table is scrolled. By hand: the figure is that of the machine, and of what else it does.
#
#   KUBEXX_UI_WORKLOADS  2000   how many Deployments
#   KUBEXX_UI_CHANGES    50     how many of them change in a second
#   KUBEXX_UI_SECONDS    15     for how long
#   KUBEXX_UI_FRAMES     30     with fewer frames in any second it fails
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$here/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$here/apiserver.sh"
workloads=${KUBEXX_UI_WORKLOADS:-2000}
reloader=${KUBEXX_RELOADER:-${KUBEXX_BUILD_DIR:-$kx_root/build/release}/bin/kubexx-reloader}
ui=

end_frames() {
  local status=$?
  [ -z "$ui" ] || kill -9 "$ui" 2>/dev/null || true
  set +e
  (exit "$status")
  end
}
trap end_frames EXIT

"$kx_root/hack/deps" e2e
server_flags=(--token-auth-file "$work/tokens")
echo 'writers-token,writer,writer,"system:masters"' >"$work/tokens"
data_file=
start
k create namespace shop >/dev/null
for i in $(seq 50); do printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"settings-%s"},"data":{"A":"1"}}\n' "$i"; done >"$work/objects"
for i in $(seq -w "$workloads"); do
  printf '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop","name":"app-%s","annotations":{"reloader.stakater.com/auto":"true"}},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"app","image":"app:1","envFrom":[{"configMapRef":{"name":"settings-%s"}}]}]}}}}\n' \
    "$i" "$((10#$i % 50 + 1))"
done >>"$work/objects"
server_url=$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
KX_SERVER=$server_url /usr/bin/python3 "$here/ui_changes.py" create "$work/objects"
"$reloader" ui >"$work/ui.log" 2>&1 &
ui=$!
wait_for 30 "the link" grep -q 'enter?token=' "$work/ui.log" || fail "the page is not served: $(cat "$work/ui.log")"
KX_SERVER=$server_url timeout 300 /usr/bin/python3 "$here/ui_browser.py" frames "$(grep -o '[^ ]*/enter?token=[0-9a-f]*' "$work/ui.log" | tail -n 1)" || fail "too few frames"
log "PASSED"
