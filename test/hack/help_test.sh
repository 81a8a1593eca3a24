#!/usr/bin/env bash
# hack/help names each script of hack/ once, with a whole sentence.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
fail() { die "FAILED: $*"; }
said=$("$root/hack/help")
for script in "$root"/hack/*; do
  if [ ! -f "$script" ] || [ ! -x "$script" ]; then continue; fi
  name=hack/$(basename "$script")
  line=$(grep -E "^$name( [^:]*)?: " <<<"$said") || fail "there is no line of $name in: $said"
  [ "$(wc -l <<<"$line")" = 1 ] || fail "$name has several lines: $line"
  [[ $line == *. ]] || fail "the sentence is cut off: $line"
done
[ "$(wc -l <<<"$said")" = "$(find "$root/hack" -maxdepth 1 -type f -perm -u+x | wc -l)" ] || fail "there are other lines: $said"
log "PASSED"
