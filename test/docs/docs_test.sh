#!/usr/bin/env bash
# What the checks of the documentation refuse: a small tree of pages that is right, and then one fault after the other in it.
# shellcheck disable=SC2016 # the backquotes are the pages'
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "docs: $*" >&2; exit 1; }
tree=$work/tree

page() { # page FILE LINE...
  mkdir -p "$(dirname "$tree/$1")"
  printf '%s\n' "${@:2}" >"$tree/$1"
}
fresh_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"
  git -C "$tree" init -q
  page README.md '# Home' '' 'See [the page](docs/page.md#two-words--more), [again](docs/page.md#again-1), [code](pkg/a.h), [a folder](pkg).' \
    '' '    an [indented](nowhere.md) block' '' '```sh' '[a](nowhere.md)' '```' '' '`[code](nowhere.md)`'
  page docs/page.md '# Page' '' '## Two words & `more`' '' '## Again' '' '## Again' '' '[home](../README.md), [a picture](picture.svg)' '' \
    'As decision 1 says: `pkg/a.h`.' '- a list' '' '![drawn](picture.svg)' '' '| a |' '|---|' '| `x\|y` |' '' '```cpp main.cc' 'int main() {}' '```'
  page docs/picture.svg '<svg/>'
  page docs/decisions.md '# Decisions' '' '## Decision 1: one' '' '**Context.** A.' '' '**Decision.** B.' '' '**Consequence.** C.' '' \
    '## Decision 2: two' '' '**Context.** A.' '' '**Decision.** B.' '' '**Consequence.** C.'
  page pkg/a.h '// see decision 1'
}
links() { /usr/bin/python3 "$root/hack/docs.d/links.py" "$tree" 2>&1; }
refuses() { # refuses WHAT MESSAGE
  local told
  if told=$(links); then fail "$1 is not refused"; fi
  grep -qF "$2" <<<"$told" || fail "$1 is refused with: $told"
  [ "$(wc -l <<<"$told")" = 1 ] || fail "$1 is refused more than once: $told"
  fresh_tree
}

fresh_tree
links >/dev/null || fail "a tree without faults is refused: $(links)"
page docs/more.md '[gone](gone.md)'
refuses "a link to a page that is not there" "docs/more.md:1: the link gone.md leads to docs/gone.md, which is not in the tree"
page docs/more.md '' '[gone](page.md#gone)'
refuses "a link to a heading that is not there" "docs/more.md:2: the link page.md#gone names a heading that docs/page.md does not have"
page docs/more.md '# More' '' '[here](#there)'
refuses "a link within the page" "the link #there names a heading"
page docs/more.md '[other](../pkg/b.h)'
refuses "a link into the source tree" "leads to pkg/b.h"
page docs/more.md '[line](../pkg/a.h#L3)'
refuses "a link to a line of a file" "names a place in a file that is not a page"
page docs/more.md '[![x](gone.svg)](page.md)'
refuses "a picture that is not there" "leads to docs/gone.svg"
page docs/more.md '<img src="gone.png">'
refuses "a picture in HTML" "leads to docs/gone.png"
page docs/more.md '[page]: gone.md'
refuses "the target of a reference" "leads to docs/gone.md"
page docs/more.md '[root](/docs/page.md)'
refuses "a link from the root" "links are relative"
page docs/more.md 'The file `pkg/b.h`.'
refuses "a path in backquotes" "there is no pkg/b.h in the tree"
sed -i 's/Decision 2:/Decision 3:/' "$tree/docs/decisions.md"
refuses "a number that is left out" "decision 3 stands where decision 2 is to be"
sed -i '0,/Consequence/s//Price/' "$tree/docs/decisions.md"
refuses "a decision without its consequence" "decision 1 tells Context, Decision instead of"
page pkg/a.h '// decisions 1 and 3'
refuses "a decision that is not there" "pkg/a.h:1: there is no decision 3"

# The copies for the site.
/usr/bin/python3 "$root/hack/docs.d/pages.py" lay "$tree" "$work/pages"
has() { grep -qF -- "$2" "$work/pages/$1" || fail "$1 lacks '$2': $(cat "$work/pages/$1")"; }
has index.md '[the page](page.md#two-words--more)'
has index.md '[code](source/pkg/a.h.md), [a folder](source/pkg.md)'
has source/pkg.md '- [a.h](pkg/a.h.md)'
has source/pkg/a.h.md '// see decision 1'
has page.md '[home](index.md), [a picture](picture.svg)'
has page.md '[![drawn](picture.svg)](picture.svg)'
has page.md '```cpp title="main.cc"'
has page.md "| \`x|y\` |"
grep -B 1 '^- a list' "$work/pages/page.md" | grep -qx '' || fail "a list follows its paragraph without a blank line"

# What a page may not ask of other hosts.
looks() { /usr/bin/python3 "$root/hack/docs.d/pages.py" look "$work/site" 2>/dev/null; }
mkdir -p "$work/site"
echo '<a href="https://example.com/"><img src="a.png">' >"$work/site/index.html"
looks || fail "a link that a reader clicks is refused"
for asked in '<script async src="https://example.com/a.js">' '<link rel="stylesheet" href="//example.com/a.css">' '<img alt="" src=https://example.com/a.png>'; do
  echo "$asked" >"$work/site/index.html"
  if looks; then fail "a page may ask another host: $asked"; fi
done
rm "$work/site/index.html"
echo '@font-face { src: url(https://example.com/a.woff2) }' >"$work/site/a.css"
if looks; then fail "a style may ask another host"; fi
# The includes in the API reference.
mkdir -p "$work/reference"
echo '<p><code>#include &lt;<a class="el" href="b.html">a/b.h</a>&gt;</code> <code>#include &lt;mutex&gt;</code></p>' >"$work/reference/a.html"
/usr/bin/python3 "$root/hack/docs.d/pages.py" include "$work/reference"
grep -qF '#include &quot;<a class="el" href="b.html">kubexx/a/b.h</a>&quot;</code> <code>#include &lt;mutex&gt;<' "$work/reference/a.html" ||
  fail "the reference names another include: $(cat "$work/reference/a.html")"
echo "docs: what is broken is refused"
