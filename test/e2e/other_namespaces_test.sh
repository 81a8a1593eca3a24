#!/usr/bin/env bash
# --sources-in-other-namespaces, on kubexx-apiserver: a source rolls workloads of another namespace where both sides say so, and no others; without the
# source's permission nothing tells whether it exists; without the flag nothing is read of the annotations; the commands know such sources, and what the
# policies of their namespace say of them; the page follows them.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

server_flags=(--authorization-mode RBAC --token-auth-file "$work/tokens" --controllers namespace)
echo 'anna-token,anna,anna' >"$work/tokens"
flag=--sources-in-other-namespaces
sha() { printf '%s' "$1" | sha1sum | cut -d' ' -f1; }
naming() { # naming NAMESPACE NAME SOURCES
  k -n "$1" apply -f - >/dev/null <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: $2, annotations: {reloader.kubexx.io/reload-on-other-namespaces: "$3"}}
spec:
  replicas: 0
  selector: {matchLabels: {app: $2}}
  template:
    metadata: {labels: {app: $2}}
    spec: {containers: [{name: app, image: "example.com/app:1"}]}
Y
}
allow() { k -n shared annotate --overwrite "$1" "$2" "reloader.kubexx.io/allowed-namespaces$3" >/dev/null; } # allow KIND NAME =LIST or -
settings() { k -n shared patch configmap settings -p "{\"data\":{\"KEY\":\"$1\"}}" >/dev/null; }
value_of() { k -n "$1" get deployment "$2" -o json | jq -r --arg name "$3" '.spec.template.spec.containers[0].env // [] | .[] | select(.name == $name).value'; }
has_settings() { [ "$(value_of "$1" web STAKATER_SHARED__SETTINGS_CONFIGMAP)" = "$2" ]; } # has_settings NAMESPACE DIGEST
has_record() { [[ $(k -n "$1" get deployment "$2" -o json | jq -r '.metadata.annotations["reloader.kubexx.io/baseline"] // ""') =~ $3 ]]; }
templates() { k get deployments -A -o json | jq -c '[.items[] | select(.metadata.name != "marker") | [.metadata.namespace, .metadata.name, .spec.template]]'; }
# nothing_rolls WHY COMMAND...: what the operator would do wrong it has done when it has rolled the marker.
nothing_rolls() {
  local why=$1 before
  shift
  before=$(templates)
  "$@"
  caught_up shop
  [ "$(templates)" = "$before" ] || fail "$why has rolled something: $before, $(templates)"
}
explained() { # explained WORDS COMMAND...
  local words=$1
  shift
  timeout 60 "$reloader" explain "$@" >"$work/said" 2>&1 || fail "explain $*: $(cat "$work/said")"
  grep -qF -e "$words" "$work/said" || fail "explain $*: wanted '$words': $(cat "$work/said")"
}
told() { k -n shop get events -o json | jq -r '.items[] | select(.reason == "SourceNotSeen") | .message' | sort -u; }
has_told() { told | grep -qF -e "$1"; }

# run_page NAME FLAGS...: `ui`, as the page NAME.
pages=()
run_page() {
  local name=$1
  shift
  "$reloader" ui "$flag" "$@" >"$work/page-$name.log" 2>&1 &
  pages+=($!)
  wait_until 20 "the link of the page" grep -q 'enter?token=' "$work/page-$name.log"
  curl -s --max-time 10 -D - -o /dev/null "$(grep -o '[^ ]*/enter?token=[0-9a-f]*' "$work/page-$name.log")" |
    sed -n 's/^Set-Cookie: \([^;]*\);.*/Cookie: \1/p' >"$work/page-$name.cookie"
}
# page_says NAME WORDS: of shared/settings, in the record of shop's workload.
page_says() {
  local address
  address=$(sed -n 's,.*\(http://[0-9.]*:[0-9]*\)/enter.*,\1,p' "$work/page-$1.log" | head -n 1)
  curl -sN --max-time 2 -H "@$work/page-$1.cookie" "$address/events" >"$work/events" || true # it does not end by itself
  grep -qF -e "\"name\":\"shared/settings\",\"there\":true,\"unknown\":false,\"rolls\":true,$2" "$work/events"
}
end_pages() {
  local status=$?
  [ ${#pages[@]} -eq 0 ] || kill -9 "${pages[@]}" 2>/dev/null || true
  (exit "$status")
  end_all
}
trap end_pages EXIT

start
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
wait_for 10 "the CRD" k get reloadpolicies -A || fail "the CRD is not served"
for space in shared shop bank; do k create namespace "$space" >/dev/null; done
workload shop marker
k -n shared create configmap settings --from-literal=KEY=1 >/dev/null
naming shop web "ConfigMap/shared/settings"
naming bank web "ConfigMap/shared/settings"
naming shop curious "Secret/shared/there, Secret/shared/not-there"
k -n shared create secret generic there --from-literal=PASSWORD=hunter2 >/dev/null

log "without the flag nothing rolls"
allow configmap settings '=*'
run_operator "$KUBECONFIG"
wait_until 30 "the operator" is_ready
nothing_rolls "a change without the flag" settings 2
! has_record shop web shared || fail "something is recorded without the flag"
explained "the operator runs without $flag" deployment/web -n shop
stop_operator
allow configmap settings -

log "with the flag, and without permission, a source that exists is as one that does not"
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" "$flag"
wait_until 30 "the operator" is_ready
wait_until 30 "the Event about one that is there" has_told Secret/shared/there
wait_until 30 "the Event about one that is not" has_told Secret/shared/not-there
[ "$(told | sed -n 's|Secret/shared/there|X|p')" = "$(told | sed -n 's|Secret/shared/not-there|X|p')" ] || fail "the messages differ: $(told)"
nothing_rolls "a change without permission" settings 3
k -n shared patch secret there -p '{"stringData":{"PASSWORD":"hunter3"}}' >/dev/null
caught_up shop
! k -n shop get deployment curious -o json | jq -c '[.spec.template, .metadata.annotations["reloader.kubexx.io/baseline"]]' | grep -qi shared || fail "something of the source is on the workload"
explained 'Secret shared/there: does not roll the workload' deployment/curious -n shop
explained 'Secret shared/not-there: does not roll the workload' deployment/curious -n shop

log "permission rolls nothing; a change rolls the workloads of the namespaces that have it"
nothing_rolls "permission" allow configmap settings '=shop, other'
wait_until 30 "the baseline" has_record shop web "configmap/shared/settings=$(sha KEY=3)"
settings 4
wait_until 30 "the rollout" has_settings shop "$(sha KEY=4)"
caught_up shop
has_settings bank "" || fail "a workload was rolled whose namespace has no permission"
wait_until 30 "the Event of the rollout" has "Changes detected in 'settings' of type 'CONFIGMAP' in namespace 'shared'" -n shop get events
explained 'ConfigMap shared/settings: rolls the workload when it changes' deployment/web -n shop
explained 'ConfigMap shared/settings: does not roll the workload' deployment/web -n bank

log "who may read one namespace only is told what that leaves open"
k config view --raw -o json | jq '.users[].user = {token: "anna-token"}' >"$work/anna"
# The rights of explain in its namespace.
k -n shop create role reader --verb=get,list,watch --resource=configmaps,secrets,deployments.apps,daemonsets.apps,statefulsets.apps,cronjobs.batch,jobs.batch >/dev/null
k -n shop create rolebinding anna --role=reader --user=anna >/dev/null
export_anna() { KUBECONFIG=$work/anna explained "$@"; }
export_anna 'ConfigMap shared/settings: is of another namespace, and you may not read it' deployment/web -n shop "$flag"

log "who may read the source and not the policies of its namespace is told that"
k -n shared create role sources --verb=list --resource=configmaps >/dev/null
k -n shared create rolebinding anna --role=sources --user=anna >/dev/null
export_anna 'ReloadPolicies of the namespace shared may not be read' deployment/web -n shop "$flag"
export_anna 'ConfigMap shared/settings: rolls the workload when it changes' deployment/web -n shop "$flag"
k -n shared delete rolebinding anna >/dev/null

log "a preview says that it does not look at other namespaces"
printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"shared"},"data":{"KEY":"9"}}' >"$work/changed.json"
"$reloader" preview -f "$work/changed.json" "$flag" >"$work/said" 2>&1 || fail "preview: $(cat "$work/said")"
grep -qF 'may roll for ConfigMap shared/settings: other, shop' "$work/said" || fail "the preview says nothing of others: $(cat "$work/said")"

log "what changes without permission rolls once when it is back"
nothing_rolls "the end of the permission" allow configmap settings -
nothing_rolls "a change without permission" settings 5
allow configmap settings '=*'
wait_until 30 "the rollout for it" has_settings shop "$(sha KEY=5)"
nothing_rolls "the end of the permission, and its return" allow configmap settings '=shop'

log "a source that is deleted rolls nothing, and its successor does"
nothing_rolls "a deletion" k -n shared delete configmap settings --wait=true
k -n shared create configmap settings --from-literal=KEY=6 >/dev/null
nothing_rolls "one without permission" true
allow configmap settings '=shop'
wait_until 30 "the rollout for it" has_settings shop "$(sha KEY=6)"

log "a pause of the source holds rollouts back, and its end makes up for them"
k -n shared annotate configmap settings reloader.kubexx.io/paused=true >/dev/null
nothing_rolls "a paused source" settings 7
k -n shared annotate configmap settings reloader.kubexx.io/paused- >/dev/null
wait_until 30 "what was held back" has_settings shop "$(sha KEY=7)"

log "a policy of the source's namespace does so as well, and explain knows it"
policy() { printf '{"apiVersion":"kubexx.io/v1alpha1","kind":"ReloadPolicy","metadata":{"name":"careful"},"spec":{"sources":[%s]}}' "$1" | k -n shared apply -f - >/dev/null; }
policy '{"kind":"ConfigMap","name":"settings","paused":true}'
wait_until 30 "the policy" metric_is kubexx_reloader_policies 1
nothing_rolls "a source that a policy pauses" settings 71
explained 'ConfigMap/shared/settings is paused (ReloadPolicy shared/careful' deployment/web -n shop
policy '{"kind":"ConfigMap","name":"settings","keys":["KEY"]}'
is_rolled() { ! has_settings shop "$(sha KEY=7)"; }
wait_until 30 "what was held back" is_rolled
explained 'of its keys only KEY count (ReloadPolicy shared/careful' deployment/web -n shop
k -n shared delete reloadpolicy careful >/dev/null
wait_until 30 "the end of the policy" metric_is kubexx_reloader_policies 0
settings 7
wait_until 30 "the rollout for all keys" has_settings shop "$(sha KEY=7)"

log "a restart rolls nothing, and makes up for what was missed"
stop_operator
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" "$flag"
wait_until 30 "the operator" is_ready
nothing_rolls "a restart" true
stop_operator
generation=$(k -n shop get deployment web -o 'jsonpath={.metadata.generation}')
k -n shop patch deployment web --subresource=status --type=merge -p "{\"status\":{\"observedGeneration\":$generation}}" >/dev/null # it is settled
run_page own -n shop
run_page all
for each in own all; do wait_until 60 "the page '$each'" page_says "$each" '"due":false'; done
settings 8
for each in own all; do wait_until 60 "the change on the page '$each'" page_says "$each" '"due":true'; done
for each in "${pages[@]}"; do
  kill -INT "$each"
  wait "$each" || fail "a page did not end well: $(cat "$work"/page-*.log)"
done
pages=()
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" "$flag" --reload-strategy=env-vars
wait_until 60 "what was missed" has_settings shop "$(sha KEY=8)"
stop_operator

log "an operator that does not watch the namespace of the source never sees it"
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" "$flag" --namespaces=shop
wait_until 30 "the operator" is_ready
nothing_rolls "a change in a namespace that is not watched" settings 9
stop_operator
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" "$flag" --namespaces=shop,shared
wait_until 60 "the rollout for it" has_settings shop "$(sha KEY=9)"
stop_operator

log "with annotations as the strategy the source is named as it is"
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" "$flag" --reload-strategy=annotations
wait_until 30 "the operator" is_ready
settings 10
from_shared() { k -n shop get deployment web -o json | jq -r '.spec.template.metadata.annotations["reloader.stakater.com/last-reloaded-from"] // "{}"' | jq -e '.name == "settings" and .namespace == "shared"' >/dev/null; }
wait_until 30 "the rollout" from_shared
! grep -q hunter "$work"/*.log || fail "a value is in the log"
log "PASSED"
