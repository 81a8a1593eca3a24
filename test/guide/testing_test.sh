#!/usr/bin/env bash
# Runs docs/test-your-controller.md as it is written (see page.sh), in an empty folder, and looks at what is installed: each header
# that is installed includes what is installed only, find_package says what is wrong, and a program without tests needs nothing of
# the test support. Environment: KUBEXX_BUILD_DIR.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${KUBEXX_BUILD_DIR:?}"
# Always the same folder, emptied: the compiler cache knows what it has seen there.
work=$KUBEXX_BUILD_DIR/test/testing
rm -rf "$work"
mkdir -p "$work/home" "$work/user"
export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache} HOME=$work/home
finish() {
  local status=$?
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
fail() { echo "testing: $*" >&2; exit 1; }

# The library alone, and the test support put beside it.
cmake --install "$KUBEXX_BUILD_DIR" --component development --prefix "$work/library" >"$work/log"
cp -r "$work/library" "$work/both"
cmake --install "$KUBEXX_BUILD_DIR" --component testing --prefix "$work/both" >"$work/log"
for prefix in library both; do
  (cd "$work/$prefix/include" && grep -rhoE '^#include "kubexx/[^"]+' . | cut -d'"' -f2 | sort -u) >"$work/included"
  while read -r header; do
    [ -f "$work/$prefix/include/$header" ] || fail "a header of $prefix includes $header, which is not installed"
  done <"$work/included"
  [ "$(wc -l <"$work/included")" -gt 150 ] || fail "there are hardly any headers in $prefix"
done
! grep -rlE '#include <(gtest|gmock)/' "$work/both/include" >&2 || fail "these headers need GoogleTest"
for gone in kubexx/reloader kubexx/reloadpolicy kubexx/apiserver/storage/etcd3; do
  [ ! -e "$work/both/include/$gone" ] || fail "$gone is a program's, and installed"
done
[ -f "$work/library/include/kubexx/api/internal/heap_object.h" ] || fail "what the code of CRDs includes is not installed"
[ ! -e "$work/library/include/kubexx/rest/internal" ] || fail "headers are installed that no public header includes"
! (cd "$work/library" && find include -path '*/testing/*' | grep .) >&2 || fail "these belong to the test support"
[ ! -e "$work/library/include/kubexx/apiserver" ] || fail "the API server belongs to the test support"

# configure PREFIX ARGUMENTS: of find_package, in a project of its own.
configure() {
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\nfind_package(kubexx %s)\n%s\n' "$2" "${3:-}" >"$work/user/CMakeLists.txt"
  cmake -G Ninja -S "$work/user" -B "$work/user/build" --fresh -DCMAKE_PREFIX_PATH="$work/$1" >"$work/log" 2>&1
}
refuses() { # refuses PREFIX ARGUMENTS TEXT
  ! configure "$1" "$2" || fail "find_package(kubexx $2) is taken"
  tr -s ' \n' ' ' <"$work/log" | grep -qF -- "$3" || { cat "$work/log" >&2; fail "find_package(kubexx $2) does not say '$3'"; }
}
refuses both "REQUIRED COMPONENTS tests" "kubexx has no component 'tests'. The only one is 'testing'"
refuses library "REQUIRED COMPONENTS testing" "The component 'testing' of kubexx is not installed"
without='if(TARGET kubexx::testing OR TARGET PkgConfig::re2 OR TARGET absl::time OR TARGET GTest::gtest)
  message(FATAL_ERROR "found more than asked for")
endif()'
configure library REQUIRED "$without" || { cat "$work/log" >&2; fail "the library alone is not found"; }
configure both REQUIRED "$without" || { cat "$work/log" >&2; fail "without the component more is found than the library needs"; }
# shellcheck disable=SC2016 # CMake's variables
configure both "REQUIRED OPTIONAL_COMPONENTS testing more" 'if(NOT kubexx_testing_FOUND OR kubexx_more_FOUND OR TARGET GTest::gtest)
  message(FATAL_ERROR "testing: ${kubexx_testing_FOUND}, more: ${kubexx_more_FOUND}")
endif()' || { cat "$work/log" >&2; fail "optional components"; }

# A Result that is ignored is an error for users, too.
printf '#include "kubexx/apimachinery/status.h"\nkubexx::apimachinery::Result<void> F();\nvoid G() { %s; }\n' '(void)F()' >"$work/user/heeded.cc"
sed 's/(void)//' "$work/user/heeded.cc" >"$work/user/ignored.cc"
# shellcheck disable=SC2016 # CMake's variables
configure library REQUIRED 'foreach(name IN ITEMS heeded ignored)
  add_library(${name} OBJECT ${name}.cc)
  target_link_libraries(${name} PRIVATE kubexx::apimachinery)
endforeach()' || { cat "$work/log" >&2; fail "a project with libraries is not configured"; }
cmake --build "$work/user/build" --target heeded >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "a Result that is cast to void does not compile"; }
! cmake --build "$work/user/build" --target ignored >"$work/log" 2>&1 || fail "a Result that is ignored compiles"
grep -q unused-result "$work/log" || { cat "$work/log" >&2; fail "a Result that is ignored does not compile for another reason"; }

# What a careful reader compiles with. cmake reads it where the page configures its project.
export CXXFLAGS="-Wall -Wextra -Werror"
"$root/test/guide/page.sh" docs/test-your-controller.md "$HOME/tested-greeter"
