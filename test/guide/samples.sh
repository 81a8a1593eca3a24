#!/usr/bin/env bash
# samples.sh FOLDER: writes the code of docs/library/*.md to FOLDER as a project with one source, samples.cc, that uses an installed
# kubexx. Each page's blocks "cpp FILE.cc" follow each other in a namespace of their own, with all includes in front of them: so
# the headers are read once for all pages. A message of the compiler names the page and its line.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: samples.sh FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
mkdir -p "$folder"
cd "$root"
awk '
  FNR == 1 { if (block != "") { bad = bad FILENAME ": a block does not end\n" } name = "" }
  /^```/ && block == "" {
    split(substr($0, 4), words, " ")
    block = words[1]
    if (block ~ /^(cpp|c\+\+|cc|cxx)$/) {
      if (words[2] !~ /^[a-z_]+\.cc$/) { bad = bad FILENAME ":" FNR ": a block of code without the name of a file is not compiled\n" }
      name = words[2]
      sub(/\.cc$/, "", name)
      body = body "namespace sample_" name " {\n#line " FNR + 1 " \"" FILENAME "\"\n"
      count++
    }
    if (block == "") { block = "plain" }
    next
  }
  /^```/ { if (block == "cpp") { body = body "}  // namespace\n" } block = ""; next }
  block == "cpp" && /^#include/ { if (!($0 in seen)) { seen[$0] = 1; includes = includes $0 "\n" } body = body "\n"; next }
  block == "cpp" { body = body $0 "\n" }
  END {
    if (bad != "") { printf "%s", bad > "/dev/stderr"; exit 1 }
    if (count < 8) { print "the pages have lost their code" > "/dev/stderr"; exit 1 }
    printf "%s\n%s", includes, body
  }
' docs/library/*.md >"$folder/samples.cc"
cat >"$folder/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(samples LANGUAGES CXX)
find_package(kubexx REQUIRED)
# Only compiled: what some of the samples call belongs to the reader's program.
add_library(samples OBJECT samples.cc)
target_include_directories(samples PRIVATE "$root/examples/website-controller")
target_compile_options(samples PRIVATE -Wall -Wextra -Werror)
target_link_libraries(samples PRIVATE kubexx::controller)
CMAKE
