#!/usr/bin/env bash
# kubectl against kubexx-apiserver with its controllers: rollouts, scaling, history, and what goes with its owner.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$(dirname "$0")/apiserver.sh"
lists_nothing() { local found; found=$(k "$@" -o name) && [ -z "$found" ]; }
gone() { # gone COMMAND...: what it lists goes away
  wait_for 60 "kubectl $* to list nothing" lists_nothing "$@" || fail "kubectl $* still finds $(k "$@" -o name)"
}
# becomes WANTED COMMAND...: the command's output. A rollout does not wait for the last of the old pods to be gone.
becomes() { wait_for 60 "kubectl $*" says "$@" || is "$@"; }
says() { [ "$(k "${@:2}")" = "$1" ]; }
workload() { # workload KIND NAME
  cat <<Y
apiVersion: apps/v1
kind: $1
metadata: {name: $2}
spec:
  selector: {matchLabels: {app: $2}}
  template:
    metadata: {labels: {app: $2}}
    spec: {containers: [{name: main, image: "web:1"}]}
Y
}

server_flags=(--controllers all --pod-start-delay 50ms)
start

log "a Deployment: rollout, scale, undo, restart, pause"
k create deployment web --image web:1 --replicas 2 >/dev/null
k rollout status deployment/web --timeout 60s >"$work/out"
grep -q 'successfully rolled out' "$work/out" || fail "rollout status said: $(cat "$work/out")"
is 2 get deployment web -o 'jsonpath={.status.availableReplicas}'
k wait --for condition=Available deployment/web --timeout 60s >/dev/null
k scale deployment web --replicas 4 >/dev/null
k wait --for 'jsonpath={.status.readyReplicas}=4' deployment/web --timeout 60s >/dev/null
k set image deployment/web web=web:2 >/dev/null
k rollout status deployment/web --timeout 60s >/dev/null
becomes "web:2 web:2 web:2 web:2" get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}'
k rollout history deployment/web >"$work/out"
grep -qE '^2 ' "$work/out" || fail "rollout history said: $(cat "$work/out")"
k rollout undo deployment/web >/dev/null
k rollout status deployment/web --timeout 60s >/dev/null
is web:1 get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'
is 3 get deployment web -o 'jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}'
k rollout restart deployment/web >/dev/null
k rollout status deployment/web --timeout 60s >/dev/null
k rollout pause deployment/web >/dev/null
k set image deployment/web web=web:3 >/dev/null
k wait --for 'jsonpath={.status.observedGeneration}'="$(k get deployment web -o 'jsonpath={.metadata.generation}')" deployment/web --timeout 60s >/dev/null
becomes "web:1 web:1 web:1 web:1" get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}'
k rollout resume deployment/web >/dev/null
k rollout status deployment/web --timeout 60s >/dev/null

log "other workloads"
workload StatefulSet db | k apply -f - >/dev/null
k rollout status statefulset/db --timeout 60s >/dev/null
becomes pod/db-0 get pods -l app=db -o name
workload DaemonSet agent | k apply -f - >/dev/null
k rollout status daemonset/agent --timeout 60s >/dev/null
becomes kubexx-node get pods -l app=agent -o 'jsonpath={.items[*].spec.nodeName}'
k set image daemonset/agent main=web:2 >/dev/null
k rollout status daemonset/agent --timeout 60s >/dev/null
k rollout undo daemonset/agent >/dev/null
k rollout status daemonset/agent --timeout 60s >/dev/null
becomes web:1 get pods -l app=agent -o 'jsonpath={.items[*].spec.containers[0].image}'
k create job once --image web:1 >/dev/null
k wait --for condition=complete job/once --timeout 60s >/dev/null
k run alone --image web:1 >/dev/null
k wait --for condition=Ready pod/alone --timeout 60s >/dev/null
k wait --for condition=Ready node/kubexx-node --timeout 60s >/dev/null

log "what goes along"
k delete deployment web >/dev/null
gone get replicasets,pods -l app=web
k delete job once >/dev/null
gone get pods -l job-name=once
k delete pod alone --timeout 60s >/dev/null
k create namespace n >/dev/null
for made in serviceaccount/default configmap/kube-root-ca.crt; do  # Of two that are missing kubectl waits for neither.
  k -n n wait --for create "$made" --timeout 60s >/dev/null
done
k delete namespace n --timeout 60s >/dev/null

log "tokens of service accounts: kubectl create token, and a Secret for one"
as() { k --token "$1" auth whoami -o 'jsonpath={.status.userInfo.username}'; }
robot=system:serviceaccount:default:robot
k create serviceaccount robot >/dev/null
[ "$(as "$(k create token robot --duration 15m)")" = $robot ] || fail "the token of kubectl create token is not the account's"
k apply -f - >/dev/null <<Y
apiVersion: v1
kind: Secret
metadata: {name: robot-token, annotations: {kubernetes.io/service-account.name: robot}}
type: kubernetes.io/service-account-token
Y
k wait --for 'jsonpath={.data.token}' secret/robot-token --timeout 60s >/dev/null
token=$(k get secret robot-token -o 'jsonpath={.data.token}' | base64 -d)
[ "$(as "$token")" = $robot ] || fail "the token of the Secret is not the account's"
bound=$(k create token robot --bound-object-kind Secret --bound-object-name robot-token)
[ "$(as "$bound")" = $robot ] || fail "the token bound to the Secret is not the account's"
k delete serviceaccount robot >/dev/null
gone get secret robot-token --ignore-not-found
! as "$token" 2>/dev/null || fail "a token outlives its account"

log "after the end, and after a SIGKILL, an old kubeconfig and tokens of accounts are as good as before"
known() { grep -E 'token:|certificate-authority-data:' "$KUBECONFIG"; }
before=$(known)
cp "$KUBECONFIG" "$work/old"
k create serviceaccount keeper >/dev/null
account=$(k create token keeper --duration 1h)
kill_server() {
  kill -9 "$server"
  wait "$server" 2>/dev/null || true
  server=
}
for how in stop kill_server; do
  $how
  start
  [ "$(known)" = "$before" ] || fail "the server has another certificate or token after $how"
  # Only the port is another.
  old() { k --kubeconfig "$work/old" --server "$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')" "$@"; }
  [ "$(old auth whoami -o 'jsonpath={.status.userInfo.username}')" = admin ] || fail "an old kubeconfig is not good after $how"
  [ "$(as "$account")" = system:serviceaccount:default:keeper ] || fail "the token of an account is not good after $how"
done
log "a kubeconfig is its owner's, whatever was there before"
stop
echo '{}' >"$work/open"
chmod 644 "$work/open"
"$program" --address 127.0.0.1:0 --write-kubeconfig "$work/open" >>"$work/server.log" 2>&1 &
server=$!
wait_for 60 "the kubeconfig" grep -qs current-context "$work/open"
[ "$(stat -c %a "$work/open")" = 600 ] || fail "others may read the kubeconfig: $(stat -c %a "$work/open")"
stop

log "a certificate of one's own, for another name than the controllers'"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/own.key" -out "$work/own.crt" \
  -days 2 -subj /CN=api.example -addext subjectAltName=DNS:api.example 2>"$work/openssl.log" || fail "openssl: $(cat "$work/openssl.log")"
server_flags+=(--tls-cert-file "$work/own.crt" --tls-private-key-file "$work/own.key")
start
k --tls-server-name api.example create deployment own --image own:1 >/dev/null
k --tls-server-name api.example rollout status deployment/own --timeout 60s >/dev/null
stop
log "kubexx-apiserver --controllers: kubectl works"
