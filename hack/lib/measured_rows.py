#!/usr/bin/env python3
"""Copies figures of a report into a page. Called by hack/bench --operator, and by the tests.

  measured_rows.py REPORT PAGE   writes PAGE to standard output, with the lines of REPORT's table between its marks in place of those it has

A mark in the page, "<!-- measured: TEXT; TEXT -->", asks for the lines whose first cell begins with one of the texts; "<!-- end -->" ends it.
"""
import pathlib
import re
import sys

MARK = re.compile(r"(<!-- measured: (.*?) -->)\n.*?<!-- end -->", re.S)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    report = pathlib.Path(arguments[0]).read_text(encoding="utf-8")
    text = pathlib.Path(arguments[1]).read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in report.splitlines() if line.startswith("|")]
    missing = []

    def table(found):
        lines = ["| what | measured |", "|---|---|"]
        for wanted in found[2].split("; "):
            chosen = [row for row in rows if row[0].startswith(wanted)]
            if not chosen:
                missing.append(wanted)
            lines += [f"| {row[0]} | {row[1]} |" for row in chosen]
        return found[1] + "\n\n" + "\n".join(lines) + "\n\n<!-- end -->"

    text = MARK.sub(table, text)
    for wanted in missing:
        print(f"{arguments[1]}: {arguments[0]} has no line that begins with \"{wanted}\"", file=sys.stderr)
    if missing or not MARK.search(text):
        return 1
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
