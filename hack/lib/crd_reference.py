#!/usr/bin/env python3
"""Writes the tables of a page about custom resources. Called by hack/manifests.

  crd_reference.py CRDS PAGE   writes PAGE to standard output, with tables of the CRDs in the folder CRDS in place of those that it has

A table stands between "<!-- KIND PART -->" and "<!-- end -->", PART being spec, status or columns. Every field needs a description in its
CRD, of whole sentences: `kubectl explain` shows it alone. The page has a table of the status of each kind, and names, in backquotes, all that
the operator says in it: the types and reasons of conditions, and what rollouts wait for, by the operator's source.
"""
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = re.compile(r"<!-- (\w+) (spec|status|columns) -->\n.*?<!-- end -->", re.S)
DURATION = "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
# A sentence has a subject and a verb: no description without one of these.
VERB = re.compile(r"\b(is|are|was|were|has|have|may|stays?|ends?|begins?|began|opens?|rolls?|waits?|waited|holds?|counts?|passes|says|names|changed|needs?|does|do)\b")
TYPES = {"date-time": "time", "int32": "integer", "int64": "integer"}


def limits_of(schema):
    """The type and what else a value has to be, in words."""
    kind = "duration" if schema.get("pattern") == DURATION else TYPES.get(schema.get("format"), schema["type"])
    words = [kind]
    if "enum" in schema:
        words = ["one of " + ", ".join(f"`{value}`" for value in schema["enum"])]
    if "default" in schema:
        words.append(f"by default `{str(schema['default']).lower()}`")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        words.append(f"{low} to {high}" if low is not None and high is not None else f"at least {low}" if high is None else f"at most {high}")
    if "maxItems" in schema:
        words.append(f"at most {schema['maxItems']}")
    words += [rule["message"] for rule in schema.get("x-kubernetes-validations", [])]
    return ", ".join(words)


def fields_of(schema, prefix, complaints):
    """(path, type, description) of all fields below."""
    for name, below in schema.get("properties", {}).items():
        path = prefix + name
        required = name in schema.get("required", [])
        inner = below["items"] if below["type"] == "array" else below
        description = below.get("description", "")
        if not description:
            complaints.append(f"{path} has no description in its CRD")
        elif not (description[0].isupper() and description.endswith(".") and VERB.search(description) and len(description.split()) > 3):
            complaints.append(f"the description of {path} is no sentence: {description}")
        what = limits_of(below)
        if below["type"] == "array":
            what = "list of " + (limits_of(inner) if "properties" not in inner else "objects") + (f", at most {below['maxItems']}" if "maxItems" in below else "")
        yield path + ("[]" if below["type"] == "array" else ""), what + (", required" if required and prefix != "" else ""), description
        yield from fields_of(inner, path + ("[]." if below["type"] == "array" else "."), complaints)


def table_of(crd, part, complaints):
    version = crd["spec"]["versions"][0]
    if part == "columns":
        rows = [(column["name"], column["jsonPath"].lstrip(".")) for column in version["additionalPrinterColumns"]]
        return ["| column | shows |", "|---|---|"] + [f"| {name} | `{path}` |" for name, path in rows]
    schema = version["schema"]["openAPIV3Schema"]["properties"][part]
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for path, what, description in fields_of(schema, part + ".", complaints):
        lines.append(f"| `{path}` | {what} | {description.replace('|', chr(92) + '|')} |")
    return lines


def said_by_the_operator():
    """What the operator writes in a status: types and reasons of conditions, and reasons of rollouts that wait."""
    status = (ROOT / "pkg/reloader/policy/policy_status.cc").read_text(encoding="utf-8")
    sets = re.findall(r"conditions\.Set\((.*?)\);", status, re.S)
    words = {word for call in sets for word in re.findall(r'"([A-Z][A-Za-z]+)"', call)}
    hold = (ROOT / "pkg/reloadpolicy/hold.cc").read_text(encoding="utf-8")
    function = re.search(r"std::string_view ToString\(HoldReason reason\) \{(.*?)\n\}", hold, re.S)
    words |= set(re.findall(r'return "(\w+)"', function[1] if function else ""))
    return words


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    complaints = []
    crds = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(pathlib.Path(arguments[0]).glob("*.yaml"))]
    by_kind = {crd["spec"]["names"]["kind"]: crd for crd in crds}
    text = pathlib.Path(arguments[1]).read_text(encoding="utf-8")
    places = {(found[1], found[2]) for found in TABLE.finditer(text)}
    for kind in sorted(by_kind):
        if (kind, "status") not in places:
            complaints.append(f"the page has no table of the status of {kind}")
    for kind, part in sorted(places):
        if kind not in by_kind:
            complaints.append(f"there is no CRD of {kind}")
    words = said_by_the_operator()
    if len(words) < 15:
        complaints.append(f"the source tells only {len(words)} words that a status may have")
    prose = TABLE.sub("", text)
    complaints += [f"the page does not name `{word}`, which the operator writes" for word in sorted(words) if f"`{word}`" not in prose]
    if not complaints:
        text = TABLE.sub(lambda found: f"<!-- {found[1]} {found[2]} -->\n\n" + "\n".join(table_of(by_kind[found[1]], found[2], complaints)) + "\n\n<!-- end -->", text)
    for complaint in complaints:
        print(f"{arguments[1]}: {complaint}", file=sys.stderr)
    if complaints:
        return 1
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
