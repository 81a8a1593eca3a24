# What `cmake --install` puts down: the libraries, their headers, and a CMake package, so that another project says
#
#   find_package(kubexx REQUIRED)
#   target_link_libraries(my-controller PRIVATE kubexx::controller)      # or kubexx::kubexx, for everything
#
# and, for its tests, with the API server in the test's own process, a clock and fakes:
#
#   find_package(kubexx REQUIRED COMPONENTS testing)
#   target_link_libraries(my-controller_test PRIVATE kubexx::testing kubexx::controller)
#
# `cmake --install --component development` installs the former alone, and `--component testing` adds the latter. Which package
# belongs where is said where it is declared: see kubexx_package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(kubexx_cmake_directory ${CMAKE_INSTALL_LIBDIR}/cmake/kubexx)

# kubexx_install_target(NAME COMPONENT): installs the library kubexx_NAME as kubexx::NAME.
function(kubexx_install_target name component)
  set_target_properties(kubexx_${name} PROPERTIES EXPORT_NAME ${name})
  get_target_property(type kubexx_${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_compile_features(kubexx_${name} INTERFACE cxx_std_23)
  else()
    target_compile_features(kubexx_${name} PUBLIC cxx_std_23)
  endif()
  install(TARGETS kubexx_${name} EXPORT kubexx_${component} ARCHIVE COMPONENT ${component})
  set_property(GLOBAL APPEND PROPERTY kubexx_targets_${component} kubexx_${name})
endfunction()

# kubexx_install_package(NAME AUDIENCE [HEADER...]): called by kubexx_package for the package in the current folder. AUDIENCE is
# library, test_support or program; HEADERs are installed although no public header includes them.
function(kubexx_install_package name audience)
  set_property(GLOBAL APPEND PROPERTY kubexx_all_packages kubexx_${name})
  if(audience STREQUAL "program")
    return()
  elseif(audience STREQUAL "test_support")
    set(component testing)
  else()
    set(component development)
  endif()
  kubexx_install_target(${name} ${component})
  set(here ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${here}/*.h)
  kubexx_leave_out_inner_packages(${here} headers)
  kubexx_leave_out(headers ${here} "(^|/)(internal|testing)/")
  list(TRANSFORM ARGN PREPEND ${here}/)
  set_property(GLOBAL APPEND PROPERTY kubexx_headers_${component} ${headers} ${ARGN})
endfunction()

# kubexx_install_headers(COMPONENT): installs the component's headers, and those in internal/ that they reach and no component
# before has. A header that includes one that is not installed ends the configuration: users could not compile it.
function(kubexx_install_headers component)
  get_property(headers GLOBAL PROPERTY kubexx_headers_${component})
  set(wanted ${headers})
  foreach(header IN LISTS headers)
    set_property(GLOBAL PROPERTY kubexx_is_installed_${header} TRUE)
  endforeach()
  # Those that are generated include public ones alone, and reading them all takes long.
  list(FILTER headers EXCLUDE REGEX "\\.gen\\.h$")
  foreach(header IN LISTS headers)
    kubexx_reached_headers(${header} reached)
    list(REMOVE_ITEM reached cpprestsdk)
    foreach(other IN LISTS reached)
      get_property(is_installed GLOBAL PROPERTY kubexx_is_installed_${other})
      if(is_installed)
        continue()
      elseif(NOT other MATCHES "/internal/")
        message(FATAL_ERROR "${header} is installed, and reaches ${other}, which is not: see kubexx_package about whom a package is for")
      endif()
      set_property(GLOBAL PROPERTY kubexx_is_installed_${other} TRUE)
      list(APPEND wanted ${other})
    endforeach()
  endforeach()
  set(folders)
  foreach(header IN LISTS wanted)
    get_filename_component(folder ${header} DIRECTORY)
    list(APPEND folders ${folder})
    list(APPEND files_${folder} ${header})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/pkg ${folder})
    install(FILES ${files_${folder}} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kubexx/${name} COMPONENT ${component})
  endforeach()
endfunction()

# kubexx_install_component(COMPONENT NAME FILE): the target kubexx::NAME for all libraries of a component, and FILE with all targets.
function(kubexx_install_component component name file)
  get_property(targets GLOBAL PROPERTY kubexx_targets_${component})
  set(all kubexx_all_of_${component})
  add_library(${all} INTERFACE)
  add_library(kubexx::${name} ALIAS ${all})
  set_target_properties(${all} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(${all} INTERFACE ${targets})
  install(TARGETS ${all} EXPORT kubexx_${component} COMPONENT ${component})
  install(EXPORT kubexx_${component} NAMESPACE kubexx:: FILE ${file} DESTINATION ${kubexx_cmake_directory} COMPONENT ${component})
endfunction()

# kubexx_install(): after all packages.
function(kubexx_install)
  kubexx_install_headers(development)
  kubexx_install_headers(testing)
  kubexx_install_component(development kubexx kubexxTargets.cmake)
  kubexx_install_component(testing testing kubexxTestingTargets.cmake)
  # All that `cmake --install` puts down, for those who want no tests; programs add themselves.
  add_custom_target(installed)
  foreach(component development testing)
    get_property(targets GLOBAL PROPERTY kubexx_targets_${component})
    add_dependencies(installed ${targets})
  endforeach()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kubexxConfig.cmake.in ${PROJECT_BINARY_DIR}/kubexxConfig.cmake
    INSTALL_DESTINATION ${kubexx_cmake_directory})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/kubexxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/kubexxConfig.cmake ${PROJECT_BINARY_DIR}/kubexxConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/kubexx_dependencies.cmake DESTINATION ${kubexx_cmake_directory} COMPONENT development)
endfunction()
