#!/usr/bin/env bash
# What cmake/ finds in a folder of sources, in a clone whose path has characters that mean something in a regular expression; in
# which order it compiles them; and how often it asks for test data that cannot be had.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { die "FAILED: $*"; }
tree="$work/c++ (mine)/tree"

mkdir -p "$tree"
ln -s "$root/cmake" "$tree/cmake"
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(tree LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake)
include(kubexx_package)
function(show what)
  list(TRANSFORM ARGN REPLACE ".*/pkg/" "")
  message(NOTICE "${what}: ${ARGN}")
endfunction()
kubexx_sources_in(${CMAKE_CURRENT_SOURCE_DIR}/pkg/cache sources)
show(sources ${sources})
# As kubexx_install_package looks for what is installed.
file(READ cmake/kubexx_install.cmake text)
string(REGEX MATCH "  file\\(GLOB_RECURSE headers.*\\(internal\\|testing[^\n]*\n" lines "${text}")
set(here ${CMAKE_CURRENT_SOURCE_DIR}/pkg/cache)
cmake_language(EVAL CODE "${lines}")
show(headers ${headers})
set(KUBEXX_PRECOMPILE OFF)
include(kubexx_precompile)
file(GLOB order ${CMAKE_CURRENT_SOURCE_DIR}/pkg/order/*/*.cc)
kubexx_sort_by_headers(order last)
show(order ${order})
show(last ${last})
include(kubexx_testdata)
foreach(target one two three)
  add_library(${target} OBJECT pkg/cache/a.h)
  kubexx_use_testdata(${target})
endforeach()
get_target_property(definitions three COMPILE_DEFINITIONS)
show(definitions ${definitions})
END
mkdir "$tree/hack"
printf '#!/bin/sh\necho asked >>%q\n. %q\n' "$work/asked" "$work/answer" >"$tree/hack/testdata"
chmod +x "$tree/hack/testdata"
for file in cache/a.cc cache/a.h cache/room/b.cc cache/room/b.h cache/internal/c.cc cache/internal/c.h cache/room/internal/d.h \
  cache/testing/fake.cc cache/testing/fake.h cache/tested/e.h cache/inner/CMakeLists.txt cache/inner/f.cc cache/inner/f.h; do
  mkdir -p "$tree/pkg/$(dirname "$file")"
  : >"$tree/pkg/$file"
done
# has FILE HEADER...: a file that includes these.
has() {
  mkdir -p "$(dirname "$tree/pkg/$1")"
  printf '#include %s\n' "${@:2}" >"$tree/pkg/$1"
}
has cache/shared_informer_base.h
has order/base/a.h
has order/base/b.h '"kubexx/order/base/a.h"'
has order/rest/c.h '"kubexx/order/base/b.h"'
has order/own/heavy.h '"kubexx/order/rest/c.h"' '"kubexx/order/own/light.h"'
has order/own/light.h '<string>'
has order/own/four.cc '<string>'
has order/own/one.cc '"kubexx/order/own/heavy.h"'
has order/own/two.cc '"kubexx/order/base/b.h"' '"kubexx/order/own/light.h"'
has order/other/three.cc '"kubexx/order/own/heavy.h"'
has order/other/asio.cc '<boost/asio/post.hpp>'
has order/other/informers.cc '"kubexx/cache/shared_informer_base.h"'
configure() { cmake -S "$tree" -B "$work/build" >"$work/out" 2>&1 || fail "no configuration: $(cat "$work/out")"; }
says() { grep -qxF -e "$1" "$work/out" || fail "no line '$1' in: $(cat "$work/out")"; }
echo 'echo no network >&2; exit 1' >"$work/answer"
configure
says "sources: cache/a.cc;cache/internal/c.cc;cache/room/b.cc"
says "headers: cache/a.h;cache/room/b.h;cache/shared_informer_base.h;cache/tested/e.h"
# Of its own folder's headers none counts as the heaviest, but what they include does.
says "order: order/other/informers.cc;order/other/asio.cc;order/other/three.cc;order/own/one.cc;order/own/two.cc;order/own/four.cc"
says "last: order/other/informers.cc"

asked() { [ "$(wc -l <"$work/asked")" -eq "$1" ] || fail "$2: hack/testdata was asked $(wc -l <"$work/asked") times instead of $1"; }
asked 1 "no network"
says 'definitions: KUBEXX_TESTDATA=""'
echo "echo $work" >"$work/answer"
configure
asked 2 "the next time"
says "definitions: KUBEXX_TESTDATA=\"$work\""
configure
asked 2 "test data that are there"
echo "cmake/ finds what it looks for"
