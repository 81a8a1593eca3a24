#!/usr/bin/env bash
# Helm installs, upgrades, rolls back and uninstalls the operator's chart on kubexx-apiserver. There are no pods.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$kx_root/test/e2e/apiserver.sh"
chart=$kx_root/helm/kubexx-reloader
export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
h() { timeout 60 "$kx_bin/helm" -n ops "$@" >"$work/helm.out" 2>&1 || fail "helm $*: $(cat "$work/helm.out")"; }
replicas_are() { is "$1" -n ops get deployment reloader-reloader -o 'jsonpath={.spec.replicas}'; }

"$kx_root/hack/cluster" build helm
start
log "install"
h install reloader "$chart" --create-namespace --set reloader.enableHA=true,reloader.deployment.replicas=2
replicas_are 2
h get manifest reloader
cp "$work/helm.out" "$work/manifest"
k -n ops diff -f "$work/manifest" >"$work/difference" || fail "what is there is not what the chart says: $(cat "$work/difference")"
has '^reloader-reloader' get clusterroles
has 'reload' get crd -o name
log "upgrade, rollback"
h upgrade reloader "$chart" --set reloader.enableHA=true,reloader.deployment.replicas=3
replicas_are 3
h history reloader
grep -qE '^2 .*deployed' "$work/helm.out" || fail "no second revision: $(cat "$work/helm.out")"
h rollback reloader 1
replicas_are 2
h status reloader
grep -q '^STATUS: deployed$' "$work/helm.out" || fail "not deployed: $(cat "$work/helm.out")"
log "uninstall"
h uninstall reloader --wait
is "" -n ops get deployments,services,configmaps,secrets,serviceaccounts,roles,rolebindings -o name
is "" get clusterroles,clusterrolebindings -l app.kubernetes.io/instance=reloader -o name
log "wait for Services"
mkdir -p "$work/services/templates"
printf 'apiVersion: v2\nname: services\nversion: 0.1.0\n' >"$work/services/Chart.yaml"
for type in ClusterIP NodePort; do
  cat <<Y
---
apiVersion: v1
kind: Service
metadata: {name: ${type,,}}
spec: {type: $type, ports: [{port: 80}]}
Y
done >"$work/services/templates/services.yaml"
h install services "$work/services" --wait
h upgrade services "$work/services" --wait
has '^10\.0\.0\.[0-9]+ 3[0-2][0-9]{3}$' -n ops get service nodeport -o 'jsonpath={.spec.clusterIP} {.spec.ports[0].nodePort}'
h uninstall services --wait
stop
log "kubexx-apiserver: Helm works"
