# Precompiled headers: reading the standard library's headers is half of what compiling most files costs. One set is made
# for each kind of code, as a file can only use one that was made with its own flags; g++ even takes the level of optimisation
# from the precompiled header, whatever the file's own is, without a word:
#
#   library   the libraries
#   hot       libraries that are optimised further (kubexx_package's HOT)
#   cold      libraries that are compiled for size (kubexx_package's COLD)
#   testing   libraries of fakes for tests
#   test      test programs: GoogleTest as well
#
# Of our own headers only the generated types of core and meta are in them, which nobody changes by hand: a quarter of all sources read
# them, and they cost most of all (0.6 s each time). A change of any other header of ours, but for the few that these include, does not make
# everything compile again. A file may not rely on precompiled headers: hack/includes checks that each file includes what it uses,
# and hack/headers that each header compiles alone.
option(KUBEXX_PRECOMPILE "Precompile the headers of the standard library and GoogleTest" ON)

set(kubexx_precompiled_standard
  <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint> <cstring> <deque> <expected> <functional>
  <limits> <list> <map> <memory> <mutex> <optional> <random> <set> <span> <stop_token> <string> <string_view> <thread> <tuple>
  <unordered_map> <utility> <variant> <vector>)

# The hot libraries do without these types. In angle brackets, as CMake would write other paths with the folder of the clone into the file
# that it precompiles, and the compiler cache would know nothing of what another clone has compiled.
set(kubexx_precompiled_types <kubexx/api/core/v1/types.gen.h> <kubexx/api/meta/v1/types.gen.h>)

# kubexx_precompile(TARGET KIND): TARGET's files use the precompiled headers of that kind.
function(kubexx_precompile target kind)
  if(KUBEXX_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM kubexx_precompiled_${kind})
  endif()
endfunction()

# kubexx_batches(TARGET [SIZE] [WHOLE]): TARGET's sources are compiled several at a time, which saves most of what is left: reading
# the same headers and instantiating the same templates in each. The compiler holds all of a batch in memory, and a changed file makes
# it compile again, so a batch has at most kubexx_batch_bytes of source and SIZE files (24). A source of a test counts a quarter more than it
# has, and one that reaches cpprestsdk or Boost.Asio twice as much, because they take so much longer. Names in anonymous namespaces
# are unique in a package for that. The sanitizers' builds are made as a whole, so only SIZE limits their batches; and the sources
# are the other way round there: a file that relies on what the one before it includes does not compile.
#
# Where hack/build builds single targets, a changed source leaves its batch (hack/lib/compile_batch.sh), so that the next change of it
# compiles it alone. WHOLE: not here, as what is inlined where counts, and was measured. Nor with a sanitizer, as `ld -r` knows little of what
# sanitizers keep in sections of their own.
#
# Sources that reach the same expensive header stand in the same batches (kubexx_sort_by_headers). A header that is read by a few
# sources of a package makes one or two of its batches compile again then, not most of them, and is read less often. What a file
# includes is looked at when CMake runs.
option(KUBEXX_BATCHES "Compile several sources of a package at a time" ON)
set(kubexx_batch_bytes 80000)
function(kubexx_batches target)
  cmake_parse_arguments(ARG WHOLE "" "" ${ARGN})
  set(size 24)
  if(ARG_UNPARSED_ARGUMENTS)
    set(size ${ARG_UNPARSED_ARGUMENTS})
  endif()
  if(NOT KUBEXX_BATCHES)
    return()
  endif()
  if(NOT ARG_WHOLE AND NOT KUBEXX_SANITIZE)
    set(launcher ${PROJECT_SOURCE_DIR}/hack/lib/compile_batch.sh ${CMAKE_CXX_COMPILER_LAUNCHER})
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
  endif()
  get_target_property(sources ${target} SOURCES)
  kubexx_sort_by_headers(sources last)
  if(KUBEXX_SANITIZE)
    list(REVERSE sources)
    set(last)
  endif()
  kubexx_write_batches(${target} own ${size} sources ${last})
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()

# kubexx_write_batches(TARGET NAME SIZE LIST [LAST]): files that include the sources, SIZE each at most, which take their place in
# LIST. NAME is that of their folder; batches with the name "own" are limited by kubexx_batch_bytes as well, unless they are
# compiled with a sanitizer. LAST ends a batch, and may be one more in a full one.
#
# As CMake's UNITY_BUILD does it, but that writes where the clone is into the files, so that the compiler cache knows none of
# them in another clone. A source with properties of its own stays alone.
function(kubexx_write_batches target name size list)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/batches/${target}/${name})
  set(alone)
  set(limit 0)
  if(name STREQUAL "own" AND NOT KUBEXX_SANITIZE)
    set(limit ${kubexx_batch_bytes})
  endif()
  set(text "")
  set(number 0)
  set(count 0)
  set(bytes 0)
  set(batches)
  foreach(source IN LISTS ${list})
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(definitions)
      list(APPEND alone ${source})
    else()
      file(SIZE ${source} its_bytes)
      kubexx_reached_headers(${source} reached)
      if("cpprestsdk" IN_LIST reached)
        math(EXPR its_bytes "${its_bytes} * 2")
      elseif(target MATCHES "_test$")
        math(EXPR its_bytes "${its_bytes} * 5 / 4")
      endif()
      math(EXPR bytes "${bytes} + ${its_bytes}")
      if(NOT source STREQUAL "${ARGN}" AND (NOT count LESS size OR (limit AND bytes GREATER limit)))
        kubexx_close_batch()
        set(bytes ${its_bytes})
      endif()
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
      string(APPEND text "#include \"${path}\"\n")
      math(EXPR count "${count} + 1")
    endif()
    if(source STREQUAL "${ARGN}")
      kubexx_close_batch()
    endif()
  endforeach()
  kubexx_close_batch()
  target_compile_options(${target} PRIVATE "SHELL:-iquote \"${PROJECT_SOURCE_DIR}\"")
  set(${list} ${batches} ${alone} PARENT_SCOPE)
endfunction()

# For kubexx_write_batches: writes the batch that has been collected, if there is any, and begins the next one.
macro(kubexx_close_batch)
  if(count)
    # Written only when it differs: otherwise it would be compiled again.
    file(CONFIGURE OUTPUT ${folder}/batch_${number}.cc CONTENT "${text}" @ONLY)
    list(APPEND batches ${folder}/batch_${number}.cc)
    math(EXPR number "${number} + 1")
    set(text "")
    set(count 0)
    set(bytes 0)
  endif()
endmacro()

# kubexx_sort_by_headers(LIST LAST): first the sources that reach the header of informers, which more sources include than any
# other large one of ours, and which changes often. Then those that reach cpprestsdk or Boost.Asio, which take longer to read than
# all of ours. LAST is the last of these, or of those before when there are any. Then those with the
# heaviest header of another folder, which is the one that reaches most headers of ours; then those that reach most headers
# themselves; then by name. So the sources that share an expensive header stand together.
function(kubexx_sort_by_headers list last)
  set(informers ${PROJECT_SOURCE_DIR}/pkg/cache/shared_informer_base.h)
  set(keys)
  set(sharing 0)
  set(talking 0)
  foreach(source IN LISTS ${list})
    kubexx_reached_headers(${source} reached)
    set(remote FALSE)
    if("cpprestsdk" IN_LIST reached)
      set(remote TRUE)
      list(REMOVE_ITEM reached cpprestsdk)
    endif()
    list(LENGTH reached count)
    kubexx_heaviest_header(${source} heaviest)
    if(informers IN_LIST reached)
      math(EXPR sharing "${sharing} + 1")
      math(EXPR heaviest "${heaviest} + 400000")
    elseif(remote)
      math(EXPR talking "${talking} + 1")
      math(EXPR heaviest "${heaviest} + 200000")
    endif()
    math(EXPR heaviest "900000 - ${heaviest}")
    math(EXPR count "900000 - ${count}")
    list(APPEND keys "${heaviest} ${count} ${source}")
  endforeach()
  list(SORT keys)
  list(TRANSFORM keys REPLACE "^[0-9]+ [0-9]+ " "")
  set(${list} "${keys}" PARENT_SCOPE)
  set(${last} "" PARENT_SCOPE)
  if(sharing EQUAL 0)
    set(sharing ${talking})
  endif()
  if(sharing GREATER 0)
    math(EXPR sharing "${sharing} - 1")
    list(GET keys ${sharing} end)
    set(${last} ${end} PARENT_SCOPE)
  endif()
endfunction()

# kubexx_read_includes(): notes in global properties what each of our files includes: headers of ours, and "cpprestsdk" for those of that
# library and of Boost.Asio and Beast, of which it is made. One grep for all files takes a tenth of the time that CMake takes for them.
function(kubexx_read_includes)
  execute_process(
    COMMAND grep -rsE [[^#include ("kubexx/|<cpprest|<boost/(asio|beast))]] --include=*.h --include=*.cc pkg cmd test examples
    COMMAND sed -E [[s/:#include <.*/,cpprestsdk/; s/:#include "kubexx\/([^"]*)".*/,\1/]]
    COMMAND awk -F, [[$1 != file { if (file != "") print line; line = file = $1 } { line = line "," $2 } END { if (file != "") print line }]]
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL LAST)
  string(REPLACE "\n" ";" found "${found}")
  foreach(line IN LISTS found)
    string(REPLACE "," ";" line "${line}")
    list(POP_FRONT line file)
    set_property(GLOBAL PROPERTY kubexx_includes_${PROJECT_SOURCE_DIR}/${file} "${line}")
  endforeach()
endfunction()
kubexx_read_includes()

# kubexx_reached_headers(FILE OUT): our headers that FILE includes, and those that they include, and "cpprestsdk". What a file reaches is
# kept in global properties, with the two heaviest headers of different folders among it (kubexx_heaviest_header).
function(kubexx_reached_headers file out)
  get_property(known GLOBAL PROPERTY kubexx_reached_${file} SET)
  if(NOT known)
    set(reached)
    set(first_weight 0)
    set(first_folder "")
    set(second_weight 0)
    set(second_folder "")
    get_property(includes GLOBAL PROPERTY kubexx_includes_${file})
    foreach(header IN LISTS includes)
      if(header STREQUAL "cpprestsdk")
        list(APPEND reached cpprestsdk)
        continue()
      endif()
      set(header ${PROJECT_SOURCE_DIR}/pkg/${header})
      if(EXISTS ${header})
        kubexx_reached_headers(${header} behind)
        list(APPEND reached ${header} ${behind})
        list(LENGTH behind weight)
        get_filename_component(folder ${header} DIRECTORY)
        get_property(heaviest GLOBAL PROPERTY kubexx_heaviest_${header})
        list(APPEND heaviest ${weight} ${folder})
        while(heaviest)
          list(POP_FRONT heaviest weight folder)
          kubexx_take_heavier()
        endwhile()
      endif()
    endforeach()
    list(REMOVE_DUPLICATES reached)
    set_property(GLOBAL PROPERTY kubexx_reached_${file} "${reached}")
    set(heaviest)
    if(first_weight)
      list(APPEND heaviest ${first_weight} ${first_folder})
    endif()
    if(second_weight)
      list(APPEND heaviest ${second_weight} ${second_folder})
    endif()
    set_property(GLOBAL PROPERTY kubexx_heaviest_${file} "${heaviest}")
  endif()
  get_property(reached GLOBAL PROPERTY kubexx_reached_${file})
  set(${out} "${reached}" PARENT_SCOPE)
endfunction()

# For kubexx_reached_headers: keeps the two heaviest headers of different folders that it has seen so far.
macro(kubexx_take_heavier)
  if(folder STREQUAL first_folder)
    if(weight GREATER first_weight)
      set(first_weight ${weight})
    endif()
  elseif(weight GREATER first_weight)
    set(second_weight ${first_weight})
    set(second_folder "${first_folder}")
    set(first_weight ${weight})
    set(first_folder ${folder})
  elseif(weight GREATER second_weight)
    set(second_weight ${weight})
    set(second_folder ${folder})
  endif()
endmacro()

# kubexx_heaviest_header(FILE OUT): how many of our headers the one reaches that reaches most, of those that FILE, which
# kubexx_reached_headers has looked at, reaches in other folders than its own; 0 when there is none.
function(kubexx_heaviest_header file out)
  get_filename_component(own ${file} DIRECTORY)
  get_property(heaviest GLOBAL PROPERTY kubexx_heaviest_${file})
  set(found 0)
  while(heaviest)
    list(POP_FRONT heaviest weight folder)
    if(NOT folder STREQUAL own)
      set(found ${weight})
      break()
    endif()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

if(NOT KUBEXX_PRECOMPILE)
  return()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What the compiler cache needs to recognise a file that uses them.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
else()
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
set(empty ${CMAKE_BINARY_DIR}/precompiled.cc)
if(NOT EXISTS ${empty})
  file(WRITE ${empty} "int main() {}\n")
endif()
foreach(kind library hot cold)
  set(types ${kubexx_precompiled_types})
  if(kind STREQUAL "hot")
    set(types)
  endif()
  add_library(kubexx_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${empty})
  target_precompile_headers(kubexx_precompiled_${kind} PRIVATE ${kubexx_precompiled_standard} ${types})
  target_include_directories(kubexx_precompiled_${kind} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(kubexx_precompiled_${kind} PRIVATE Threads::Threads kubexx_warnings)
endforeach()
target_compile_options(kubexx_precompiled_hot PRIVATE ${kubexx_hot_options})
target_compile_options(kubexx_precompiled_cold PRIVATE ${kubexx_cold_options})
if(KUBEXX_TESTS)
  add_library(kubexx_precompiled_testing OBJECT EXCLUDE_FROM_ALL ${empty})
  target_precompile_headers(kubexx_precompiled_testing PRIVATE ${kubexx_precompiled_standard} ${kubexx_precompiled_types})
  target_include_directories(kubexx_precompiled_testing PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(kubexx_precompiled_testing PRIVATE Threads::Threads kubexx_warnings kubexx_test_flags)
  # A program, as its code is compiled with -fPIE.
  add_executable(kubexx_precompiled_test EXCLUDE_FROM_ALL ${empty})
  target_precompile_headers(kubexx_precompiled_test PRIVATE ${kubexx_precompiled_standard} <gmock/gmock.h> <gtest/gtest.h>
    ${kubexx_precompiled_types})
  target_include_directories(kubexx_precompiled_test PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(kubexx_precompiled_test PRIVATE GTest::gmock Threads::Threads kubexx_warnings kubexx_test_flags)
endif()
