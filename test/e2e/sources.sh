# SecretProviderClasses, whose driver the test plays; sources of which some keys count; paused sources. To be sourced after lib.sh.
# shellcheck shell=bash disable=SC2154

sources_variable=STAKATER_VAULT_SECRETPROVIDERCLASS

# class_crd PLURAL KIND: a definition of the driver's, for any content.
class_crd() {
  local group=secrets-store.csi.x-k8s.io
  kubectl apply -f - >/dev/null <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $1.$group}
spec:
  group: $group
  scope: Namespaced
  names: {plural: $1, kind: $2, singular: ${2,,}, listKind: ${2}List}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
END
  kubectl wait --timeout "$((30 * ${KUBEXX_PATIENCE:-1}))s" --for condition=Established "crd/$1.$group" >/dev/null
  # A definition is established a moment before the server tells of its resource.
  wait_until 30 "the API of $1" kubectl get "$1.$group" -A
}
# The driver says that a pod has this version of a secret.
pod_has_version() {
  kubectl -n sources apply -f - >/dev/null <<END
apiVersion: secrets-store.csi.x-k8s.io/v1
kind: SecretProviderClassPodStatus
metadata: {name: vaulted-1}
status: {secretProviderClassName: vault, mounted: true, objects: [{id: password, version: "$1"}]}
END
}

install_sources() {
  class_crd secretproviderclasses SecretProviderClass
  class_crd secretproviderclasspodstatuses SecretProviderClassPodStatus
  kubectl create namespace sources >/dev/null
  kubectl -n sources apply -f - >/dev/null <<'END'
{apiVersion: secrets-store.csi.x-k8s.io/v1, kind: SecretProviderClass, metadata: {name: vault}, spec: {provider: test}}
END
  pod_has_version 1
  kubectl -n sources create deployment vaulted --image=localhost/busybox:1 --replicas=0 --dry-run=client -o json -- sleep 100000 |
    jq '.metadata.annotations["reloader.stakater.com/auto"] = "true" |
      .spec.template.spec.containers[0].volumeMounts = [{name: "v", mountPath: "/v"}] |
      .spec.template.spec.volumes = [{name: "v", csi: {driver: "secrets-store.csi.k8s.io", volumeAttributes: {secretProviderClass: "vault"}}}]' |
    kubectl -n sources apply -f - >/dev/null
  sources_become first sources
  kubectl -n sources annotate configmap config reloader.kubexx.io/keys=KEY >/dev/null
  uses_config sources keyed 0
  helm install sources "$chart" -n sources --values - >/dev/null <<END
reloader: {watchGlobally: false, enableCSIIntegration: true}
END
}

vault_is() { # vault_is VERSION
  [ "$(of_deployment sources vaulted ".spec.template.spec.containers[0].env[]? | select(.name == \"$sources_variable\") | .value")" = \
    "$(digest "SecretProviderClassName=vault;password=$1")" ]
}
has_baseline() { [ "$(of_deployment sources "$1" '.metadata.annotations["reloader.kubexx.io/baseline"] // ""')" != "" ]; }
sources_roll() {
  log "a SecretProviderClass; a source with one key that counts; a paused source"
  rolled_out sources deployment/sources-reloader
  wait_until 30 "the first state" has_baseline vaulted
  wait_until 30 "the first state" has_baseline keyed
  pod_has_version 2
  wait_until 30 "the rotated SecretProviderClass" vault_is 2
  kubectl -n sources patch configmap config -p '{"data":{"OTHER":"changed"}}' >/dev/null
  kubectl -n sources annotate configmap config reloader.kubexx.io/paused=true >/dev/null
  kubectl -n sources patch configmap config -p '{"data":{"KEY":"while paused"}}' >/dev/null
  # By the time that this has rolled, the others would have.
  pod_has_version 3
  wait_until 30 "the next rotation" vault_is 3
  revision_is sources keyed 1 || fail "a key that does not count, or a paused source, rolled a Deployment"
  kubectl -n sources annotate configmap config reloader.kubexx.io/paused- >/dev/null
  # Of a value that counts alone its digest is in the digest.
  wait_until 30 "the rollout after the pause" rolled_for sources keyed "$(digest "while paused")"
  revision_is sources keyed 2 || fail "it rolled more than once"
}
