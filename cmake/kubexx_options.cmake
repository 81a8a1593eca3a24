# Language level, warnings and hardening for our own code.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Some libraries ask for it; a precompiled header is used only by files with the same definitions.
add_compile_options(-pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # By itself the compiler collects its garbage from 128 MB on, and spends 6 to 10 % of its time on that. In KB.
  add_compile_options(--param=ggc-min-heapsize=1000000)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# -O3, CMake's choice for a release, is for the packages that ask for it (kubexx_package's HOT).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # A clone elsewhere and another build folder find what has been built; precompiled headers do not get in the way.
  # The contents of files are remembered by inode and change time: reading 90 MB of precompiled header takes longer than the rest.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true
    CCACHE_DEPEND=true CCACHE_INODECACHE=true CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_library(kubexx_warnings INTERFACE)
target_compile_options(kubexx_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 deprecates in C++23 what its own headers use.
  target_compile_options(kubexx_warnings INTERFACE -Wthread-safety -Wno-deprecated-declarations)
else()
  # g++ 12 reports false positives of these inside libstdc++ when optimising.
  target_compile_options(kubexx_warnings INTERFACE
    -Wno-error=maybe-uninitialized -Wno-error=restrict -Wno-error=stringop-overflow -Wno-error=stringop-overread
    -Wno-error=array-bounds -Wno-error=free-nonheap-object
    # In a batch of sources (kubexx_batches) each of them looks like a header to it.
    -Wno-subobject-linkage)
endif()

# KUBEXX_SANITIZE: set by the presets asan ("address,undefined,fuzzer-no-link", of which the last, clang's alone, counts
# covered code for the fuzzers, where one of them links it: test/fuzz/CMakeLists.txt) and tsan ("thread").
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

# For libraries whose loops are what a program spends its time in (kubexx_package's HOT).
set(kubexx_hot_options $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-O3>)
# With a sanitizer these and those with BUSY_TESTS are all that is optimised (decision 61).
if(KUBEXX_SANITIZE)
  set(kubexx_hot_options -O1)
endif()
# For libraries that do little work themselves (kubexx_package's COLD): they compile faster, and take less memory.
set(kubexx_cold_options $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-Os>)
# With -Os g++ copies by "rep movsb", which takes tens of cycles to begin. Functions of templates that many libraries have, such as
# the copying of std::string, are one for all of a program: the linker takes whichever comes first.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND kubexx_cold_options $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-mstringop-strategy=libcall>)
endif()

# For the code of tests: compiling it costs more than running it. The sources of the code under test keep all of the build's flags.
# Inline functions and templates of its headers that a test uses are compiled with the test, and so without these four of UBSan's
# checks; where a library has a copy of its own, the linker takes the test's, which comes first. Fuzzers have all checks everywhere.
add_library(kubexx_test_flags INTERFACE)
if(KUBEXX_SANITIZE MATCHES "undefined")
  target_compile_options(kubexx_test_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=fuzzer-no-link>)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT KUBEXX_SANITIZE)
  target_compile_options(kubexx_test_flags INTERFACE -Og)
  # With -Og g++ 12 takes a std::stop_source of a function for uninitialised, since its constructor passes itself on.
  target_compile_options(kubexx_test_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
