#!/usr/bin/env python3
"""Compiles the examples in the comments of public headers: code that is indented by four spaces or more behind "///", after a line
that is empty. What an example needs around it is in header_examples.cc; a line "..." in one stands for code that does not matter.
Environment: CXX (g++), the compiler.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLACE = re.compile(r"^ *// EXAMPLE (\S+) (\d+)$")
COMMENT = re.compile(r"^ *///(.*)$")


def examples_in(path):
    """The examples of a header, each a list of (number of the line, code)."""
    found, current, blank = [], None, False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        comment = COMMENT.match(line)
        text = comment[1] if comment else None
        if text is not None and text.startswith("     ") and (current is not None or blank):
            if current is None:
                current = []
                found.append(current)
            current.append((number, text[5:]))
        elif text is None or text.strip():
            current = None
        blank = text is not None and not text.strip()
    return found


def fail(text):
    print(f"header examples: {text}", file=sys.stderr)
    sys.exit(1)


def main():
    listed = subprocess.run([ROOT / "hack/architecture", "--headers"], check=True, capture_output=True, text=True).stdout.split()
    examples = {(name, str(number)): example for name in listed for number, example in enumerate(examples_in(ROOT / name), 1)}
    if len(examples) < 5:
        fail(f"only {len(examples)} were found")
    around = ROOT / "test/guide/header_examples.cc"
    code, placed = [f'#line 1 "{around.relative_to(ROOT)}"'], set()
    for number, line in enumerate(around.read_text().splitlines(), 1):
        place = PLACE.match(line)
        if not place:
            code.append(line)
            continue
        key = place.groups()
        if key not in examples:
            fail(f"{around.relative_to(ROOT)}:{number}: {key[0]} has no example {key[1]}")
        placed.add(key)
        for where, text in examples[key]:
            code += [f'#line {where} "{key[0]}"', "" if text.strip() == "..." else text]
        code.append(f'#line {number + 1} "{around.relative_to(ROOT)}"')
    for name, number in sorted(set(examples) - placed):
        fail(f"{name}:{examples[name, number][0][0]}: say in {around.relative_to(ROOT)} what this example needs around it, with a line \"// EXAMPLE {name} {number}\"")
    compiler = [os.environ.get("CXX", "g++"), "-std=c++23", "-fsyntax-only", "-w", "-I", ROOT / "include", "-I", ROOT, "-x", "c++", "-"]
    if subprocess.run(compiler, input="\n".join(code) + "\n", text=True, cwd=ROOT, check=False).returncode:
        fail("see above")
    print(f"header examples: all {len(examples)} compile")


if __name__ == "__main__":
    main()
