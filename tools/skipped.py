#!/usr/bin/env python3
"""skipped.py - what the last run of ctest skipped, grouped by reason.

    tools/skipped.py [--strict] [--all] BUILD

Reads ctest's log. A test file says "SKIP: REASON" and ends with 77; a single case of unittest says
"... skipped 'REASON'". Reasons of these kinds are expected on a machine that can install packages, and
are shown by kind; all others one by one. With --strict any other fails (exit status 1); --all shows
every reason.
"""
import collections
import pathlib
import re
import sys

KINDS = {"no hardware": "no such device or counter here",
         "no toolkit": "software or data that no package registry has",
         "not here": "what the kernel, the container or the user may not do",
         "long": "`make nightly` runs them"}


def read(log):
    """{reason: [test, ...]}, a test once for each of its skipped cases."""
    found = collections.defaultdict(list)
    test = None
    for line in log.read_text(errors="replace").splitlines():
        if begin := re.match(r"\d+/\d+ Testing: (.*)", line):
            test = begin[1]
        elif whole := re.match(r"SKIP: (?!__main__)(.*)", line):
            found[whole[1]].append(test)
        elif case := re.search(r"\.\.\. skipped (['\"])(.*)\1$", line):
            found[case[2]].append(test)
    return found


def main(words):
    if {"-h", "--help"} & set(words):
        print(__doc__)
        return 0
    log = pathlib.Path(words[-1]) / "Testing/Temporary/LastTest.log"
    if not log.exists() or " Testing: " not in log.read_text(errors="replace"):
        print(f"skipped: unknown, {log} holds no test", file=sys.stderr)
        return 1
    found = read(log)
    kinds, others = collections.defaultdict(list), {}
    for reason, tests in found.items():
        kind = reason.partition(": ")[0]
        if kind in KINDS and "--all" not in words:
            kinds[kind] += tests
        else:
            others[reason] = tests
    print(f"skipped: {sum(map(len, found.values()))}")
    for kind, tests in kinds.items():
        line(f"{kind}: {KINDS[kind]}", tests)
    for reason, tests in others.items():
        line(reason, tests)
    unexpected = [reason for reason in others if reason.partition(": ")[0] not in KINDS]
    if "--strict" in words and unexpected:
        print(f"not expected on a machine that can install packages: {'; '.join(unexpected)}")
        return 1
    return 0


def line(reason, tests):
    names = sorted(set(tests))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    print(f"  {len(tests):3}  {reason[:120]}  ({', '.join(names[:3])}{more})")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
