#!/usr/bin/env python3
"""Fail on words that a reader would have to translate, and name the usual one.

    tools/check_words.py [FILE...]      all files of the repository, or these

Identifiers and file names are checked for the words of NAMES, everything (code, comments, messages,
documents) for the phrases of PHRASES. What must keep a word, a format of others or a key that
readers of files know, is a line of ALLOWED, with the reason.
"""
import pathlib
import re
import subprocess
import sys

NAMES = [  # one or more parts of an identifier or a file name, and what to write
    ("crews?", "thread_pool"),
    ("attic", "deferred_free"),
    ("tellers?", "logger"),
    ("tidings", "event_stream"),
    ("session_news|news_(file|kind|word)", "session_event, event_file"),
    ("(gate)?keepers?", "supervisor, auth"),
    ("shelf|shelves", "data_dir"),
    ("(ut|is|put|reach)_far|far_(agents?|deploy|frames?|hello|run|talk)", "remote"),
    ("doors?", "inject, entry_point"),
    ("knocks?", "control_watch, notify"),
    ("living", "liveness, alive"),
    ("device_way|way_(cuda|l0|cl)", "device_api"),
    ("judges?|judged", "evaluate, classify"),
    ("(ut|hot|kernel|rank|ace)_verdicts?", "bottleneck, limiter, significance, summary"),
    ("ut_wanted", "search_query"),
    ("ut_hits?", "view_match"),
    ("ut_strips?", "lane_item"),
    ("ut_intro", "view_header"),
    ("ut_nothing", "empty_result"),
    ("settles?", "finalize"),
    ("log_room", "log_module"),
    ("is_told|are_told", "is_reported"),
]
PHRASES = [
    (r"takes? the most time of its own", "has the most self time"),
    (r"product of matrices without", "GEMM that does not use Tensor Cores"),
    (r"Passphrase until now", "Current passphrase"),
    (r"Tokens of scripts", "API tokens"),
    (r"late never replaces", "Typing is never overwritten by a late response"),
    (r"\b(given|hand(s|ed)?) (a|the) teller\b", "a logger"),
    (r"\bthe shelf\b", "the data directory"),
    (r"\bground floor\b", "lowest layer"),
    (r"\bleverag(e|es|ing)\b|\butiliz(e|es|ing)\b", "use"),
    (r"\bseamless(ly)?\b|\beffortless(ly)?\b|\bblazing(ly)?\b", "a figure"),
]
ALLOWED = [  # file, what is found there
    (r"^CHANGELOG\.md$", r".*"),  # says what was renamed
    (r"^tools/check_words\.py$|^tests/e2e/test_check_words\.py$", r".*"),  # the list itself
]
TEXT = {".c", ".h", ".cpp", ".def", ".py", ".js", ".ts", ".tsx", ".md", ".sh", ".cmake", ".txt",
        ".json", ".css", ".in", ".toml", ".yml", ".yaml"}
SKIPPED = re.compile(r"^tests/(golden|fuzz/corpus)/|package-lock\.json$")

# a part of a name begins and ends at an underscore or at the name's own end
name_rules = [(re.compile(rf"(?<![A-Za-z0-9])({word})(?![A-Za-z0-9])", re.I), instead)
              for word, instead in NAMES]
phrase_rules = [(re.compile(phrase), instead) for phrase, instead in PHRASES]
identifier = re.compile(r"[A-Za-z]\w*_\w+")


def is_allowed(path, found):
    return any(re.search(where, path) and re.search(what, found) for where, what in ALLOWED)


def check_text(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for name in identifier.findall(line):
            for rule, instead in name_rules:
                if rule.search(name) and not is_allowed(path, name):
                    yield f"{path}:{number}: {name}: write {instead}"
        for rule, instead in phrase_rules:
            found = rule.search(line)
            if found and not is_allowed(path, found[0]):
                yield f"{path}:{number}: \"{found[0]}\": write {instead}"


def check(path):
    stem = pathlib.PurePath(path).stem
    for rule, instead in name_rules:
        if rule.search(stem) and not is_allowed(path, stem):
            yield f"{path}: the file's name: write {instead}"
    file = pathlib.Path(path)
    if file.suffix in TEXT and file.is_file() and not file.is_symlink():
        yield from check_text(path, file.read_text(encoding="utf-8", errors="replace"))


def main(arguments):
    files = arguments or subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True,
                                        capture_output=True, text=True).stdout.splitlines()
    problems = [p for f in files if not SKIPPED.search(f) for p in check(f)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
