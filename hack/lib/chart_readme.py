#!/usr/bin/env python3
"""Writes the table of values of a chart's README. Called by hack/manifests.

  chart_readme.py CHART README   writes README to standard output, with the table of CHART's values in place of the one that it has

A description is the comment above a value in values.yaml, or behind it. What has properties in values.schema.json is a group, which
has a line only when it has a description. Every other value has to have one, and every property of the schema that is not in
values.yaml has to be named in the description of its group.
"""
import json
import pathlib
import re
import sys

import yaml

BEGIN = "<!-- values: written by hack/manifests from values.yaml -->"
END = "<!-- end of values -->"
KEY = re.compile(r"^( *)([A-Za-z_][A-Za-z0-9_]*):(?: |$)(.*)$")
COMMENT = re.compile(r"^( *)# ?(.*)$")


def descriptions_of(text):
    """The description of each value, by its path."""
    found, stack, comment = {}, [], []
    for line in text.splitlines():
        remark, key = COMMENT.match(line), KEY.match(line)
        if remark:
            comment.append(remark[2].strip())
        elif key:
            while stack and stack[-1][0] >= len(key[1]):
                stack.pop()
            stack.append((len(key[1]), key[2]))
            behind = re.search(r"(?:^| )# (.*)$", key[3])
            words = comment + ([behind[1]] if behind else [])
            found[".".join(name for _, name in stack)] = " ".join(words)
            comment = []
        else:
            comment = []
    return found


class Table:
    """The lines of the table, and what is wrong with the values."""

    def __init__(self, chart):
        self.values = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
        self.schema = json.loads((chart / "values.schema.json").read_text(encoding="utf-8"))
        self.descriptions = descriptions_of((chart / "values.yaml").read_text(encoding="utf-8"))
        self.lines, self.complaints = ["| value | default | what it is |", "|---|---|---|"], []

    def add(self, path, shown, description):
        text = description.replace("|", "\\|").replace("<", "&lt;")
        self.lines.append(f"| `{path}` | {shown} | {text[:1].upper()}{text[1:]} |")

    def add_group(self, prefix, values, schema):
        """What is below `prefix`: a line each, groups by their own."""
        properties = schema.get("properties", {})
        about = self.descriptions.get(prefix[:-1], "")
        for name in sorted(set(properties) - set(values)):
            # What has a field of its own in the group above may be named there.
            if not re.search(rf"\b{re.escape(name)}\b", about):
                self.complaints.append(f"{prefix}{name} is in values.schema.json, and neither in values.yaml nor named above its group")
        for name, value in values.items():
            path = prefix + name
            below = properties.get(name, {})
            description = self.descriptions.get(path, "")
            if "properties" in below and isinstance(value, dict) and value:
                if description:
                    self.add(path, "", description)
                self.add_group(path + ".", value, below)
                continue
            if not description:
                self.complaints.append(f"{path} has no description in values.yaml")
            for missing in sorted(set(below.get("properties", {}))):
                if not re.search(rf"\b{re.escape(missing)}\b", description):
                    self.complaints.append(f"{path}.{missing} is in values.schema.json, and not named in the description of {path}")
            self.add(path, f"`{json.dumps(value)}`", description)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    chart, readme = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    table = Table(chart)
    table.add_group("", table.values, table.schema)
    text = readme.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        table.complaints.append(f"{readme} has no place for the values")
    for complaint in table.complaints:
        print(f"chart values: {complaint}", file=sys.stderr)
    if table.complaints:
        return 1
    before, rest = text.split(BEGIN)
    print(before + BEGIN + "\n\n" + "\n".join(table.lines) + "\n\n" + END + rest.split(END)[1], end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
