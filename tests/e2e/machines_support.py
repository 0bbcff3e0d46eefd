"""Tests of runs on another machine: a real sshd on loopback, and a server that knows of it."""
import shutil
import tempfile
import urllib.parse

import common
from serve_support import STEPS, RunServer
from sshd_support import Sshd, fingerprint

common.need("steps")


class Machines(RunServer):
    """Another machine: a real sshd. Our agent is copied there once for all tests of a class that share its home."""
    home = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.home = tempfile.mkdtemp(prefix="ut_home_")
        cls.addClassCleanup(shutil.rmtree, cls.home)

    def start(self, *options, **more):
        self.sshd = Sshd(self.dir / "sshd", self.home).start()
        self.addCleanup(self.sshd.stop)
        self.addCleanup(self.sshd.cut)  # a test that failed leaves no agent behind
        self.start_server(*options, **more)

    def start_server(self, *options, **more):
        env = common.environment()
        env.pop("SSH_AUTH_SOCK", None)
        env["HOME"] = str(self.dir)
        super().start(*options, env=env, **more)

    def add(self, accept=True, **more):
        machine = self.sshd.machine(**more)
        self.do("POST", "/machines", machine, 204)
        if accept:
            self.do("PUT", f"/machines/{machine['name']}/key", {"fingerprint": fingerprint(self.sshd.host_key)}, 204)
        return machine["name"]

    def tried(self, name="far", **more):
        return self.do("POST", f"/machines/{name}/test", more or {})

    def run_far(self, application=STEPS, status=200, **more):
        return self.run_it(application, status, target="far", **more)

    def result(self, project, result):
        return super().result(project, urllib.parse.quote(result))

    def runs_there(self):
        folder = self.sshd.home / ".cache/unitrace/runs"
        return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


class Added(Machines):
    """A machine that is known."""

    def setUp(self):
        super().setUp()
        self.add()

    def gate(self):
        return super().gate("done", 3)
