# Policies, shards, pauses and borrowed roles. To be sourced after lib.sh.
# shellcheck shell=bash disable=SC2154

policies_variable=STAKATER_CONFIG_CONFIGMAP

# uses_config NAMESPACE NAME REPLICAS [ANNOTATION...]: a Deployment that rolls for the ConfigMap `config`.
uses_config() {
  local namespace=$1 name=$2 replicas=$3
  shift 3
  kubectl -n "$namespace" create deployment "$name" --image=localhost/busybox:1 --replicas="$replicas" \
    --dry-run=client -o json -- sleep 100000 |
    jq '.spec.minReadySeconds = 3 | .spec.template.spec.terminationGracePeriodSeconds = 0 |
      .metadata.annotations["reloader.stakater.com/auto"] = "true" |
      .spec.template.spec.containers[0].envFrom = [{configMapRef: {name: "config"}}] |
      reduce $ARGS.positional[] as $each (.; ($each | split("=")) as $pair | .metadata.annotations[$pair[0]] = $pair[1])' \
      --args "$@" | kubectl apply -f - >/dev/null
}
sources_become() { # sources_become VALUE NAMESPACE...
  local value=$1 namespace
  shift
  for namespace in "$@"; do
    kubectl -n "$namespace" create configmap config --from-literal="KEY=$value" --dry-run=client -o json | kubectl apply -f - >/dev/null
  done
}

install_gentle() {
  kubectl wait --timeout "$((30 * ${KUBEXX_PATIENCE:-1}))s" --for condition=Established crd/reloadpolicies.kubexx.io >/dev/null
  wait_until 30 "the policies' API" kubectl get reloadpolicies -A
  kubectl apply -f "$here/policies.yaml" >/dev/null
  sources_become first shop-1 shop-2 shop-3 borrowed
  uses_config shop-1 slow-a 1
  uses_config shop-1 slow-b 1
  uses_config shop-2 web 0
  uses_config shop-3 paused 0 deployment.reloader.stakater.com/pause-period=3s
  uses_config shop-3 bad-pause 0 deployment.reloader.stakater.com/pause-period=soon
  uses_config shop-3 bad-interval 0 reloader.kubexx.io/min-interval=often
  uses_config shop-3 bad-settle 0 reloader.kubexx.io/settle-window=soon
  uses_config shop-3 bad-brake 0 reloader.kubexx.io/paused=yes
  uses_config borrowed plain 0
  for namespace in shop-1 shop-2 shop-3; do uses_config "$namespace" plain 0; done
  helm install gentle "$chart" -n gentle --create-namespace --values - >/dev/null <<END
reloader: {namespaceSelector: "gentle=yes", deployment: {replicas: 2}}
kubexx: {shards: 4}
END
  helm install borrowed "$chart" -n borrowed --values - >/dev/null <<END
reloader: {watchGlobally: false, rbac: {enabled: false}}
kubexx: {policies: false}
END
}

of_deployment() { kubectl -n "$1" get deployment "$2" -o json | jq -r "$3"; }
rolled_for() { # rolled_for NAMESPACE NAME VALUE
  [ "$(of_deployment "$1" "$2" ".spec.template.spec.containers[0].env[]? | select(.name == \"$policies_variable\") | .value")" = "$(digest "KEY=$3")" ]
}
revision_is() { # revision_is NAMESPACE NAME REVISION
  [ "$(of_deployment "$1" "$2" '.metadata.annotations["deployment.kubernetes.io/revision"]')" = "$3" ]
}
policy_waits() { # policy_waits NAMESPACE NAME REASON
  kubectl -n "$1" get reloadpolicy "$2" -o json | jq -e --arg reason "$3" '.status.pending == 1 and .status.pendingRollouts[0].reason == $reason'
}
has_event() { # has_event NAMESPACE NAME REASON
  kubectl -n "$1" get events -o json | jq -e --arg name "$2" --arg reason "$3" \
    'any(.items[]; .involvedObject.name == $name and .reason == $reason)'
}
explain() { "$kx_top/build/release/bin/kubexx-reloader" explain "$@" 2>&1; }
says() { # says WORDS COMMAND...
  local words=$1 said
  shift
  said=$("$@") || fail "$*: $said"
  grep -qF -e "$words" <<<"$said" || fail "$*: does not say '$words': $said"
}

one_had_to_wait() {
  kubectl -n shop-1 get events -o json | jq -e 'any(.items[]; .reason == "ReloadPending" and (.message | startswith("ConcurrencyLimit")))'
}

# Two Deployments, one rollout at a time: the second begins when the pods of the first are available.
one_at_a_time() {
  log "policies: one rollout at a time, with a health gate; a pause; a window"
  rolled_out gentle deployment/gentle-reloader
  rolled_out shop-1 deployment/slow-a deployment/slow-b
  wait_until 30 "shards with both replicas" shards_are_divided
  sources_become second shop-1 shop-2 shop-3
  wait_until 30 "the pause" policy_waits shop-2 closed Paused
  says "Deployment/web: Paused" kubectl -n shop-2 get reloadpolicies
  says "waits: Paused: no rollout begins (ReloadPolicy shop-2/closed)" explain deployment/web -n shop-2
  says "because of --ignored-workload-types" explain job/any -n shop-2 --ignored-workload-types=jobs
  says "because of --namespace-selector" explain deployment/web -n shop-2 --namespace-selector=gentle=no
  says "because of --namespaces-to-ignore" explain deployment/web -n shop-2 --namespaces-to-ignore=shop-2
  wait_until 30 "an Event on the policy" has_event shop-2 closed RolloutsWait
  kubectl -n shop-2 patch reloadpolicy closed --type merge -p \
    "{\"spec\":{\"paused\":false,\"maintenanceWindows\":[{\"schedule\":\"0 0 $(date -d '-2 days' '+%-d %-m') *\",\"duration\":\"1m\"}]}}" >/dev/null
  wait_until 30 "the window" policy_waits shop-2 closed OutsideMaintenanceWindow
  kubectl -n shop-2 patch reloadpolicy closed --type merge -p '{"spec":{"maintenanceWindows":[{"schedule":"* * * * *","duration":"2h"}]}}' >/dev/null
  wait_until 30 "the rollout in the window" rolled_for shop-2 web second
  wait_until 30 "an Event on the policy" has_event shop-2 closed RolloutsGoOn
  wait_until 60 "the second rollout" rolled_for shop-1 slow-b second
  wait_until 60 "the first rollout" rolled_for shop-1 slow-a second
  wait_until 30 "an Event on the one that waited" one_had_to_wait
  local begins
  begins=$(kubectl -n shop-1 get deployments slow-a slow-b -o json | jq '[.items[].metadata.annotations["reloader.kubexx.io/last-rollout"] | fromdate] | max - min')
  [ "$begins" -ge 3 ] || fail "the second rollout began $begins s after the first, whose pods need 3 s"
}

# A pause-period pauses and resumes. The operator reports annotations with invalid values, and rolls everything else.
pauses_end() {
  log "a pause-period; annotations with invalid values"
  wait_until 30 "the end of the pause" pause_is_over
  wait_until 30 "the one rollout of the pause" revision_is shop-3 paused 2
  wait_until 30 "an Event on a bad pause-period" has_event shop-3 bad-pause ReloadFail
  ! rolled_for shop-3 bad-pause second || fail "a Deployment with a bad pause-period was rolled"
  wait_until 30 "an Event on a bad settle window" has_event shop-3 bad-settle InvalidAnnotation
  wait_until 30 "the rollout in spite of it" rolled_for shop-3 bad-settle second
  wait_until 30 "an Event on a bad interval" has_event shop-3 bad-interval InvalidAnnotation
  ! rolled_for shop-3 bad-interval second || fail "a Deployment was rolled whose interval cannot be read"
  wait_until 30 "an Event on a bad brake" has_event shop-3 bad-brake InvalidAnnotation
  ! rolled_for shop-3 bad-brake second || fail "a Deployment was rolled whose pause cannot be read"
}
pause_is_over() {
  rolled_for shop-3 paused second &&
    of_deployment shop-3 paused '.spec.paused // false, (.metadata.annotations | has("deployment.reloader.stakater.com/paused-at"))' | grep -c false | grep -qx 2
}

shard_holders() {
  kubectl -n gentle get leases -o json | jq -r '.items[] | select(.metadata.name | test("-lock-[0-9]+$")) | .spec.holderIdentity // ""'
}
shards_are_divided() { [ "$(shard_holders | grep . | sort | uniq -c | awk '{ print $1 }' | xargs)" = "2 2" ]; }

# Workloads in every namespace are edited while a replica dies: none is missed, none rolls twice.
shards_move() {
  local victim namespace
  log "a replica with shards is killed, and sources are changed"
  for namespace in shop-1 shop-2 shop-3; do
    wait_until 30 "the rollout in $namespace" rolled_for "$namespace" plain second
  done
  wait_until 30 "all shards to be held" shards_are_divided
  victim=$(answer shard_holders | sed -n 1p)
  kubectl -n gentle delete pod "$victim" --grace-period=0 --force >/dev/null
  sources_become third shop-1 shop-2 shop-3
  for namespace in shop-1 shop-2 shop-3; do
    wait_until 60 "the rollout in $namespace" rolled_for "$namespace" plain third
    wait_until 30 "one rollout for each edit in $namespace" revision_is "$namespace" plain 3
  done
}

# Under the roles of stakater/Reloader's chart it does without what they lack, and says so.
borrowed_roles_do() {
  local pod
  log "under the roles of Reloader's own chart"
  rolled_out borrowed deployment/borrowed-reloader
  sources_become second borrowed
  wait_until 30 "the rollout" rolled_for borrowed plain second
  wait_until 30 "one rollout" revision_is borrowed plain 2
  pod=$(kubectl -n borrowed get pods -l app=borrowed-reloader -o 'jsonpath={.items[0].metadata.name}')
  says 'kubexx_reloader_fallback{kind="Deployment",verb="watch"} 1' kubectl get --raw "/api/v1/namespaces/borrowed/pods/$pod:9090/proxy/metrics"
  # What a container says is there a moment later.
  wait_for 10 "the log" missing_right_is_told_once "$pod" || fail "the missing right is not told once: $(cat "$work/borrowed.log")"
}
missing_right_is_told_once() {
  kubectl -n borrowed logs "$1" >"$work/borrowed.log" 2>&1 &&
    [ "$(grep -c 'The operator lacks a right.*kind=Deployment.*verb=watch' "$work/borrowed.log")" = 1 ]
}

# Without any rights the program runs, answers 503 and says what it lacks.
start_rightless() {
  local token
  token=$(answer kubectl -n shop-1 create token default) # the account comes a moment after its namespace
  rightless_port=$(free_port 9390)
  kubectl config view --raw -o json | jq --arg token "$token" '.users[].user = {token: $token}' >"$work/rightless"
  "$kx_top/build/release/bin/kubexx-reloader" --kubeconfig "$work/rightless" --namespaces shop-1 --dry-run \
    "--metrics-addr=127.0.0.1:$rightless_port" >"$work/rightless.log" 2>&1 &
  rightless_process=$!
}
rightless_process=
rightless_ready() { curl -s -w ' %{http_code}' "http://127.0.0.1:$rightless_port/ready"; }
rightless_tells() { rightless_ready | grep -q '^may not list .* in namespace shop-1: .* 503$'; }
rightless_is_not_ready() {
  log "without rights: 503, with the reason"
  [[ $(rightless_ready) = *" 503" ]] || fail "it is ready without rights: $(rightless_ready)"
  wait_until 30 "the reason" rightless_tells
  says 'kubexx_reloader_refused{resource="configmaps",verb="list"} 1' curl -s "http://127.0.0.1:$rightless_port/metrics"
  [ "$(curl -s "http://127.0.0.1:$rightless_port/live")" = alive ] || fail "it is not alive"
  kill "$rightless_process"
  wait "$rightless_process" || fail "it did not end well: $(tail -n 3 "$work/rightless.log")"
  rightless_process=
}

nothing_crashed() {
  local restarted
  restarted=$(kubectl get pods -A -l app.kubernetes.io/name=reloader -o json |
    jq -r '.items[] | select(any(.status.containerStatuses[]?; .restartCount > 0)) | .metadata.namespace + " " + .metadata.name')
  [ -n "$restarted" ] || return 0
  # What the container said that is gone, and why the kubelet ended it.
  while read -r namespace pod; do
    kubectl -n "$namespace" logs --previous --timestamps --tail 30 "$pod" >&2 || true
    kubectl -n "$namespace" get pod "$pod" -o jsonpath='{.status.containerStatuses[*].lastState}{"\n"}' >&2 || true
    kubectl -n "$namespace" get events --field-selector "involvedObject.name=$pod" >&2 || true
  done <<<"$restarted"
  fail "an operator restarted: $restarted"
}
