#!/usr/bin/env bash
# What kubexx-apiserver makes of a file that may not grow, as on a full disk: writes are refused, reads go on, the health pages and
# the log tell of it, and it is over without a restart when there is room.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$kx_root/test/e2e/apiserver.sh"

server_flags=(--insecure)
maps=/api/v1/namespaces/default/configmaps
url() { sed -n 's/^ *server: *"\{0,1\}\(http[^"]*\)"\{0,1\}$/\1/p' "$KUBECONFIG"; }
# code WANTED PATH ARGUMENT...: the answer of the server, which is in $work/body.
code() {
  local wanted=$1 path=$2 got
  shift 2
  got=$(curl -s --max-time 20 -o "$work/body" -w '%{http_code}' "$@" "$(url)$path") || fail "curl $path $*"
  [ "$got" = "$wanted" ] || fail "$path $*: got $got, wanted $wanted: $(head -c 300 "$work/body")"
}
# make CODE NAME: a ConfigMap of a kilobyte.
make() {
  code "$1" $maps -H 'Content-Type: application/json' -d "{\"metadata\":{\"name\":\"$2\"},\"data\":{\"a\":\"$(printf 'x%.0s' {1..1000})\"}}"
}
# awaits CODE PATH: within ten seconds.
awaits() {
  for _ in $(seq 100); do
    [ "$(curl -s --max-time 5 -o /dev/null -w '%{http_code}' "$(url)$2")" != "$1" ] || return 0
    sleep 0.1
  done
  fail "$2 did not become $1"
}
names() { curl -s "$(url)$maps" | grep -o '"name":"[^"]*"' | sort | tr '\n' ' '; }

start
make 201 first
code 200 /readyz
prlimit --pid "$server" --fsize="$(stat -c %s "$work/data"):"
for name in a b c; do
  make 500 $name
  grep -q 'nothing was changed, as the store cannot write to its file' "$work/body" || fail "a refused write is told: $(cat "$work/body")"
done
code 200 $maps/first
code 404 $maps/a
awaits 500 /readyz
code 500 /readyz
grep -q '^\[-\]etcd failed: reason withheld$' "$work/body" || fail "/readyz says: $(cat "$work/body")"
code 500 /readyz/etcd
code 200 /livez
prlimit --pid "$server" --fsize=unlimited:
awaits 200 /readyz
make 201 second
[ "$(grep -c "Cannot write to the store's file" "$work/server.log")" = 1 ] || fail "the beginning is not told once"
[ "$(grep -c "The store can write to its file again" "$work/server.log")" = 1 ] || fail "the end is not told once"

log "after a crash everything that was acknowledged is there, and nothing else"
before=$(names)
kill -9 "$server"
wait "$server" || true
start
[ "$(names)" = "$before" ] || fail "there is '$(names)', and was '$before'"
stop
