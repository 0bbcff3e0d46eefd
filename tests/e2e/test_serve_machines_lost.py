"""Runs on another machine: what is seen of them while they run, and connections that are lost and found again."""
# ci: no sanitizers
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import sys

import common
from machines_support import Added, Machines
from serve_support import STEPS, Server


class Live(Added):
    """A recording is looked at where it is made, while it is made."""

    def begin(self):
        gate, script = self.gate()
        name = self.run_far("bash", parameters=str(script))
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        return name, gate

    def viewers(self):
        return [p.name for p in pathlib.Path("/proc").glob("[0-9]*") if self.is_viewer(p)]

    def is_viewer(self, process):
        try:
            return b"--socket-fd" in (process / "cmdline").read_bytes() and \
                str(self.sshd.home) in os.readlink(process / "cwd")
        except OSError:
            return False

    def slices(self, name):
        return self.ask("p", name, "info")["slices"]

    def test_the_timeline_grows_while_it_runs_there(self):
        name, gate = self.begin()
        self.until(lambda i: i["live"] and i["slices"] == 1, lambda: self.ask("p", name, "info"))
        self.assertEqual(len(self.viewers()), 1)
        self.assertEqual(self.ask("p", name, "aggregate", scope={})["slices"]["data"][0], ["before"])
        lanes = [[p["track"], i] for p in self.ask("p", name, "places") for i in range(len(p["lanes"]))]
        self.assertTrue(lanes)
        self.assertGreater(len(self.ask("p", name, "window", t0=0, t1=1e12, pixels=1400, lanes=lanes)), 16)
        self.assertEqual([p.name for p in self.path(name).glob("*.utr")], [])
        gate.touch()
        self.wait_for("p", name)
        self.assertEqual(self.names(name), {"before": 1, "after": 1})
        self.until(lambda left: left == [], self.viewers)
        self.assertFalse((self.path(name) / "viewer").exists())
        self.assertEqual(self.runs_there(), [])

    def test_many_look_at_once(self):
        name, gate = self.begin()
        self.until(lambda i: i["slices"] == 1, lambda: self.ask("p", name, "info"))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            seen = list(pool.map(lambda _: self.slices(name), range(64)))
        self.assertEqual(seen, [1] * 64)
        self.assertEqual(len(self.viewers()), 1)
        gate.touch()
        self.assertEqual(self.wait_for("p", name)["state"], "ready")

    def test_it_is_there_again_after_the_connection_was_lost(self):
        name, gate = self.begin()
        self.until(lambda i: i["slices"] == 1, lambda: self.ask("p", name, "info"))
        self.sshd.cut()
        path = f"/projects/p/results/{name}/view/info"
        got = self.until(lambda a: a.status == 200, lambda: self.call("POST", path, {}, check=False))
        self.assertTrue(got.json["live"])
        gate.touch()
        self.assertEqual(self.wait_for("p", name)["state"], "ready")
        self.assertEqual(self.names(name), {"before": 1, "after": 1})

    def test_a_hostile_machine_answers_as_data_and_nothing_else(self):
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\nSet-Cookie: evil=1\r\nContent-Encoding: x\nX-Evil: 1\r\n" \
                 b"Location: http://evil.example/\r\n\r\n<script>alert(1)</script>"
        agent = self.script(self.sshd.folder / "evil.py", f"""#!{sys.executable}
import sys
out, source = sys.stdout.buffer, sys.stdin.buffer
source.readline(), source.readline()
out.write(b"unitrace-agent-1\\n"); out.flush()
source.readline()
state = b'{{"state":"running","seconds":1,"status":-1}}'
out.write(b"state 0 %d -\\n%s" % (len(state), state)); out.flush()
answer = {answer!r}
while line := source.readline():
    word, number, size = line.split()
    if source.read(int(size)):
        out.write(b"talk %s %d -\\n%s" % (number, len(answer), answer) + b"talk %s 0 -\\n" % number + b"talk 999999 3 -\\nabc")
        out.flush()
""")
        self.sshd.stop()
        self.sshd.start(f"ForceCommand {agent}")
        name = self.run_far(parameters="task x")
        self.until(lambda r: r["state"] == "running", lambda: self.result("p", name))
        path = f"/projects/p/results/{name}/view/info"
        got = self.until(lambda a: a.status == 200, lambda: self.call("POST", path, {}, check=False))
        self.assertEqual(got.headers["Content-Type"], "application/octet-stream")
        self.assertEqual([got.headers[h] for h in ("Set-Cookie", "X-Evil", "Location", "Content-Encoding")], [None] * 4)
        self.control(name, "cancel")
        self.sshd.cut()
        self.wait_for("p", name)

    def script(self, path, text):
        path.write_text(text)
        path.chmod(0o755)
        return path


class Lost(Added):
    def test_a_connection_that_is_lost_is_made_again(self):
        gate, script = self.gate()
        name = self.run_far("bash", parameters=str(script))
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.sshd.cut()
        gate.touch()
        got = self.wait_for("p", name)
        self.assertEqual((got["state"], got["status"] >> 8, got["trouble"]), ("ready", 3, ""))
        self.assertEqual(self.output(name), "waiting\ndone\n")
        self.assertEqual(self.names(name), {"before": 1, "after": 1})
        self.assertEqual(self.runs_there(), [])

    def test_when_nobody_can_be_reached_it_is_named_and_can_be_fetched(self):
        gate, script = self.gate()
        name = self.run_far("bash", parameters=str(script))
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.sshd.stop()
        self.sshd.cut()
        got = self.wait_for("p", name)
        self.assertEqual(got["state"], "failed")
        there = self.runs_there()
        self.assertEqual(len(there), 1)
        self.assertIn(f"127.0.0.1:{self.sshd.home}/.cache/unitrace/runs/{there[0]}", got["trouble"])
        self.assertEqual(got["far"]["run"], there[0])
        gate.touch()
        self.sshd.start()
        self.control(name, "fetch")
        got = self.until(lambda r: r["state"] == "ready", lambda: self.result("p", name))
        self.assertEqual((got["status"] >> 8, got["trouble"], got["far"]), (3, "", None))
        self.assertEqual(self.output(name), "waiting\ndone\n")
        self.assertEqual(self.names(name), {"before": 1, "after": 1})
        self.assertEqual(self.runs_there(), [])
        self.control(name, "fetch", 409)

    def test_who_keeps_it_here_may_be_killed(self):
        gate, script = self.gate()
        name = self.run_far("bash", parameters=str(script))
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        os.kill(json.loads((self.path(name) / "state.json").read_text())["supervisor"], signal.SIGKILL)
        gate.touch()
        got = self.until(lambda r: r["state"] == "ready", lambda: self.result("p", name))
        self.assertEqual(got["status"] >> 8, 3)
        self.assertEqual(self.names(name), {"before": 1, "after": 1})
        self.assertEqual(self.runs_there(), [])

    def test_who_keeps_it_there_may_be_killed(self):
        _, script = self.gate()
        name = self.run_far("bash", parameters=str(script))
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        there = self.sshd.home / ".cache/unitrace/runs" / self.runs_there()[0]
        supervisor = json.loads((there / "state.json").read_text())["supervisor"]
        launcher = common.children_of(supervisor)[0]
        bash = common.children_of(launcher)[0]
        for pid in (supervisor, launcher, bash):
            os.kill(pid, signal.SIGKILL)
        got = self.wait_for("p", name)
        self.assertIn("was killed", got["trouble"])
        self.assertEqual(self.names(name), {"before": 1})
        self.assertEqual(self.runs_there(), [])


class Passwords(Machines):
    """ssh itself stands between: ours asks the helper as ssh does, and logs in by key if it was told the right one."""

    def start_server(self, *options, **more):
        tools = self.dir / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "ssh").write_text(f"""#!{sys.executable}
import os, subprocess, sys
words = sys.argv[1:]
if "PubkeyAuthentication=no" in words and os.environ.get("SSH_ASKPASS"):
    assert os.environ["SSH_ASKPASS_REQUIRE"] == "force"
    asked = subprocess.run([os.environ["SSH_ASKPASS"], "Are you sure you want to continue (yes/no/[fingerprint])? "], capture_output=True)
    assert asked.returncode == 1 and not asked.stdout, asked
    asked = subprocess.run([os.environ["SSH_ASKPASS"], "someone@127.0.0.1's password: "], capture_output=True, text=True)
    again = subprocess.run([os.environ["SSH_ASKPASS"], "someone@127.0.0.1's password: "], capture_output=True, text=True)
    assert again.stdout == "", again
    if asked.stdout != "correct horse\\n":
        sys.exit("someone@127.0.0.1: Permission denied (password).")
    words = ["PubkeyAuthentication=yes" if w == "PubkeyAuthentication=no" else "BatchMode=yes" if w == "BatchMode=no" else
             "PreferredAuthentications=publickey" if w.startswith("PreferredAuthentications=") else w for w in words]
    words = ["-i", "{self.sshd.identity}"] + words
os.execv("{shutil.which('ssh')}", ["ssh"] + words)
""")
        (tools / "ssh").chmod(0o755)
        env = common.environment()
        env["PATH"] = f"{tools}:{env['PATH']}"
        env["HOME"] = str(self.dir)
        Server.start(self, *options, env=env, **more)

    def test_it_is_reported_to_ssh_and_lies_nowhere(self):
        self.add(login="password", identity="")
        got = self.tried(password="incorrect horse")
        self.assertEqual(got["state"], "refused", got)
        got = self.tried(password="correct horse")
        self.assertEqual(got["state"], "ready", got)
        self.assertEqual(self.call("POST", "/machines/far/devices", {}).status, 409)
        told = self.do("POST", "/machines/far/devices", {"password": "correct horse"})
        self.assertEqual(told["devices"], got["devices"]["devices"])
        gate = self.dir / "gate"
        name = self.run_far("bash", arguments=["-c", f"echo waiting; while [ ! -e {gate} ]; do sleep 0.05; done; {STEPS} task told"],
                            password="correct horse")
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        seen = b""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            if int(process.name) == os.getpid():
                continue
            for file in ("cmdline", "environ"):
                try:
                    seen += (process / file).read_bytes()
                except OSError:
                    pass
        self.assertNotIn(b"correct horse", seen)
        gate.touch()
        self.assertEqual(self.wait_for("p", name)["state"], "ready")
        self.assertEqual(self.names(name), {"told": 1})
        for file in self.data.rglob("*"):
            if file.is_file() and not file.is_symlink() and file.suffix != ".new":  # those are about to get another name
                self.assertNotIn(b"correct horse", file.read_bytes(), file)
        self.assertNotIn("correct horse", self.said())
        self.assertNotIn("password", self.result("p", name)["asked"]["configuration"])

    def test_it_comes_back_by_itself_when_the_connection_is_lost(self):
        self.add(login="password", identity="")
        gate = self.dir / "gate"
        name = self.run_far("bash", arguments=["-c", f"echo waiting; while [ ! -e {gate} ]; do sleep 0.05; done"], password="correct horse")
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.sshd.cut()
        gate.touch()
        self.assertEqual(self.wait_for("p", name)["status"], 0)


if __name__ == "__main__":
    common.main()
