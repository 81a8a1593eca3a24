#!/usr/bin/env bash
# The breadth of kubectl on kubexx-apiserver: every output, generator and verb that people use. apiserver_test.sh has the
# ways through the server.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$kx_root/test/e2e/apiserver.sh"

generators() {
  log "kubectl create"
  k create configmap settings --from-literal a=1 --from-literal b=2 >/dev/null
  k create secret generic password --from-literal p=q >/dev/null
  k create secret docker-registry pull --docker-server x --docker-username u --docker-password p >/dev/null
  k create secret tls certificate --cert "$work/tls.crt" --key "$work/tls.key" >/dev/null
  deployment a:1 | k create -f - >/dev/null
  k create deployment second --image a:1 --replicas 2 --port 80 >/dev/null
  k create job once --image a:1 -- true >/dev/null
  k create cronjob nightly --image a:1 --schedule '0 3 * * *' >/dev/null
  k create job by-hand --from cronjob/nightly >/dev/null
  k create service clusterip plain --tcp 80:8080 >/dev/null
  k create service nodeport ports --tcp 80:8080 >/dev/null
  k create service externalname elsewhere --external-name example.com >/dev/null
  k create ingress entry --rule 'example.com/*=plain:80' >/dev/null
  k create quota limits --hard pods=10,cpu=2 >/dev/null
  k create poddisruptionbudget budget --selector app=web --min-available 1 >/dev/null
  k create priorityclass high --value 1000 >/dev/null
  k create serviceaccount robot >/dev/null
  k create role reader --verb get,list --resource configmaps >/dev/null
  k create rolebinding readers --role reader --serviceaccount default:robot >/dev/null
  k create clusterrole looker --verb get --resource nodes >/dev/null
  k create clusterrolebinding lookers --clusterrole looker --user somebody >/dev/null
  k create namespace elsewhere >/dev/null
  k run single --image a:1 --labels app=single --env K=v >/dev/null
  k expose deployment web --port 80 --target-port 8080 --name exposed >/dev/null
  k autoscale deployment web --min 1 --max 3 --cpu=80% >/dev/null
  is "1 2" get configmap settings -o 'jsonpath={.data.a} {.data.b}'
  is kubernetes.io/tls get secret certificate -o 'jsonpath={.type}'
  is '{"web":"web"}' get service exposed -o 'go-template={{printf "{\"web\":\"%s\"}" .spec.selector.app}}'
  is 8080 get service exposed -o 'jsonpath={.spec.ports[0].targetPort}'
  is "0 3 * * *" get cronjob nightly -o 'jsonpath={.spec.schedule}'
  is OnFailure get job by-hand -o 'jsonpath={.spec.template.spec.restartPolicy}'
  is robot get rolebinding readers -o 'jsonpath={.subjects[0].name}'
  is 3 get hpa web -o 'jsonpath={.spec.maxReplicas}'
  is "autoscaling/v1 80" get horizontalpodautoscalers.v1.autoscaling web -o 'jsonpath={.apiVersion} {.spec.targetCPUUtilizationPercentage}'
  is autoscaling/v2 get horizontalpodautoscalers.v2.autoscaling web -o 'jsonpath={.apiVersion}'
  is v get pod single -o 'jsonpath={.spec.containers[0].env[0].value}'
  # Only printed, not made; and tried by the server, not made.
  has '^kind: ConfigMap$' create configmap never --from-literal a=1 --dry-run=client -o yaml
  is never create configmap never --dry-run=server -o 'jsonpath={.metadata.name}'
  refuses '"never" not found' get configmap never
}

outputs() {
  log "kubectl get, describe"
  has '^settings +2 ' get configmaps
  # With a sort kubectl wants the whole objects in the table.
  has '^settings +2 ' get configmaps --sort-by '{.metadata.name}'
  has imagePullPolicy explain pod.spec.containers --output plaintext-openapiv2
  has '^NAME +READY +UP-TO-DATE +AVAILABLE +AGE$' get deployments
  has '^NAME .*CONTAINERS +IMAGES +SELECTOR$' get deployment web -o wide
  has '^web +0/2 .* a,b +a:1,b:1 +app=web$' get deployment web -o wide
  has '^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE' get pods -o wide
  has '^single +0/1 +Pending ' get pods
  has 'web +0/2 .*app=web$' get deployment --show-labels
  has '^NAME .* APP$' get deployment -L app
  has '^  name: settings$' get configmap settings -o yaml
  has '"kind": "ConfigMap"' get configmap settings -o json
  has '^configmap/settings$' get configmap -o name
  has '^settings +1$' get configmap settings --no-headers -o 'custom-columns=NAME:.metadata.name,A:.data.a'
  has '^KIND +NAME' get deployment,configmap -o 'custom-columns=KIND:.kind,NAME:.metadata.name'
  has '^deployment.apps/web ' get deployment,service
  has '^default +settings ' get configmap -A
  has '^default ' get namespaces
  is "plain ports " get service --field-selector 'metadata.name!=exposed,metadata.name!=kubernetes,metadata.name!=elsewhere' -o 'jsonpath={range .items[*]}{.metadata.name} {end}'
  is web get deployment -l 'app in (web,other),!gone' -o 'jsonpath={.items[*].metadata.name}'
  is "second web" get deployment --sort-by .metadata.name -o 'jsonpath={.items[*].metadata.name}'
  has '"name":"settings"' get --raw /api/v1/namespaces/default/configmaps/settings
  is "certificate password pull" get secrets --chunk-size 1 -o 'jsonpath={.items[*].metadata.name}'
  has '^Name: +settings$' describe configmap settings
  has '^p: +1 bytes$' describe secret password
  has '^Replicas: +2 desired' describe deployment web
  has '^Selector: +app=web$' describe service exposed
  has '^Status: +Pending$' describe pod single
  has '^Schedule: +0 3 \* \* \*$' describe cronjob nightly
  has '^Status: +Active$' describe namespace elsewhere
  has 'example.com' describe ingress entry
  has 'robot' describe rolebinding readers
}

changes() {
  log "label, annotate, patch, replace, diff, set, scale"
  k label deployment web tier=front >/dev/null
  refuses "already has a value" label deployment web tier=back
  k label deployment web tier=back --overwrite >/dev/null
  is back get deployment web -o 'jsonpath={.metadata.labels.tier}'
  k label deployment web tier- >/dev/null
  is "" get deployment web -o 'jsonpath={.metadata.labels.tier}'
  k annotate configmap --all note=x >/dev/null
  is x get configmap settings -o 'jsonpath={.metadata.annotations.note}'
  k annotate configmap settings note- >/dev/null
  k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b:2"}]}}}}' >/dev/null
  is "a:1 b:2" get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image}'
  k patch deployment web --type merge -p '{"spec":{"paused":true,"minReadySeconds":3}}' >/dev/null
  k patch deployment web --type json -p '[{"op":"test","path":"/spec/paused","value":true},{"op":"remove","path":"/spec/paused"}]' >/dev/null
  is 3 get deployment web -o 'jsonpath={.spec.minReadySeconds}{.spec.paused}'
  refuses "" patch deployment web --type json -p '[{"op":"test","path":"/spec/replicas","value":77}]'
  k patch deployment web --subresource status --type merge -p '{"status":{"readyReplicas":2,"replicas":2}}' >/dev/null
  is 2 get deployment web -o 'jsonpath={.status.readyReplicas}'
  k get configmap settings -o json | sed 's/"a": "1"/"a": "one"/' | k replace -f - >/dev/null
  is one get configmap settings -o 'jsonpath={.data.a}'
  k set env deployment/web K=v >/dev/null
  k set resources deployment web -c a --limits cpu=1 >/dev/null
  k set serviceaccount deployment web robot >/dev/null
  is "robot 1 v" get deployment web -o 'jsonpath={.spec.template.spec.serviceAccountName} {.spec.template.spec.containers[0].resources.limits.cpu} {.spec.template.spec.containers[0].env[0].value}'
  k scale --replicas 4 --current-replicas 2 deployment/web >/dev/null
  is 4 get deployment web -o 'jsonpath={.spec.replicas}'
  KUBE_EDITOR="sed -i s/one/two/" k edit configmap settings >/dev/null
  is two get configmap settings -o 'jsonpath={.data.a}'
  k rollout pause deployment/second >/dev/null
  k rollout resume deployment/second >/dev/null
  k rollout restart deployment/second >/dev/null
  k apply -f - >/dev/null <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: {x: "1", z: "1"}}'
  echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: {x: "2"}}' >"$work/applied"
  if k diff -f "$work/applied" >"$work/difference"; then fail "kubectl diff sees no difference"; fi
  grep -qE '^-  z: "1"$' "$work/difference" || fail "kubectl diff: $(cat "$work/difference")"
  k apply -f "$work/applied" >/dev/null
  is '{"x":"2"}' get configmap applied -o 'jsonpath={.data}'
  has 'x: "2"' apply view-last-applied configmap/applied
}

discovery() {
  log "discovery, explain, events, whoami"
  has '^deployments +deploy +apps/v1 +true +Deployment$' api-resources
  has '^configmaps$' api-resources --namespaced -o name
  has '^apps/v1$' api-versions
  has '^DESCRIPTION' explain pods
  has 'matchLabels' explain deployment.spec.selector
  has 'containerPort' explain pods --recursive
  has '^Username +admin' auth whoami
  has 'running at' cluster-info
  has '^Server Version: v1.36' version
  is yes auth can-i delete deployments
  k create -f - >/dev/null <<'Y'
{apiVersion: v1, kind: Event, metadata: {name: happened}, type: Warning, reason: Tested, message: it was tested,
 involvedObject: {kind: Pod, namespace: default, name: single, apiVersion: v1}, lastTimestamp: "2026-01-01T00:00:00Z", count: 1}
Y
  has 'Warning +Tested +.*it was tested' get events
  has 'Tested.*it was tested' events --for pod/single
}

# appears PATTERN FILE: within a minute.
appears() {
  for _ in $(seq 1200); do
    grep -qsE "$1" "$2" && return
    sleep 0.05
  done
  fail "no '$1' in $(cat "$2")"
}
watches() {
  local watchers=()
  log "get -w, --watch-only, wait"
  timeout 300 "$kx_bin/kubectl" get configmaps -w >"$work/table" &
  watchers+=($!)
  timeout 300 "$kx_bin/kubectl" get configmaps --watch-only -o name >"$work/only" &
  watchers+=($!)
  timeout 300 "$kx_bin/kubectl" wait --for delete configmap/applied --timeout 300s >"$work/gone" &
  watchers+=($!)
  timeout 300 "$kx_bin/kubectl" wait --for create configmap/awaited --timeout 300s >"$work/created" &
  watchers+=($!)
  appears '^settings ' "$work/table"
  # The second watch is open when it has told of one of these.
  for turn in $(seq 100); do
    k annotate configmap settings "turn=$turn" --overwrite >/dev/null
    grep -qs settings "$work/only" && break
  done
  k create configmap awaited >/dev/null
  appears '^awaited +0 ' "$work/table"
  appears '^configmap/awaited$' "$work/only"
  appears 'condition met' "$work/created"
  k delete configmap applied --wait >/dev/null
  appears '^configmap/applied$' "$work/only"
  appears 'condition met' "$work/gone"
  kill "${watchers[@]}" 2>/dev/null || true
  wait "${watchers[@]}" 2>/dev/null || true
  k wait --for 'jsonpath={.status.phase}=Active' namespace/elsewhere --timeout 60s >/dev/null
  refuses "timed out" wait --for condition=Available deployment/web --timeout 1s
}

deletions() {
  log "delete"
  k delete pod single --now >/dev/null
  k delete deployment second --cascade=background --wait >/dev/null
  k delete service -l app=web >/dev/null
  refuses "not found" get service exposed
  refuses '"nothing" not found' delete configmap nothing
  k delete configmap nothing --ignore-not-found >/dev/null
  k patch configmap awaited -p '{"metadata":{"finalizers":["example.com/hold"]}}' >/dev/null
  k delete configmap awaited --wait=false >/dev/null
  [ -n "$(k get configmap awaited -o 'jsonpath={.metadata.deletionTimestamp}')" ] || fail "a finalizer holds nothing"
  k patch configmap awaited --type json -p '[{"op":"remove","path":"/metadata/finalizers"}]' >/dev/null
  refuses "not found" get configmap awaited
  k delete configmap,secret --all >/dev/null
  is "" get secrets -o name
  k delete namespace elsewhere --wait --timeout 60s >/dev/null
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test -keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null
start
generators
outputs
changes
discovery
watches
deletions
stop
log "kubexx-apiserver: the breadth of kubectl works"
