# kubexx_package(NAME [TEST_SUPPORT | PROGRAM] [HOT | COLD] [PIECES] [ROOMS] [BUSY_TESTS] [NETWORK] [NO_LEAK_CHECK] [NO_THREADS]
#   [DEPS lib...] [PRIVATE_DEPS lib...] [TEST_DEPS lib...] [FAKES name...] [FAKE_DEPS lib...] [FOR_GENERATED header...])
#
# Declares the package in the current folder: the library kubexx::NAME from *.cc here and in internal/, the
# test program NAME_test from *_test.cc, the micro-benchmark NAME_bench from *_bench.cc, and the
# test-only library kubexx::NAME_testing from testing/*.cc where that folder exists. ROOMS: its sources are also in other folders
# below; a folder with a CMakeLists.txt of its own is another package.
#
# Who the package is for: without a word it is part of the library, which is installed and in the API reference. TEST_SUPPORT: it
# is a part of what users test their programs with, and is installed with that (see kubexx_install.cmake). PROGRAM: it is a part of
# one of our programs, and not installed. These words are all that the install rule, hack/docs and hack/architecture go by; the
# last of them checks that no package uses one that is for fewer people.
#
# FAKES: the files testing/NAME.h and testing/NAME.cc that users get, too, as the library kubexx::NAME_fakes. They need FAKE_DEPS
# and no GoogleTest. FOR_GENERATED: headers in internal/ that code includes which hack/codegen --crd writes for users.
#
# HOT: a program spends its time in the package's loops, so a release optimises it further. COLD: the package's own work
# costs little beside what it waits for, so a release compiles it for size. BUSY_TESTS: tests give the package very large
# inputs, so the builds with sanitizers, which do not optimise most packages, optimise this one. PIECES: most programs need
# some of its functions only; each has a section of its own, so that the linker leaves out those that a program does not call.
#
# A test program fails when threads or file descriptors are left at its end (base/testing/leak_check.h). NO_LEAK_CHECK is
# for packages whose libraries keep threads of their own until the process ends, and NETWORK for those of them where that is
# the HTTP library: its threads finish what is queued before the program ends (rest/testing/network_threads.h), as they do
# wherever kubexx::rest_testing is among TEST_DEPS. NO_THREADS: there is nothing in it for ThreadSanitizer to find, so that
# build leaves its tests out.
function(kubexx_package name)
  cmake_parse_arguments(ARG "TEST_SUPPORT;PROGRAM;HOT;COLD;PIECES;ROOMS;BUSY_TESTS;NETWORK;NO_LEAK_CHECK;NO_THREADS" ""
    "DEPS;PRIVATE_DEPS;TEST_DEPS;FAKES;FAKE_DEPS;FOR_GENERATED" ${ARGN})
  if(ARG_BUSY_TESTS AND KUBEXX_SANITIZE)
    set(ARG_HOT TRUE)
  endif()
  set(here ${CMAKE_CURRENT_SOURCE_DIR})
  if(ARG_ROOMS)
    kubexx_sources_in(${here} sources)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${here}/*.cc ${here}/internal/*.cc)
  endif()
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")

  if(sources)
    add_library(kubexx_${name} STATIC ${sources})
    target_include_directories(kubexx_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(kubexx_${name}
      PUBLIC ${ARG_DEPS} Threads::Threads PRIVATE ${ARG_PRIVATE_DEPS} $<BUILD_INTERFACE:kubexx_warnings>)
    if(ARG_PIECES AND CMAKE_BUILD_TYPE STREQUAL "Release")
      target_compile_options(kubexx_${name} PRIVATE -ffunction-sections -fdata-sections)
    endif()
    if(ARG_COLD)
      target_compile_options(kubexx_${name} PRIVATE ${kubexx_cold_options})
      kubexx_precompile(kubexx_${name} cold)
    else()
      set(kind library)
      if(ARG_HOT)
        target_compile_options(kubexx_${name} PRIVATE ${kubexx_hot_options})
        set(kind hot)
      endif()
      kubexx_precompile(kubexx_${name} ${kind})
    endif()
  else()
    add_library(kubexx_${name} INTERFACE)
    target_include_directories(kubexx_${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(kubexx_${name} INTERFACE ${ARG_DEPS} ${ARG_PRIVATE_DEPS} Threads::Threads)
  endif()
  if(sources AND ARG_HOT AND NOT KUBEXX_SANITIZE)
    kubexx_batches(kubexx_${name} 4 WHOLE)  # What is inlined where stays as it was measured.
  elseif(sources)
    kubexx_batches(kubexx_${name})
  endif()
  add_library(kubexx::${name} ALIAS kubexx_${name})
  if(KUBEXX_SANITIZE)
    # Only what a test program or a fuzzer needs.
    set_target_properties(kubexx_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  set(audience library)
  if(ARG_PROGRAM)
    set(audience program)
  elseif(ARG_TEST_SUPPORT)
    set(audience test_support)
  endif()
  kubexx_install_package(${name} ${audience} ${ARG_FOR_GENERATED})
  if(ARG_FAKES)
    kubexx_fakes(${name} "${ARG_FAKES}" ${ARG_FAKE_DEPS})
  endif()

  if(NOT KUBEXX_TESTS)
    return()
  endif()
  file(GLOB fakes CONFIGURE_DEPENDS ${here}/testing/*.cc)
  if(fakes)
    # What is only for our own tests, and may need GoogleTest.
    foreach(fake IN LISTS ARG_FAKES)
      list(REMOVE_ITEM fakes ${here}/testing/${fake}.cc)
    endforeach()
    if(fakes)
      add_library(kubexx_${name}_testing STATIC ${fakes})
      target_link_libraries(kubexx_${name}_testing PUBLIC kubexx_${name} ${ARG_TEST_DEPS} GTest::gmock
        PRIVATE kubexx_warnings kubexx_test_flags)
      kubexx_precompile(kubexx_${name}_testing testing)
      kubexx_batches(kubexx_${name}_testing)
      if(KUBEXX_SANITIZE)
        set_target_properties(kubexx_${name}_testing PROPERTIES EXCLUDE_FROM_ALL TRUE)
      endif()
      if(ARG_FAKES)
        target_link_libraries(kubexx_${name}_testing PUBLIC kubexx_${name}_fakes)
      endif()
    else()
      add_library(kubexx_${name}_testing INTERFACE)
      target_link_libraries(kubexx_${name}_testing INTERFACE kubexx_${name}_fakes ${ARG_TEST_DEPS} GTest::gmock)
    endif()
    add_library(kubexx::${name}_testing ALIAS kubexx_${name}_testing)
    list(APPEND ARG_TEST_DEPS kubexx_${name}_testing)
  endif()
  if(ARG_NO_THREADS AND KUBEXX_SANITIZE MATCHES "thread")
    return()
  endif()
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE kubexx_${name} ${ARG_PRIVATE_DEPS} ${ARG_TEST_DEPS}
      GTest::gmock_main kubexx_warnings kubexx_test_flags)
    kubexx_precompile(${name}_test test)
    kubexx_batches(${name}_test)
    if(ARG_NETWORK OR "kubexx::rest_testing" IN_LIST ARG_TEST_DEPS)
      target_link_libraries(${name}_test PRIVATE kubexx_network_end kubexx_rest_testing)
    endif()
    if(NOT ARG_NETWORK AND NOT ARG_NO_LEAK_CHECK)
      target_link_libraries(${name}_test PRIVATE kubexx_leak_check kubexx_base_testing)
    endif()
    kubexx_discover_tests(${name}_test ${KUBEXX_TEST_PREFIX}${name})
  endif()
  if(benches AND NOT KUBEXX_SANITIZE)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE kubexx_${name} ${ARG_PRIVATE_DEPS} ${ARG_TEST_DEPS}
      benchmark::benchmark_main kubexx_warnings)
  endif()
endfunction()

# kubexx_fakes(NAME FAKES [lib...]): the library kubexx::NAME_fakes of a package in the current folder.
function(kubexx_fakes name fakes)
  set(h_files)
  set(cc_files)
  foreach(fake IN LISTS fakes)
    set(known FALSE)
    foreach(suffix h cc)
      set(file ${CMAKE_CURRENT_SOURCE_DIR}/testing/${fake}.${suffix})
      if(EXISTS ${file})
        list(APPEND ${suffix}_files ${file})
        set(known TRUE)
      endif()
    endforeach()
    if(NOT known)
      message(FATAL_ERROR "kubexx_package(${name} FAKES ${fake}): there is no testing/${fake}.h")
    endif()
  endforeach()
  set(libraries kubexx_${name} ${ARGN})
  if(cc_files)
    add_library(kubexx_${name}_fakes STATIC ${cc_files})
    target_link_libraries(kubexx_${name}_fakes PUBLIC ${libraries} PRIVATE $<BUILD_INTERFACE:kubexx_warnings>)
    target_compile_options(kubexx_${name}_fakes PRIVATE ${kubexx_cold_options})
    kubexx_precompile(kubexx_${name}_fakes cold)
    kubexx_batches(kubexx_${name}_fakes)
    if(KUBEXX_SANITIZE)
      set_target_properties(kubexx_${name}_fakes PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
  else()
    add_library(kubexx_${name}_fakes INTERFACE)
    target_link_libraries(kubexx_${name}_fakes INTERFACE ${libraries})
  endif()
  add_library(kubexx::${name}_fakes ALIAS kubexx_${name}_fakes)
  kubexx_install_target(${name}_fakes testing)
  set_property(GLOBAL APPEND PROPERTY kubexx_headers_testing ${h_files})
endfunction()

# kubexx_leave_out_inner_packages(FOLDER FILES): takes those files out of the list named FILES that are in packages inside the
# package in FOLDER.
function(kubexx_leave_out_inner_packages folder files)
  file(GLOB_RECURSE packages CONFIGURE_DEPENDS ${folder}/CMakeLists.txt)
  list(REMOVE_ITEM packages ${folder}/CMakeLists.txt)
  set(left ${${files}})
  foreach(package IN LISTS packages)
    get_filename_component(inner ${package} DIRECTORY)
    kubexx_leave_out(left ${inner} "")
  endforeach()
  set(${files} ${left} PARENT_SCOPE)
endfunction()

# kubexx_leave_out(FILES FOLDER REGEX): takes those files out of the list named FILES that lie in FOLDER, and whose paths from
# there match REGEX. What is above FOLDER is no part of a regular expression: a clone may lie in c++/.
function(kubexx_leave_out files folder regex)
  set(others)
  foreach(file IN LISTS ${files})
    cmake_path(IS_PREFIX folder ${file} is_inside)
    file(RELATIVE_PATH path ${folder} ${file})
    if(NOT is_inside OR NOT path MATCHES "${regex}")
      list(APPEND others ${file})
    endif()
  endforeach()
  set(${files} ${others} PARENT_SCOPE)
endfunction()

# kubexx_sources_in(FOLDER OUT): the sources of the package in FOLDER, those of its fakes left out.
function(kubexx_sources_in folder out)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  kubexx_leave_out_inner_packages(${folder} sources)
  kubexx_leave_out(sources ${folder} "^testing/")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# kubexx_program_code(NAME SOURCE...): objects of a program in the current folder that read its settings, connect its parts and wait:
# compiled for size. Not the program itself, as its code would be compiled with -fPIE, and the precompiled headers with -fPIC.
function(kubexx_program_code name)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_library(${name} OBJECT ${ARGN})
  target_compile_options(${name} PRIVATE ${kubexx_cold_options})
  target_link_libraries(${name} PRIVATE kubexx_warnings)
  kubexx_precompile(${name} cold)
  kubexx_batches(${name})
endfunction()
