#!/usr/bin/env bash
# How hack/build-times judges, with a reference and times that are made up; what it takes for the slowest sources; and that neither
# depends on the user's language.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
export LC_ALL=POSIX
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
# shellcheck source=../../hack/lib/machine.sh
. "$root/hack/lib/machine.sh"
# shellcheck source=../../hack/lib/measures.sh
. "$root/hack/lib/measures.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { die "FAILED: $*: $(cat "$work/out")"; }
[ "$LC_ALL" = C.UTF-8 ] || { : >"$work/out" && fail "the user's language is kept"; }

# judges REFERENCE... -- ROWS: in order what the reference takes; ROWS are calls of took and end_block. Its status is in `status`.
took() { # took NAME CLOCK WHICH LIMIT [EARLIER]
  clock=$2 processor=$(($2 * 2))
  note "$1" "${@:3}"
}
judges() {
  local rows
  : >"$work/references"
  while [ "$1" != -- ]; do
    echo "$1" >>"$work/references"
    shift
  done
  rows=$2
  reference_time() {
    sed -n 1p "$work/references"
    sed -i 1d "$work/references"
  }
  status=0
  (
    begin_measures "$work/log"
    eval "$rows"
    end_measures || exit $?
  ) >"$work/out" 2>&1 || status=$?
}
says() { grep -qE -e "$1" "$work/out" || fail "$2: no line '$1'"; } # says PATTERN WHAT
ends() { [ "$status" -eq "$1" ] || fail "$2: status $status instead of $1"; }

judges 55 55 -- 'took demo 2400 clock 240; end_block'
ends 0 "a time that is just met"
says '^demo +240\.0 s +480\.0 s +240\.0 s +at most 240 s on the clock: met$' "a time that is just met"
judges 55 55 -- 'took demo 2410 clock 240; end_block'
ends 1 "a time that is missed"
says 'on the clock: MISSED$' "a time that is missed"
judges 55 55 -- 'took mine 31 processor 6; end_block'
ends 1 "processor time"

# A slow machine; and a fast one, where less is allowed.
judges 110 110 -- 'took demo 4700 clock 240; end_block'
ends 0 "a machine of half the speed"
says ' 470\.0 s .* 235\.0 s ' "a machine of half the speed"
judges 44 44 -- 'took demo 2000 clock 240; end_block'
ends 1 "a faster machine"

# What the slower of two references once excused: with the mean of both, as measured at a revision that missed it.
judges 79 79 82 -- 'took both 6935 clock 480; end_block; took x 10 clock 480; end_block'
ends 1 "693.5 s where the reference takes 7.9"
says '^both .* 482\.8 s +at most 480 s on the clock: MISSED' "693.5 s where the reference takes 7.9"
judges 100 104 -- 'took demo 4500 clock 240; end_block'
says ' 242\.6 s ' "the mean of both"

# A machine that became another one meanwhile: that concerns this block alone.
judges 55 60 60 -- 'took demo 100 clock 240; end_block; took next 100 clock 240; end_block'
ends 3 "a machine that became slower"
says '^demo .* \? s .*not comparable, as the reference took 5\.5 s before and 6\.0 s after' "a machine that became slower"
says '^next .* met$' "the block after that"
judges 60 55 55 -- 'took demo 9000 clock 240; end_block; took next 9000 clock 240; end_block'
ends 1 "one that cannot be told and one that is missed"

# Two that are asked for together, each as its own block makes it.
judges 55 55 57 -- 'took demo 2000 clock 240; end_block; took release 2800 clock 0; took both 480 clock 480 demo; end_block'
says '^both +248\.0 s' "two together"
judges 55 55 55 -- 'took demo 2000 clock 240; end_block; clock=2900 processor=1; note release clock 0; note both clock 480 demo; end_block'
ends 1 "two that are too long together"
says '^both +490\.0 s .* 490\.0 s .*MISSED' "two that are too long together"
judges 55 65 65 -- 'took demo 100 clock 240; end_block; clock=100 processor=1; note both clock 480 demo; end_block'
says '^both .*not comparable' "two of which one cannot be told"

# Time that is really measured.
kx_measure_log=$work/log
measure_any bash -c 'exit 7'
[ "$measured_status" -eq 7 ] || fail "the status of what is measured is $measured_status"
[[ $clock =~ ^[0-9]+$ && $processor =~ ^[0-9]+$ ]] || fail "no times: $clock, $processor"
(measure bash -c 'echo it says; exit 7') >"$work/out" 2>&1 && fail "a command that fails is measured"
says '^it says$' "what fails says why"

# The slowest sources: of each package one, with their own suites.
tree=$work/tree build=$work/tree/build/release
file() { # file PATH LINE...
  mkdir -p "$(dirname "$1")"
  printf '%s\n' "${@:2}" >"$1"
}
library() { echo "pkg/$1/CMakeFiles/kubexx_$1.dir/$2.o"; }
tests() { echo "pkg/$1/CMakeFiles/$1_test.dir/$2.o"; }
for package in cache rest; do
  file "$tree/pkg/$package/one.cc" ''
  file "$tree/pkg/$package/two.cc" ''
  file "$tree/pkg/$package/one_test.cc" 'TEST_F(OneTest, Works) {' 'TEST(OtherTest, Works) {'
  file "$tree/pkg/$package/more_test.cc" "#include \"kubexx/$package/two.h\"" 'TYPED_TEST(MoreTest, Works) {'
done
own=batches/kubexx_cache/own/batch_0.cc
file "$build/pkg/cache/$own" '#include "pkg/cache/none.cc"' '#include "pkg/cache/two.cc"'
own_tests=batches/cache_test/own/batch_0.cc
file "$build/pkg/cache/$own_tests" '#include "pkg/cache/one_test.cc"' '#include "pkg/cache/more_test.cc"'
steps=("$(library cache "$own")" "$(library cache one.cc)" "$(tests cache "$own_tests")" "$(library rest one.cc)" "$(tests rest one_test.cc)" "bin/cache_test")
{
  printf 'build %s | phony$ one: CXX\n' "${steps[@]}"
} >"$build/build.ninja"
{
  printf '# ninja log v5\n'
  printf '0\t%s\t1\t%s\tx\n' 9000 "${steps[0]}" 10000 "${steps[1]}" 11000 "${steps[2]}"
  printf '11000\t%s\t1\t%s\tx\n' 12500 "${steps[3]}" 13000 "${steps[4]}" 99000 "${steps[5]}" 99100 pkg/gone/CMakeFiles/kubexx_gone.dir/one.cc.o
} >"$build/.ninja_log"
/usr/bin/python3 "$root/hack/lib/slowest_sources.py" "$tree" 3 >"$work/out" 2>&1 || fail "no slowest sources"
one='OneTest.*:*/OneTest.*:OneTest/*.*:*/OneTest/*:OtherTest.*:*/OtherTest.*:OtherTest/*.*:*/OtherTest/*'
printf '%s\t%s\t%s\t%s\n' 10.0 pkg/cache/one.cc cache_test "$one" 1.5 pkg/rest/one.cc rest_test "$one" \
  11.0 pkg/cache/one_test.cc cache_test "$one" 2.0 pkg/rest/one_test.cc rest_test "$one" >"$work/wanted"
diff "$work/wanted" "$work/out" >&2 || fail "other sources"
# A batch that takes longer than a source of its own; the one without tests is left out.
sed -i 's/^0\t9000/0\t9900\t/; s/^0\t9900\t\t/0\t9900\t/; s/^0\t10000\t/9900\t10000\t/' "$build/.ninja_log"
/usr/bin/python3 "$root/hack/lib/slowest_sources.py" "$tree" 1 >"$work/out" 2>&1 || fail "no slowest source"
grep -q $'^9.9\tpkg/cache/two.cc\tcache_test\tMoreTest' "$work/out" || fail "a batch's source"
printf '0\t100\t1\t%s\tx\n' "${steps[0]}" >>"$build/.ninja_log"
/usr/bin/python3 "$root/hack/lib/slowest_sources.py" "$tree" 1 >"$work/out" 2>&1 && fail "a log of two builds"
says 'was made twice' "a log of two builds"
echo "hack/build-times judges with the references around a measure"
