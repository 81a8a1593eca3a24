#!/usr/bin/env bash
# hack/compile-times: what it counts and what not, which logs it refuses, and its profile of a small source.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { die "FAILED: $*: $(cat "$work/out")"; }
tree=$work/tree build=$work/tree/build/release
mkdir -p "$tree/hack/lib" "$build" "$tree/pkg/cache"
cp "$root/hack/compile-times" "$tree/hack/"
cp "$root/hack/lib/ninja_log.py" "$tree/hack/lib/"
git -C "$tree" init -q

says() { grep -qxE -e " *$1" "$work/out" || fail "$2: no line '$1'"; } # says PATTERN WHAT
tells() { "$tree/hack/compile-times" "$@" >"$work/out" 2>&1 || fail "compile-times $*"; }
refuses() { # refuses TEXT WHAT
  ! "$tree/hack/compile-times" >"$work/out" 2>&1 || fail "$2 is not refused"
  grep -qF "$1" "$work/out" || fail "$2: no word of '$1'"
}

library=pkg/cache/CMakeFiles/kubexx_cache.dir/one.cc.o
fakes=pkg/cache/CMakeFiles/kubexx_cache_fakes.dir/fake.cc.o
gone=pkg/cache/CMakeFiles/kubexx_cache.dir/gone.cc.o
printf 'build %s: CXX one.cc\nbuild %s | side$ effect: CXX fake.cc\nbuild bin/x: LINK %s\nbuild build.ninja: RERUN\n' "$library" "$fakes" "$library" >"$build/build.ninja"
log() { printf '%s\t%s\t1\t%s\tx\n' "$@"; }
{
  echo '# ninja log v5'
  log 0 4000 "$library" 0 1500 "$fakes" 0 70000 "$gone" 4000 4250 bin/x
  log 0 3000 build.ninja 0 3000 build.ninja
} >"$build/.ninja_log"
tells
says 'release at .*: 3 steps, 6 s in all' "the sum"
says '4\.0 +1 +libraries' "a library"
says '1\.5 +1 +fakes for tests' "fakes"
! grep -q gone "$work/out" || fail "what is not built any more counts"
log 0 100 "$library" >>"$build/.ninja_log"
refuses "$library was made twice" "a log of two builds"
sed -i '$d' "$build/.ninja_log"
# As ninja writes it anew: in no order.
for end in 9 8 7 6 5; do log 0 "$end" "$gone"; done >>"$build/.ninja_log"
refuses "the log tells of" "a log without an order"
rm "$build/.ninja_log"
refuses "run hack/build release first" "no log"

# What the compiler does.
if command -v clang++-19 >/dev/null; then
  log 0 4000 "$library" 0 1500 "$fakes" >"$build/.ninja_log"
  printf '%s\n' '#include <map>' '#include <string>' 'int F(int n) { return static_cast<int>(std::map<int, std::string>{{n, "x"}}.size()); }' >"$tree/pkg/cache/one.cc"
  cat >"$build/compile_commands.json" <<END
[{"directory": "$build", "command": "c++ -O1 --param=ggc-min-heapsize=1000000 -Wno-subobject-linkage -std=c++23 -o $library -c $tree/pkg/cache/one.cc",
  "file": "$tree/pkg/cache/one.cc"}]
END
  for source in "" "$tree/pkg/cache/one.cc"; do
    tells release --profile ${source:+"$source"}
    says "[0-9.]+ +[0-9]+ % +[0-9]+ % +[0-9]+ % +$library" "the phases"
    says '[0-9.]+ +[0-9]+ % parsing and templates together.*' "the sum of the phases"
    says '[0-9.]+ +1 +.*c\+\+/12/map' "a header"
    says '[0-9.]+ +[0-9]+ +std::map<\.\.\.>.*' "a template"
  done
  ! "$tree/hack/compile-times" --profile pkg/none.cc >"$work/out" 2>&1 || fail "a source that nobody compiles is profiled"
  [ ! -e "$build/$library" ] || fail "the profile has built something"
fi
echo "hack/compile-times counts the last build"
