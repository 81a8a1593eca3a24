# kubexx_embed(TARGET HEADER FUNCTION TYPE FOLDER): makes the files below FOLDER part of TARGET, as the function FUNCTION() of namespace
# kubexx::reloader, which HEADER declares: it returns a std::span of TYPE{path, bytes}. A changed, new or removed file makes it anew.
#
# As a script (-P) it writes the function's source: -D HEADER= FUNCTION= TYPE= FOLDER= OUT=.
function(kubexx_embed target header function type folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${function}.gen.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/kubexx_embed.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -D HEADER=${header} -D FUNCTION=${function} -D TYPE=${type} -D FOLDER=${folder} -D OUT=${out} -P ${script}
    DEPENDS ${files} ${script} COMMENT "Embedding ${folder}" VERBATIM)
  target_sources(${target} PRIVATE ${out})
  # What it includes is little, and it is compiled by itself.
  set_source_files_properties(${out} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(text "// Made by cmake/kubexx_embed.cmake; do not edit.\n#include \"${HEADER}\"\n\n#include <array>\n\nnamespace kubexx::reloader {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n")
list(LENGTH files count)
string(APPEND text "constexpr std::array<${TYPE}, ${count}> kEmbedded${TYPE}s{{\n")
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} hex HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" escaped "${hex}")
  string(APPEND text "    {\"${file}\"sv,\n     \"${escaped}\"sv},\n")
endforeach()
string(APPEND text "}};\n\n}  // namespace\n\nstd::span<const ${TYPE}> ${FUNCTION}() { return kEmbedded${TYPE}s; }\n\n}  // namespace kubexx::reloader\n")
file(WRITE ${OUT} "${text}")
