#!/usr/bin/env bash
# hack/demo as a newcomer's machine runs it: without kubectl. Not with a cache of its own: it configures the build, which
# keeps the cache's path for the other tests.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
work=$(mktemp -d)
demo=
finish() {
  [ -z "$demo" ] || end_tree "$demo"
  rm -rf "$work"
}
trap finish EXIT
give_up() {
  cat "$work/out" >&2
  die "FAILED: hack/demo $*"
}
ended() { ! kill -0 "$demo" 2>/dev/null; }
built() { ended || grep -q 'A Deployment that uses a ConfigMap' "$work/out"; }
KUBEXX_DEMO_SMALL_KUBECTL=1 "$kx_root/hack/demo" >"$work/out" 2>&1 &
demo=$!
# It may have to wait for another test that builds in the same folder: check.headers compiles for half an hour at most.
wait_for 400 "the programs" built || give_up "has no programs"
wait_for 120 "the end of the demo" ended || give_up "does not end"
status=0
wait "$demo" || status=$?
demo=
[ "$status" -eq 0 ] || give_up "ended with status $status"
for said in 'successfully rolled out' STAKATER_WEB_CONFIG_CONFIGMAP 'The operator stopped within'; do
  grep -q "$said" "$work/out" || {
    cat "$work/out" >&2
    die "FAILED: hack/demo did not say '$said'"
  }
done
log "hack/demo works"
