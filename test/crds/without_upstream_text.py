#!/usr/bin/env python3
"""Copies a definition that controller-gen has written from standard input to standard output, without the descriptions that it takes
from Kubernetes' own types: apiVersion, kind and conditions. kubexx-codegen has sentences of its own for these."""
import re
import sys

UPSTREAM = re.compile(r"openAPIV3Schema/properties/(apiVersion|kind)/description$|/conditions/items/(.*/)?description$")


def main():
    path = []  # of the present line: pairs of indentation and key
    left_out = None  # the indentation of the description that is being left out
    for line in sys.stdin:
        found = re.match(r"( *(?:- )*)([^\s:#][^:]*):(?:\s|$)", line)
        indentation = len(line) - len(line.lstrip(" "))
        if left_out is not None and (indentation > left_out or not line.strip()):
            continue
        left_out = None
        if found:
            column = len(found.group(1))
            path = [each for each in path if each[0] < column] + [(column, found.group(2))]
            if UPSTREAM.search("/".join(key for _, key in path)):
                left_out = column
                continue
        sys.stdout.write(line)


if __name__ == "__main__":
    main()
