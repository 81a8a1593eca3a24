#!/usr/bin/env bash
# --source-kinds, on kubexx-apiserver: fields of custom resources roll the workloads that name the objects, and nothing else of them does; an API that comes
# late, goes, or is refused holds nothing up and rolls nothing; the commands know the objects; no value is written anywhere.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

certificates='{"group":"cert-manager.io","version":"v1","kind":"Certificate","resource":"certificates","fields":["status.revision"]}'
external='{"group":"external-secrets.io","version":"v1","kind":"ExternalSecret","resource":"externalsecrets","fields":["status.token","status.conditions[type=Ready].status"]}'
kinds="[$certificates,$external]"
crd() { # crd GROUP KIND PLURAL
  k apply -f - >/dev/null <<Y
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $3.$1}
spec:
  group: $1
  scope: Namespaced
  names: {kind: $2, plural: $3, singular: ${2,,}}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
Y
  wait_for 20 "the CRD $3" k get "$3.$1" -A >/dev/null 2>&1 || fail "$3 is not served"
}
object() { # object GROUP KIND NAME
  k -n shop apply -f - >/dev/null <<<"{apiVersion: $1/v1, kind: $2, metadata: {name: $3}, spec: {any: thing}}"
}
status() { k -n shop patch "$1" "$2" --subresource=status --type=merge -p "{\"status\":$3}" >/dev/null; } # status RESOURCE NAME JSON
deployment_on() {                                                                                         # deployment_on NAME RELOAD_ON
  k -n shop apply -f - >/dev/null <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1, annotations: {reloader.kubexx.io/reload-on: "$2"}}
spec:
  replicas: 0
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec: {containers: [{name: app, image: "example.com/app:1"}]}
Y
}
sha() { printf '%s' "$1" | sha1sum | cut -d' ' -f1; }
value_of() { k -n shop get deployment "$1" -o json | jq -r --arg name "$2" '.spec.template.spec.containers[0].env // [] | .[] | select(.name == $name).value'; }
web_has() { [ "$(value_of web STAKATER_WEB_TLS_CERTIFICATE)" = "$1" ]; }
api_has() { [ "$(value_of api STAKATER_DB_EXTERNALSECRET)" = "$1" ]; }
# token VALUE: what the operator writes for it.
token() { sha "status.conditions[type=Ready].status=\"True\";status.token=\"$1\""; }
# The pod templates of all but the marker.
templates() { k -n shop get deployments -o json | jq -c '[.items[] | select(.metadata.name != "marker") | [.metadata.name, .spec.template]]'; }
records() { k -n shop get deployment "$1" -o json | jq -r '.metadata.annotations["reloader.kubexx.io/baseline"] // ""'; }
has_record() { [[ $(records "$1") =~ $2 ]]; }
tells() { # tells STATUS WORDS COMMAND...
  local wanted=$1 words=$2 status=0
  shift 2
  timeout 60 "$reloader" "$@" >"$work/said" 2>&1 || status=$?
  { [ "$status" = "$wanted" ] && grep -qF -e "$words" "$work/said"; } || fail "$*: status $status, wanted $wanted and '$words': $(cat "$work/said")"
}
logged() { grep -qF -e "$1" "$work/operator.log"; }
logs="$work/all.log"
no_value() { # no_value VALUE: in no log, metric or object
  {
    cat "$work/operator.log"
    curl -s --max-time 5 "http://127.0.0.1:$port/metrics"
    k get deployments,events,configmaps -A -o json
  } >>"$logs"
  ! grep -qF -e "$1" "$logs" || fail "a value is told: $(grep -F -e "$1" "$logs" | head -n 1 | cut -c 1-300)"
}
event() { k -n shop patch configmap marker -p "{\"data\":{\"A\":\"$1\"}}" >/dev/null; }
marked() { [ "$(value_of marker STAKATER_MARKER_CONFIGMAP)" = "$(sha "A=$1")" ]; }
turn=0
# What the operator would do wrong for an event of before, it has done when it has rolled for this one.
nothing_rolls() { # nothing_rolls WHY COMMAND...
  local why=$1 before
  shift
  before=$(templates)
  "$@"
  turn=$((turn + 1))
  event "$turn"
  wait_until 30 "the marker" marked "$turn"
  [ "$(templates)" = "$before" ] || fail "$why has rolled something: $before, $(templates)"
}

close_window() {
  k -n shop apply -f - >/dev/null <<'Y'
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: closed}
spec: {workloads: {names: [web]}, maintenanceWindows: [{schedule: "0 0 1 1 *", duration: 1m}]}
Y
  k -n shop wait reloadpolicy/closed --for condition=Ready --timeout 120s >/dev/null || fail "the operator does not read the policy"
}

start
k create namespace shop >/dev/null
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null 2>&1
wait_for 20 "the CRD" k get reloadpolicies -A >/dev/null || fail "the CRD is not served"
k -n shop create configmap marker --from-literal=A=0 >/dev/null
deployment_on marker ""
k -n shop annotate deployment marker configmap.reloader.stakater.com/reload=marker >/dev/null
crd cert-manager.io Certificate certificates
object cert-manager.io Certificate web-tls
deployment_on web "Certificate/web-tls"
deployment_on api "externalsecrets/db"

log "a list that cannot be read ends the operator, with what is wrong"
source_kind() { echo "[{group: a.example.com, version: v1, $1}]"; }
tells 1 '--source-kinds: [0].kind: "ConfigMap" is what the operator calls a kind of its own' --source-kinds="$(source_kind 'kind: ConfigMap, resource: foos, fields: [data]')"
tells 1 'is no API group of custom resources' --source-kinds='[{group: "", version: v1, kind: Foo, resource: secrets, fields: [data]}]'
tells 1 '--source-kinds: [0].fields: must name the fields whose changes count' --source-kinds="$(source_kind 'kind: A, resource: as')"
tells 1 '[0].fields[0]: "status..a" is not the names of members' --source-kinds="$(source_kind 'kind: A, resource: as, fields: [status..a]')"
tells 1 'is what the operator calls' --workload-kinds="$(source_kind 'kind: A, resource: as')" --source-kinds="$(source_kind 'kind: A, resource: as, fields: [status.a]')"

log "a field that is not there yet, and its first value, roll nothing; another value does, and other fields do not"
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --source-kinds="$kinds" --history=3
wait_until 30 "the operator, without the API of ExternalSecrets" is_ready
wait_until 30 "what it says of that" logged 'The API server does not serve a kind'
nothing_rolls "a first value" status certificates web-tls '{"revision":1}'
wait_until 30 "the baseline" has_record web "certificate\.[0-9a-f]{8}/web-tls=$(sha status.revision=1)"
status certificates web-tls '{"revision":2}'
wait_until 30 "the rollout" web_has "$(sha status.revision=2)"
nothing_rolls "another field" status certificates web-tls '{"message":"renewed"}'
wait_until 30 "the Event of the rollout" has "Changes detected in 'web-tls' of type 'CERTIFICATE'" -n shop get events
[ "$(metric 'reloader_events_processed_total{event_type="update",resource_type="certificates",result="success"}')" -ge 3 ] || fail "its events are not counted"

log "an API that comes later is found, and rolls nothing at the first sight"
crd external-secrets.io ExternalSecret externalsecrets
object external-secrets.io ExternalSecret db
status externalsecrets db '{"token":"first-hunter2","conditions":[{"type":"Ready","status":"True"}]}'
recorded_or_seen() { logged 'The operator can read sources that it could not read before' && has_record api "externalsecret\.[0-9a-f]{8}/db=$(token first-hunter2)"; }
wait_until 120 "its baseline" recorded_or_seen
api_has "" || fail "it was rolled at the first sight"
status externalsecrets db '{"token":"second-hunter2"}'
wait_until 30 "the rollout for it" api_has "$(token second-hunter2)"
nothing_rolls "a field that is gone" status externalsecrets db '{"token":null}'
nothing_rolls "a field that is back" status externalsecrets db '{"token":"second-hunter2"}'
no_value hunter2

log "ignored and paused objects"
k -n shop annotate certificate web-tls reloader.stakater.com/ignore=true >/dev/null
nothing_rolls "an ignored object" status certificates web-tls '{"revision":3}'
k -n shop annotate certificate web-tls reloader.stakater.com/ignore- >/dev/null
wait_until 30 "what was ignored" web_has "$(sha status.revision=3)"
tells 0 'certificate is certificates.v1.cert-manager.io, as the operator in namespace shop describes it' pause certificate/web-tls -n shop
nothing_rolls "a paused object" status certificates web-tls '{"revision":4}'
tells 0 'Certificate/shop/web-tls is paused' explain deployment/web -n shop
tells 0 'resumed' resume certificate/web-tls -n shop
wait_until 30 "what was held back" web_has "$(sha status.revision=4)"

log "the commands know them, and say what is wrong"
tells 0 'Certificate web-tls: rolls the workload when it changes' explain deployment/web -n shop
tells 0 'Deployment shop/web' history certificate/web-tls -n shop
tells 0 'Certificate web-tls' history deployment/web -n shop
grep -qF 'status.revision' "$work/said" || fail "the history names no field: $(cat "$work/said")"
tells 2 'names those that were rolled for a source' explain certificate/web-tls -n shop
deployment_on typo "Certificat/web-tls, web-tls, Certificate/none"
typo_told() { k -n shop get events -o json | grep -q 'knows no kind of sources that is called so; --source-kinds describes Certificate, ExternalSecret'; }
wait_until 30 "the Event about a typing error" typo_told
deployment_on lone "Certificat/web-tls"
told_of() { k -n shop get events -o json | jq -r '.items[] | select(.involvedObject.name == "lone") | .message' | grep -qF -e "$1"; }
wait_until 30 "the Event about the only item" told_of 'reload-on: "Certificat/web-tls"'
deployment_on lone "Certificate/((("
wait_until 30 "the Event about an expression" told_of 'reload-on: "Certificate/((("'
tells 0 'it names no kind: write KIND/NAME' explain deployment/typo -n shop
tells 0 'does not exist, or has no status.revision yet' explain deployment/typo -n shop

log "limits of policies hold for them"
close_window
nothing_rolls "a change outside of the window" status certificates web-tls '{"revision":5}'
tells 0 'OutsideMaintenanceWindow' explain deployment/web -n shop
k -n shop delete reloadpolicy closed >/dev/null
wait_until 60 "what was held back by the policy" web_has "$(sha status.revision=5)"

delete_api() { k delete crd externalsecrets.external-secrets.io >/dev/null; }
log "an API that goes rolls nothing, and the other kind goes on"
nothing_rolls "the end of an API" delete_api
status certificates web-tls '{"revision":6}'
wait_until 30 "the other kind" web_has "$(sha status.revision=6)"
crd external-secrets.io ExternalSecret externalsecrets
object external-secrets.io ExternalSecret db
status externalsecrets db '{"token":"third-hunter2","conditions":[{"type":"Ready","status":"True"}]}'
wait_until 180 "another value after its return" api_has "$(token third-hunter2)"
no_value hunter2

log "a restart rolls nothing, and makes up for what was missed"
stop_operator
before=$(templates)
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --source-kinds="$kinds" --history=3
wait_until 30 "the operator" is_ready
wait_until 30 "its looks" has_looked 3
nothing_rolls "a restart" true
[ "$(templates)" = "$before" ] || fail "a restart has rolled something: $before, $(templates)"
stop_operator
status certificates web-tls '{"revision":7}'
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --source-kinds="$kinds" --history=3
wait_until 60 "what was missed" web_has "$(sha status.revision=7)"
stop_operator

log "other fields in the description roll nothing; their changes do"
other="[${certificates/status.revision/status.message}]"
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --source-kinds="$other"
wait_until 60 "the new record" has_record web "certificate\.[0-9a-f]{8}/web-tls=$(sha 'status.message="renewed"')"
nothing_rolls "another description" true
web_has "$(sha status.revision=7)" || fail "it was rolled"
status certificates web-tls '{"message":"issued"}'
wait_until 30 "the other field" web_has "$(sha 'status.message="issued"')"

log "a rollout that waits outlives another description"
close_window
nothing_rolls "a change outside of the window" status certificates web-tls '{"message":"revoked"}'
wait_until 30 "the record that it waits" has_record web 'certificate\.[0-9a-f]{8}\.due/web-tls='
stop_operator
RELOADER_NAMESPACE=shop run_operator "$KUBECONFIG" --source-kinds="[$certificates]"
wait_until 30 "the operator" is_ready
nothing_rolls "what waits" true
k -n shop delete reloadpolicy closed >/dev/null
wait_until 60 "what waited" web_has "$(sha status.revision=7)"
wait_until 30 "the record that nothing waits" has_record web "certificate\.[0-9a-f]{8}/web-tls=$(sha status.revision=7)"
stop_operator

log "with --reload-on-create and --reload-on-delete a field that comes or goes rolls"
object cert-manager.io Certificate new-tls
deployment_on new "Certificate/new-tls"
new_has() { [ "$(value_of new STAKATER_NEW_TLS_CERTIFICATE)" = "$1" ]; }
run_operator "$KUBECONFIG" --source-kinds="[$certificates]" --reload-on-create=true --reload-on-delete=true
wait_until 60 "the record that there is none" has_record new 'certificate\.[0-9a-f]{8}/new-tls=-'
status certificates new-tls '{"revision":1}'
wait_until 30 "the rollout for the first value" new_has "$(sha status.revision=1)"
k -n shop delete certificate new-tls >/dev/null
wait_until 30 "the rollout for the deletion" new_has ""
stop_operator

log "with --reload-strategy=annotations the annotation names the kind"
run_operator "$KUBECONFIG" --source-kinds="[$certificates]" --reload-strategy=annotations
wait_until 60 "the record" has_record web "certificate\.[0-9a-f]{8}/web-tls=$(sha status.revision=7)"
status certificates web-tls '{"revision":8}'
annotated() { k -n shop get deployment web -o json | jq -e --arg hash "$(sha status.revision=8)" '.spec.template.metadata.annotations["reloader.stakater.com/last-reloaded-from"] // "{}" | fromjson | .type == "CERTIFICATE" and .name == "web-tls" and .hash == $hash' >/dev/null; }
wait_until 30 "the annotation" annotated
stop_operator
log "PASSED"
