#!/usr/bin/env bash
# manifests/ and the Helm chart, applied to a real API server: both are valid, grant the same least rights, and make
# pods that the `restricted` pod security standard admits.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
export KUBEXX_CLUSTER_NAME=manifests-${KUBEXX_CLUSTER_SUFFIX:-test}
cluster=$root/hack/cluster
chart=$root/helm/kubexx-reloader
account=system:serviceaccount:kubexx-system:kubexx-reloader

fail() { die "FAILED: $*"; }
kubectl() { "$cluster" exec kubectl "$@"; }
# With the cluster's kubeconfig once there is one.
helm() { KUBECONFIG=$KUBEXX_CACHE/clusters/$KUBEXX_CLUSTER_NAME/kubeconfig "$kx_bin/helm" "$@"; }

may() { # may VERB RESOURCE
  kubectl auth can-i "$1" "$2" --as "$account" --all-namespaces >/dev/null 2>&1 || fail "the operator may not $1 $2"
}
may_not() {
  ! kubectl auth can-i "$1" "$2" --as "$account" --all-namespaces >/dev/null 2>&1 || fail "the operator may $1 $2"
}

check_rights() {
  local resource verb
  for resource in configmaps secrets deployments.apps statefulsets.apps daemonsets.apps cronjobs.batch jobs.batch; do
    for verb in list watch; do may "$verb" "$resource"; done
    for verb in update deletecollection; do may_not "$verb" "$resource"; done
  done
  for resource in deployments.apps statefulsets.apps daemonsets.apps; do may patch "$resource"; done
  for resource in configmaps secrets pods replicasets.apps clusterroles.rbac.authorization.k8s.io; do may_not patch "$resource"; done
  for resource in pods replicasets.apps leases.coordination.k8s.io serviceaccounts; do
    for verb in get list create; do may_not "$verb" "$resource"; done
  done
  for resource in configmaps secrets deployments.apps statefulsets.apps daemonsets.apps cronjobs.batch; do
    for verb in create delete; do may_not "$verb" "$resource"; done
  done
  kubectl -n kubexx-system auth can-i create configmaps --as "$account" >/dev/null || fail "the operator may not tell of itself"
  ! kubectl -n kubexx-system auth can-i update configmaps --as "$account" >/dev/null 2>&1 || fail "the operator may update any ConfigMap beside it"
}

# A pod as the Deployment $1 would make it passes admission.
check_pod() { # check_pod NAMESPACE DEPLOYMENT
  kubectl -n "$1" get deployment "$2" -o json |
    jq '{apiVersion: "v1", kind: "Pod", metadata: {name: "probe"}, spec: .spec.template.spec}' |
    kubectl -n "$1" create --dry-run=server -f - >/dev/null || fail "a pod of $2 is not admitted"
}

rules() { kubectl get clusterrole "$1" -o json | jq -S .rules; }

# What each values file gives is taken by a real API server, admission included.
check_cases() {
  local values namespace
  kubectl apply -f "$root/test/manifests/crds.yaml" >/dev/null
  kubectl wait --for condition=Established crd --all >/dev/null
  for namespace in elsewhere monitoring team-a team-b; do kubectl create namespace "$namespace" >/dev/null; done
  for values in "$root"/test/manifests/cases/*.yaml; do
    # Without the pod of `helm test`, whose service account a dry run does not make.
    helm template reloader "$chart" -n chart --skip-tests --kube-version 1.33.0 --api-versions monitoring.coreos.com/v1 \
      --api-versions autoscaling.k8s.io/v1 --values "$values" |
      kubectl apply --dry-run=server --validate=strict -f - >/dev/null || fail "the API server does not take what $values gives"
  done
  is_installed
}
# With its hooks and notes, which `helm template` does not check against the server, or show.
is_installed() {
  local said
  said=$(helm install --dry-run=server -n chart documented "$chart" --values "$root/test/manifests/cases/reloader_documented.yaml" 2>&1) ||
    fail "helm does not install what Reloader's documentation knows: $said"
  grep -q '^documented-rolls is installed in namespace elsewhere' <<<"$said" || fail "there are no notes: $said"
  ! grep -F '%!' <<<"$said" || fail "a value is shown as what it is not"
}

# A release of stakater/Reloader becomes one of ours: the same objects, and one container.
release_is_upgraded() {
  local before after
  kubectl create namespace tools >/dev/null
  helm install -n tools reloader "$root/test/manifests/reloader" >/dev/null
  before=$(objects_of_release)
  helm upgrade -n tools reloader "$chart" --values "$root/test/manifests/cases/reloader_defaults.yaml" >/dev/null
  after=$(objects_of_release)
  jq -en --argjson before "$before" --argjson after "$after" '$before | to_entries | all($after[.key] == .value)' >/dev/null ||
    fail "the upgrade made objects anew: $before; $after"
  kubectl -n tools get deployment reloader-reloader -o json |
    jq -e '[.spec.template.spec.containers[].image] == ["localhost/kubexx-reloader:0.1.0"]' >/dev/null || fail "the upgrade left another container"
  helm uninstall -n tools reloader >/dev/null
}
objects_of_release() {
  kubectl -n tools get deployments,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings -o json |
    jq -c '[.items[] | select(.metadata.name | startswith("reloader-reloader")) | {(.kind + "/" + .metadata.name): .metadata.uid}] | add'
}

# refused WORDS OPTION...: helm refuses the values and says why.
refused() {
  local words=$1 said
  shift
  ! said=$(helm template --kube-version 1.33.0 x "$chart" "$@" 2>&1) || fail "the chart takes $*"
  grep -qiE "$words" <<<"$said" || fail "for $* the chart says: $said"
}

bad_values_are_refused() {
  refused 'reloadStrategy' --set reloader.reloadStrategy=restart
  refused 'replicas is "two"; it must be a whole number' --set reloader.deployment.replicas=two
  refused 'namespaces is "Bad_Name"; it must be a namespace' --set reloader.watchGlobally=false --set 'reloader.namespaces={Bad_Name}'
  refused 'watchGlobally=false' --set 'reloader.namespaces={a}'
  refused 'nothing is left to watch' --set reloader.ignoreSecrets=true --set reloader.ignoreConfigMaps=true
  refused 'webhookUrl is "ftp://x"; it must be a URL' --set reloader.webhookUrl=ftp://x
  refused 'pprofAddr is "6060"; it must be an address' --set-string reloader.pprofAddr=6060
  refused 'digest is "sha256:1"; it must be' --set image.digest=sha256:1
  refused 'service.port is "http"; it must be a port' --set reloader.service.port=http
  refused 'ipFamilies' --set reloader.service.ipFamilyPolicy=SingleStack --set 'reloader.service.ipFamilies={IPv4,IPv6}'
  refused 'pullPolicy' --set image.pullPolicy=Sometimes
  refused 'settleWindow is "soon"; it must be a duration' --set kubexx.settleWindow=soon
  refused 'healthTimeout is "often"; it must be a duration' --set kubexx.rollouts.healthTimeout=often
  refused 'test.timeout is "soon"; it must be a duration' --set kubexx.test.timeout=soon
  refused 'maintenanceWindows is "at night"; it must be a cron' --set 'kubexx.rollouts.maintenanceWindows={at night}'
  refused 'keys' --set kubexx.rollouts.keys=Some
  refused 'type' --set 'kubexx.notifications.receivers[0].name=a,kubexx.notifications.receivers[0].type=Slak,kubexx.notifications.receivers[0].url=https://x'
  refused 'digest.every of the receiver a in kubexx.notifications is "often"; it must be a duration' \
    --set 'kubexx.notifications.receivers[0].name=a,kubexx.notifications.receivers[0].type=Text,kubexx.notifications.receivers[0].url=https://x,kubexx.notifications.receivers[0].digest.every=often'
  refused 'existingSecret holds the whole file' --set 'kubexx.notifications.existingSecret=a,kubexx.notifications.cluster=b'
  refused 'cluster needs kubexx.notifications.receivers' --set 'kubexx.notifications.cluster=b'
  refused 'page.enabled needs kubexx.page.tlsSecret' --set kubexx.page.enabled=true
  refused 'page has both tlsSecret and plainHTTP' --set kubexx.page.enabled=true,kubexx.page.plainHTTP=true,kubexx.page.tlsSecret=x
  refused 'page.enabled needs reloader.watchGlobally=true' --set kubexx.page.enabled=true,kubexx.page.tlsSecret=x,reloader.watchGlobally=false
  refused 'stopAfterFailures' --set kubexx.rollouts.stopAfterFailures=-1
  refused '"--typo=1", which is not a flag' --set 'kubexx.extraArgs={--typo=1}'
  refused '"--help", which is not a flag' --set 'kubexx.extraArgs={--help}'
  refused '"stray", which is neither' --set 'kubexx.extraArgs={--workers=2,stray}'
  refused '"-v", which is neither' --set 'kubexx.extraArgs={-v}'
  local kind='"group":"ci.example.com","version":"v1","kind":"Build","resource":"builds"' fields='"fields":["status.image"]'
  refused 'resource' --set-json "kubexx.sourceKinds=[{${kind/builds/*},$fields}]"
  refused 'called "builds" already, another one of the list' --set-json "kubexx.sourceKinds=[{$kind,$fields},{${kind/Build/Make},$fields}]"
  refused 'called "configmap" already, one of the operator' --set-json "kubexx.sourceKinds=[{${kind/Build/ConfigMap},$fields}]"
  local field
  for field in 'a[0]' 'a[*]' "a['x']" 'a.' 'a b'; do
    refused 'fields' --set-json "kubexx.sourceKinds=[{$kind,\"fields\":[\"$field\"]}]"
  done
  refused 'fields' --set-json "kubexx.sourceKinds=[{$kind,\"fields\":[\"a\",\"a\"]}]"
  refused 'kubexx' --set kubexx.unknown=1
}

# In the notes of a release: what is taken, but has no effect.
told() { # told WORDS OPTION...
  local words=$1 said
  shift
  said=$(helm install --dry-run=client x "$chart" "$@" 2>&1) || fail "the chart does not take $*: $said"
  grep -qF "WARNING: $words" <<<"$said" || fail "for $* the notes say: $said"
}

what_has_no_effect_is_told() {
  told 'reloader.typo is not a value' --set reloader.typo=1
  told 'reloader.deployment.typo is not a value' --set reloader.deployment.typo=1
  told 'reloader.custom_annotations.typo is not a value' --set reloader.custom_annotations.typo=x
  told 'image.registry is not a value' --set image.registry=x
  told 'reloader.logLevel is "loud"' --set reloader.logLevel=loud
  told 'reloader.logFormat is "xml"' --set reloader.logFormat=xml
  told 'reloader.ignoreNamespaces has no effect' --set reloader.watchGlobally=false --set reloader.ignoreNamespaces=a
  told 'with this kubexx.updateStrategy two operators' --set kubexx.updateStrategy.type=RollingUpdate
  told 'kubexx.restore.secrets has no effect' --set kubexx.restore.secrets=true
  told 'kubexx.admission.warnings has no effect' --set kubexx.admission.warnings=true
  told 'kubexx.tracing.endpoint has no effect' --set kubexx.tracing.endpoint=http://collector:4318
  told 'kubexx.page.viewers has no effect' --set reloader.rbac.enabled=false --set kubexx.page.enabled=true --set kubexx.page.plainHTTP=true \
    --set 'kubexx.page.viewers[0].kind=Group,kubexx.page.viewers[0].name=a'
  told 'kubexx.sourcesInOtherNamespaces has no effect with reloader.webhookUrl' --set kubexx.sourcesInOtherNamespaces=true --set reloader.webhookUrl=http://hook.example.com
  told "kubexx.sourcesInOtherNamespaces has no effect, as only the release's namespace is watched" --namespace shop --set reloader.watchGlobally=false \
    --set kubexx.sourcesInOtherNamespaces=true --set 'reloader.namespaces={shop}'
  told 'reloader.namespaceSelector has no effect' --set reloader.watchGlobally=false --set reloader.namespaceSelector=a
}

# Whoever may view or edit a namespace may do so with its policies; the roles are part of the cluster's.
policies_are_in_the_clusters_roles() {
  local role verbs
  for role in view edit admin; do
    verbs=$(kubectl get clusterroles -l "rbac.authorization.k8s.io/aggregate-to-$role=true" -o json |
      jq -r '[.items[].rules[]? | select(.resources | index("reloadpolicies")) | .verbs[]] | sort | join(" ")')
    case $role in
      view) [ "$verbs" = "get list watch" ] ;;
      *) [ "$verbs" = "create delete deletecollection get list patch update watch" ] ;;
    esac || fail "to the role $role these verbs of reloadpolicies are added: $verbs"
  done
  kubectl get clusterroles -l rbac.authorization.k8s.io/aggregate-to-admin=true -o json |
    jq -e '[.items[].rules[]? | select(.resources | index("clusterreloadpolicies")) | .verbs[]] | sort == ["get", "list", "watch"]' >/dev/null ||
    fail "administrators of a namespace may write ClusterReloadPolicies"
}

alerts_fire() {
  local folder
  "$root/hack/deps" e2e
  folder=$(mktemp -d)
  cp "$chart/files/alerts.yaml" "$root/test/manifests/alerts_test.yaml" "$folder/"
  promtool test rules "$folder/alerts_test.yaml" >"$folder/said" 2>&1 || fail "$(cat "$folder/said")"
  rm -rf "$folder"
}

# arguments OPTION...: of the pod of `helm test`.
arguments() {
  helm template --kube-version 1.33.0 x "$chart" --namespace ops --show-only templates/tests/reload.yaml "$@" |
    /usr/bin/python3 -c 'import sys, yaml; print([each for each in yaml.safe_load_all(sys.stdin) if each["kind"] == "Pod"][0]["spec"]["containers"][0]["args"])'
}
# What is not rolled cannot be seen to be rolled; what has another name is asked for by that.
the_test_goes_by_the_values() {
  local values
  [[ $(arguments) = "['self-test', '--namespace=ops', '--deployment=x-reloader', '--timeout=60s']" ]] || fail "the test's arguments are $(arguments)"
  [[ $(arguments --set reloader.ignoreNamespaces=other) != *--reload=false* ]] || fail "the test does not try out a rollout, though another namespace is ignored"
  [[ $(arguments --set reloader.custom_annotations.configmap=a/b) = *--configmap-annotation=a/b* ]] || fail "the test does not know the annotation's name"
  for values in kubexx.dryRun=true kubexx.test.reload=false kubexx.rollouts.paused=true reloader.webhookUrl=http://x 'reloader.ignoreNamespaces=kube-system\, ops' \
    reloader.resourceLabelSelector=a reloader.namespaceSelector=a reloader.ignoreConfigMaps=true reloader.rbac.enabled=false 'kubexx.rollouts.maintenanceWindows={@daily 1h}'; do
    [[ $(arguments --set "$values") = *--reload=false* ]] || fail "the test waits for a rollout with $values"
  done
  ! helm template --kube-version 1.33.0 x "$chart" --set kubexx.test.enabled=false | grep -q 'helm.sh/hook' || fail "there is a test that nobody wants"
}

# The pod of `helm test` gets to the API server where the operator does: by the same way out of a closed namespace, on the same nodes,
# by the same proxy, and with a token whatever the account says.
the_test_reaches_the_server() {
  helm template --kube-version 1.33.0 x "$chart" --namespace ops --values - >"$rendered" <<'END'
kubexx: {settleWindow: 2m}
reloader:
  netpol: {enabled: true, to: [{ipBlock: {cidr: 10.0.0.0/8}}]}
  rbac: {enabled: false}
  serviceAccount: {create: false, name: existing, automountServiceAccountToken: false}
  deployment:
    env: {open: {HTTPS_PROXY: "http://proxy:3128", ALERT_WEBHOOK_PROXY: "socks5://proxy", OTHER: "1"}, secret: {NO_PROXY: .svc}, existing: {proxies: {http_proxy: key}}}
    affinity:
      nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}
      podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}
END
  /usr/bin/python3 - "$rendered" <<'END' || fail "the pod of helm test does not get to the API server"
import sys, yaml
with open(sys.argv[1], encoding="utf-8") as file:
    objects = [each for each in yaml.safe_load_all(file) if each]
policies = {each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] == "NetworkPolicy"}
pod = next(each for each in objects if each["kind"] == "Pod")
labels = pod["metadata"]["labels"]
own = policies["x-reloader-test"]
assert all(labels.get(key) == value for key, value in own["podSelector"]["matchLabels"].items()), own
assert own["egress"] == policies["x-reloader"]["egress"] and not own["ingress"], own
for port in (3128, 1080):  # of SOCKS5, where the URL has none
    assert {"port": port, "protocol": "TCP"} in own["egress"][1]["ports"], own
assert list(pod["spec"]["affinity"]) == ["nodeAffinity"], pod
assert pod["spec"]["automountServiceAccountToken"] and pod["spec"]["serviceAccountName"] == "existing", pod
container = pod["spec"]["containers"][0]
assert sorted(each["name"] for each in container["env"]) == ["HTTPS_PROXY", "NO_PROXY", "SELF_TEST_SETTLE_WINDOW", "http_proxy"], container
# An image of an earlier version, which the values may name, does not know each flag of this one, and ignores variables.
assert {"name": "SELF_TEST_SETTLE_WINDOW", "value": "2m"} in container["env"], container
known = {"--namespace", "--deployment", "--timeout", "--configmap-annotation", "--reload"}
assert {each.split("=")[0] for each in container["args"]} <= {"self-test"} | known, container
END
  ! helm template --kube-version 1.33.0 x "$chart" | grep -q '^kind: NetworkPolicy' || fail "there is a network policy that nobody wants"
}

# So does the page's, whose way is the operator's: variables, Secrets included, files of authorities, and ports of proxies, with a scheme or without.
all_pods_have_the_way_to_the_server() {
  local case
  for case in proxies proxies_secret; do
    helm template --kube-version 1.33.0 x "$chart" --values "$root/test/manifests/cases/$case.yaml" >"$rendered"
    /usr/bin/python3 - "$rendered" "$case" <<'END' || fail "with $case.yaml not all pods get to the API server"
import sys, yaml
with open(sys.argv[1], encoding="utf-8") as file:
    objects = [each for each in yaml.safe_load_all(file) if each]
specs = {each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in objects if each["kind"] == "Deployment"}
specs["test"] = next(each for each in objects if each["kind"] == "Pod")["spec"]
env = {name: {each["name"]: each for each in spec["containers"][0].get("env", [])} for name, spec in specs.items()}
way = {"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "SSL_CERT_FILE", "SSL_CERT_DIR"}
expected = {name: each for name, each in env["x-reloader"].items() if name in way}
assert len(expected) == {"proxies": 6, "proxies_secret": 5}[sys.argv[2]], expected
mount = {"proxies": "authorities", "proxies_secret": "own"}[sys.argv[2]]
for name in ("x-reloader-page", "test"):
    assert env[name] == expected, (name, env[name])
    for parts in (specs[name]["containers"][0]["volumeMounts"], specs[name]["volumes"]):
        assert {each["name"] for each in parts} - {"page-tls"} == {mount}, specs[name]
ports = {"proxies": [53, 53, 3128, 3129, 3130, 4318, 443, 6443, 9443], "proxies_secret": [53, 53, 3130, 3131, 443, 6443]}[sys.argv[2]]
policies = [each["spec"] for each in objects if each["kind"] == "NetworkPolicy"]
assert len(policies) == 3, policies
for policy in policies:
    assert [port["port"] for rule in policy["egress"] for port in rule["ports"]] == ports, policy
if sys.argv[2] == "proxies":  # what is 0, false or large is set; what is empty is not
    values = {name: each.get("value") for name, each in env["x-reloader"].items()}
    assert values["OTEL_TRACES_SAMPLER_ARG"] == "0" and values["OTEL_SDK_DISABLED"] == "false" and values["OTEL_BSP_MAX_QUEUE_SIZE"] == "4000000", values
    assert "ZERO" in values and not {"NOTHING", "UNSET"} & set(values), values
END
  done
}

# Objects that the release does not know, as they are and as templates; what the Deployment's strategy is.
further_objects_are_made() {
  helm install -n chart further "$chart" --values - >/dev/null <<'END'
nameOverride: more
kubexx:
  updateStrategy: {type: Recreate}
  extraObjects:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: as-it-is}, data: {text: '{{ .Release.Name }}'}}
    - |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: '{{ include "reloader.fullname" . }}-rendered'}
      data: {text: '{{ .Release.Name }}'}
END
  [ "$(kubectl -n chart get configmap as-it-is -o 'jsonpath={.data.text}')" = '{{ .Release.Name }}' ] || fail "an object is not taken as it is"
  [ "$(kubectl -n chart get configmap further-more-rendered -o 'jsonpath={.data.text}')" = further ] || fail "a text is not rendered"
  [ "$(kubectl -n chart get deployment further-more -o 'jsonpath={.spec.strategy.type}')" = Recreate ] || fail "the strategy is not that of the values"
  helm uninstall -n chart further >/dev/null
  ! kubectl -n chart get configmap as-it-is >/dev/null 2>&1 || fail "further objects are no part of the release"
}

# The CRDs of an older chart become those of this one by the command that the README tells, whoever made them.
crds_are_upgraded() {
  local crd=crd/reloadpolicies.kubexx.io
  kubectl patch "$crd" --type json -p '[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/minInterval"}]' >/dev/null
  helm show crds "$chart" | kubectl apply --server-side --force-conflicts -f - >/dev/null
  [ -n "$(kubectl get "$crd" -o 'jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.minInterval}')" ] || fail "a CRD was not upgraded"
  kubectl apply --dry-run=server -f "$examples" >/dev/null || fail "the examples that Artifact Hub shows are refused"
}

trap '"$cluster" down; rm -f "${examples:-}" "${rendered:-}"' EXIT
"$root/hack/manifests" --check

helm lint --strict --quiet --kube-version 1.33.0 "$chart"
examples=$(mktemp)
/usr/bin/python3 "$root/test/manifests/chart_metadata.py" "$chart" "$examples" || fail "Artifact Hub is told something wrong"
bad_values_are_refused
the_test_goes_by_the_values
rendered=$(mktemp)
the_test_reaches_the_server
all_pods_have_the_way_to_the_server
alerts_fire
"$cluster" down
"$cluster" up

log "plain manifests"
kubectl apply -f "$root/manifests/" >/dev/null
check_rights
policies_are_in_the_clusters_roles
check_pod kubexx-system kubexx-reloader

log "Helm chart"
kubectl create namespace chart >/dev/null
what_has_no_effect_is_told
kubectl label namespace chart pod-security.kubernetes.io/enforce=restricted >/dev/null
check_cases
release_is_upgraded
notes=$(helm install -n chart reloader "$chart" --set reloader.typo=1,reloader.deployment.replicas=2)
grep -q 'WARNING: reloader.typo is not a value' <<<"$notes" || fail "an unknown value is not told: $notes"
check_pod chart reloader-reloader
further_objects_are_made
crds_are_upgraded
[ "$(rules kubexx-reloader-role)" = "$(rules reloader-reloader-role)" ] || fail "manifests and chart grant different rights"
log "PASSED"
