#!/usr/bin/env bash
# `kubexx-reloader ui --sign-in token`, as it runs in a cluster, on kubexx-apiserver with RBAC: tokens are reviewed; who lacks the right is told so; in
# headless Chromium a person signs in over TLS, sees the page and signs out; a proxy may show the token itself; many
# tokens that are not good keep nobody out. KUBEXX_UI_PICTURES: a folder for pictures of the way in.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$here/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$here/apiserver.sh"
# shellcheck source=operator.sh
. "$here/operator.sh"
# shellcheck source=ui.sh
. "$here/ui.sh"
is_status() { # is_status WANTED CURL-ARGUMENTS...
  local wanted=$1 got
  shift
  got=$(status_of "$@")
  [ "$got" = "$wanted" ] || fail "curl $*: status $got, wanted $wanted: $(cat "$work/answer")"
}
wait_until_status() { [ "$(status_of "${@:2}")" = "$1" ]; }

server_flags=(--authorization-mode RBAC --token-auth-file "$work/tokens")
printf 'vera-token,vera,1\npaul-token,paul,2\npage-token,page,3\n' >"$work/tokens"
start
workload default web
# The page's own user: what the chart grants.
"$kx_bin/helm" template reloader "$kx_root/helm/kubexx-reloader" -n default --kube-version 1.33.0 --set kubexx.page.enabled=true,kubexx.page.tlsSecret=x \
  --show-only templates/page.yaml | grep -v '^#' >"$work/page.yaml"
k apply -f "$work/page.yaml" -l app=reloader-reloader-page >"$work/said" 2>&1 || fail "$(cat "$work/said")"
k create clusterrolebinding page --clusterrole reloader-reloader-page:default --user page >/dev/null
k create clusterrolebinding vera --clusterrole reloader-reloader-page:default:viewer --user vera >/dev/null
k config view --raw -o json | jq '.users[].user = {token: "page-token"}' >"$work/page"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
  -keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null

log "flags that do not go together are refused"
refused() { # refused WORDS FLAGS...
  local words=$1 status=0
  shift
  timeout 20 "$reloader" ui "$@" >"$work/said" 2>&1 || status=$?
  { [ "$status" = 2 ] && grep -q -- "$words" "$work/said"; } || fail "$*: status $status: $(cat "$work/said")"
}
refused 'has to be link or token' --sign-in=password
refused 'belong together' --sign-in=token --tls-cert-file="$work/tls.crt"
refused 'needs --sign-in token' --tls-cert-file="$work/tls.crt" --tls-private-key-file="$work/tls.key"
status=0
timeout 20 "$reloader" ui --kubeconfig "$work/page" --sign-in=token --address 0.0.0.0:0 >"$work/said" 2>&1 || status=$?
{ [ "$status" = 1 ] && grep -q 'other machines can reach' "$work/said"; } || fail "without TLS: status $status: $(cat "$work/said")"

"$reloader" ui --kubeconfig "$work/page" --sign-in=token --address=0.0.0.0:0 --tls-cert-file="$work/tls.crt" --tls-private-key-file="$work/tls.key" >"$work/ui.log" 2>&1 &
ui=$!
wait_until 20 "the page" grep -q 'served on port' "$work/ui.log"
page=https://127.0.0.1:$(sed -n 's/.*served on port \([0-9]*\) over https.*/\1/p' "$work/ui.log")

log "strangers see the way in and nothing else"
is_status 401 "$page/"
grep -q 'id="token"' "$work/answer" || fail "there is no way in: $(cat "$work/answer")"
for path in /events /app.js /session '/workload?Deployment/default/web'; do is_status 401 "$page$path"; done
for path in /live /style.css /sign-in.js; do is_status 200 "$page$path"; done
is_status 400 -X POST "$page/session"
is_status 401 -X POST -H 'Authorization: Bearer wrong' "$page/session"
is_status 403 -X POST -H 'Authorization: Bearer paul-token' "$page/session"
grep -q 'non-resource URL /kubexx-reloader/page' "$work/answer" || fail "paul is not told what he needs: $(cat "$work/answer")"
grep -q paul "$work/answer" || fail "paul is not told who he is: $(cat "$work/answer")"
is_status 403 -X POST -H 'Authorization: Bearer vera-token' -H 'Origin: https://evil.example.com' "$page/session"

log "a proxy shows the token with each request"
is_status 200 -H 'Authorization: Bearer vera-token' "$page/session"
[ "$(cat "$work/answer")" = '{"by":"header"}' ] || fail "$(cat "$work/answer")"
wait_until 60 "the workload" wait_until_status 200 -H 'Authorization: Bearer vera-token' "$page/workload?Deployment/default/web"
! grep -q PASSWORD "$work/answer" || fail "a value is shown"

log "the page judges by the operator's flags, whatever its own are"
RELOADER_NAMESPACE=default run_operator "$KUBECONFIG" --auto-reload-all
judges_by_it() {
  curl -skN --max-time 3 -H 'Authorization: Bearer vera-token' "$page/events" >"$work/events" || true # it does not end by itself
  grep -q '"rules":"of the operator in namespace default"' "$work/events"
}
wait_until 60 "the operator's flags" judges_by_it
stop_operator

log "in a browser"
browser() { # browser PART ARGUMENT
  KX_KUBECTL="$kx_bin/kubectl" timeout 400 /usr/bin/python3 "$here/ui_browser.py" "$@" || fail "in the browser: $1"
}
browser tokens "$page/"

log "two hundred tokens that are not good let nobody in, and keep nobody out"
for i in $(seq 200); do
  [ "$i" = 1 ] || echo next
  printf 'url = "%s/session"\nrequest = POST\nheader = "Authorization: Bearer wrong-%s"\noutput = /dev/null\nwrite-out = "%%{http_code}\\n"\ninsecure\nmax-time = 60\n' "$page" "$i"
done >"$work/strangers"
curl --no-progress-meter --parallel --parallel-max 10 --config "$work/strangers" >"$work/statuses"
# How many a second are reviewed depends on the machine: the unit tests count them.
! grep -qvE '^(401|429)$' "$work/statuses" || fail "other answers: $(sort "$work/statuses" | uniq -c)"
wait_until 20 "the way in for others" wait_until_status 204 -X POST -H 'Authorization: Bearer vera-token' "$page/session"

log "the API server goes away: nobody new gets in, and nobody is put out"
cookie=$(curl -sk --max-time 20 -D - -o /dev/null -X POST -H 'Authorization: Bearer vera-token' "$page/session" | sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p')
[ -n "$cookie" ] || fail "there is no cookie"
is_status 200 -H "Cookie: $cookie" "$page/session"
stop
wait_until 20 "another attempt" wait_until_status 500 -X POST -H 'Authorization: Bearer of-nobody' "$page/session"
is_status 200 -H "Cookie: $cookie" "$page/" # the answer of a moment ago counts

kill -INT "$ui"
wait "$ui" || fail "the program did not end well: $(cat "$work/ui.log")"
ui=
log "PASSED"
