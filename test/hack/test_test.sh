#!/usr/bin/env bash
# hack/test on a small tree: what of Kubernetes it builds for which tests, which tests wait for that, and what runs when it cannot
# be built.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export KUBEXX_CACHE=$work/cache
tree=$work/tree
fail() { die "FAILED: $*: $(cat "$work/out")"; }

mkdir -p "$tree/hack/lib"
cp "$root/hack/test" "$tree/hack/"
cp "$root"/hack/lib/*.sh "$tree/hack/lib/"
stand_in() { # stand_in NAME LINE...: a script of the tree
  printf '#!/usr/bin/env bash\n' >"$tree/hack/$1"
  printf '%s\n' "${@:2}" >>"$tree/hack/$1"
  chmod +x "$tree/hack/$1"
}
stand_in deps
stand_in testdata
# shellcheck disable=SC2016 # theirs
stand_in build '[ "$1" != -n ] || shift' 'cmake -S "$(dirname "$0")/.." -B "$(dirname "$0")/../build/$1" >/dev/null'
# shellcheck disable=SC2016
stand_in cluster '[ "$1" = build ] || exit 0' "echo \"\${*:2}\" >'$work/asked'" "exit \$(cat '$work/kubernetes_status')"
mkdir -p "$tree/test/integration"
# shellcheck disable=SC2016
stand_in ../test/integration/own_apiserver.sh "echo \"\$1 \$KUBEXX_OWN_APISERVER\" >>'$work/ended'"
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(tree LANGUAGES NONE)
enable_testing()
function(one name)
  add_test(NAME ${name} COMMAND true)
  set_tests_properties(${name} PROPERTIES LABELS "${ARGN}")
endfunction()
one(queue.Orders unit)
one(check.format check)
one(check.manifests check needs.kube-apiserver needs.helm)
one(e2e.apiserver_kubectl e2e needs.kubectl)
one(e2e.apiserver_helm e2e needs.kubectl needs.helm)
one(e2e.reloader e2e needs.kubelet)
one(e2e.demo e2e)
END

# tests [OPTION...]: hack/test there; what it says is in out, its status in `status`, and what of Kubernetes it builds in `asked`.
echo 0 >"$work/kubernetes_status"
tests() {
  : >"$work/asked"
  rm -rf "$tree/build"
  mkdir -p "$tree/build/release/test/own_apiserver"
  status=0
  "$tree/hack/test" "$@" >"$work/out" 2>&1 || status=$?
  ! grep -q ' at .* line [0-9]' "$work/out" || fail "hack/test $* tells of a fault of its own"
}
asks() { [ "$(cat "$work/asked")" = "$1" ] || fail "$2: builds '$(cat "$work/asked")' instead of '$1'"; } # asks COMPONENTS WHAT
ends() { # ends STATUS COUNTS WHAT
  { [ "$status" -eq "$1" ] && tail -n 1 "$work/out" | grep -qx "$2"; } || fail "$3: status $status"
}
ran_in() { grep -q "Test .*: $2 " "$tree/build/test/$1.log" || fail "$2 has not run in the part $1"; } # ran_in PART TEST

tests --unit
grep -qx "down $tree/build/release/test/own_apiserver" "$work/ended" || fail "an API server that is left stays up"
asks "" "unit tests"
ends 0 "1 passed, 0 failed, 0 skipped" "unit tests"
stand_in testdata 'echo no network >&2' 'exit 1'
tests --unit
ends 0 "1 passed, 0 failed, 0 skipped" "unit tests without test data"
grep -q "the round-trip tests will fail" "$work/out" || fail "nobody tells of test data that are missing"
stand_in testdata
tests --e2e -R apiserver_
asks "helm kubectl" "tests of the API server"
ends 0 "2 passed, 0 failed, 0 skipped" "tests of the API server"
tests --e2e -R demo
asks "" "a test that needs nothing of Kubernetes"
tests --unit --checks --e2e
asks "helm kube-apiserver kubectl kubelet" "all of these tests"
ends 0 "7 passed, 0 failed, 0 skipped" "all of these tests"
ran_in tests queue.Orders
ran_in tests check.format
ran_in cluster-tests check.manifests
ran_in cluster-tests e2e.demo

echo 1 >"$work/kubernetes_status"
tests --unit --checks --e2e
ends 1 "2 passed, 1 failed, 0 skipped" "without Kubernetes"
grep -qx "  cluster-tests.without_kubernetes" "$work/out" || fail "the tests that need Kubernetes are not named"
ran_in tests queue.Orders

# It is there: all tests share one run.
mkdir -p "$KUBEXX_CACHE/bin"
# shellcheck source=../../hack/lib/cluster_build.sh
. "$root/hack/lib/cluster_build.sh"
for component in "${kx_components[@]}"; do
  printf '#!/bin/sh\n' >"$KUBEXX_CACHE/bin/$component"
  chmod +x "$KUBEXX_CACHE/bin/$component"
  component_version "$component" >"$KUBEXX_CACHE/bin/.$component.version"
done
tests --unit --checks --e2e
asks "" "with Kubernetes"
ends 0 "7 passed, 0 failed, 0 skipped" "with Kubernetes"
ran_in tests e2e.reloader

# The slowest of the last run.
printf '%s\n' '1/2 Test #1: queue.Orders ....   Passed    0.02 sec' '2/2 Test  #2: e2e.undo ......***Failed  121.50 sec' >"$tree/build/test/tests.log"
for n in $(seq 25); do printf '%s/25 Test #%s: asan.Case%s ....   Passed    %s.00 sec\n' "$n" "$n" "$n" "$n"; done >"$tree/build/test/asan.log"
"$tree/hack/test" --slowest >"$work/out" || fail "the slowest tests"
[ "$(sed -n 1p "$work/out" | tr -s ' ')" = " 121.5 s tests e2e.undo" ] || fail "the slowest is not the first"
[ "$(wc -l <"$work/out")" -eq 20 ] || fail "there are not twenty"
grep -q 'asan.Case7$' "$work/out" || fail "the twentieth is not there"
rm -r "$tree/build/test"
! "$tree/hack/test" --slowest >"$work/out" 2>&1 || fail "there was no run"
echo "hack/test builds what tests need, and runs what it can"
