# kubexx_package(NAME [NO_LEAK_CHECK] [NO_THREADS] [DEPS lib...] [PRIVATE_DEPS lib...] [TEST_DEPS lib...])
#
# Declares the package in the current folder: the library kubexx::NAME from *.cc here and in internal/, the
# test program NAME_test from *_test.cc, the micro-benchmark NAME_bench from *_bench.cc, and the
# test-only library kubexx::NAME_testing from testing/*.cc where that folder exists.
#
# A test program fails when threads or file descriptors are left at its end (base/testing/leak_check.h). NO_LEAK_CHECK is
# for packages whose libraries keep threads of their own until the process ends. NO_THREADS: there is nothing in it for
# ThreadSanitizer to find, so that build leaves its tests out.
function(kubexx_package name)
  cmake_parse_arguments(ARG "NO_LEAK_CHECK;NO_THREADS" "" "DEPS;PRIVATE_DEPS;TEST_DEPS" ${ARGN})
  set(here ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${here}/*.cc ${here}/internal/*.cc)
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
  else()
    add_library(kubexx_${name} INTERFACE)
    target_include_directories(kubexx_${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(kubexx_${name} INTERFACE ${ARG_DEPS} ${ARG_PRIVATE_DEPS} Threads::Threads)
  endif()
  add_library(kubexx::${name} ALIAS kubexx_${name})
  kubexx_install_package(${name})

  if(NOT KUBEXX_TESTS)
    return()
  endif()
  file(GLOB fakes CONFIGURE_DEPENDS ${here}/testing/*.cc)
  if(fakes)
    add_library(kubexx_${name}_testing STATIC ${fakes})
    target_link_libraries(kubexx_${name}_testing PUBLIC kubexx_${name} ${ARG_TEST_DEPS} GTest::gmock
      PRIVATE kubexx_warnings kubexx_test_flags)
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
    if(NOT ARG_NO_LEAK_CHECK)
      target_link_libraries(${name}_test PRIVATE kubexx_leak_check kubexx_base_testing)
    endif()
    gtest_discover_tests(${name}_test TEST_PREFIX ${KUBEXX_TEST_PREFIX}${name}. NO_PRETTY_VALUES
      PROPERTIES LABELS unit TIMEOUT 120 DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST)
  endif()
  if(benches AND NOT KUBEXX_SANITIZE)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE kubexx_${name} ${ARG_PRIVATE_DEPS} ${ARG_TEST_DEPS}
      benchmark::benchmark_main kubexx_warnings)
  endif()
endfunction()
