#!/usr/bin/env bash
# hack/build on a small tree of a file: when it configures, and that it builds the clone that it lies in.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export KUBEXX_CACHE=$work/cache
fail() { die "FAILED: $*"; }
tree=$work/tree

# The tree: bin/what is a copy of what.txt, and setting.txt tells a variable of the preset.
mkdir -p "$tree"/{hack/lib,pkg,cmd,test}
cp "$root/hack/build" "$tree/hack/"
cp "$root"/hack/lib/*.sh "$tree/hack/lib/"
printf '#!/bin/sh\n' >"$tree/hack/deps"
printf '#!/bin/sh\n' >"$tree/hack/testdata"
chmod +x "$tree/hack/deps" "$tree/hack/testdata"
presets() { # presets VALUE
  cat >"$tree/CMakePresets.json" <<END
{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "\${sourceDir}/build/\${presetName}",
  "cacheVariables": {"SETTING": "$1"}}], "buildPresets": [{"name": "release", "configurePreset": "release"}]}
END
}
presets first
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(tree LANGUAGES NONE)
file(WRITE ${CMAKE_BINARY_DIR}/setting.txt "${SETTING}")
set(what ${CMAKE_BINARY_DIR}/bin/what)
add_custom_command(OUTPUT ${what} COMMAND cp ${CMAKE_SOURCE_DIR}/what.txt ${what} DEPENDS ${CMAKE_SOURCE_DIR}/what.txt)
add_custom_target(what ALL DEPENDS ${what})
END
echo one >"$tree/what.txt"

# builds [ARGUMENT...]: in the tree; what it says is in out.
builds() {
  "$tree/hack/build" "$@" >"$work/out" 2>&1 || fail "hack/build $*: $(cat "$work/out")"
  ! grep -q ' at .* line [0-9]' "$work/out" || fail "hack/build $* tells of a fault: $(cat "$work/out")"
}
configures() { grep -q "configuring release$1 \.\.\." "$work/out" || fail "$2: does not configure$1: $(cat "$work/out")"; }
leaves_configuration() { ! grep -q configuring "$work/out" || fail "$1: configures: $(cat "$work/out")"; }
has_built() { # has_built FILE TEXT
  [ "$(cat "$1")" = "$2" ] || fail "$1 is '$(cat "$1")' instead of '$2'"
}

mkdir -p "$tree/build/release/bin"
builds
configures "" "the first build"
has_built "$tree/build/release/bin/what" one
builds
leaves_configuration "a build without a change"
echo two >"$tree/what.txt"
builds release what
leaves_configuration "a changed file"
has_built "$tree/build/release/bin/what" two

# Only a build of single targets takes sources that have changed out of their batches; a build of everything puts them back.
cat >>"$tree/CMakeLists.txt" <<'END'
add_custom_target(batches ALL COMMAND sh -c "echo split:$KUBEXX_SPLIT_BATCHES >bin/batches" VERBATIM)
END
object=$tree/build/release/pkg/batches/one/own/batch_0.cc.o
mkdir -p "$object.parts"
touch "$object" "$object.parts/alone" "${object%0.cc.o}1.cc.o"
builds release batches
has_built "$tree/build/release/bin/batches" split:1
[ -e "$object" ] || fail "a build of one target compiles a batch anew"
KUBEXX_SPLIT_BATCHES=1 builds
has_built "$tree/build/release/bin/batches" split:
{ [ ! -e "$object" ] && [ ! -e "$object.parts" ]; } || fail "a build of everything leaves sources outside of their batches"
[ -e "${object%0.cc.o}1.cc.o" ] || fail "a build of everything compiles a batch anew that is whole"

# Presets that came with a pull, when ninja has configured since.
presets second
touch -d '1 hour ago' "$tree/CMakePresets.json"
builds
configures " anew, with other presets" "changed presets"
has_built "$tree/build/release/setting.txt" second
builds
leaves_configuration "a build after changed presets"

# What is compiled together follows the includes.
echo '#include "kubexx/a.h"' >"$tree/pkg/a.cc"
builds release what
leaves_configuration "a new include, and a build of one target"
builds
configures " again, as files include others than before" "a new include"
echo '// a comment' >>"$tree/pkg/a.cc"
builds
leaves_configuration "a change without an include"
echo '#include "kubexx/b.h"' >>"$tree/pkg/a.cc"
builds -n release
configures " again, as files include others than before" "a second include"
echo '#include "kubexx/c.h"' >>"$tree/pkg/a.cc"
builds release what all
configures " again, as files include others than before" "a third include, and a build of everything by its name"
builds release what
leaves_configuration "a build after that"

# The cache that tests have their clusters in.
KUBEXX_CACHE=$work/other builds
configures " again, for another cache or other test data" "another cache"

# A clone that was copied with what was built in it.
original=$tree
cp -a "$tree" "$work/copy"
tree=$work/copy
echo three >"$tree/what.txt"
builds
configures " anew, as the folder is a copy of another clone's" "a copied clone"
has_built "$tree/build/release/bin/what" three
has_built "$original/build/release/bin/what" two
builds
leaves_configuration "a copied clone that was built"
# The same clone, under another name.
ln -s "$tree" "$work/link"
tree=$work/link
builds
leaves_configuration "a clone behind a link"

# A build that is ended takes all with it, and leaves the folder to the next one.
cat >>"$tree/CMakeLists.txt" <<END
add_custom_target(slow COMMAND sh $work/slow.sh)
END
printf 'echo $$ >%q\nexec sleep 1000\n' "$work/slow.pid" >"$work/slow.sh"
"$tree/hack/build" release slow >"$work/out" 2>&1 &
builder=$!
wait_for 30 "the slow step" test -s "$work/slow.pid" || fail "the slow step does not begin: $(cat "$work/out")"
kill "$builder"
status=0
wait "$builder" || status=$?
[ "$status" -eq 143 ] || fail "a build that was ended has status $status: $(cat "$work/out")"
! grep -qsE '^State:[[:space:]]+[^ZX]' "/proc/$(cat "$work/slow.pid")/status" || fail "what a build has started outlives it"
flock -n "$tree/build/release/.lock" true || fail "a build that was ended keeps its folder locked"
# Who has traps of his own keeps them.
cat >"$work/job" <<END
. "$root/hack/lib/common.sh"
trap 'echo mine; exit 3' TERM
long_step one "$work/log" sh -c 'echo \$\$ >$work/one.pid; exec sleep 1000'
END
bash "$work/job" >"$work/out" 2>&1 &
job=$!
wait_for 30 "the step" test -s "$work/one.pid" || fail "the step does not begin"
kill "$job"
status=0
wait "$job" || status=$?
{ [ "$status" -eq 3 ] && grep -qx mine "$work/out"; } || fail "another's trap: status $status: $(cat "$work/out")"
# What may not be ended goes on.
rm "$work/one.pid"
sed -i 's/^long_step/kx_goes_on=true long_step/; s/exec sleep 1000/sleep 1; echo done >done/' "$work/job"
(cd "$work" && exec bash "$work/job") >"$work/out" 2>&1 &
job=$!
wait_for 30 "the step" test -s "$work/one.pid" || fail "the step does not begin"
kill "$job"
wait "$job" || true
wait_for 30 "the step to end by itself" test -s "$work/done" || fail "what may not be ended was ended"
echo "hack/build configures when it has to, and ends whole"
