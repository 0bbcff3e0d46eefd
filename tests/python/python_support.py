"""What the tests of the Python package share: the interpreters that it is built for."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from common import (BUILD, PATIENCE, SOURCE, UNITRACE, Case, Span, Trace, environment, find_venv, main, need,  # noqa: E402,F401
                    need_venv, skip)

PACKAGE = BUILD / "lib/unitrace/python"
HERE = pathlib.Path(__file__).resolve().parent


def _version(python):
    done = subprocess.run([str(python), "-c",
                           "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"],
                          capture_output=True, text=True, check=False)
    return done.stdout.split(maxsplit=1) if done.returncode == 0 else None


def pythons():
    """{version: interpreter} of those with an extension: this one first, others by UNITRACE_PYTHONS."""
    built = {re.search(r"cpython-(\d)(\d+)", p.name).groups()
             for p in PACKAGE.glob("unitrace/_core.*.so")}
    built = {".".join(v) for v in built}
    found = {}
    for python in [sys.executable, "/usr/bin/python3",
                   *filter(None, os.environ.get("UNITRACE_PYTHONS", "").split(":"))]:
        facts = _version(python) if os.path.exists(python) else None
        if facts and facts[0] in built and facts[0] not in found:
            found[facts[0]] = facts[1].strip()
    return found


def need_python():
    need()
    found = pythons()
    if not found:
        skip(f"{PACKAGE} has no extension for {sys.executable}; was Python.h (python3-dev) missing?")
    return found
