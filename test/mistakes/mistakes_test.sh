#!/usr/bin/env bash
# The usual mistakes of users do not compile, and the compiler's first error is a line that says what to do. See mistakes.cc.
# Environment: CXX (g++), the compiler.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source=$root/test/mistakes/mistakes.cc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "mistakes: $*" >&2; exit 1; }

# The last one is what the target kubexx::apimachinery hands on to users: testing_test.sh looks whether it does.
flags=(-std=c++23 -I "$root/include" -I "$root" -Werror=unused-result)
# All that is slow, once.
grep '^#include' "$source" >"$work/prelude.h"
"${CXX:-g++}" "${flags[@]}" -x c++-header -o "$work/prelude.h.gch" "$work/prelude.h"
# compile [MISTAKE]: the errors are in $work/errors.
compile() { "${CXX:-g++}" "${flags[@]}" -fsyntax-only -include "$work/prelude.h" ${1:+"-DMISTAKE=$1"} "$source" 2>"$work/errors"; }

compile || { cat "$work/errors" >&2; fail "what is right does not compile"; }
number=0
while read -r count wanted; do
  number=$((number + 1))
  ! compile "$number" || fail "mistake $number compiles"
  first=$(grep -m 1 'error: ' "$work/errors")
  # Where it is, in which words a compiler puts it and its quotation marks do not matter.
  [[ $first == *"$wanted"* ]] || { cat "$work/errors" >&2; fail "mistake $number: the first error is '$first', not '$wanted'"; }
  lines=$(grep -c 'error: ' "$work/errors")
  [ "$lines" -eq "$count" ] || { cat "$work/errors" >&2; fail "mistake $number gives $lines errors, not $count"; }
done < <(sed -nE 's/^ *\/\/ error: /\/\/ 1 errors: /; s/^ *\/\/ ([0-9]+) errors: (static assertion failed: )?/\1 /p' "$source")
[ "$number" -ge 8 ] || fail "only $number mistakes were found in $source"
echo "mistakes: each of $number is one line that says what to do"
