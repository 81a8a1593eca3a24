#!/usr/bin/env bash
# samples.sh FOLDER: writes the code of docs/library/*.md to FOLDER as a project that uses an installed kubexx. The blocks
# "cpp FILE.cc" of a page follow each other in FILE.cc, so each page has to include what it uses. A message of the compiler names
# the page and its line. From "cpp FILE.h", the types of a custom resource, the installed kubexx-codegen makes the code that belongs to them.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: samples.sh FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
mkdir -p "$folder"
cd "$root"
awk -v folder="$folder" '
  FNR == 1 && block != "" { bad = bad page ": a block of code does not end\n"; block = "" }
  { page = FILENAME }
  /^```/ && block == "" {
    split(substr($0, 4), words, " ")
    block = words[1] == "" ? "plain" : words[1]
    if (block ~ /^(cpp|c\+\+|cc|cxx)$/) {
      if (words[2] !~ /^[a-z_]+\.(cc|h)$/) { bad = bad FILENAME ":" FNR ": a block of code without the name of a file, which nobody compiles\n"; block = "nameless"; next }
      file = folder "/" words[2]
      if (file in owner && owner[file] != FILENAME) { bad = bad FILENAME ":" FNR ": " words[2] " is a file of " owner[file] "\n" }
      owner[file] = FILENAME
      if (file ~ /\.h$/) { printf "" > file } else { printf "#line %d \"%s\"\n", FNR + 1, FILENAME > file }
      count++
    }
    next
  }
  /^```/ { block = ""; next }
  block == "cpp" { print > file }
  END {
    if (count < 10) { bad = bad "the pages have lost their code\n" }
    if (bad != "") { printf "%s", bad > "/dev/stderr"; exit 1 }
  }
' docs/library/*.md
cat >"$folder/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(samples LANGUAGES CXX)
find_package(kubexx REQUIRED)
find_program(codegen kubexx-codegen REQUIRED)
file(GLOB headers "\${CMAKE_CURRENT_SOURCE_DIR}/*.h")
list(FILTER headers EXCLUDE REGEX "[.]gen[.]h$")
execute_process(COMMAND \${codegen} --out "\${CMAKE_CURRENT_SOURCE_DIR}" \${headers} COMMAND_ERROR_IS_FATAL ANY)
# Only compiled: what some of the samples call belongs to the reader's program.
file(GLOB samples "\${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
add_library(samples OBJECT \${samples})
target_include_directories(samples PRIVATE "$root/examples/website-controller")
target_compile_options(samples PRIVATE -Wall -Wextra -Werror)
target_link_libraries(samples PRIVATE kubexx::controller kubexx::remotecommand)
CMAKE
