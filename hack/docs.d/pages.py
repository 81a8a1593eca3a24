"""Lays the pages of the documentation out for MkDocs, and looks at the site that it makes. Called by hack/docs.

  pages.py lay ROOT FOLDER     writes the pages to FOLDER
  pages.py include REFERENCE   writes the includes in Doxygen's pages as users write them
  pages.py look SITE           fails when a page of the site asks another host for anything

The pages are written for GitHub, where most people read them. What the site needs is changed in the copies: README.md is its
first page, a link into the source tree leads to a page with that file's text, and the name of a file behind the language of a code
block becomes its title. Each picture is a link to itself.
"""
import pathlib
import posixpath
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import links  # noqa: E402

# Pages that do not lie in docs/.
PLACES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "pkg/apiserver/storage/storage.md": "apiserver-storage.md",
}
LANGUAGES = {"cc": "cpp", "h": "cpp", "py": "python", "sh": "bash", "yaml": "yaml", "yml": "yaml", "cmake": "cmake", "json": "json", "go": "go"}
PICTURES = (".svg", ".png")
LINK = re.compile(r"(\]\(<?)([^()\s<>]+)(>?(?:\s+\"[^\"]*\")?\))")
PICTURE = re.compile(r"^!\[[^\]]*\]\(([^()\s]+\.svg)\)$")
LIST_ITEM = re.compile(r"^(?:[-*+]|\d+\.) ")
NAMED_FENCE = re.compile(r"^(`{3,})([a-z]+) ([A-Za-z0-9_./-]+)$")
# What makes a browser ask another host: scripts, styles, pictures, fonts. Links that a reader has to click do not.
FROM_OUTSIDE = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//|<link\b(?![^>]*rel=[\"']?canonical)[^>]*\bhref=[\"']?(?:https?:)?//|url\([\"']?(?:https?:)?//|@import [\"'](?:https?:)?//")
# The include that a page of the reference begins with.
INCLUDE = re.compile(r'(<code>#include )&lt;(<a class="el" href="[^"]*">)([^<]*</a>)&gt;')


class Pages:
    """The pages of the tree at `root`, written to `folder`."""

    def __init__(self, root, folder):
        self.root = root
        self.folder = folder
        self.files = links.tree_files(root)
        self.known = set(self.files)
        self.wanted = []  # of the tree, to be shown as they are
        self.shown = set()

    def place_of(self, path):
        """Where a file or folder of the tree is in the site; nothing for one that is not in it yet."""
        if path in PLACES:
            return PLACES[path]
        if path.startswith("docs/") and (path.endswith(".md") or path.endswith(PICTURES)):
            return path[len("docs/"):]
        return None

    def source_place(self, path):
        if path not in self.shown:
            self.shown.add(path)
            self.wanted.append(path)
        return f"source/{path}.md"

    def moved(self, page, target):
        """The target of a link of `page` as its copy has to name it."""
        if links.OUTSIDE.match(target) or target.startswith("#"):
            return target
        path, hash_, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        to = self.place_of(place) or self.source_place(place)
        return posixpath.relpath(to, posixpath.dirname(self.place_of(page)) or ".") + hash_ + anchor

    def copy_of(self, page):
        text = (self.root / page).read_text(encoding="utf-8")
        prose = {number for number, _ in links.prose_of(text)}
        out = []
        for number, line in enumerate(text.splitlines(), 1):
            if number in prose:
                # Markdown as MkDocs reads it wants a blank line before a list.
                if LIST_ITEM.match(line) and out and out[-1].strip() and not LIST_ITEM.match(out[-1]) and not out[-1].startswith(" "):
                    out.append("")
                line = LINK.sub(lambda found: found.group(1) + self.moved(page, found.group(2)) + found.group(3), line)
                # A picture of the width of a page is too small to read; a click shows it alone.
                line = PICTURE.sub(r"[\g<0>](\1)", line)
                if line.startswith("|"):
                    # A bar in a cell's code is escaped for GitHub; here the backslash would be shown.
                    line = re.sub(r"`[^`]*`", lambda code: code.group(0).replace("\\|", "|"), line)
            else:
                line = NAMED_FENCE.sub(r'\1\2 title="\3"', line)
            out.append(line)
        return "\n".join(out) + "\n"

    def source_page(self, path):
        """A page with a file's text, or with a folder's files."""
        lines = ["---", "search:", "  exclude: true", "---", "", f"# {path}", ""]
        here = posixpath.dirname(f"source/{path}.md")
        if path in self.known:
            text = (self.root / path).read_text(encoding="utf-8")
            fence = "`" * max([3] + [len(run) + 1 for run in re.findall(r"`{3,}", text)])
            language = LANGUAGES.get(path.rpartition(".")[2], "bash" if text.startswith("#!") else "text")
            lines += [f"{fence}{language}", text.rstrip("\n"), fence]
        else:
            for file in self.files:
                if file.startswith(path + "/") and not file.endswith(PICTURES):
                    place = self.place_of(file) or self.source_place(file)
                    lines.append(f"- [{file[len(path) + 1:]}]({posixpath.relpath(place, here)})")
        return "\n".join(lines) + "\n"

    def write(self, place, text):
        target = self.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def lay(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for path in self.files:
            place = self.place_of(path)
            if place and path.endswith(PICTURES):
                (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.root / path, self.folder / place)
            elif place:
                self.write(place, self.copy_of(path))
        while self.wanted:
            path = self.wanted.pop()
            self.write(f"source/{path}.md", self.source_page(path))
        # hack/docs puts Doxygen's pages there when MkDocs is done; the menu has a link to this one.
        self.write("reference/index.html", "<!doctype html><title>API reference</title>\n")
        shutil.copyfile(pathlib.Path(__file__).parent / "site.css", self.folder / "site.css")


def look(site):
    """The pages, styles and scripts that would ask another host."""
    found = []
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".css") and FROM_OUTSIDE.search(path.read_text(encoding="utf-8", errors="replace")):
            found.append(str(path.relative_to(site)))
    return found


def write_includes(reference):
    """Doxygen writes #include <controller/client.h> by the path in the tree; users write "kubexx/controller/client.h"."""
    for path in sorted(reference.rglob("*.html")):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        mended = INCLUDE.sub(r"\1&quot;\2kubexx/\3&quot;", text)
        if mended != text:
            path.write_text(mended, encoding="utf-8", errors="surrogateescape")


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "lay":
        Pages(pathlib.Path(arguments[1]).resolve(), pathlib.Path(arguments[2])).lay()
        return 0
    if len(arguments) == 2 and arguments[0] == "look":
        found = look(pathlib.Path(arguments[1]))
        for path in found:
            print(f"docs: {path} asks another host for a script, a style, a picture or a font", file=sys.stderr)
        return 1 if found else 0
    if len(arguments) == 2 and arguments[0] == "include":
        write_includes(pathlib.Path(arguments[1]))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
