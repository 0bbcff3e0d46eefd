"""Tests of pages: a script of this folder looks at them in a headless Chromium and writes down what it saw."""
import json
import re
import shutil
import signal
import subprocess
import unittest

from browser_support import MODULES, with_browser
from common import PATIENCE, SOURCE, UNITRACE, Case


def unitrace(*words, cwd=None):
    """What it prints; it must not fail."""
    run = subprocess.run([UNITRACE, *words], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if "built without the viewer's page" in run.stderr:
        raise unittest.SkipTest("built without the page (tools/setup.sh test)")
    if run.returncode:
        raise AssertionError(run.stderr)
    return run.stdout


def look(script, out, *words):
    """What it saw, which it leaves in out: node SCRIPT NODE_MODULES OUT WORDS..."""
    if not shutil.which("node"):
        raise unittest.SkipTest("node is not installed")
    run = subprocess.run(["node", SOURCE / "tests/e2e" / script, MODULES, out, *map(str, words)], env=with_browser(),
                         capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
    if run.returncode == 77:
        raise unittest.SkipTest(run.stderr.strip() + " (tools/setup.sh test)")
    if run.returncode:
        raise AssertionError(run.stderr)
    return json.loads(out.read_text())


class ViewCase(Case):
    script = ""  # of this folder
    words = ()  # that it takes in front of addresses

    def look(self, *addresses):
        return look(self.script, self.dir / "seen.json", *self.words, *addresses)

    def serve_and_look(self, traces, *pages):
        """At these traces over HTTP first, then at the pages."""
        with subprocess.Popen([UNITRACE, "view", *traces, "--no-browser", "--port", "0"], cwd=self.dir, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
            try:
                address = re.search(r"http://\S+", server.stderr.readline())[0]
                return self.look(address, *(page.as_uri() for page in pages))
            finally:
                server.send_signal(signal.SIGINT)
                server.wait(10)
