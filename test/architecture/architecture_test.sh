#!/usr/bin/env bash
# hack/architecture refuses what it says it refuses: each time a small tree that it takes is spoiled in one way.
# shellcheck disable=SC2016 # the backquotes are the page's
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree

fail() { die "FAILED: $*"; }
# file PATH [INCLUDED...]: a source in the tree.
file() {
  local path=$tree/$1 included
  shift
  mkdir -p "$(dirname "$path")"
  for included; do printf '#include "kubexx/%s"\n' "$included"; done >"$path"
}
# declare_package FOLDER ARGUMENTS: its CMakeLists.txt.
declare_package() {
  mkdir -p "$tree/$1"
  printf '# kubexx_package(none PROGRAM)\nkubexx_package(%s)\n' "$2" >"$tree/$1/CMakeLists.txt"
}
# Drawing is graphviz's matter.
mkdir "$work/bin"
printf '#!/bin/sh\necho "<svg/>"\n' >"$work/bin/dot"
chmod +x "$work/bin/dot"
render() { PATH=$work/bin:$PATH "$tree/hack/architecture" --render >"$work/out" 2>&1; }

# The tree: cache uses rest, and has rooms; rest has an internal/ that uses its headers, and the other way round.
make_tree() {
  rm -rf "$tree"
  mkdir -p "$tree/hack/lib" "$tree/docs"
  cp "$root/hack/lib/arrows.py" "$tree/hack/lib"
  # Without the rooms that are too large for now.
  sed '/^TOO_LARGE = {$/,/^}$/{/^    "/d}' "$root/hack/architecture" >"$tree/hack/architecture"
  chmod +x "$tree/hack/architecture"
  file pkg/base/clock.h
  file pkg/rest/client.h base/clock.h
  file pkg/rest/client.cc rest/client.h rest/internal/sender.h
  file pkg/rest/config.h
  file pkg/rest/internal/sender.h rest/config.h
  file pkg/rest/client_test.cc rest/internal/sender.h
  file pkg/cache/informer.h rest/client.h cache/packed/store.h
  file pkg/cache/packed/store.h cache/entries/entry.h
  file pkg/cache/entries/entry.h
  file pkg/cache/testing/fake.h rest/config.h cache/informer.h
  declare_package pkg/base base
  declare_package pkg/rest 'rest ROOMS'
  declare_package pkg/cache 'cache ROOMS FAKES fake
  DEPS kubexx::rest'
  declare_package pkg/apiserver 'apiserver TEST_SUPPORT'
  declare_package pkg/reloader 'reloader PROGRAM COLD'
  file pkg/apiserver/server.h cache/informer.h
  file pkg/reloader/operator.h cache/informer.h
  file cmd/program/main.cc reloader/operator.h
  file test/fuzz/rest_fuzz.cc rest/internal/sender.h
  printf 'digraph kubexx {\n  reloader -> {cache}\n  apiserver -> cache\n  cache -> rest\n  rest -> base\n  rest -> apiserver [style=dashed]\n}\n' >"$tree/docs/architecture.dot"
  {
    printf '![](architecture.svg)\n| `apiserver` | x |\n| `base` | x |\n| `cache` | x |\n| `reloader` | x |\n| `rest` | x |\n## Next\n'
    printf '![](architecture/apiserver.svg)\n| `apiserver` | x |\n## Next\n![](architecture/base.svg)\n| `base` | x |\n## Next\n![](architecture/cache.svg)\n| `cache` | x |\n'
    printf '| `cache/entries` | x |\n| `cache/packed` | x |\n## Next\n'
    printf '![](architecture/reloader.svg)\n| `reloader` | x |\n## Next\n![](architecture/rest.svg)\n| `rest` | x |\n| `rest/internal` | x |\n'
  } >"$tree/docs/architecture.md"
  render || fail "it does not draw: $(cat "$work/out")"
}
takes() { "$tree/hack/architecture" >"$work/out" 2>&1 || fail "$1: refused: $(cat "$work/out")"; }
# refuses WHAT TEXT...: the tree is refused with all of the texts, and made anew.
refuses() {
  local what=$1 status=0 text
  shift
  "$tree/hack/architecture" >"$work/out" 2>&1 || status=$?
  [ "$status" -eq 1 ] || fail "$what: status $status: $(cat "$work/out")"
  for text; do grep -qF -e "$text" "$work/out" || fail "$what: no word of '$text' in: $(cat "$work/out")"; done
  grep -qF "What to do: " "$work/out" || fail "$what: does not say what to do"
  make_tree
}

make_tree
takes "the tree as it is"

# Packages.
file pkg/rest/more.h cache/informer.h
refuses "a circle of packages" "packages are in a circle: cache -> rest -> cache"
file pkg/rest/more.h logging/log.h
refuses "an arrow that is not drawn" "docs/architecture.dot has no arrow rest -> logging"
sed -i 's/cache -> rest/cache -> {rest reloader}/' "$tree/docs/architecture.dot"
refuses "an arrow that the code has not" "has an arrow cache -> reloader, which the code has not" "docs/architecture.svg is stale"

# Whom packages are for.
declare_package pkg/webhook webhook
file pkg/webhook/hook.cc reloader/operator.h
refuses "a library that uses a program's package" "pkg/webhook/hook.cc includes pkg/reloader/operator.h: pkg/reloader is for program, pkg/webhook for library"
declare_package pkg/webhook webhook
file pkg/webhook/hook.h apiserver/server.h
refuses "a library that uses test support" "pkg/apiserver is for test_support, pkg/webhook for library"
declare_package pkg/apiserver/store 'apiserver_store PROGRAM'
file pkg/apiserver/store/store.h
file pkg/apiserver/server.h cache/informer.h apiserver/store/store.h
refuses "test support that uses a program's package in its folder" "pkg/apiserver/store is for program, pkg/apiserver for test_support"
file pkg/cache/testing/fake.h apiserver/server.h
file pkg/cache/more_test.cc apiserver/server.h
takes "fakes and tests that use test support"
make_tree
file pkg/cache/testing/fake.h reloader/operator.h
refuses "a fake that uses a program's package" "pkg/reloader is for program, pkg/cache for library"
printf '#include <gtest/gtest.h>\n' >>"$tree/pkg/cache/testing/fake.h"
refuses "a fake with GoogleTest" "pkg/cache/testing/fake.h includes GoogleTest, which not every user has"
file pkg/rest/testing/server.h
file pkg/cache/testing/fake.h rest/testing/server.h
refuses "a fake that users cannot compile" "pkg/cache/testing/fake.h includes pkg/rest/testing/server.h, which users do not get"
file pkg/rest/testing/server.h
file pkg/rest/client.h rest/testing/server.h
refuses "a header that includes a fake" "pkg/rest/client.h includes pkg/rest/testing/server.h, which users do not get"
rm "$tree/pkg/cache/CMakeLists.txt"
refuses "a folder that nobody declares" "pkg/cache/entries belongs to no package"
[ "$("$tree/hack/architecture" --packages | tr '\n' ' ')" = "test_support pkg/apiserver library pkg/base library pkg/cache program pkg/reloader library pkg/rest " ] ||
  fail "--packages: $("$tree/hack/architecture" --packages)"
[ "$("$tree/hack/architecture" --headers | tr '\n' ' ')" = "pkg/base/clock.h pkg/cache/entries/entry.h pkg/cache/informer.h pkg/cache/packed/store.h pkg/cache/testing/fake.h pkg/rest/client.h pkg/rest/config.h " ] ||
  fail "--headers: $("$tree/hack/architecture" --headers)"

# Rooms.
file pkg/cache/entries/more.cc cache/packed/store.h
refuses "a circle of two rooms" "rooms of pkg/cache are in a circle" "pkg/cache/packed -> pkg/cache/entries, as pkg/cache/packed/store.h includes pkg/cache/entries/entry.h"
file pkg/cache/entries/more.cc cache/informer.h
refuses "a circle of three rooms" "pkg/cache/entries -> pkg/cache, as pkg/cache/entries/more.cc includes pkg/cache/informer.h" "pkg/cache -> pkg/cache/packed"
file pkg/rest/internal/tls/tls.h rest/internal/sender.h
file pkg/rest/internal/more.h rest/internal/tls/tls.h
refuses "a circle of rooms in internal/" "rooms of pkg/rest are in a circle" "pkg/rest/internal/tls -> pkg/rest/internal"
file pkg/rest/config.h rest/client.h
file pkg/rest/client.h rest/config.h
refuses "a circle of files" "files of pkg/rest include each other in a circle: pkg/rest/client.h -> pkg/rest/config.h -> pkg/rest/client.h"
file pkg/cache/entries/entry_test.cc cache/packed/store.h
file pkg/cache/entries/entry_bench.cc cache/packed/store.h
file pkg/cache/entries/testing/fake.h cache/packed/store.h
takes "what tests use"

# internal/
for stranger in pkg/cache/more.cc pkg/cache/more_test.cc cmd/program/more.cc test/integration/more_test.cc; do
  make_tree
  file "$stranger" rest/internal/sender.h
  [ "$stranger" != pkg/cache/more.cc ] || render
  refuses "another's internal/ in $stranger" "$stranger includes pkg/rest/internal/sender.h, which pkg/rest keeps to itself"
done
file pkg/rest/client.h rest/internal/sender.h
refuses "a public header that includes an internal one" "pkg/rest/client.h is public and includes pkg/rest/internal/sender.h, which is not"
file pkg/rest/testing/client.h rest/internal/sender.h
file pkg/reloader/internal/parts.h
file pkg/reloader/operator.h cache/informer.h reloader/internal/parts.h
sed -i '/architecture\/reloader.svg/,$s/^| `reloader` .*/&\n| `reloader\/internal` | x |/' "$tree/docs/architecture.md"
render
takes "headers of test support and of programs that include internal ones"
make_tree
file pkg/rest/internal/tls/internal/keys.h
file pkg/rest/internal/more.cc rest/internal/tls/internal/keys.h
refuses "an internal/ in an internal/" "which pkg/rest/internal/tls keeps to itself"
file pkg/rest/apiserverinternal/types.h
file cmd/program/more.cc rest/apiserverinternal/types.h
sed -i '/architecture\/rest.svg/,$s/^| `rest` .*/&\n| `rest\/apiserverinternal` | x |/' "$tree/docs/architecture.md"
render
takes "a folder whose name ends with internal"
make_tree

# Size.
for number in $(seq 30); do file "pkg/cache/entries/entry_${number}_test.cc"; done
for number in $(seq 30); do file "pkg/cache/entries/entry_${number}.gen.h"; done
for number in $(seq 23); do file "pkg/cache/entries/more_$number.h" && file "pkg/cache/entries/more_$number.cc"; done
render
takes "a room with as many concepts as may be"
file pkg/cache/entries/one_more.cc
render
refuses "a room over its size" "pkg/cache/entries has 25 concepts, more than 24"
for number in $(seq 25); do file "pkg/cache/entries/more_$number.h"; done
sed -i 's/^TOO_LARGE = {$/&\n    "pkg\/cache\/entries": 26,/' "$tree/hack/architecture"
render
takes "a room that is known to be too large"
file pkg/cache/entries/one_more.h
render
refuses "one that has grown" "pkg/cache/entries has 27 concepts, more than 26"
sed -i 's/^TOO_LARGE = {$/&\n    "pkg\/cache\/entries": 26,/' "$tree/hack/architecture"
refuses "an exception that is not needed" "pkg/cache/entries is no longer too large"

# Pictures.
file pkg/cache/more.h
refuses "a picture with another number of concepts" "docs/architecture/cache.dot is stale" "run hack/architecture --render"
file pkg/cache/packed/store.h
refuses "a picture with an arrow that is gone" "docs/architecture/cache.dot is stale"
echo >>"$tree/docs/architecture.dot"
refuses "a picture that was not drawn anew" "docs/architecture.svg is stale"
rm "$tree/docs/architecture/rest.dot"
refuses "a picture that is missing" "docs/architecture/rest.dot cannot be read"
file pkg/cache/more/more.h
render
refuses "a room that the page does not know" "docs/architecture.md says nothing about pkg/cache/more"
sed -i '/architecture\/cache.svg/,$s/^| `cache` .*/&\n| `cache\/gone` | x |/' "$tree/docs/architecture.md"
refuses "a room that is gone" "docs/architecture.md has a line about pkg/cache/gone, which is not a room"
file pkg/queue/queue.h
refuses "a package that the page does not know" "docs/architecture.md says nothing about the package queue"
sed -i '0,/^| `cache` .*/s//&\n| `gone` | x |/' "$tree/docs/architecture.md"
refuses "a package that is gone" "docs/architecture.md has a line about the package gone, which is not there"
grep -qF '"cache" -> "packed"' "$tree/docs/architecture/cache.dot" || fail "an arrow is missing: $(cat "$tree/docs/architecture/cache.dot")"
file pkg/cache/informer.h rest/client.h cache/packed/store.h cache/entries/entry.h
render
! grep -qF '"cache" -> "entries"' "$tree/docs/architecture/cache.dot" || fail "an arrow is drawn that follows from others"
takes "an arrow that follows from others"
make_tree
declare_package pkg/queue queue
file pkg/queue/queue.h
file pkg/queue/queue.cc queue/internal/heap.h
file pkg/queue/internal/heap.h queue/queue.h
sed -i '0,/^| `cache` .*/s//&\n| `queue` | x |/' "$tree/docs/architecture.md"
"$tree/hack/architecture" 2>"$work/out" && fail "a package with an internal/ that is in no picture is taken"
for text in "docs/architecture/others.dot cannot be read" "docs/architecture.md does not show architecture/others.svg"; do
  grep -qF "$text" "$work/out" || fail "a package with an internal/: no word of '$text' in: $(cat "$work/out")"
done
printf '## Next\n![](architecture/others.svg)\n' >>"$tree/docs/architecture.md"
render
"$tree/hack/architecture" 2>"$work/out" && fail "an internal/ that the page does not know is taken"
grep -qF "docs/architecture.md says nothing about pkg/queue/internal" "$work/out" || fail "no word of the internal/: $(cat "$work/out")"
echo '| `queue/internal` | x |' >>"$tree/docs/architecture.md"
takes "a package with an internal/ in the picture of the others"
grep -qF '"queue/internal" -> "queue"' "$tree/docs/architecture/others.dot" || fail "an arrow is missing: $(cat "$tree/docs/architecture/others.dot")"
file pkg/queue/heaps/heap.h
render
refuses "a package that needs a picture of its own" "pkg/queue has more rooms than itself and an internal/, and no picture of its own"

# Words.
"$tree/hack/architecture" --help >"$work/out"
grep -q -e --render "$work/out" || fail "no help"
status=0
"$tree/hack/architecture" --rubbish 2>"$work/out" || status=$?
{ [ "$status" -eq 2 ] && grep -qF "cannot take '--rubbish'" "$work/out"; } || fail "an unknown option: status $status: $(cat "$work/out")"
mkdir "$work/without"
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$work/without/python3"
status=0
PATH=$work/without "$tree/hack/architecture" --render 2>"$work/out" || status=$?
{ [ "$status" -eq 1 ] && grep -qF "install graphviz" "$work/out"; } || fail "without graphviz: status $status: $(cat "$work/out")"
echo "hack/architecture refuses all of it"
