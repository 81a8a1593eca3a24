# kubexx_discover_tests(TARGET PREFIX): tests of the program TARGET, labelled unit.
#
# By default each of its test cases is a test of ctest, named PREFIX.SUITE.CASE, in a process of its own. A wait in vain ends a case
# with words sooner than its time limit does (base/testing/await.h, also with KUBEXX_PATIENCE=5). With KUBEXX_WHOLE_PROGRAMS in the
# environment of ctest the whole program is one test, TARGET with the sanitizer's prefix: starting a process for each of thousands
# of cases takes longer than what they do. hack/test sets it when all tests are asked for. A program of many files is several tests,
# TARGET.1 and so on, each with its share of the cases, and begins before the small ones: one that goes on alone at the end leaves a
# processor idle.
function(kubexx_discover_tests target prefix)
  gtest_discover_tests(${target} TEST_PREFIX ${prefix}. NO_PRETTY_VALUES
    PROPERTIES LABELS unit TIMEOUT 400 DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST)
  # The file that gtest_discover_tests has just added is read by ours instead, or not at all.
  get_directory_property(files TEST_INCLUDE_FILES)
  list(POP_BACK files cases)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_ctest.cmake)
  kubexx_sources_in(${CMAKE_CURRENT_SOURCE_DIR} sources)
  list(FILTER sources INCLUDE REGEX "_test\\.cc$")
  list(LENGTH sources count)
  math(EXPR shards "1 + ${count} / 30")
  set(whole "")
  foreach(shard RANGE 1 ${shards})
    set(name ${KUBEXX_TEST_PREFIX}${target})
    if(shards GREATER 1)
      string(APPEND name .${shard})
    endif()
    math(EXPR index "${shard} - 1")
    string(APPEND whole "  add_test([==[${name}]==] [==[${CMAKE_SOURCE_DIR}/hack/lib/test_program.sh]==] [==[$<TARGET_FILE:${target}>]==])
  set_tests_properties([==[${name}]==] PROPERTIES LABELS unit TIMEOUT 1800 COST ${count}
    ENVIRONMENT \"GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}\"
    WORKING_DIRECTORY [==[${CMAKE_CURRENT_BINARY_DIR}]==])
")
  endforeach()
  file(GENERATE OUTPUT ${file} CONTENT "if(DEFINED ENV{KUBEXX_WHOLE_PROGRAMS})
${whole}else()
  include([==[${cases}]==])
endif()
")
  set_directory_properties(PROPERTIES TEST_INCLUDE_FILES "${files};${file}")
endfunction()
