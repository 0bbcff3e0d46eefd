#!/usr/bin/env python3
"""Fail if a function, file or parameter list outgrows the limits.

An exception is a comment that says why: /* limits: REASON */ in the ten lines above a function's
body (or inside it) frees that function, the same in the first twenty lines of a file frees the
file's length. clang-tidy counts functions too; one comment right above serves both:
/* limits: REASON, NOLINTNEXTLINE(readability-function-size) */. It assumes formatted code: a
function body opens and closes in the first column.
"""
import pathlib
import re
import sys

FUNCTION_LINES = 100
FILE_LINES = 1000
HEADER_LINES = 200
PARAMETERS = 6

EXCEPTION = re.compile(r"/\*\s*limits:\s*\S")
STRIP = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def blank(match):
    """Comments and literals become spaces: line numbers stay, brackets inside vanish."""
    return re.sub(r"[^\n]", " ", match[0])


def excused(lines, first, last):
    return any(EXCEPTION.search(line) for line in lines[max(0, first):last])


def parameters(signature):
    """How many parameters the last bracketed list of a signature has."""
    depth, count, seen = 0, 0, False
    for ch in reversed(signature[:signature.rfind(")") + 1]):
        depth += (ch == ")") - (ch == "(")
        if depth == 1 and ch == ",":
            count += 1
        if ch not in "() \t\n":
            seen = True
        if depth == 0 and ch == "(":
            break
    return count + 1 if seen else 0


def functions(code):
    """(name, line of signature, line of '{', line of '}') for each function, counted from 0."""
    for n, line in enumerate(code):
        if not line.startswith("{"):
            continue
        start = n
        while start > 0 and code[start - 1].strip() and not re.search(r"[;}]\s*$", code[start - 1]) \
                and not code[start - 1].startswith("#"):
            start -= 1
        signature = "\n".join(code[start:n])
        if "(" not in signature:
            continue
        end = next((i for i in range(n, len(code)) if code[i].startswith("}")), len(code) - 1)
        name = re.search(r"(\w+)\s*\(", signature)
        yield name[1], signature, start, n, end


def check_file(path):
    text = path.read_text(errors="replace")
    lines = text.splitlines()
    code = STRIP.sub(blank, text).splitlines()
    limit = HEADER_LINES if path.suffix == ".h" else FILE_LINES
    if len(lines) > limit and not excused(lines, 0, 20):
        yield f"{path}:1: {len(lines)} lines, the limit is {limit}"
    for name, signature, start, opening, end in functions(code):
        if excused(lines, start - 10, end):
            continue
        length = end - opening - 1
        if length > FUNCTION_LINES:
            yield f"{path}:{start + 1}: {name}() has {length} lines, the limit is {FUNCTION_LINES}"
        count = parameters(signature)
        if count > PARAMETERS:
            yield f"{path}:{start + 1}: {name}() has {count} parameters, the limit is {PARAMETERS}"


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    bad = 0
    for folder in ("src", "include", "examples", "tests"):
        for path in sorted(pathlib.Path(folder).rglob("*.[ch]")):
            for line in check_file(path):
                print(line)
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
