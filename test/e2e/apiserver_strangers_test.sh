#!/usr/bin/env bash
# What kubexx-apiserver itself makes of requests by strangers: of pages in a browser, by foreign names, without a body's type. The
# rules have unit tests; this one is of the program and its flags, over HTTP.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$kx_root/test/e2e/apiserver.sh"

url() { k config view --raw -o 'jsonpath={.clusters[0].cluster.server}'; }
# code WANTED ARGUMENT...: of curl, for a path.
code() {
  local wanted=$1 path=$2 got
  shift 2
  got=$(curl -sk --max-time 5 -o "$work/body" -w '%{http_code}' "$@" "$(url)$path") || [ "$got" = 101 ] || fail "curl $path $*"
  [ "$got" = "$wanted" ] || fail "curl $path $*: got $got, wanted $wanted: $(head -c 300 "$work/body")"
}
watch='/api/v1/namespaces/default/configmaps?watch=1'
upgrade=(-H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')
maps=/api/v1/namespaces/default/configmaps
body='{"metadata":{"name":"a"}}'

log "a server that asks for nothing"
server_flags=(--insecure)
start
code 200 $maps
code 403 $maps -H 'Origin: https://evil.example'
code 403 "$watch" -H 'Origin: https://evil.example' "${upgrade[@]}"
code 101 "$watch" "${upgrade[@]}"
code 403 $maps -H 'Host: evil.example'
code 403 $maps -H 'Host: foo'
code 200 $maps -H "Host: $(uname -n):8080"
code 200 $maps -H 'Host: localhost'
code 415 $maps -X POST -H 'Content-Type:' -d "$body"
code 415 $maps -X POST -H 'Content-Type: text/plain' -d "$body"
code 404 $maps/a
for path in /healthz /livez /readyz; do code 200 $path; done
stop

log "a dashboard and a proxy that may"
server_flags=(--insecure --allowed-origins https://dashboard.example --allowed-hosts "proxy.example,apiserver")
start
code 200 $maps -H 'Host: apiserver:8080'
code 200 $maps -H 'Host: proxy.example' -H 'Origin: https://dashboard.example'
code 101 "$watch" -H 'Origin: https://dashboard.example' "${upgrade[@]}"
code 403 $maps -H 'Origin: https://evil.example'
code 403 $maps -H 'Host: evil.example'
stop

log "a server with tokens of others: the administrator's is kept without TLS, too"
printf 'of-jane,jane,1\n' >"$work/tokens"
server_flags=(--insecure --token-auth-file "$work/tokens" --authorization-mode RBAC)
start
cp "$KUBECONFIG" "$work/first"
token=$(k config view --raw -o 'jsonpath={.users[0].user.token}')
code 401 $maps
code 401 $maps -H 'Authorization: Bearer of-nobody'
code 403 $maps -H 'Authorization: Bearer of-jane'
code 403 $maps -H 'Authorization: bearer of-jane'
code 200 $maps -H "Authorization: Bearer $token"
for path in /healthz /livez /readyz; do code 200 $path; done
stop
start
code 200 $maps -H "Authorization: Bearer $token"
stop
