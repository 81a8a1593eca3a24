#!/usr/bin/env bash
# hack/lib/parts.sh, with scripts in place of builds and tests: what runs, what is given up when something fails, and what is
# said of it at the end.
# shellcheck disable=SC2016 # what the jobs expand
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { die "FAILED: $*: $(cat "$work/out")"; }

# job LINE...: a program that declares the parts in LINEs and runs them; its output is in out, its status in `status`.
job() {
  cat >"$work/job" <<END
#!/usr/bin/env bash
set -euo pipefail
. "$root/hack/lib/common.sh"
kx_root=$work
. "$root/hack/lib/parts.sh"
passes() { echo "1/1 Test #1: \$1 ....   Passed    0.01 sec"; }
$(printf '%s\n' "$@")
trap end_parts EXIT
run_parts
summarise || exit 1
END
  status=0
  bash "$work/job" >"$work/out" 2>&1 || status=$?
}
ends() { [ "$status" -eq "$1" ] || fail "$2: status $status"; } # ends STATUS WHAT
says() { grep -qF -e "$1" "$work/out" || fail "$2: no word of '$1'"; } # says TEXT WHAT
says_not() { ! grep -qF -e "$1" "$work/out" || fail "$2: says '$1'"; }

job 'part build build-release 0 "" true' 'part provide kubernetes 0 "" true' \
  'part tests tests 0 build-release passes unit.One' 'part tests cluster-tests 0 "build-release kubernetes" passes e2e.Two'
ends 0 "all is well"
says "2 passed, 0 failed, 0 skipped" "all is well"

# Kubernetes cannot be built, as without a network.
job 'part build build-release 0 "" true' 'part provide kubernetes 0 "" sh -c "echo no network; exit 7"' \
  'part build build-asan 0 "build-release kubernetes" true' \
  'part tests tests 0 build-release passes unit.One' 'part tests asan 0 build-asan passes asan.One' \
  'part tests cluster-tests 0 "build-release kubernetes" passes e2e.Two'
ends 1 "no Kubernetes"
says "no network" "no Kubernetes"
says "2 passed, 1 failed, 0 skipped" "no Kubernetes"
says "  cluster-tests.without_kubernetes" "no Kubernetes"
says_not e2e.Two "no Kubernetes"

# Our own build fails.
job 'part build build-release 0 "" sh -c "echo error: x; exit 1"' 'part tests tests 0 build-release passes unit.One' \
  'part tests others 0 "" sleep 100'
ends 1 "no build"
says "build-release failed" "no build"
says_not unit.One "no build"

# What a program that ran whole has failed of: of its cases, and the one in which it ended.
cat >"$work/log" <<'END'
1/3 Test #1: queue_test .........***Failed    1.20 sec
[ RUN      ] QueueTest.KeepsOrder
queue_test.cc:1: Failure
[  FAILED  ] QueueTest.KeepsOrder (3 ms)
[ RUN      ] All/QueueTest.IsFair/2
[  FAILED  ] All/QueueTest.IsFair/2, where GetParam() = 7 (3 ms)
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] QueueTest.KeepsOrder
2/3 Test #2: cache_test .........***Exception: SegFault  1.20 sec
[ RUN      ] StoreTest.Adds
[       OK ] StoreTest.Adds (0 ms)
[ RUN      ] StoreTest.Ends
3/3 Test #3: rest.Client.Asks ...***Failed    0.01 sec
[ RUN      ] Client.Asks
FAILED: a line of its own
[  FAILED  ] Client.Asks (0 ms)
END
job "part tests tests 0 '' sh -c 'cat $work/log; exit 8'"
ends 1 "failed cases"
sed -n '/^Failed tests:/,/passed/{/^Failed/d;/passed/d;p}' "$work/out" >"$work/names"
diff "$work/names" - <<'END' || fail "the names of what failed"
  queue_test
    QueueTest.KeepsOrder
    All/QueueTest.IsFair/2
  cache_test
    StoreTest.Ends (the program ended in it)
  rest.Client.Asks
    FAILED: a line of its own
END

# How far a build is: not how far the one before it was.
mkdir -p "$work/build/release"
echo '[9/9] Linking' >"$work/build/release/build.log"
touch -d '1 hour ago' "$work/build/release/build.log"
job 'part build build-release 0 "" true' 'run_parts' 'echo "progress: $(progress_of build-release)."' \
  "touch -d '1 minute' $work/build/release/build.log" 'echo "then: $(progress_of build-release)."'
says "progress: ." "the log of the last build"
says "then: 9/9." "the log of this build"
echo "hack/lib/parts.sh does what it says"
