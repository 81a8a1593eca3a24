#!/usr/bin/env bash
# kubectl against kubexx-apiserver: what people do by hand, and that a killed server has kept what it acknowledged.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$kx_root/test/e2e/apiserver.sh"

start
log "objects by hand"
is "configmap/a created" create configmap a --from-literal k=v
is v get configmap a -o 'jsonpath={.data.k}'
refuses "already exists" create configmap a
refuses 'configmaps "b" not found' get configmap b
refuses "is invalid" create configmap Not_A_Name
refuses 'namespaces "nowhere" not found' -n nowhere create configmap a
is "configmap/a labeled" label configmap a x=y
is configmap/a get configmap -l x=y -o name
is "" get configmap -l x=z -o name
is configmap/a get configmap --field-selector metadata.name=a -o name
k get configmap a | grep -qE '^a +1 ' || fail "no table of a ConfigMap"
k describe configmap a >/dev/null
k create secret generic s --from-literal p=q >/dev/null
is cQ== get secret s -o 'jsonpath={.data.p}'

log "apply, patch, scale"
deployment a:1 | k apply -f - >/dev/null
deployment a:2 | k apply -f - >/dev/null
is "a:2 b:1" get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image}'
is "deployment.apps/web unchanged" apply -f <(deployment a:2)
k diff -f <(deployment a:2) || fail "a difference where there is none"
k set image deployment/web b=b:2 >/dev/null
is "a:2 b:2" get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image}'
k patch deployment web --type json -p '[{"op":"replace","path":"/spec/replicas","value":3}]' >/dev/null
k scale deployment web --replicas 5 >/dev/null
is 5 get deployment web -o 'jsonpath={.spec.replicas}'
is 5 get deployment web -o 'jsonpath={.metadata.generation}'
k wait --for 'jsonpath={.spec.replicas}=5' deployment/web --timeout 60s >/dev/null
k describe deployment web >/dev/null

log "server-side apply"
map() { # map DATA
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {%s}\n' "$1"
}
is "configmap/applied serverside-applied" apply --server-side -f <(map "a: '1', b: '1'")
is "configmap/applied serverside-applied" apply --server-side -f <(map "a: '2', c: '1'")
is '{"a":"2","c":"1"}' get configmap applied -o 'jsonpath={.data}'
refuses 'conflict with "kubectl": .data.a' apply --server-side --field-manager other -f <(map "a: '3'")
is '{"a":"2","c":"1"}' get configmap applied -o 'jsonpath={.data}'
k apply --server-side --field-manager other --force-conflicts -f <(map "a: '3'") >/dev/null
is '{"a":"3","c":"1"}' get configmap applied -o 'jsonpath={.data}'
k diff --server-side --field-manager other -f <(map "a: '3'") || fail "a difference where there is none"
if k diff --server-side --field-manager other -f <(map "a: '4'") >"$work/diff"; then fail "no difference where there is one"; fi
grep -q '^+  a: "4"' "$work/diff" || fail "diff --server-side does not show the change"
k get configmap applied -o yaml --show-managed-fields >"$work/managed"
grep -q 'f:c: {}' "$work/managed" || fail "no managed fields"
if k get configmap applied -o yaml | grep managedFields; then fail "managed fields that nobody asked for"; fi
is kubectl-create get configmap a --show-managed-fields -o 'jsonpath={.metadata.managedFields[0].manager}'
deployment a:3 | k apply --server-side --force-conflicts -f - >/dev/null
is "a:3 b:1 2" get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image} {.spec.replicas}'
k scale deployment web --replicas 5 >/dev/null
refuses 'unknown field "dat"' create -f <(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndat: {}\n')
k create --validate=warn -f <(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndat: {}\n') 2>"$work/warned" >/dev/null
grep -q 'Warning: unknown field "dat"' "$work/warned" || fail "no warning of an unknown field"

log "watch"
timeout 300 "$kx_bin/kubectl" get configmap -w -o name >"$work/watched" &
watcher=$!
for _ in $(seq 1200); do grep -qs configmap/a "$work/watched" && break; sleep 0.05; done
k create configmap later >/dev/null
for _ in $(seq 1200); do grep -qs configmap/later "$work/watched" && break; sleep 0.05; done
kill "$watcher" 2>/dev/null || true
wait "$watcher" 2>/dev/null || true
grep -q configmap/later "$work/watched" || fail "the watch did not tell of a new object"

log "discovery"
k api-resources -o name >"$work/resources"
grep -qx deployments.apps "$work/resources" || fail "no deployments in api-resources"
k explain deployment.spec.template.spec.containers >"$work/explained"
grep -q imagePullPolicy "$work/explained" || fail "explain does not know containers"
is yes auth can-i create pods

log "custom resources"
k create -f - >/dev/null <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  versions:
  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
Y
k wait --for condition=Established crd/widgets.example.com --timeout 60s >/dev/null
k create -f - >/dev/null <<'Y'
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 3}
Y
is 3 get wd w -o 'jsonpath={.spec.size}'
k delete crd widgets.example.com >/dev/null
refuses "the server" get widgets

log "schemas of custom resources"
k create -f "$kx_root/manifests/crds.yaml" >/dev/null 2>&1
k wait --for condition=Established crd/reloadpolicies.kubexx.io --timeout 60s >/dev/null
policy() { # policy SPEC
  printf 'apiVersion: kubexx.io/v1alpha1\nkind: ReloadPolicy\nmetadata: {name: p}\nspec: %s\n' "$1"
}
refuses 'spec.maxConcurrentRollouts in body should be greater than or equal to 1' create -f <(policy '{maxConcurrentRollouts: 0}')
refuses 'spec.paused in body must be of type boolean: "string"' create -f <(policy '{paused: "yes"}')
refuses 'unknown field "spec.pausd"' create -f <(policy '{pausd: true}')
is "reloadpolicy.kubexx.io/p created" create -f <(policy '{maxConcurrentRollouts: 2}')
refuses 'should be greater than or equal to 1' patch reloadpolicy p --type merge -p '{"spec":{"maxConcurrentRollouts":0}}'
k explain reloadpolicy.spec.settleWindow >"$work/explained"
grep -q "when its sources have not changed for this long" "$work/explained" || fail "explain does not know the schema"
k explain reloadpolicy.spec.settleWindow --output plaintext-openapiv2 >"$work/explained"
grep -q "when its sources have not changed for this long" "$work/explained" || fail "explain does not know the schema of OpenAPI v2"
has '^NAME +READY' get reloadpolicy
k create -f "$kx_root/examples/website-controller/website.yaml" >/dev/null
k create -f - >/dev/null <<'Y'
apiVersion: example.com/v1
kind: Website
metadata: {name: site}
spec: {html: hello}
Y
is 1 get website site -o 'jsonpath={.spec.replicas}'
refuses 'spec.html: Required value' create -f - <<'Y'
apiVersion: example.com/v1
kind: Website
metadata: {name: empty}
spec: {}
Y

log "RBAC"
stop
echo 'jane-token,jane,1,"devs"' >"$work/tokens"
server_flags=(--authorization-mode RBAC --token-auth-file "$work/tokens")
start
cp "$KUBECONFIG" "$work/jane"
k config --kubeconfig "$work/jane" set-credentials admin --token jane-token >/dev/null
as_jane() { KUBECONFIG=$work/jane "$@"; }
as_jane refuses 'User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"' get configmap
as_jane refuses no auth can-i list configmaps
k create role reader --verb get,list --resource configmaps >/dev/null
k create rolebinding readers --role reader --group devs >/dev/null
as_jane is yes auth can-i list configmaps
as_jane is v get configmap a -o 'jsonpath={.data.k}'
as_jane refuses 'cannot delete resource "configmaps"' delete configmap a
is yes auth can-i delete configmaps
refuses no auth can-i delete configmaps --as jane --as-group devs
k create rolebinding makers --clusterrole admin --user jane >/dev/null
as_jane refuses 'attempting to grant RBAC permissions not currently held' create rolebinding more --clusterrole cluster-admin --user jane
stop
server_flags=()
start

log "a killed server"
kill -9 "$server"
wait "$server" 2>/dev/null || true
start
is v get configmap a -o 'jsonpath={.data.k}'
is 5 get deployment web -o 'jsonpath={.spec.replicas}'

log "deletions"
k delete deployment web --wait --timeout 60s >/dev/null
refuses "not found" get deployment web
k create namespace n >/dev/null
k -n n create configmap inside >/dev/null
k delete namespace n --timeout 60s >/dev/null
refuses "not found" get namespace n
k create namespace n >/dev/null
is "" -n n get configmap -o name
k create configmap parent >/dev/null
k delete configmap parent --cascade=foreground --wait=false >/dev/null
is foregroundDeletion get configmap parent -o 'jsonpath={.metadata.finalizers[0]}'

stop
log "without the program for an etcd"
mkdir "$work/alone"
cp "$program" "$work/alone/"
if "$work/alone/kubexx-apiserver" --etcd-servers http://127.0.0.1:1 2>"$work/alone/log"; then fail "it runs without what it needs"; fi
grep -q "needs the program .*/alone/kubexx-apiserver-etcd: No such file" "$work/alone/log" || fail "it says: $(cat "$work/alone/log")"
log "kubexx-apiserver: kubectl works"
