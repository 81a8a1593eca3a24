# kubexx_discover_tests(TARGET PREFIX): tests of the program TARGET, labelled unit.
#
# By default each of its test cases is a test of ctest, named PREFIX.SUITE.CASE, in a process of its own. With
# KUBEXX_WHOLE_PROGRAMS in the environment of ctest the whole program is one test, TARGET with the sanitizer's prefix: starting a
# process for each of thousands of cases takes longer than what they do. hack/test sets it when all tests are asked for.
function(kubexx_discover_tests target prefix)
  gtest_discover_tests(${target} TEST_PREFIX ${prefix}. NO_PRETTY_VALUES
    PROPERTIES LABELS unit TIMEOUT 120 DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST)
  # The file that gtest_discover_tests has just added is read by ours instead, or not at all.
  get_directory_property(files TEST_INCLUDE_FILES)
  list(POP_BACK files cases)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_ctest.cmake)
  file(GENERATE OUTPUT ${file} CONTENT "if(DEFINED ENV{KUBEXX_WHOLE_PROGRAMS})
  add_test([==[${KUBEXX_TEST_PREFIX}${target}]==] [==[${CMAKE_SOURCE_DIR}/hack/lib/test_program.sh]==] [==[$<TARGET_FILE:${target}>]==])
  set_tests_properties([==[${KUBEXX_TEST_PREFIX}${target}]==] PROPERTIES LABELS unit TIMEOUT 1800
    WORKING_DIRECTORY [==[${CMAKE_CURRENT_BINARY_DIR}]==])
else()
  include([==[${cases}]==])
endif()
")
  set_directory_properties(PROPERTIES TEST_INCLUDE_FILES "${files};${file}")
endfunction()
