# What `cmake --install` puts down: the libraries, their headers, and a CMake package, so that another project says
#
#   find_package(kubexx REQUIRED)
#   target_link_libraries(my-controller PRIVATE kubexx::controller)      # or kubexx::kubexx, for everything
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(kubexx_cmake_directory ${CMAKE_INSTALL_LIBDIR}/cmake/kubexx)

# kubexx_install_package(NAME): called by kubexx_package. An operator's domain is no library for others, and what others
# build against the library shall not need gRPC.
function(kubexx_install_package name)
  if(name MATCHES "^(reloader|apiserver_storage_etcd3)$")
    return()
  endif()
  set_target_properties(kubexx_${name} PROPERTIES EXPORT_NAME ${name})
  get_target_property(type kubexx_${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_compile_features(kubexx_${name} INTERFACE cxx_std_23)
  else()
    target_compile_features(kubexx_${name} PUBLIC cxx_std_23)
  endif()
  install(TARGETS kubexx_${name} EXPORT kubexx ARCHIVE COMPONENT development)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/pkg ${CMAKE_CURRENT_SOURCE_DIR})
  # Headers in internal/ come along, as some public ones include them; nothing else may.
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kubexx/${folder} COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN testing EXCLUDE)
  set_property(GLOBAL APPEND PROPERTY kubexx_installed ${name})
endfunction()

# kubexx_install(): after all packages.
function(kubexx_install)
  get_property(installed GLOBAL PROPERTY kubexx_installed)
  add_library(kubexx INTERFACE)
  add_library(kubexx::kubexx ALIAS kubexx)
  list(TRANSFORM installed PREPEND kubexx_ OUTPUT_VARIABLE targets)
  target_link_libraries(kubexx INTERFACE ${targets})
  install(TARGETS kubexx EXPORT kubexx COMPONENT development)
  install(EXPORT kubexx NAMESPACE kubexx:: FILE kubexxTargets.cmake DESTINATION ${kubexx_cmake_directory} COMPONENT development)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kubexxConfig.cmake.in ${PROJECT_BINARY_DIR}/kubexxConfig.cmake
    INSTALL_DESTINATION ${kubexx_cmake_directory})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/kubexxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/kubexxConfig.cmake ${PROJECT_BINARY_DIR}/kubexxConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/kubexx_dependencies.cmake DESTINATION ${kubexx_cmake_directory} COMPONENT development)
endfunction()
