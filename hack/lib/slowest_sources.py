"""slowest_sources.py TREE COUNT: the sources of pkg/ whose change costs most until a test has run, as the last release build took.

Writes a line for each of COUNT sources of libraries and COUNT of tests, the slowest first, each of another package:
the seconds of the step that compiles it, the source, the test program, and its filter for the source's own suites.
"""
import pathlib
import re
import sys

import ninja_log

STEP = re.compile(r"^(pkg/.*)/CMakeFiles/([^/]+)\.dir/(.*\.cc)\.o$")
SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)", re.M)


def sources_of(tree, build, folder, unit):
    """The sources that are compiled in a step."""
    if unit.startswith("batches/"):
        return re.findall(r'^#include "(.*)"$', (build / folder / unit).read_text(), re.M) if "/own/" in unit else []
    source = f"{folder}/{unit}"
    return [source] if (tree / source).is_file() else []


def test_of(tree, source, tests):
    """The file with the tests of a source: itself, the one beside it, or one that includes its header."""
    if source in tests:
        return source
    beside = source.removesuffix(".cc") + "_test.cc"
    if beside in tests:
        return beside
    header = '"kubexx/' + source.removeprefix("pkg/").removesuffix(".cc") + '.h"'
    return next((test for test in sorted(tests) if header in (tree / test).read_text()), None)


def gtest_filter(tree, test):
    suites = sorted(set(SUITE.findall((tree / test).read_text())))
    return ":".join(pattern for suite in suites for pattern in (f"{suite}.*", f"*/{suite}.*", f"{suite}/*.*", f"*/{suite}/*"))


def main():
    tree, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    build = tree / "build/release"
    seconds, units = ninja_log.steps(build), {}
    for step, time in seconds.items():
        match = STEP.match(step)
        if match:
            units[step] = (time, match[2], sources_of(tree, build, match[1], match[3]))
    tests = {}  # program: sources
    for _, target, sources in units.values():
        if target.endswith("_test"):
            tests.setdefault(target, set()).update(source for source in sources if source.endswith("_test.cc"))
    chosen = {"library": {}, "test": {}}
    for time, target, sources in sorted(units.values(), reverse=True):
        kind, program = ("test", target) if target in tests else ("library", target.removeprefix("kubexx_") + "_test")
        if program not in tests or program in chosen[kind] or len(chosen[kind]) == count:
            continue
        for source in sources:
            test = test_of(tree, source, tests[program])
            if test and gtest_filter(tree, test):
                chosen[kind][program] = (time, source, gtest_filter(tree, test))
                break
    for kind, programs in chosen.items():
        if not programs:
            sys.exit(f"slowest_sources: no step of the last build compiles a {kind} of pkg/ that has tests")
        for program, (time, source, suites) in programs.items():
            print(f"{time:.1f}\t{source}\t{program}\t{suites}")


try:
    main()
except (OSError, ninja_log.MixedLog) as error:
    sys.exit(f"slowest_sources: {error}")
