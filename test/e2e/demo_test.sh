#!/usr/bin/env bash
# hack/demo as a newcomer's machine runs it: without kubectl. Not with a cache of its own: it configures the build, which
# keeps the cache's path for the other tests. It may have to wait for another test that builds.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
KUBEXX_DEMO_SMALL_KUBECTL=1 timeout 280 "$kx_root/hack/demo" >"$work/out" 2>&1 || {
  cat "$work/out" >&2
  die "FAILED: hack/demo"
}
for said in 'successfully rolled out' STAKATER_WEB_CONFIG_CONFIGMAP 'The operator stopped within'; do
  grep -q "$said" "$work/out" || {
    cat "$work/out" >&2
    die "FAILED: hack/demo did not say '$said'"
  }
done
log "hack/demo works"
