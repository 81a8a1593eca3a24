#!/usr/bin/env bash
# hack/build-times on a small tree, with stand-ins for all that takes long: what it runs, with which caches, and what it says.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
# shellcheck source=../../hack/lib/machine.sh
. "$root/hack/lib/machine.sh"
if [ "$(processors)" -lt 2 ]; then
  log "one processor: hack/build-times measures nothing here"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export KUBEXX_CACHE=$work/cache TMPDIR=$work
fail() { die "FAILED: $*: $(cat "$work/out")"; }
tree=$work/tree

program() { # program FILE LINE...: a script
  mkdir -p "$(dirname "$1")"
  printf '#!/usr/bin/env bash\nset -e\n' >"$1"
  printf '%s\n' "${@:2}" >>"$1"
  chmod +x "$1"
}
file() {
  mkdir -p "$(dirname "$1")"
  printf '%s\n' "${@:2}" >"$1"
}
mkdir -p "$tree/hack"
cp -r "$root/hack/build-times" "$root/hack/build-times.d" "$root/hack/lib" "$tree/hack/"
program "$tree/hack/deps"
program "$tree/hack/demo"
program "$tree/hack/cluster" "mkdir -p '$KUBEXX_CACHE/bin'" "touch '$KUBEXX_CACHE/bin/etcd' '$KUBEXX_CACHE/more'"
# shellcheck disable=SC2016 # theirs
program "$tree/.ci/run" "{ ls -R \"\$KUBEXX_CACHE\"; echo \"go \$GOCACHE, ccache \$CCACHE_DIR\"; nproc; } >'$work/ci'" \
  'echo "12:00:00 tests              100 s, from 20 to 120 s"' 'echo "7 passed, 0 failed, 0 skipped"' "exit \$(cat '$work/ci_status')"
echo 0 >"$work/ci_status"
# The build: one source with a test, whose program says what it runs.
one=pkg/cache/CMakeFiles/kubexx_cache.dir/one.cc.o
one_test=pkg/cache/CMakeFiles/cache_test.dir/one_test.cc.o
# shellcheck disable=SC2016
program "$tree/hack/build" 'cd "$(dirname "$0")/.."' 'mkdir -p build/release/bin' "echo \"\$*, ccache \$CCACHE_DISABLE\" >>'$work/builds'" \
  "printf 'build %s: CXX\n' $one $one_test >build/release/build.ninja" "printf '0\t%s\t1\t%s\tx\n' 9000 $one 9500 $one_test >build/release/.ninja_log" \
  "cp '$work/cache_test' build/release/bin/"
# shellcheck disable=SC2016
program "$work/cache_test" "echo \"\$*\" >>'$work/tests'" "sed -n '\$p' '$work/said'"
file "$work/said" '[  PASSED  ] 2 tests.'
file "$tree/pkg/cache/one.cc" ''
file "$tree/pkg/cache/one_test.cc" 'TEST(OneTest, Works) {'
file "$tree/pkg/cache/shared_informer_base.h" '#ifndef X' '#endif'
file "$tree/docs/first-controller.md" '```cpp main.cc' 'int main() {}' '```'
file "$tree/examples/app-controller/main.cc" 'int main() {}'
git -C "$tree" init -q
git -C "$tree" add -A
git -C "$tree" -c user.name=me -c user.email=me@example.com commit -qm all
program "$work/bin/g++" "exec /usr/bin/python3 -c 'import time
while time.process_time() < 0.3: sum(range(100000))'"
program "$work/bin/cmake"

times() { # times OPTION...: its output is in out, its status in `status`
  status=0
  PATH=$work/bin:$PATH "$tree/hack/build-times" "$@" >"$work/out" 2>&1 || status=$?
}
says() { grep -qE -e "$1" "$work/out" || fail "no line '$1'"; }

times
# Of a few tenths of a second nothing can be told now and then.
[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || fail "status $status"
for row in demo 'demo and release' 'slowest first change: cache/one(_test)?\.cc' 'slowest next change: cache/one(_test)?\.cc' "user's greeter" "user's app-controller" 'cache header'; do
  says "^$row +[0-9.]+ s +[0-9.]+ s +[0-9.?]+ s +at most [0-9]+ s on the (clock|processor): "
done
for turn in first next; do
  says "^$turn change of cache/one\\.cc "
  says "^$turn change of cache/one_test\\.cc "
done
[ "$(grep -c '^reference' "$work/out")" -eq 6 ] || fail "there is not a reference around each"
[ "$(sort -u "$work/builds" | tr '\n' ';')" = "release cache_test, ccache 1;release, ccache 1;" ] || fail "builds $(cat "$work/builds")"
grep -q -- '--gtest_filter=OneTest\.\*' "$work/tests" || fail "the source's own suite does not run"
# A filter that finds nothing measures nothing.
file "$work/said" '[  PASSED  ] 0 tests.'
times
[ "$status" -eq 1 ] || fail "status $status without a test"
says 'no test of pkg/cache/one.*has run'

times --ci
says '^\.ci/run, Kubernetes in its cache .* at most 1800 s on the clock: '
says '^  tests +100 s, from 20 to 120 s$'
says '^  7 passed, 0 failed, 0 skipped$'
grep -qx etcd "$work/ci" || fail "Kubernetes is not in the cache: $(cat "$work/ci")"
! grep -qx more "$work/ci" || fail "more than Kubernetes is in the cache: $(cat "$work/ci")"
grep -q "^go $work/.*/gocache, ccache $work/.*/ccache$" "$work/ci" || fail "caches with something in them: $(cat "$work/ci")"
grep -qx 2 "$work/ci" || fail "not on two processors: $(cat "$work/ci")"
times --ci --cold
says '^\.ci/run, nothing in any cache .* at most 2700 s on the clock: '
! grep -qx etcd "$work/ci" || fail "Kubernetes is in a cold cache: $(cat "$work/ci")"
echo 1 >"$work/ci_status"
times --ci --cold
[ "$status" -eq 1 ] || fail "status $status where CI fails"
says '\.ci/run ended with status 1'
echo "hack/build-times measures what it says"
