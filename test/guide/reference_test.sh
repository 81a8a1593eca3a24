#!/usr/bin/env bash
# Every flag that kubexx-reloader --help names is in docs/reloader/flags.md and in the chart, and the other way round; the figures of
# docs/reloader/sizing.md are those that were measured; and every link between the operator's pages leads somewhere.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
program=${KUBEXX_BUILD_DIR:-$root/build/release}/bin/kubexx-reloader
page=$root/docs/reloader/flags.md
flags_in() { grep -oE -- '--[a-zA-Z][a-zA-Z-]+' | sort -u; }

wanted=$("$program" --help | sed -nE 's/^ +(-[a-z], )?(--[a-zA-Z-]+).*/\2/p' | sort -u)
[ "$(wc -l <<<"$wanted")" -gt 30 ] || { echo "reference: --help names no flags" >&2; exit 1; }
# A page may speak of a flag of another page's program only in a code block.
documented=$(grep -E '^\|' "$page" | flags_in)
if ! diff <(echo "$wanted") <(echo "$documented") >&2; then
  echo "reference: the lines with < are in --help alone, those with > in $page alone" >&2
  exit 1
fi

# The chart refuses other flags among the arguments that it passes on.
in_chart=$(sed -n '/define "reloader.flags"/,/end -/p' "$root/helm/kubexx-reloader/templates/_helpers.tpl" | sed '1d;$d' | tr ' ' '\n' | sed 's/^/--/' | sort -u)
if ! diff <(grep -vxE -e '--(help|version|completion)' <<<"$wanted") <(echo "$in_chart") >&2; then
  echo "reference: the lines with < are in --help alone, those with > in reloader.flags of the chart alone" >&2
  exit 1
fi

# What is said of sizes is what was measured.
sizing=$root/docs/reloader/sizing.md
if ! diff "$sizing" <(/usr/bin/python3 "$root/hack/lib/measured_rows.py" "$root/docs/bench/operator.md" "$sizing") >&2; then
  echo "reference: $sizing has other figures than docs/bench/operator.md: hack/lib/measured_rows.py writes them" >&2
  exit 1
fi

broken=0
for file in "$root"/docs/reloader.md "$root"/docs/reloader/*.md; do
  while read -r target; do
    if [ ! -e "$(dirname "$file")/$target" ]; then
      echo "reference: $file links to $target, which is not there" >&2
      broken=1
    fi
  done < <(grep -oE '\]\([^)#:]+' "$file" | cut -c3-)
done
[ "$broken" = 0 ] && echo "reference: all flags are documented, and known to the chart"
