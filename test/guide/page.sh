#!/usr/bin/env bash
# page.sh PAGE FOLDER: runs a page of documentation as it is written, from the top of the tree: "sh" blocks are run in one
# shell, blocks with a file name are written to FOLDER, and a "text" block is what the commands before it have to print.
# FOLDER is made; what a block printed is in FOLDER.printed. What waits for at most so many seconds (`--timeout 30s`, `timeout 60`,
# `for second in $(seq 30)`) waits KUBEXX_PATIENCE times as long: a reader's machine does nothing else.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: page.sh PAGE FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$1 folder=$2
mkdir -p "$folder"
# The page as one script: what is expected is compared where it stands in the page.
awk -v project="$folder" -v printed="$folder.printed" -v patience="${KUBEXX_PATIENCE:-1}" '
  function patiently(line,   done, words) {
    done = ""
    while (match(line, /(timeout[= ]|for second in [$][(]seq )[0-9]+/)) {
      words = substr(line, RSTART, RLENGTH)
      done = done substr(line, 1, RSTART - 1)
      line = substr(line, RSTART + RLENGTH)
      match(words, /[0-9]+/)
      done = done substr(words, 1, RSTART - 1) substr(words, RSTART) * patience
    }
    return done line
  }
  BEGIN { print "trap \"kill %1 2>/dev/null || true\" EXIT" }
  /^```/ && open == "" {
    open = substr($1, 4)
    if (open == "sh") { print "{" }
    else if (open == "text") { print "cat > \"" printed ".wanted\" <<\"__EOF__\"" }
    else if ($2 != "") { print "cat > \"" project "/" $2 "\" <<\"__EOF__\"" }
    else { print "echo \"a block of unknown kind: " $0 "\" >&2; exit 1" }
    next
  }
  /^```/ {
    if (open == "sh") { print "} > \"" printed "\"" }
    else { print "__EOF__" }
    if (open == "text") { print "diff -u \"" printed ".wanted\" \"" printed "\"" }
    open = ""
    next
  }
  open == "sh" { print patiently($0); next }
  open != "" { print }
' "$root/$page" >"$folder.sh"
grep -q '^{' "$folder.sh" || { echo "page.sh: $page has lost its commands" >&2; exit 1; }
cd "$root"
bash -eu -o pipefail -m "$folder.sh" 2> >(grep -v "job control\|terminal process group" >&2) ||
  { echo "page.sh: $page does not do what it says; the last block printed:" >&2; cat "$folder.printed" >&2; exit 1; }
echo "$page does what it says"
