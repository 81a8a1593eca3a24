#!/usr/bin/env python3
"""What hack/includes finds of the standard library, and what it leaves alone."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True

# Source, and what it misses.
CASES = [
    ("int F() { return std::min(1, 2); }", {"min": "algorithm"}),
    ("#include <algorithm>\nint F() { return std::min(1, 2); }", {}),
    ("auto F() { return std::numeric_limits<int>::max(); }", {"numeric_limits": "limits"}),
    ("#include <limits>\nauto F() { return std::numeric_limits<int>::max(); }", {}),
    ("void F(int* a, int* b) { std::copy(a, b, a); std::ranges::fill(a, b, 1); std::equal(a, b, a); }", {"copy": "algorithm"}),
    ("std::uint32_t F();", {"uint32_t": "cstdint"}),
    ("uint32_t F();", {"uint32_t": "cstdint"}),
    ("#include <cstdint>\nstd::uint32_t F(std::int_fast8_t);", {}),
    ("void F(other::uint32_t a) { a.int32_t; }", {}),
    # What several headers declare.
    ("using H = std::hash<int>;", {"hash": "functional"}),
    ("#include <string_view>\nusing H = std::hash<std::string_view>;", {}),
    ("#include <map>\nusing M = std::map<int, int, std::less<>>;", {}),
    ("using L = std::ranges::less;", {"ranges::less": "functional"}),
    # Two functions of one name.
    ("#include <utility>\nint F(int&& a) { return std::move(a); }", {}),
    ("#include <utility>\nvoid F(int* a) { std::ranges::move(a, a); }", {"ranges::move": "algorithm"}),
    ("#include <cstdio>\nvoid F() { std::remove(\"file\"); }", {}),
    # What one header brings of others, and does not.
    ("#include <vector>\nstd::pair<int, int> F(std::initializer_list<int>);", {}),
    ("#include <vector>\nauto F(std::vector<int> a) { return std::next(a.begin()); }", {"next": "iterator"}),
    ("int F() { return errno; }", {"errno": "cerrno"}),
    ("#include <errno.h>\nint F() { return errno; }", {}),
    ("std::memory_order F(std::atomic_flag&);", {"atomic_flag": "atomic"}),
    ("static_assert(std::is_same_v<int, int>);", {"is_same_v": "type_traits"}),
    # Not code.
    ('// std::min\nconst char* kText = "std::min"; /* std::sort */', {}),
]


def main():
    loader = importlib.machinery.SourceFileLoader("includes", str(ROOT / "hack/includes"))
    includes = importlib.util.module_from_spec(importlib.util.spec_from_loader("includes", loader))
    loader.exec_module(includes)
    faults, names = 0, includes.Names()
    with tempfile.TemporaryDirectory() as folder:
        for number, (text, wanted) in enumerate(CASES):
            path = pathlib.Path(folder) / f"case{number}.cc"
            path.write_text(text)
            found = includes.missing_of_standard(includes.Tree(), path, names)
            if found != wanted:
                print(f"includes: {text!r} misses {found} instead of {wanted}", file=sys.stderr)
                faults += 1
    if faults:
        return 1
    print(f"includes: {len(CASES)} sources miss what they miss")
    return 0


sys.exit(main())
