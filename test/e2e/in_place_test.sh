#!/usr/bin/env bash
# Reloads in place under a real kubelet: Debian's nginx serves what an edit of its ConfigMap says within three seconds, from the
# same container; a signal, a command and a request each do it; what cannot be reloaded is rolled; and an operator that is killed
# amid a reload is followed by one that finishes it.
set -euo pipefail
export KUBEXX_CLUSTER_NAME=in-place-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
become_root "$@"
# shellcheck source=printing_pods.sh
. "$(dirname "$0")/printing_pods.sh"
# shellcheck source=../../hack/lib/images.sh
. "$kx_top/hack/lib/images.sh"
# shellcheck source=nginx_image.sh
. "$(dirname "$0")/nginx_image.sh"
failed_logs=("$work/operator.log")
limit_ms=$((3000 * ${KUBEXX_PATIENCE:-1}))

start_operators() { start_operator operator --reload-in-place --history=5; }
# web_workload NAME ACTION REPLICAS [EXTRA]: nginx answers with the text in its ConfigMap.
web_workload() {
  cat <<Y
---
apiVersion: v1
kind: ConfigMap
metadata: {name: $1, namespace: shop}
data: {site.conf: "server { listen 8080; location / { return 200 'first'; } }"}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $1
  namespace: shop
  annotations: {reloader.stakater.com/auto: "true", reloader.kubexx.io/reload-in-place: "$2"}
spec:
  replicas: $3
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: web
        image: $kx_nginx
        imagePullPolicy: Never
        volumeMounts: [{name: site, mountPath: /etc/nginx/conf.d${4:-}}]
        readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
      volumes:
      - name: site
        configMap: {name: $1}
Y
}
# A container that writes down each request and signal, in place of a program that reloads.
noting_workload() { # noting_workload NAME ACTION
  cat <<Y
---
apiVersion: v1
kind: ConfigMap
metadata: {name: $1, namespace: shop}
data: {text: first}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $1
  namespace: shop
  annotations: {reloader.stakater.com/auto: "true", reloader.kubexx.io/reload-in-place: "$2"}
spec:
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: main
        image: localhost/busybox:1
        imagePullPolicy: Never
        command:
        - sh
        - -c
        - |
          show() { echo "text=\$(cat /config/text)"; }
          mkdir -p /www/cgi-bin
          printf '#!/bin/sh\ncat /config/text >/www/asked\nprintf "Status: 200 OK\\\\n\\\\n"\n' >/www/cgi-bin/reload
          chmod +x /www/cgi-bin/reload
          httpd -p 8080 -h /www
          trap show HUP
          show
          while :; do sleep 1 & wait; done
        volumeMounts: [{name: config, mountPath: /config}]
      volumes:
      - name: config
        configMap: {name: $1}
Y
}
say() { # say NAME TEXT: nginx of this workload is to answer with it
  kubectl -n shop patch configmap "$1" -p "{\"data\":{\"site.conf\":\"server { listen 8080; location / { return 200 '$2'; } }\"}}" >/dev/null
}
# address NAME: of the newest pod; pods are reached from the node, which is this machine.
pods_of() { kubectl -n shop get pods -l "app=$1" -o json | jq -r '.items[] | select(.metadata.deletionTimestamp == null) | .metadata.name'; }
answer_of() { kubectl get --raw "/api/v1/namespaces/shop/pods/$1:8080/proxy/"; }
all_answer() { # all_answer NAME TEXT
  local pod
  for pod in $(pods_of "$1"); do [ "$(answer_of "$pod" 2>/dev/null)" = "$2" ] || return 1; done
}
containers_of() { kubectl -n shop get pods -l "app=$1" -o json | jq -c '[.items[] | select(.metadata.deletionTimestamp == null) | [.metadata.uid, .status.containerStatuses[0].containerID, .status.containerStatuses[0].restartCount]] | sort'; }
recorded_site() { # recorded_site NAME TEXT
  kubectl -n shop get deployment "$1" -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}' |
    grep -q "configmap/$1=$(digest "site.conf=server { listen 8080; location / { return 200 '$2'; } }")"
}
is_unmarked() { [ -z "$(kubectl -n shop get deployment "$1" -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/reloading-in-place}')" ]; }
has_baseline() { kubectl -n shop get deployment "$1" -o 'jsonpath={.metadata.annotations.reloader\.kubexx\.io/baseline}' | grep -q .; }
event_is() { kubectl -n shop get events -o json | jq -e --arg reason "$1" --arg name "$2" --arg text "$3" 'any(.items[]; .reason == $reason and .involvedObject.name == $name and (.message | contains($text)))' >/dev/null; }

trap finish_printing EXIT
"$kx_top/hack/deps" e2e
"$cluster" down
"$cluster" node
use_cluster_environment
make_nginx_image "$work/nginx.tar"
"$cluster" load "$work/nginx.tar"
kubectl create namespace shop >/dev/null
{
  web_workload web 'exec:nginx -s reload' 3
  web_workload single 'exec:nginx -s reload' 1 '/site.conf, subPath: site.conf'
  web_workload broken 'exec:nginx -s no-such-signal' 1
  noting_workload signal 'signal:HUP'
  noting_workload request 'http:GET :8080/cgi-bin/reload'
  noting_workload deaf 'signal:HUP' | sed 's/trap show HUP/true/'
} | kubectl apply -f - >/dev/null
start_operators
rolled_out shop deployment/web deployment/single deployment/broken deployment/signal deployment/request deployment/deaf
for each in web single broken signal request deaf; do wait_until 30 "the baseline of $each" has_baseline "$each"; done
wait_until 30 "the first answers" all_answer web first

log "an edit is served by the same containers within $limit_ms ms"
before=$(containers_of web)
began=$(date +%s%N)
say web second
wait_until 60 "the second answer" all_answer web second
took=$((($(date +%s%N) - began) / 1000000))
log "three pods of nginx served the edit after $took ms"
[ "$took" -le "$limit_ms" ] || fail "nginx served the edit after $took ms"
wait_until 60 "the record" recorded_site web second
wait_until 30 "the end of the mark" is_unmarked web
[ "$(containers_of web)" = "$before" ] || fail "containers were replaced: $before became $(containers_of web)"
[ "$(revision deployment/web)" = 1 ] || fail "a rollout was made"
wait_until 30 "the Event" event_is Reloaded web "Reloaded the pods by 'exec:nginx -s reload'"
"$program" history deployment/web -n shop | tee "$work/history" | grep -q 'in place by exec:nginx -s reload' || fail "history: $(cat "$work/history")"
"$program" explain -n shop deployment/web --reload-in-place | tee "$work/explain" | grep -q 'reloaded in place by exec:nginx -s reload' ||
  fail "explain: $(cat "$work/explain")"

log "two edits in a row end with the last"
say web third
say web fourth
wait_until 60 "the fourth answer" all_answer web fourth
wait_until 60 "the record" recorded_site web fourth
[ "$(containers_of web)" = "$before" ] || fail "containers were replaced"

log "a signal and a request do it, too"
signal_before=$(containers_of signal)
request_before=$(containers_of request)
for each in signal request; do kubectl -n shop patch configmap $each -p '{"data":{"text":"second"}}' >/dev/null; done
signal_seen() { kubectl -n shop logs deployment/signal | grep -qx 'text=second'; }
wait_until 60 "the signal" signal_seen
request_seen() { [ "$(kubectl -n shop exec deployment/request -- cat /www/asked 2>/dev/null)" = second ]; }
wait_until 60 "the request" request_seen
for each in signal request; do wait_until 60 "the end of the mark of $each" is_unmarked $each; done
[ "$(containers_of signal)" = "$signal_before" ] || fail "the container that got a signal was replaced"
[ "$(containers_of request)" = "$request_before" ] || fail "the container that got a request was replaced"

log "a subPath and an action that fails are rolled"
say single second
say broken second
for each in single broken; do
  wait_until 120 "a rollout of $each" all_answer $each second
  wait_until 60 "the record of $each" recorded_site $each second
  [ "$(revision "deployment/$each")" = 2 ] || fail "$each was not rolled once, but has revision $(revision "deployment/$each")"
  wait_until 30 "the Event of $each" event_is ReloadInPlaceFailed $each 'The workload is rolled instead'
done

log "a signal that process 1 would not notice is not sent, and the workload is rolled"
kubectl -n shop patch configmap deaf -p '{"data":{"text":"second"}}' >/dev/null
wait_until 30 "the Event of deaf" event_is ReloadInPlaceFailed deaf 'process 1 of container main does not handle this signal'
deaf_shows() { kubectl -n shop logs deployment/deaf | grep -qx 'text=second'; }
rolled_out shop deployment/deaf
wait_until 60 "new pods of deaf" deaf_shows
[ "$(revision deployment/deaf)" = 2 ] || fail "deaf was not rolled once, but has revision $(revision deployment/deaf)"

log "an operator that is killed amid a reload is followed by one that finishes it"
fourth=$(containers_of web)
# The reload takes long enough to kill the operator amid it, and a watch sees the mark however short it is there.
kubectl -n shop annotate --overwrite deployment web "reloader.kubexx.io/reload-in-place=exec:sh -c 'sleep 5; nginx -s reload'" >/dev/null
timeout 300 kubectl -n shop get deployment web -w -o 'jsonpath=mark:{.metadata.annotations.reloader\.kubexx\.io/reloading-in-place}{"\n"}' >"$work/marks" &
watcher=$!
wait_until 30 "the watch" test -s "$work/marks"
say web fifth
wait_until 60 "the mark" grep -q '^mark:.' "$work/marks"
kill_operators
kill "$watcher"
wait "$watcher" 2>/dev/null || true
say web sixth
start_operators
wait_until 90 "the sixth answer" all_answer web sixth
wait_until 60 "the record" recorded_site web sixth
wait_until 30 "the end of the mark" is_unmarked web
[ "$(containers_of web)" = "$fourth" ] || fail "containers were replaced"
log "PASSED"
