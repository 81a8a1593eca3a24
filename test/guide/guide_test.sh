#!/usr/bin/env bash
# Runs docs/first-controller.md as it is written: blocks with a file name are files of the project, "sh" blocks are run in one
# shell, and a "text" block is what the commands before it have to print.
# Environment: KUBEXX_TEST_KUBECONFIG, KUBEXX_CACHE (kubectl is in its bin).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${KUBEXX_TEST_KUBECONFIG:?}" "${KUBEXX_CACHE:?}"
work=$(mktemp -d)
export KUBECONFIG=$KUBEXX_TEST_KUBECONFIG PATH=$KUBEXX_CACHE/bin:$PATH CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}
export HOME=$work/home
mkdir -p "$HOME/greeter"
finish() {
  local status=$?
  kubectl delete namespace hello --wait=false >/dev/null 2>&1 || true
  if [ "$status" -ne 0 ]; then
    tail -n 30 "$HOME/greeter/greeter.log" >&2 || true
  fi
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

# The page as one script: what is expected is compared where it stands in the page.
awk -v project="$HOME/greeter" -v printed="$work/printed" '
  BEGIN { print "trap \"kill %1 2>/dev/null || true\" EXIT" }
  /^```/ && open == "" {
    open = substr($1, 4)
    if (open == "sh") { print "{" }
    else if (open == "text") { print "cat > \"" printed ".wanted\" <<\"__EOF__\"" }
    else if ($2 != "") { print "cat > \"" project "/" $2 "\" <<\"__EOF__\"" }
    else { print "echo \"a block of unknown kind: " $0 "\" >&2; exit 1" }
    next
  }
  /^```/ {
    if (open == "sh") { print "} > \"" printed "\"" }
    else { print "__EOF__" }
    if (open == "text") { print "diff -u \"" printed ".wanted\" \"" printed "\"" }
    open = ""
    next
  }
  open != "" { print }
' "$root/docs/first-controller.md" >"$work/page.sh"
grep -q '^cmake --build' "$work/page.sh" || { echo "guide: the page has lost its commands" >&2; exit 1; }
cd "$root"
bash -eu -o pipefail -m "$work/page.sh" 2> >(grep -v "job control\|terminal process group" >&2)
echo "guide: the page does what it says"
