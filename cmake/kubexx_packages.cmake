# What CPack makes Debian packages of: `hack/release` builds all that is in them and calls CPack. One package for each of the components
#
#   development   libkubexx-dev: the library, its headers, kubexx-codegen
#   testing       libkubexx-testing-dev: an API server in the process, a clock and fakes, for users' tests
#   reloader      kubexx-reloader, also as a plugin of kubectl
#   apiserver     kubexx-apiserver
#   podsource     kubexx-podsource
#
# The same sources give the same packages to the byte: SOURCE_DATE_EPOCH is the time of all files (cmake/kubexx_package_times.cmake).
set(kubexx_package_files ${PROJECT_BINARY_DIR}/package_files)

# kubexx_describe_program(COMPONENT PROGRAM SENTENCE [NAME...]): a manual page and completions for three shells, which the program
# itself tells. NAMEs are other names under which people call it. The target package_files makes them.
add_custom_target(package_files)
function(kubexx_describe_program component program sentence)
  if(NOT TARGET ${program})
    return()
  endif()
  set(here ${kubexx_package_files}/${program})
  set(made)
  foreach(shell bash zsh fish)
    list(APPEND made ${here}/completion.${shell})
    add_custom_command(OUTPUT ${here}/completion.${shell}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${here}
      COMMAND sh -c "\"$1\" --completion ${shell} >\"$2\"" completion $<TARGET_FILE:${program}> ${here}/completion.${shell}
      DEPENDS ${program} VERBATIM)
  endforeach()
  install(FILES ${here}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program}
    COMPONENT ${component} OPTIONAL)
  install(FILES ${here}/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _${program}
    COMPONENT ${component} OPTIONAL)
  install(FILES ${here}/completion.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME ${program}.fish
    COMPONENT ${component} OPTIONAL)
  add_custom_command(OUTPUT ${here}/${program}.1.gz
    COMMAND ${CMAKE_COMMAND} -E make_directory ${here}
    COMMAND help2man --no-info --section=1 --name=${sentence} --source=kubexx\ ${PROJECT_VERSION} --output=${here}/${program}.1
      $<TARGET_FILE:${program}>
    COMMAND gzip -9nf ${here}/${program}.1
    DEPENDS ${program} VERBATIM)
  list(APPEND made ${here}/${program}.1.gz)
  install(FILES ${here}/${program}.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component} OPTIONAL)
  add_custom_target(${program}_package_files DEPENDS ${made})
  add_dependencies(package_files ${program}_package_files)
endfunction()
kubexx_describe_program(development kubexx-codegen "write C++ types for custom resources, and definitions for C++ types")
kubexx_describe_program(reloader kubexx-reloader "roll workloads when their ConfigMaps and Secrets change")
kubexx_describe_program(apiserver kubexx-apiserver "a Kubernetes API server in one process, for tests")
kubexx_describe_program(apiserver kubexx-apiserver-etcd "a Kubernetes API server that keeps its objects in etcd")
kubexx_describe_program(podsource kubexx-podsource "show the pods of a kubelet's sources")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kubexx)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR kubexx)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # Each package has its own.
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The kubexx authors <kubexx@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL development testing reloader apiserver podsource)
set(CPACK_COMPONENTS_GROUPING ONE_PER_COMPONENT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/kubexx_package_times.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)

# kubexx_debian_package(COMPONENT NAME SECTION SUMMARY DESCRIPTION): its description is the first line, and the text below.
macro(kubexx_debian_package component name section summary description)
  string(TOUPPER ${component} kubexx_upper)
  set(CPACK_DEBIAN_${kubexx_upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${kubexx_upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${kubexx_upper}_DESCRIPTION "${summary}\n${description}")
  # The loader says what programs need; a static library's users say it themselves, by find_package(kubexx).
  set(CPACK_DEBIAN_${kubexx_upper}_PACKAGE_SHLIBDEPS ON)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endmacro()
kubexx_debian_package(development libkubexx-dev libdevel "Kubernetes controllers in C++: library and headers"
  "Shared informers, work queues, typed clients and controllers for Kubernetes, as static libraries with a CMake package. kubexx-codegen writes C++ types for custom resources, and definitions for C++ types.")
kubexx_debian_package(testing libkubexx-testing-dev libdevel "Kubernetes controllers in C++: support for tests"
  "An API server in the test's own process, a clock and fakes, so that a controller is tested in milliseconds against a real watch.")
kubexx_debian_package(reloader kubexx-reloader admin "roll Kubernetes workloads when their ConfigMaps and Secrets change"
  "The operator, which mostly runs in a cluster from its image, and the plugin `kubectl reloader`, which explains, previews, pauses and resumes rollouts with your own rights.")
kubexx_debian_package(apiserver kubexx-apiserver devel "Kubernetes API server in one process, for tests"
  "An API server that kubectl, client-go, kube-rs and Helm take for a Kubernetes API server. It keeps objects in memory and starts in milliseconds; kubexx-apiserver-etcd keeps them in etcd. kubexx-envtest-assets lays it out for envtest.")
kubexx_debian_package(podsource kubexx-podsource admin "show the pods of a kubelet's sources"
  "Watches the files, the URL and the API server from which a kubelet takes its pods, and prints what it would be told.")
# What find_package(kubexx) looks for: see cmake/kubexx_dependencies.cmake.
string(CONCAT CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libcpprest-dev, libssl-dev, libboost-log-dev, libboost-thread-dev, libboost-system-dev, "
  "libboost-filesystem-dev, prometheus-cpp-dev, libfmt-dev, libyaml-cpp-dev, libsimdjson-dev, libzstd-dev, zlib1g-dev, libnghttp2-dev, pkg-config")
set(CPACK_DEBIAN_TESTING_PACKAGE_DEPENDS "libkubexx-dev (= ${PROJECT_VERSION}), libre2-dev")
set(CPACK_DEBIAN_APISERVER_PACKAGE_SUGGESTS "etcd-server")
include(CPack)
