#!/usr/bin/env bash
# compile_batch.sh COMPILER...: compiles a unit. It is the launcher of the compiler for targets whose sources stand in batches
# (kubexx_batches): a batch takes two to four times as long as one of its sources.
#
# With KUBEXX_SPLIT_BATCHES in the environment, as hack/build sets it for single targets, a source that has changed since its batch
# was compiled leaves it: the batch then consists of the sources that have left it and of the rest, and of these only what has
# changed is compiled again. `ld -r` makes of them the one object that the build knows of. So the first change of a source
# compiles that source and, beside it, the rest; each further one the source alone.
#
# A batch is compiled whole, as without this script, when something else than its sources has changed, when more than five of its
# sources have left it, when its command is another one, and whenever KUBEXX_SPLIT_BATCHES is not set.
#
# What was compiled lies in OBJECT.parts: the command; `alone`, with the sources that have left the batch; and of the whole, of the
# rest and of each of those sources what it was made of (NAME.deps, a file a line), and a file that is as old as the beginning of
# that (NAME.begun): what is newer has changed.
set -euo pipefail
unit=${!#}
case $unit in
  batches/*/batch_*.cc | */batches/*/batch_*.cc) ;;
  *) exec "$@" ;;
esac
most_alone=5
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command=("$@")
object='' depfile=''
for ((word = 0; word < $#; word++)); do
  case ${command[word]} in
    -o) object=${command[word + 1]} ;;
    -MF) depfile=${command[word + 1]} ;;
  esac
done
parts=$object.parts

# files_of DEPFILE: what the compiler has read, a file a line. The precompiled header is not always among it.
files_of() {
  sed -E -e '1s/^.*\.o: *//' -e 's/ *\\$//' -e 's/\\ /\x01/g' "$1" | tr -s ' ' '\n' | tr '\001' ' ' | sed '/^$/d'
  local word
  for word in "${command[@]}"; do
    if [[ $word == *.pch ]]; then
      printf '%s\n' "$word"
    elif [ -f "$word.gch" ]; then
      printf '%s\n' "$word.gch"
    fi
  done
}

# compile NAME UNIT OBJECT DEPFILE: what it was made of is noted once that has succeeded.
compile() {
  local changed=("${command[@]}") word
  for ((word = 0; word < ${#changed[@]}; word++)); do
    case ${changed[word]} in
      -o | -MT) changed[word + 1]=$3 ;;
      -MF) changed[word + 1]=$4 ;;
      -c) changed[word + 1]=$2 ;;
    esac
  done
  rm -f "$parts/$1.deps"
  : >"$parts/$1.begun"
  "${changed[@]}" || return
  files_of "$4" >"$parts/$1.deps.new"
  mv "$parts/$1.deps.new" "$parts/$1.deps"
}
compile_part() { compile "$1" "$parts/$1.cc" "$parts/$1.o" "$parts/$1.d"; }

compile_whole() {
  local status=0
  rm -rf "$parts"
  mkdir -p "$parts"
  printf '%q ' "${command[@]}" >"$parts/command"
  compile whole "$unit" "$object" "$depfile" || status=$?
  exit "$status"
}

# changes_of NAME: the files that have changed since it was compiled.
changes_of() {
  local file
  while IFS= read -r file; do
    if [ ! -e "$file" ] || [ "$file" -nt "$parts/$1.begun" ]; then printf '%s\n' "$file"; fi
  done <"$parts/$1.deps"
}

name_of() { # name_of SOURCE: of its part
  local name=${1%.cc}
  printf '%s' "${name//\//+}"
}

is_alone() {
  local source
  for source in "${alone[@]}"; do
    if [ "$source" = "$1" ]; then return 0; fi
  done
  return 1
}

if [ -z "${KUBEXX_SPLIT_BATCHES:-}" ] || [ ! -f "$object" ] || [ ! -f "$parts/command" ] ||
  [ "$(<"$parts/command")" != "$(printf '%q ' "${command[@]}")" ]; then
  compile_whole
fi
mapfile -t sources < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$unit")
alone=() stale=() last=whole
if [ -f "$parts/alone" ]; then
  last=rest
  mapfile -t alone <"$parts/alone"
fi
if [ -f "$parts/$last.deps" ]; then
  mapfile -t changes < <(changes_of "$last")
  for change in "${changes[@]}"; do
    left=''
    for source in "${sources[@]}"; do
      if [ "$change" -ef "$root/$source" ]; then left=$source; fi
    done
    [ -n "$left" ] || compile_whole
    alone+=("$left")
    rm -f "$parts/rest.deps"
  done
elif [ "$last" = whole ]; then
  compile_whole
fi
# Another batch than it was.
if [ "$unit" -nt "$parts/$last.begun" ]; then compile_whole; fi
rest=()
for source in "${sources[@]}"; do is_alone "$source" || rest+=("$source"); done
if [ ${#alone[@]} -eq 0 ] || [ ${#alone[@]} -gt "$most_alone" ] || [ ${#rest[@]} -eq 0 ]; then compile_whole; fi

printf '%s\n' "${alone[@]}" >"$parts/alone"
rm -f "$parts"/whole.*
if [ ! -f "$parts/rest.deps" ]; then
  printf '#include "%s"\n' "${rest[@]}" >"$parts/rest.cc"
  stale+=(rest)
fi
names=(rest)
for source in "${alone[@]}"; do
  name=$(name_of "$source")
  names+=("$name")
  if [ ! -f "$parts/$name.deps" ] || [ -n "$(changes_of "$name")" ]; then
    printf '#include "%s"\n' "$source" >"$parts/$name.cc"
    stale+=("$name")
  fi
done

# Each compiler takes a processor and up to a gigabyte, so in the whole build one of them may run that ninja does not know of.
beside=''
if [ ${#stale[@]} -gt 1 ]; then
  exec 8>.split_batches
  if flock -n 8; then
    compile_part "${stale[0]}" &
    beside=$!
    stale=("${stale[@]:1}")
  fi
fi
status=0
for name in "${stale[@]}"; do compile_part "$name" || status=$?; done
[ -z "$beside" ] || wait "$beside" || status=$?
[ "$status" -eq 0 ] || exit "$status"

objects=("${names[@]/#/$parts/}")
ld -r -o "$object" "${objects[@]/%/.o}"
# The units of the parts are this script's own business.
{
  printf '%s:' "${object// /\\ }"
  cat "${objects[@]/%/.deps}" | sort -u | grep -vF "$parts/" | sed 's/ /\\ /g; s/^/ /' | tr -d '\n'
  printf '\n'
} >"$depfile"
