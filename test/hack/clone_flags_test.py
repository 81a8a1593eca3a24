#!/usr/bin/env python3
"""The compiler cache serves another clone: no source has the path of the clone in a definition, and no precompiled header includes by it, as
the cache rewrites neither.

Environment: KUBEXX_BUILD_DIR.
"""
import json
import os
import pathlib
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The only source that has to know the path.
KNOWS = ROOT / "pkg/base/testing/places/places.cc"


def main():
    build = pathlib.Path(os.environ["KUBEXX_BUILD_DIR"]).resolve()
    places = [place + end for place in {str(ROOT), str(build)} for end in '/"']
    faults, known = [], False
    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in commands:
        flags = [word for word in shlex.split(entry["command"]) if word.startswith("-D") and any(place in word for place in places)]
        if pathlib.Path(entry["file"]).resolve() == KNOWS:
            known = True
        elif flags:
            faults.append(f"{entry['file']} is compiled with {' '.join(flags)}")
    headers = sorted((build / "CMakeFiles").glob("kubexx_precompiled_*.dir/cmake_pch.hxx"))
    for header in headers:
        faults += [f"{header} has the line {line}" for line in header.read_text().splitlines() if any(place in line for place in places)]
    if not headers and "KUBEXX_PRECOMPILE:BOOL=ON" in (build / "CMakeCache.txt").read_text():
        faults.append("there are no precompiled headers to look at")
    if not known:
        faults.append(f"{KNOWS} is not compiled")
    for fault in faults:
        print(f"clone_flags: {fault}", file=sys.stderr)
    if faults:
        print("clone_flags: use kubexx/base/testing/places/places.h, and angle brackets for precompiled headers, so that other clones find it in the cache",
              file=sys.stderr)
        return 1
    print(f"clone_flags: {len(commands)} sources, and none knows where its clone lies")
    return 0


sys.exit(main())
