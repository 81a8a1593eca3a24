#!/usr/bin/env bash
# Versions of kubexx-apiserver across a restart: without a file they begin at the time of the start, so that those of the former
# process have expired also when the new one has written more; with a file they go on.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$kx_root/test/e2e/apiserver.sh"

server_flags=(--insecure)
url() { sed -n 's/^ *server: *"\{0,1\}\(http[^"]*\)"\{0,1\}$/\1/p' "$KUBECONFIG"; }
maps() { curl -sS --max-time 20 "$@"; }
path=/api/v1/namespaces/default/configmaps
# write COUNT: so many ConfigMaps with names of their own.
write() {
  for _ in $(seq "$1"); do
    maps -f -o /dev/null -H 'Content-Type: application/json' -d '{"metadata":{"generateName":"m-"}}' "$(url)$path" ||
      fail "a ConfigMap was not made"
  done
}
version() { maps -f "$(url)$path" | sed -n 's/.*"metadata":{"resourceVersion":"\([0-9]*\)".*/\1/p' | head -1; }
# watched VERSION: what a watch from it gets within a second.
watched() { maps "$(url)$path?watch=true&timeoutSeconds=1&resourceVersion=$1"; }

log "in memory: a former process's versions have expired"
data_file=
before=$(($(date +%s) * 1000000))
start
write 2
first=$(version)
[ "${first:-0}" -gt "$before" ] || fail "the versions do not begin at the time of the start: '$first', started after $before"
write 1
[[ $(watched "$first") == *'"type":"ADDED"'* ]] || fail "a watch from $first of the same process has no event"
stop
start
write 20
got=$(watched "$first")
[[ $got == *'"code":410'* ]] || fail "a watch from $first of the former process: $got"
[[ $got != *'"type":"ADDED"'* ]] || fail "a watch from $first of the former process has events: $got"
[ "$(version)" -gt "$first" ] || fail "the versions have gone back to $(version) from $first"
stop

log "with a file: they are known"
data_file=$work/data
start
write 2
first=$(version)
stop
start
write 1
got=$(watched "$first")
[[ $got == *'"type":"ADDED"'* && $got != *'"code":410'* ]] || fail "a watch from $first, which is in the file: $got"
stop
