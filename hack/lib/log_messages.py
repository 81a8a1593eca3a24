"""log_messages.py < NAMES: the messages of the log that are not as CONTRIBUTING.md wants them.

A message is a constant that begins with a capital letter and is one sentence or a fragment of one, without a full stop; what
differs is in fields. Two causes in one package have two messages, so that a reader who sees one knows which it was. Prints
"FILE:LINE: COMPLAINT: MESSAGE" for each, of the files that are named on standard input.
"""

import re
import sys

LEVELS = "Trace|Debug|Info|Warning|Error|Log"
CALL = re.compile(rf"(?:\blogging::(?:{LEVELS})|\b[lL]og(?:ger)?_?(?:\(\))?(?:\.|->)(?:{LEVELS}))\(")
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
MESSAGE = re.compile(rf"{LITERAL}(?:\s*{LITERAL})*")
TESTS = re.compile(r"_(test|bench)\.(cc|h)$|/testing/|^test/")


def arguments_of(text, begin):
    """The arguments of a call before its fields; `begin` is behind the opening bracket."""
    depth = 1
    position = begin
    while position < len(text) and depth > 0:
        literal = re.compile(LITERAL).match(text, position)
        if literal:
            position = literal.end()
            continue
        if text.startswith("{{", position):
            break
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return text[begin:position]


def complaint_about(message, arguments):
    """What is wrong with a message, or nothing."""
    if not message[:1].isupper():
        return "begins without a capital letter"
    if message.endswith(".") or ". " in message:
        return "has a full stop"
    if re.search(r'"\s*\+|\+\s*[\w"*]', arguments):
        return "has a value in it, which belongs in a field"
    return None


def messages_in(text):
    """Position, message and arguments of each call with a message that is written there."""
    for call in CALL.finditer(text):
        arguments = arguments_of(text, call.end())
        for literals in MESSAGE.finditer(arguments):
            message = "".join(part[1:-1] for part in re.findall(LITERAL, literals.group()))
            yield call.start(), message, arguments


def main():
    """Prints what is found."""
    places = {}
    for name in (line.strip() for line in sys.stdin):
        if TESTS.search(name):
            continue
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for position, message, arguments in messages_in(text):
            place = f"{name}:{text.count(chr(10), 0, position) + 1}"
            complaint = complaint_about(message, arguments)
            if complaint:
                print(f"{place}: {complaint}: {message}")
            package = "/".join(name.split("/")[:2])
            first = places.setdefault((package, message), place)
            if first != place:
                print(f"{place}: is the message of {first}, too: {message}")


main()
