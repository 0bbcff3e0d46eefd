"""One Chromium for all scripts that a test file runs: browser.js of this folder starts it."""
import atexit
import functools
import shutil
import subprocess
import tempfile

from common import SOURCE, environment

HERE = SOURCE / "tests/e2e"
MODULES = SOURCE / "build/node/node_modules"  # of tools/setup.sh, whatever the build folder


@functools.cache
def address():
    """Where it listens; "" where it cannot be started: scripts say why."""
    if not shutil.which("node"):
        return ""
    home = tempfile.mkdtemp(prefix="ut_browser_")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    server = subprocess.Popen(["node", HERE / "browser.js", MODULES, home], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)

    def end():
        server.stdin.close()
        server.wait()
        server.stdout.close()
    atexit.register(end)
    return server.stdout.readline().strip()


def with_browser(**more):
    """The environment of a script that drives it."""
    return environment(UNITRACE_BROWSER=address(), **more)
