"""What ninja noted about the steps of a build: for hack/compile-times and hack/build-times."""
import re

# Ninja writes the log anew, in no order, when most of its lines are about steps that ran again. Then, and when a step is in it
# twice, it tells of several builds, which belong to no revision.
BUILDS_AT_MOST = 5
# CMake's own, which run again whenever a CMakeLists.txt has changed.
OF_CMAKE = re.compile(r"^build\.ninja$|^CMakeCache\.txt$|\.cmake$|\.verify_globs$")
IS_COMPILED = re.compile(r"\.(o|gch|pch)$")


class MixedLog(Exception):
    """The log tells of more than one build of the same things."""


def outputs(build):
    """What the build folder's build.ninja makes."""
    text = (build / "build.ninja").read_text()
    found = set()
    for names in re.findall(r"^build ((?:[^:$\n]|\$.)*):", text, re.M):
        for name in re.split(r"(?<!\$) ", names):
            found.add(re.sub(r"\$(.)", r"\1", name))
    found.discard("|")
    return found


def steps(build):
    """The seconds on the clock of each step of what the build folder makes now; of what it made once, and not any more, nothing.

    Raises MixedLog.
    """
    known, seconds, last_end, builds = outputs(build), {}, -1, 0
    for line in (build / ".ninja_log").read_text().splitlines():
        columns = line.split("\t")
        if len(columns) < 5:
            continue
        begin, end, output = int(columns[0]), int(columns[1]), columns[3]
        if end < last_end:
            builds += 1
        last_end = end
        if output not in known or OF_CMAKE.search(output):
            continue
        if output in seconds and IS_COMPILED.search(output):
            raise MixedLog(f"{output} was made twice")
        seconds[output] = (end - begin) / 1000
    if builds >= BUILDS_AT_MOST:
        raise MixedLog(f"the log tells of {builds + 1} builds")
    return seconds
