#!/usr/bin/env bash
# `kubexx-reloader preview`, on kubexx-apiserver: what it says of a change is what an operator then does, it writes nothing, and shows no value.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"
# shellcheck source=operator.sh
. "$(dirname "${BASH_SOURCE[0]}")/operator.sh"

# says STATUS WORDS ARGUMENT...: what preview prints is in $work/said; $work/input is its standard input.
says() {
  local wanted=$1 words=$2 status=0
  shift 2
  timeout 60 "$reloader" preview "$@" <"$work/input" >"$work/said" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || fail "preview $*: status $status instead of $wanted: $(cat "$work/said")"
  grep -qF -e "$words" "$work/said" || fail "preview $*: does not say '$words': $(cat "$work/said")"
  if grep -n 'hunter' "$work/said"; then fail "preview $*: shows a value"; fi
}
also() { grep -qF -e "$1" "$work/said" || fail "preview does not say '$1': $(cat "$work/said")"; }
has_baseline() { k -n shop get deployment "$1" -o json | grep -q '"reloader.kubexx.io/baseline": "v[12] '; }
versions() { k get deployments,configmaps,secrets -n shop -o json | jq -c '[.items[] | .metadata.resourceVersion]'; }

start
k create namespace shop >/dev/null
k apply -f "$kx_root/manifests/crds.yaml" >/dev/null
has_policies() { k get reloadpolicies -A >/dev/null 2>&1; }
wait_until 30 "the CRDs" has_policies
workload shop web
workload shop api
k -n shop patch deployment api --type json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/envFrom","value":[{"configMapRef":{"name":"web"}}]}]' >/dev/null
# One that uses a single key.
k -n shop apply -f - >/dev/null <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: precise, annotations: {reloader.stakater.com/auto: "true", reloader.kubexx.io/keys: Referenced}}
spec:
  replicas: 0
  selector: {matchLabels: {app: precise}}
  template:
    metadata: {labels: {app: precise}}
    spec:
      containers:
        - {name: app, image: "example.com/app:1", env: [{name: A, valueFrom: {configMapKeyRef: {name: web, key: OTHER, optional: true}}}]}
Y
run_operator "$KUBECONFIG"
for each in web api precise; do wait_until 30 "the baseline of $each" has_baseline "$each"; done
before=$(versions)

log "a change of a key"
cat >"$work/changed.yaml" <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {KEY: hunter2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
Y
: >"$work/input"
says 0 'ConfigMap shop/web: keys KEY changed' -f "$work/changed.yaml" -n shop
also 'Left out: Deployment web is neither'
also 'Rolls 2 workloads, by steps:'
also '  1. Deployment shop/api: at once'
also '  1. Deployment shop/web: at once'
also 'Deployment shop/precise: ConfigMap shop/web: rolls the workload when it changes (auto is on); has not changed; of its keys only OTHER count'
says 3 'Rolls 2 workloads' -f "$work/changed.yaml" -n shop --exit-code
says 0 'Rolls no workload.' -f "$work/changed.yaml" -n default
says 0 'Nothing is rolled for ConfigMap shop/web: is not watched, because it lacks a label that --resource-label-selector requires' \
  -f "$work/changed.yaml" -n shop --resource-label-selector=team=a
also 'Rolls no workload.'
says 0 'Nothing is rolled for ConfigMap shop/web: is not watched, because of --resources-to-ignore' -f "$work/changed.yaml" -n shop --resources-to-ignore=configmaps
says 0 'Nothing is rolled for namespace shop: ' -f "$work/changed.yaml" -n shop --namespaces=other
cp "$work/changed.yaml" "$work/input"
says 0 '"step":1' -f - -n shop -o json
jq -e '.rollouts | map(.name) == ["api", "web"]' "$work/said" >/dev/null || fail "the JSON is not as it should be: $(cat "$work/said")"
jq -e '.sources[0].changed == ["KEY"] and .ignored == ["Deployment web"]' "$work/said" >/dev/null || fail "the JSON: $(cat "$work/said")"

log "a Secret, several documents, and nothing new"
cat >"$work/input" <<'Y'
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Secret, metadata: {name: web, namespace: shop}, stringData: {PASSWORD: hunter3}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: api, namespace: shop}, data: {KEY: "1"}}
Y
says 0 'Secret shop/web: keys PASSWORD changed' -f -
also 'ConfigMap shop/api: no key changes'
also 'Rolls 1 workload, by steps:'

log "policies hold"
k -n shop apply -f - >/dev/null <<'Y'
apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: gentle}
spec: {maxConcurrentRollouts: 1, order: [{workloads: [api], order: 5}]}
Y
says 0 '  1. Deployment shop/web: at once' -f "$work/changed.yaml" -n shop
also '  2. Deployment shop/api: after step 1: Order: waits for Deployment/shop/web, which comes first'
k -n shop annotate deployment web reloader.kubexx.io/paused=true >/dev/null
before=$(versions)
says 0 '  -. Deployment shop/web: waits: Paused: no rollout begins' -f "$work/changed.yaml" -n shop
also '  -. Deployment shop/api: waits: Order'
[ "$(versions)" = "$before" ] || fail "something was written"
k -n shop annotate deployment web reloader.kubexx.io/paused- >/dev/null
k -n shop delete reloadpolicy gentle >/dev/null

log "what it has said comes true"
k -n shop apply -f - >/dev/null 2>&1 <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {KEY: hunter2}
Y
digest=$(printf 'KEY=hunter2' | sha1sum | cut -d' ' -f1)
has_rolled() { k -n shop get deployment "$1" -o json | grep -q "\"value\": \"$digest\""; }
wait_until 30 "the rollout of web" has_rolled web
wait_until 30 "the rollout of api" has_rolled api
k -n shop get deployment precise -o json | grep -q STAKATER && fail "precise was rolled"
: >"$work/input"
says 0 'Rolls no workload.' -f "$work/changed.yaml" -n shop
k -n shop create configmap web2 --from-literal=A=1 >/dev/null

log "a diff of files, before it is applied to them and after"
mkdir -p "$work/repository/shop"
cd "$work/repository"
git init -q .
cat >shop/web.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data:
  KEY: before
Y
echo '# hunter' >README.md
mkdir apps
echo 'hunter: 1' >apps/values.yaml
mkdir LIVE-1
cp shop/web.yaml LIVE-1/other.yaml
sed -i 's/name: web/name: other/' LIVE-1/other.yaml
cp shop/web.yaml apps/web.yaml
git add -A
git -c user.name=test -c user.email=test@example.com commit -qm first
sed -i 's/before/hunter5/' shop/web.yaml
echo '# hunters' >README.md
echo 'hunter: 2' >apps/values.yaml
sed -i 's/before/hunter6/' LIVE-1/other.yaml
git diff >"$work/input"
says 0 'ConfigMap shop/web: keys KEY changed' -f -
also 'left out: b/README.md is neither a .yaml, .yml nor .json file'
also 'left out: b/apps/values.yaml: document 1 has no kind'
also 'ConfigMap shop/other'
also '  1. Deployment shop/api: at once'
git checkout -q .
says 0 'ConfigMap shop/web: keys KEY changed' -f -
cd shop
says 0 'ConfigMap shop/web: keys KEY changed' -f "$work/input"
cd ..
echo 'data: {}' >shop/web.yaml
says 1 'b/shop/web.yaml is neither as it was before the change in the diff nor as it is after it' -f -
cd "$work"
says 1 'the standard input changes b/LIVE-1/other.yaml, which is neither in this folder nor in its Git repository' -f -

log "kubectl finds out what would be"
# differs STATUS WORDS: what kubectl diff says of $work/diffed.yaml with preview as the program that shows differences.
differs() {
  local wanted=$1 words=$2 status=0
  KUBECTL_EXTERNAL_DIFF="$reloader preview" k diff -f "$work/diffed.yaml" >"$work/said" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || fail "kubectl diff: status $status instead of $wanted: $(cat "$work/said")"
  also "$words"
  if grep -n 'hunter' "$work/said"; then fail "kubectl diff with preview shows a value"; fi
}
k -n shop create secret generic masked --from-literal=KEPT=hunter6 --from-literal=OTHER=hunter7 >/dev/null
cat >"$work/diffed.yaml" <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data: {KEY: hunter8}
---
apiVersion: v1
kind: Secret
metadata: {name: masked, namespace: shop}
stringData: {KEPT: hunter6, OTHER: hunter9, NEW: hunter10}
Y
differs 0 'ConfigMap shop/web: keys KEY changed'
also 'Secret shop/masked: keys OTHER changed; NEW added'
also '  1. Deployment shop/web: at once'
k diff -f "$work/diffed.yaml" >"$work/input" || [ $? = 1 ]
says 1 'prints; its files are gone by now. Let kubectl call this program instead: KUBECTL_EXTERNAL_DIFF' -f -
printf '%s\n' 'apiVersion: v1' 'kind: ConfigMap' 'metadata: {name: web, namespace: shop}' 'data: {KEY: hunter11}' >"$work/diffed.yaml"
if KUBECTL_EXTERNAL_DIFF="$reloader preview --context=nowhere" k diff -f "$work/diffed.yaml" >"$work/said" 2>&1; then fail "an error passes for no difference"; fi

log "errors"
: >"$work/input"
says 2 'give the file with -f'
says 2 'unexpected argument "deployment/web"' -f - deployment/web
says 1 '/nowhere cannot be read' -f /nowhere
says 1 "$work cannot be read" -f "$work"
says 1 'the input has no ConfigMap and no Secret' -f -
echo '{"a": [' >"$work/input"
says 1 'the standard input is neither YAML nor JSON' -f -
cp "$work/changed.yaml" "$work/input"
says 1 'the standard input: document 1: ConfigMap shop/web is described twice' -f "$work/changed.yaml" -f - -n shop
echo '{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {k: {hunter: 4}}}' >"$work/input"
says 1 'Secret shop/x is not valid' -f - -n shop
says 1 'cannot be reached' -f - --kubeconfig=<(sed 's|server: .*|server: http://127.0.0.1:1|' "$KUBECONFIG")
log "PASSED"
