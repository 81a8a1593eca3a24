#!/usr/bin/env bash
# page.sh PAGE FOLDER: runs a page of documentation as it is written, from the top of the tree: "sh" blocks are run in one
# shell, blocks with a file name are written to FOLDER, and a "text" block is what the commands before it have to print.
# FOLDER is made; what a block printed is in FOLDER.printed.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: page.sh PAGE FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$1 folder=$2
mkdir -p "$folder"
# The page as one script: what is expected is compared where it stands in the page.
awk -v project="$folder" -v printed="$folder.printed" '
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
  open != "" { print }
' "$root/$page" >"$folder.sh"
grep -q '^{' "$folder.sh" || { echo "page.sh: $page has lost its commands" >&2; exit 1; }
cd "$root"
bash -eu -o pipefail -m "$folder.sh" 2> >(grep -v "job control\|terminal process group" >&2) ||
  { echo "page.sh: $page does not do what it says; the last block printed:" >&2; cat "$folder.printed" >&2; exit 1; }
echo "$page does what it says"
