#!/usr/bin/env bash
# Runs docs/first-controller.md and then docs/library/deploy.md as they are written: see page.sh.
# Environment: KUBEXX_BUILD_DIR, KUBEXX_TEST_KUBECONFIG, KUBEXX_CACHE (kubectl is in its bin).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${KUBEXX_BUILD_DIR:?}" "${KUBEXX_TEST_KUBECONFIG:?}" "${KUBEXX_CACHE:?}"
# Always the same folder, emptied: the compiler cache knows what it has seen there.
work=$KUBEXX_BUILD_DIR/test/guide
rm -rf "$work"
mkdir -p "$work"
export KUBECONFIG=$KUBEXX_TEST_KUBECONFIG PATH=$KUBEXX_CACHE/bin:$PATH CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}
export HOME=$work/home
mkdir -p "$HOME"
# What a careful reader compiles with. cmake reads it where a page configures its project.
export CXXFLAGS="-Wall -Wextra -Werror"
finish() {
  local status=$?
  kubectl delete namespace hello greeted greeter --wait=false >/dev/null 2>&1 || true
  kubectl delete clusterrole,clusterrolebinding greeter >/dev/null 2>&1 || true
  if [ "$status" -ne 0 ]; then
    tail -n 30 "$HOME/greeter/greeter.log" >&2 || true
  fi
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

for page in first-controller library/deploy; do
  grep -q '^cmake --build' "$root/docs/$page.md" || { echo "guide: $page has lost its commands" >&2; exit 1; }
done
# Whoever builds with a home of his own leaves the folder as it was configured: other tests run from it.
configured() { grep '^KUBEXX_TESTDATA_DIR:' "$KUBEXX_BUILD_DIR/CMakeCache.txt" || true; }
before=$(configured)
"$root/test/guide/page.sh" docs/first-controller.md "$HOME/greeter"
# It goes on with the project of the page before.
"$root/test/guide/page.sh" docs/library/deploy.md "$HOME/greeter"
[ "$(configured)" = "$before" ] || { echo "guide: the build was configured anew, for the module cache of another home" >&2; exit 1; }
