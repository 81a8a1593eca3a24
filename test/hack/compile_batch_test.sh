#!/usr/bin/env bash
# hack/lib/compile_batch.sh in a small build with ninja, in a clone whose path has a space: what it compiles after which change, and
# that the program is made of all sources as they are, each of them once.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { die "FAILED: $*"; }
tree="$work/a clone"

mkdir -p "$tree/hack/lib" "$tree/pkg" "$tree/build/batches/all/own"
cp "$root/hack/lib/compile_batch.sh" "$tree/hack/lib/"
# The compiler, which notes what it compiles.
cat >"$work/cxx" <<END
#!/usr/bin/env bash
basename "\${!#}" >>"$work/compiled"
exec g++ "\$@"
END
chmod +x "$work/cxx"
# Each source has a function of its value and of what its header says, and something that happens once as the program begins; all use
# an inline function.
names=(one two three four five six seven)
source_is() { # source_is NAME VALUE
  cat >"$tree/pkg/$1.cc" <<END
#include "pkg/all.h"
#include "pkg/$1.h"
namespace { const int begun_$1 = ++Begun(); }
int $1() { return Sum($2, k_$1) + 0 * begun_$1; }
END
}
header_is() { echo "constexpr int k_$1 = $2;" >"$tree/pkg/$1.h"; } # header_is NAME VALUE
for name in "${names[@]}"; do
  source_is "$name" 0
  header_is "$name" 1
done
cat >"$tree/pkg/all.h" <<'END'
#pragma once
inline int& Begun() { static int begun = 0; return begun; }
inline int Sum(int one, int other) { return one + other; }
END
printf '#include "pkg/%s.cc"\n' "${names[@]}" >"$tree/build/batches/all/own/batch_0.cc"
cat >"$tree/pkg/main.cc" <<'END'
#include <cstdio>
#include "pkg/all.h"
int one(); int two(); int three(); int four(); int five(); int six(); int seven();
int main() { std::printf("%d, begun %d\n", one() + two() + three() + four() + five() + six() + seven(), Begun()); }
END
cat >"$tree/build/build.ninja" <<END
flags = -O1
rule cxx
  depfile = \$out.d
  deps = gcc
  command = ../hack/lib/compile_batch.sh "$work/cxx" \$flags -iquote .. -MD -MT \$out -MF \$out.d -o \$out -c \$in
rule link
  command = g++ -o \$out \$in
build objects/batch_0.cc.o: cxx batches/all/own/batch_0.cc
build objects/main.cc.o: cxx ../pkg/main.cc
build program: link objects/main.cc.o objects/batch_0.cc.o
END

build() { ninja -C "$tree/build" program >"$work/out" 2>&1; }
# builds COMPILED SUM WHEN: the units that were compiled, by name, and what the program adds up.
builds() {
  local compiled said
  : >"$work/compiled"
  build || fail "$3: $(cat "$work/out")"
  compiled=$(LC_ALL=C sort "$work/compiled" | sed 's/\.cc$//' | paste -sd' ')
  said=$("$tree/build/program")
  [ "$compiled" = "$1" ] || fail "$3: compiled '$compiled' instead of '$1'"
  [ "$said" = "$2, begun 7" ] || fail "$3: the program says '$said' instead of '$2, begun 7'"
}

export KUBEXX_SPLIT_BATCHES=1
builds "batch_0 main" 7 "the first build"
builds "" 7 "a build without a change"
source_is two 10
builds "pkg+two rest" 17 "the first change of a source"
source_is two 20
builds "pkg+two" 27 "the next change of that source"
header_is two 2
builds "pkg+two" 28 "a header that only that source reads"
source_is one 100
builds "pkg+one rest" 128 "the first change of another source"
source_is one 200
source_is two 30
builds "pkg+one pkg+two" 238 "a change of both"
builds "" 238 "a build without a change after that"

# A mistake, and its correction.
echo 'int two( {' >"$tree/pkg/two.cc"
if build; then fail "a source with a mistake compiles"; fi
grep -q 'pkg/two\.cc:1' "$work/out" || fail "nobody is told of a mistake: $(cat "$work/out")"
source_is two 40
builds "pkg+two" 248 "a mistake that was corrected"
echo 'int six( {' >"$tree/pkg/six.cc"
if build; then fail "a source with a mistake compiles"; fi
source_is six 1000
builds "pkg+six" 1248 "a mistake in the first change of a source, corrected"

# Where it saves nothing.
header_is three 2
builds "batch_0" 1249 "a header that the rest reads"
for name in one two three four five; do source_is "$name" 1; done
builds "pkg+five pkg+four pkg+one pkg+three pkg+two rest" 1014 "changes of five sources"
source_is six 2000
builds "batch_0" 2014 "a change of a sixth source"
source_is six 3000
builds "pkg+six rest" 3014 "the first change after that"
sed -i 's/^flags = .*/flags = -O2/' "$tree/build/build.ninja"
builds "batch_0 main" 3014 "other flags"
source_is six 3500
builds "pkg+six rest" 3514 "the first change after that"
printf '// A comment.\n' >>"$tree/build/batches/all/own/batch_0.cc"
source_is six 4000
builds "batch_0" 4014 "a batch that has become another one"
rm "$tree/build/objects/batch_0.cc.o"
builds "batch_0" 4014 "an object that is missing"
for name in "${names[@]}"; do source_is "$name" 5; done
builds "batch_0" 44 "changes of all sources"

# Who does not ask for it has whole batches.
source_is six 6
builds "pkg+six rest" 45 "a change"
unset KUBEXX_SPLIT_BATCHES
source_is six 7
builds "batch_0" 46 "a change when nobody asks for it"
[ ! -e "$tree/build/objects/batch_0.cc.o.parts/alone" ] || fail "a source is outside of a batch that was compiled whole"
echo "a changed source is compiled apart from its batch"
