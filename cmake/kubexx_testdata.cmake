# kubexx_use_testdata(TARGET): gives TARGET the folder of upstream's round-trip objects as KUBEXX_TESTDATA. When the
# folder cannot be had the definition is empty and the tests that need it fail with that message. Without a network hack/testdata
# tries for a while: it is asked once in a configuration, not for each target, and in the next one again.
function(kubexx_use_testdata target)
  get_property(is_asked GLOBAL PROPERTY kubexx_testdata_is_asked)
  if(NOT is_asked AND NOT EXISTS "${KUBEXX_TESTDATA_DIR}")
    set_property(GLOBAL PROPERTY kubexx_testdata_is_asked TRUE)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/hack/testdata
      OUTPUT_VARIABLE directory OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE message RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(WARNING "no test data, the round-trip tests will fail: ${message}")
      set(directory "")
    endif()
    set(KUBEXX_TESTDATA_DIR "${directory}" CACHE PATH "Folder testdata/HEAD of the Go module k8s.io/api" FORCE)
  endif()
  target_compile_definitions(${target} PRIVATE KUBEXX_TESTDATA="${KUBEXX_TESTDATA_DIR}")
endfunction()
