"""What suites say, as tables. Called by hack/suites:

report.py ginkgo JSON                                      lines of state, seconds and name, from Ginkgo's report
report.py compare --skipped FILE SERVER=TSV [SERVER=TSV]   Markdown of such lines; ends with 1 when the last server alone fails a test
report.py put REPORT SECTION                               puts a section into a report, in the place of the one of this title
report.py crate METADATA NAME                              the folder of a crate, from `cargo metadata`
report.py programs                                         lines of a crate and its program of tests, from the messages of `cargo test`
"""

import argparse
import json
import os
import re
import sys

HEAD = """# Suites of others on kubexx-apiserver

Test suites of other projects, unchanged, as `hack/suites` runs them.
"""


def ginkgo(path):
    with open(path, encoding="utf-8") as file:
        reports = json.load(file)
    for spec in (spec for report in reports for spec in report["SpecReports"] or []):
        if spec["LeafNodeType"] != "It" or spec["NumAttempts"] == 0:
            continue  # Left out by --ginkgo.skip or --ginkgo.focus.
        state = spec["State"] if spec["State"] in ("passed", "skipped") else "failed"
        words = (spec["ContainerHierarchyTexts"] or []) + [spec["LeafNodeText"]]
        name = " ".join(words).replace("[sig-api-machinery] ", "")
        print(state, f"{spec['RunTime'] / 1e9:.1f}", " ".join(name.split()), sep="\t")


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {name: (state, float(seconds)) for state, seconds, name in rows}


def escaped(text):
    return text.replace("|", "\\|").replace("[", "\\[")


def compare(skipped, servers):
    names, results = zip(*((name, read(path)) for name, _, path in (server.partition("=") for server in servers)))
    print("| test | " + " | ".join(f"on {name} | seconds" for name in names) + " |")
    print("|---" * (1 + 2 * len(names)) + "|")
    all_tests = sorted({test for result in results for test in result})
    for test in all_tests:
        cells = [result.get(test, ("not run", 0.0)) for result in results]
        shown = [f"**{state}**" if state == "failed" else state for state, _ in cells]
        print(f"| {escaped(test)} | " + " | ".join(f"{state} | {seconds:.1f}" for state, (_, seconds) in zip(shown, cells)) + " |")
    totals = []
    for result in results:
        states = [state for state, _ in result.values()]
        totals.append(f"{states.count('passed')} passed, {states.count('failed')} failed, {states.count('skipped')} skipped | "
                      f"{sum(seconds for _, seconds in result.values()):.1f}")
    print("| all | " + " | ".join(totals) + " |")
    print("\nNot run:\n\n| tests | why |\n|---|---|")
    with open(skipped, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                pattern, _, reason = line.rstrip("\n").partition("  ")
                print(f"| `{pattern.replace('|', chr(92) + '|')}` | {reason} |")
    return 0 if all_tests and not any(is_worse(*(result.get(test, ("not run", 0))[0] for result in results)) for test in all_tests) else 1


def is_worse(*states):
    """Whether the last server fails a test that the others, if there are any, pass."""
    *others, own = states
    return all(state == "passed" for state in others) and (own != "passed" if others else own == "failed")


def put(report, section):
    with open(section, encoding="utf-8") as file:
        added = file.read().strip() + "\n"
    title = added.splitlines()[0]
    try:
        with open(report, encoding="utf-8") as file:
            parts = re.split(r"(?m)^(?=## )", file.read())
    except FileNotFoundError:
        parts = [HEAD]
    kept = [part.strip() + "\n" for part in parts[1:]]
    titles = [part.splitlines()[0] for part in kept]
    if title in titles:
        kept[titles.index(title)] = added
    else:
        kept.append(added)
    with open(report, "w", encoding="utf-8") as file:
        file.write("\n".join([HEAD, *kept]))
    return 0


def crate(metadata, name):
    with open(metadata, encoding="utf-8") as file:
        packages = json.load(file)["packages"]
    print(next(os.path.dirname(package["manifest_path"]) for package in packages if package["name"] == name))
    return 0


def programs():
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            print(os.path.basename(os.path.dirname(message["manifest_path"])), message["executable"])
    return 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("ginkgo").add_argument("json")
    one = commands.add_parser("compare")
    one.add_argument("--skipped", required=True)
    one.add_argument("servers", nargs="+")
    one = commands.add_parser("put")
    one.add_argument("report")
    one.add_argument("section")
    one = commands.add_parser("crate")
    one.add_argument("metadata")
    one.add_argument("name")
    commands.add_parser("programs")
    arguments = parser.parse_args()
    if arguments.command == "ginkgo":
        return ginkgo(arguments.json)
    if arguments.command == "compare":
        return compare(arguments.skipped, arguments.servers)
    if arguments.command == "crate":
        return crate(arguments.metadata, arguments.name)
    if arguments.command == "programs":
        return programs()
    return put(arguments.report, arguments.section)


if __name__ == "__main__":
    sys.exit(main())
