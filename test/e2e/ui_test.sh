#!/usr/bin/env bash
# `kubexx-reloader ui` in headless Chromium, on kubexx-apiserver: who is let in and what is refused; the state appears and follows the cluster; the page
# works with the keyboard and at the width of a phone, has no mistake that axe-core knows of, asks no other host and shows no value; what may not be read
# is named; it outlives an API server that goes away. KUBEXX_UI_PICTURES: a folder for pictures of the views.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$here/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$here/apiserver.sh"
# shellcheck source=operator.sh
. "$here/operator.sh"
# shellcheck source=ui.sh
. "$here/ui.sh"
# shellcheck source=../../hack/lib/cluster_settings.sh
. "$kx_root/hack/lib/cluster_settings.sh"
apps=12

become_healthy() { # become_healthy NAMESPACE [NAME...]: these, or all
  local namespace=$1 generations name generation
  shift
  generations=$(k -n "$namespace" get deployments -o json | jq -r '.items[] | [.metadata.name, .metadata.generation] | @tsv')
  while read -r name generation; do
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    k -n "$namespace" patch deployment "$name" --subresource=status --type=merge >/dev/null \
      -p "{\"status\":{\"observedGeneration\":$generation,\"replicas\":1,\"updatedReplicas\":1,\"availableReplicas\":1}}"
  done <<<"$generations"
}
run_ui() { # run_ui KUBECONFIG FLAGS...
  local config=$1
  shift
  : >"$work/ui.log"
  "$reloader" ui --kubeconfig "$config" "$@" >>"$work/ui.log" 2>&1 &
  ui=$!
  wait_until 20 "the link" grep -q 'enter?token=' "$work/ui.log"
  page=$(sed -n 's,.*\(http://[0-9.]*:[0-9]*\)/enter.*,\1,p' "$work/ui.log" | head -n 1)
}
stop_ui() {
  kill -INT "$ui"
  wait "$ui" || fail "the program did not end well: $(cat "$work/ui.log")"
  ui=
}
link() { grep -o '[^ ]*/enter?token=[0-9a-f]*' "$work/ui.log" | tail -n 1; }
cookie() { curl -s --max-time 10 -D - -o /dev/null "$(link)" | sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p'; }
# events_say COOKIE PATTERN: what a page gets.
events_say() {
  curl -sN --max-time 3 -H "Cookie: $1" "$page/events" >"$work/events" || true # it does not end by itself
  grep -qE -e "$2" "$work/events"
}

server_flags=(--authorization-mode RBAC --token-auth-file "$work/tokens")
echo 'guests-token,guest,guest' >"$work/tokens"
# Not from the range that the kernel gives to clients: while the server is away nobody else gets it.
server_port=$(free_port $((20000 + RANDOM % 12000)))
start
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
for namespace in shop payments; do
  k create namespace "$namespace" >/dev/null
  k -n "$namespace" create configmap settings --from-literal=A=1 >/dev/null
  k -n "$namespace" create secret generic db --from-literal=password=hunter2 >/dev/null
  for i in $(seq -w "$apps"); do
    k -n "$namespace" create deployment "app-$i" --image=app:1 --dry-run=client -o json |
      jq -c --arg namespace "$namespace" '.metadata.namespace = $namespace | .metadata.annotations["reloader.stakater.com/auto"] = "true"
        | .spec.template.spec.containers[0].envFrom = [{configMapRef: {name: "settings"}}, {secretRef: {name: "db"}}]'
  done | k apply -f - >/dev/null
done
wait_for 10 "the CRD" k get reloadpolicies -A || fail "the CRD is not served"
k apply -f - >/dev/null <<'END'
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: careful, namespace: shop}
spec: {settleWindow: 100ms, waves: {sizes: [{count: 3}], healthyFor: 3s, timeout: 5m}}
---
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: nights, namespace: payments}
spec: {maintenanceWindows: [{schedule: "0 0 29 2 *", duration: 1h}], maxConcurrentRollouts: 2}
END
run_operator "$KUBECONFIG" --history=3
wait_until 30 "the operator" is_ready
have_baselines() { [ "$(k get deployments -A -o json | grep -c '"reloader.kubexx.io/baseline"')" -ge "$((2 * apps))" ]; }
wait_until 60 "the baselines" have_baselines
# A Deployment's generation counts its annotations, too.
for namespace in shop payments; do become_healthy "$namespace"; done

log "an address that others can reach is refused"
status=0
timeout 20 "$reloader" ui --address 0.0.0.0:0 >"$work/said" 2>&1 || status=$?
{ [ "$status" = 1 ] && grep -q 'other machines can reach' "$work/said"; } || fail "status $status: $(cat "$work/said")"

log "who has no cookie, and who comes from elsewhere, sees nothing"
run_ui "$KUBECONFIG"
[ "$(status_of "$page/")" = 401 ] || fail "the page is shown to everybody"
[ "$(status_of "$page/events")" = 401 ] || fail "the events are told to everybody"
[ "$(status_of "$page/enter?token=0")" = 401 ] || fail "any token lets in"
cookie=$(cookie)
[ -n "$cookie" ] || fail "the link gives no cookie"
[ "$(status_of -H "Cookie: $cookie" "$page/")" = 200 ] || fail "the cookie does not let in"
[ "$(status_of -H "Cookie: $cookie" -H 'Host: page.example.com' "$page/")" = 403 ] || fail "a host with a name is answered"
[ "$(status_of -H "Cookie: $cookie" -H 'Origin: http://page.example.com' "$page/events")" = 403 ] || fail "a foreign origin is answered"
[ "$(status_of -H "Cookie: $cookie" -X POST "$page/")" = 405 ] || fail "POST is answered"
wait_until 30 "the workloads" events_say "$cookie" '"w/Deployment/shop/app-01"'

log "in a browser"
axe=
if command -v npm >/dev/null && "$kx_root/hack/ui-libraries" --axe "$work/axe.js" 2>"$work/axe.log"; then
  axe=$work/axe.js
else
  log "axe-core cannot be had here, and is left out: $(tail -n 1 "$work/axe.log" 2>/dev/null || echo 'there is no npm')"
fi
export -f k become_healthy
browser() { # browser PART ARGUMENT...
  KX_KUBECTL="$kx_bin/kubectl" KX_AXE="$axe" timeout 400 /usr/bin/python3 "$here/ui_browser.py" "$@" || fail "in the browser: $1"
}
browser state "$(link)"
browser limits "$(link)"

log "the API server goes away and comes back"
KX_SERVER_PID=$server KX_SERVER_PORT=$server_port browser outage "$(link)" &
in_browser=$!
wait_until 120 "the browser to see the state" test -e "$work/sees-state"
stop
wait_until 120 "the browser to see the outage" test -e "$work/sees-outage"
"$program" --address "127.0.0.1:$server_port" --data-file "$data_file" "${server_flags[@]}" >>"$work/server.log" 2>&1 &
server=$!
is_back() { k get namespace shop >/dev/null 2>&1; }
wait_until 60 "the API server" is_back
wait_until 120 "the browser to see the settings" test -e "$work/sees-settings"
k -n shop annotate deployment app-01 reloader.kubexx.io/paused=true >/dev/null
wait "$in_browser" || fail "the page did not come back"
stop_ui

log "what may not be read is named, and the rest is shown"
k -n shop create role guest --verb=get,list,watch --resource=deployments.apps,configmaps >/dev/null
k -n shop create rolebinding guest --role=guest --user=guest >/dev/null
k config view --raw -o json | jq '.users[].user = {token: "guests-token"}' >"$work/guest"
run_ui "$work/guest" --namespace shop
cookie=$(cookie)
wait_until 60 "the gap" events_say "$cookie" '"gaps":\[.*secrets: .*forbidden'
wait_until 60 "the gap of a kind" events_say "$cookie" '"gaps":\[.*statefulsets: they may not be listed'
wait_until 60 "the workloads" events_say "$cookie" '"w/Deployment/shop/app-01":\{"kind":"Deployment","namespace":"shop","name":"app-01","state":"[a-z]*"'
! events_say "$cookie" '"w/Deployment/payments/' || fail "another namespace is shown"
stop_ui
log "PASSED"
