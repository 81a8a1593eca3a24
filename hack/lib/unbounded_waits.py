"""unbounded_waits.py < NAMES: the waits in tests that have no end of their own, and the sleeps.

A test whose wait has no end hangs instead of failing, and nobody can tell what it waited for; one that sleeps is slow on
a fast machine and fails on a slow one. kubexx/base/testing/await.h has what is used instead. Prints "FILE:LINE: LINE" for each,
of the files that are named on standard input.
"""

import re
import sys

# The waits themselves; the tests of what waits without a deadline, which have a TestLimit instead; and what waits on virtual time,
# where a wait that cannot end is a deadlock that the scheduler tells at once.
EXEMPT = re.compile(
    r"^pkg/base/(testing/await\.cc|(clock|cond_var)_test\.cc)$"
    r"|^test/simulation/(interpose|scheduler_test)\.cc$"
)
TESTS = re.compile(r"_test\.(cc|h)$|_fixture\.h$|/testing/[^ ]*\.(cc|h)$|^test/.*\.(cc|h)$")
FORBIDDEN = re.compile(
    r"""this_thread::(yield|sleep_for|sleep_until)
    | \b(u|nano)?sleep\(
    | (\.|->)(acquire|arrive_and_wait)\(\)
    | [\w\])](?<!\)\))(\.|->)wait\((\w*|lock,[^;]*)\);
    | WaitFor(Cache)?Sync\(\{\}\)
    | \bWaitUntil\([^;]*\{\},\s*(base::)?TimePoint::max\(\)\)""",
    re.VERBOSE,
)
# A loop that does nothing but let others run, or let a fake clock go on, until something has changed.
SPIN = re.compile(
    r"while \((?P<condition>[^{};]*)\) \{\s*"
    r"((//[^\n]*\s*)?[\w.>:-]*(Advance|AdvanceToSleeper|AwaitSleepers|LetOthersRun)\([^;]*\);\s*(//[^\n]*\s*)?)+\}"
)


def found_in(text):
    """The positions in `text` at which something waits without an end, or sleeps."""
    for match in FORBIDDEN.finditer(text):
        yield match.start()
    for match in SPIN.finditer(text):
        if "stop_requested" not in match["condition"]:
            yield match.start()


def main():
    """Prints what is found."""
    for name in (line.strip() for line in sys.stdin):
        if not TESTS.search(name) or EXEMPT.search(name):
            continue
        with open(name, encoding="utf-8") as file:
            text = file.read()
        lines = text.split("\n")
        for number in sorted({text.count("\n", 0, position) for position in found_in(text)}):
            print(f"{name}:{number + 1}: {lines[number].strip()}")


main()
