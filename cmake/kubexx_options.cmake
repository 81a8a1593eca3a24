# Language level, warnings and hardening for our own code.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_library(kubexx_warnings INTERFACE)
target_compile_options(kubexx_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(kubexx_warnings INTERFACE -Wthread-safety)
else()
  # g++ 12 reports false positives of these inside libstdc++ when optimising.
  target_compile_options(kubexx_warnings INTERFACE
    -Wno-error=maybe-uninitialized -Wno-error=restrict -Wno-error=stringop-overflow
    -Wno-error=array-bounds -Wno-error=free-nonheap-object)
endif()

# KUBEXX_SANITIZE: "address,undefined" or "thread", set by the presets asan and tsan.
set(KUBEXX_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=")
if(KUBEXX_SANITIZE)
  add_compile_options(-fsanitize=${KUBEXX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KUBEXX_SANITIZE})
  if(KUBEXX_SANITIZE MATCHES "thread")
    # ThreadSanitizer does not understand fences; Asio's locks order everything without them.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
  # hack/test runs the tests of all builds in one go of ctest: their names tell them apart.
  string(REGEX REPLACE "^(.).*" "\\1san." KUBEXX_TEST_PREFIX ${KUBEXX_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-D_GLIBCXX_ASSERTIONS -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
  add_link_options(-Wl,-z,relro,-z,now)
endif()

# For the code of tests: compiling it costs more than running it. The code under test keeps all of the build's flags.
add_library(kubexx_test_flags INTERFACE)
if(KUBEXX_SANITIZE MATCHES "undefined")
  target_compile_options(kubexx_test_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT KUBEXX_SANITIZE)
  target_compile_options(kubexx_test_flags INTERFACE -Og)
endif()
