"""Checks the links of the documentation, and the numbers of its decisions. Called by hack/docs.

A link is right when it leads to a file or folder of the tree, and what stands behind its # is a heading there, with the anchor
that GitHub gives it. A path in backquotes that begins with a folder of the tree has to be there, too. docs/decisions.md numbers
its decisions from 1 without gaps, and each tells its context, the decision and the consequence; a decision that is named elsewhere has to be
there.
"""
import os
import pathlib
import posixpath
import re
import subprocess
import sys
import unicodedata

FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})(.*)$")
HEADING = re.compile(r"^(#{1,6}) +(.*?)(?: +#+)? *$")
# [text](target) and ![text](target), where the text may hold a picture, and [name]: target.
INLINE = re.compile(r"\]\(<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+\"[^\"]*\")?\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]: *<?(\S+?)>?(?: .*)?$")
HTML = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]*)\"")
OUTSIDE = re.compile(r"^[a-z][a-z0-9+.-]*:")
TREE_PATH = re.compile(r"`((?:pkg|docs|hack|test|cmd|examples|helm|manifests|cmake)/[A-Za-z0-9_./-]*[A-Za-z0-9_/])(?:[ :][^`]*)?`")
DECISION = re.compile(r"^## Decision (\d+): \S", re.M)
CITATION = re.compile(r"\bdecisions? (\d+)((?:(?:, | and )\d+)*)", re.I)
PARTS = ["Context", "Decision", "Consequence"]


def tree_files(root):
    """The paths of the files of the tree, tracked or new, those that are ignored left out."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"], check=True, capture_output=True)
    paths = sorted({os.fsdecode(name) for name in listed.stdout.split(b"\0") if name})
    return [path for path in paths if (root / path).is_file()]


def prose_of(text):
    """The lines of a page outside of code blocks, each with its number; lines of code are left out."""
    fence = None
    after_blank = True
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if fence:
            if found and found.group(2).startswith(fence) and not found.group(3).strip():
                fence = None
            continue
        if found:
            fence = found.group(2)
            continue
        # An indented block begins after a blank line; what is indented within a list is none.
        if line.startswith("    ") and (after_blank or in_code):
            in_code = True
            continue
        in_code = in_code and not line.strip()
        after_blank = not line.strip()
        yield number, line


def anchor_of(heading):
    """What GitHub makes of a heading, without the number that a second one of the same text gets."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = unicodedata.normalize("NFC", text.replace("`", "").replace("*", "")).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors_of(text):
    anchors, seen = set(), {}
    for _, line in prose_of(text):
        found = HEADING.match(line)
        if found:
            anchor = anchor_of(found.group(2))
            count = seen.get(anchor, 0)
            seen[anchor] = count + 1
            anchors.add(f"{anchor}-{count}" if count else anchor)
    return anchors


def targets_in(line):
    """Where the links of a line lead."""
    bare = re.sub(r"(`+)[^`].*?\1", lambda code: "`" * len(code.group(0)), line)
    return INLINE.findall(bare) + REFERENCE.findall(bare) + HTML.findall(bare)


class Checker:
    """Complaints about the tree at `root`."""

    def __init__(self, root):
        self.root = root
        self.files = tree_files(root)
        self.known = set(self.files)
        for path in self.files:
            self.known.update(str(parent) for parent in pathlib.PurePosixPath(path).parents)
        self.complaints = []
        self._anchors = {}

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def complain(self, path, number, what):
        self.complaints.append(f"{path}:{number}: {what}")

    def anchors(self, path):
        if path not in self._anchors:
            self._anchors[path] = anchors_of(self.read(path))
        return self._anchors[path]

    def check_link(self, page, number, target):
        if OUTSIDE.match(target):
            return
        path, _, anchor = target.partition("#")
        if path.startswith("/"):
            self.complain(page, number, f"the link {target} begins at the root of a machine; links are relative")
            return
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if place not in self.known:
            self.complain(page, number, f"the link {target} leads to {place}, which is not in the tree")
        elif anchor and not place.endswith(".md"):
            self.complain(page, number, f"the link {target} names a place in a file that is not a page")
        elif anchor and anchor not in self.anchors(place):
            self.complain(page, number, f"the link {target} names a heading that {place} does not have")

    def check_page(self, page):
        for number, line in prose_of(self.read(page)):
            for target in targets_in(line):
                self.check_link(page, number, target)
            for path in TREE_PATH.findall(line):
                # build/ and the like are not in the tree; a path may also be that of a package without the folder of a room.
                if path.rstrip("/") not in self.known:
                    self.complain(page, number, f"there is no {path} in the tree")

    def check_decisions(self, page="docs/decisions.md"):
        if page not in self.known:
            return []
        text = self.read(page)
        numbers = [int(number) for number in DECISION.findall(text)]
        for wanted, number in enumerate(numbers, 1):
            if number != wanted:
                self.complain(page, 1, f"decision {number} stands where decision {wanted} is to be: no number is left out or used twice")
                break
        for number, section in zip(numbers, re.split(DECISION.pattern, text, flags=re.M)[2::2]):
            found = re.findall(r"^\*\*(Context|Decision|Consequence)\.\*\* ", section, re.M)
            if found != PARTS:
                self.complain(page, 1, f"decision {number} tells {', '.join(found) or 'nothing'} instead of {', '.join(PARTS)}")
        return numbers

    def check_citations(self, numbers):
        for path in self.files:
            if not re.search(r"\.(md|h|cc|cmake|txt|sh|py|yaml|go)$|^hack/[a-z-]+$", path) or ".gen." in path:
                continue
            text = (self.root / path).read_text(encoding="utf-8", errors="replace")
            for found in CITATION.finditer(text):
                for number in [found.group(1)] + re.findall(r"\d+", found.group(2)):
                    if int(number) not in numbers:
                        self.complain(path, text.count("\n", 0, found.start()) + 1, f"there is no decision {number}")


def check(root):
    """The complaints about the pages of the tree at `root`, and how many pages there are."""
    checker = Checker(root)
    pages = [path for path in checker.files if path.endswith(".md")]
    for page in pages:
        checker.check_page(page)
    decisions = checker.check_decisions()
    if decisions:
        checker.check_citations(set(decisions))
    return checker.complaints, len(pages)


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else ".").resolve()
    complaints, pages = check(root)
    for complaint in complaints:
        print(f"docs: {complaint}", file=sys.stderr)
    if complaints:
        return 1
    print(f"docs: the links of {pages} pages lead somewhere")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
