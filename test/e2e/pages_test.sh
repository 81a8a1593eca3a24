#!/usr/bin/env bash
# pages_test.sh [PAGE...]: every command of docs/reloader/, as a reader would run them, in a cluster with a node: see
# test/guide/page.sh. By default all pages that have commands, one after the other; each takes its examples away.
set -euo pipefail
export KUBEXX_CLUSTER_NAME=pages-${KUBEXX_CLUSTER_SUFFIX:-test}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
become_root "$@"
system=kubexx
operator=reloader-reloader
pages=("$@")
# Install loads the image; after the removal, which takes the CRDs away, a page has to do without them.
[ ${#pages[@]} -gt 0 ] || pages=(install migrate policies status admission reload-in-place metrics gitops undo waves ui tenancy sizing security fields-as-sources other-namespaces upgrade-and-removal troubleshooting)
work=$(mktemp -d)

finish() {
  local status=$?
  rm -rf "$work"
  end_test "$status"
}

no_page_is_forgotten() {
  local page
  while read -r page; do
    page=$(basename "$page" .md)
    [[ " ${pages[*]} " == *" $page "* ]] || fail "nobody runs the commands of $page"
  done < <(grep -l '^```sh' "$kx_top"/docs/reloader/*.md)
}

trap finish EXIT
[ $# -gt 0 ] || no_page_is_forgotten
"$kx_top/hack/deps" e2e
"$cluster" down
"$cluster" node
use_cluster_environment
mkdir "$work/home"
if [ "${pages[0]}" != install ]; then
  "$kx_top/hack/image" --from-build --output "$work/image.tar"
  "$cluster" load "$work/image.tar"
fi
for page in "${pages[@]}"; do
  log "docs/reloader/$page.md"
  HOME=$work/home "$kx_top/test/guide/page.sh" "docs/reloader/$page.md" "$work/home/page" || fail "docs/reloader/$page.md"
done
log "PASSED"
