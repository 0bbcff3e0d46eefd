"""Runs on another machine: a real sshd on loopback, keys that are checked, our agent, a machine that lies."""
# ci: no sanitizers
import json
import os
import shutil
import stat
import subprocess
import sys
import time
import unittest

import common
from common import SOURCE, program
from device_support import backend
from machines_support import Added, Machines
from serve_support import STEPS, Server
from sshd_support import USER, fingerprint, make_key


NASTY = ["$(touch OWNED)", "`touch OWNED`", "; touch OWNED #", "| touch OWNED", "&& touch OWNED", "' ; touch OWNED ; '", '"; touch OWNED; "',
         "\\", "!!", "*", "~", "-n", "--help", "a b\tc", "\u00e9\u4e2d", "%h%u", "${HOME}", "{{x}}"]


class Keys(Machines):
    def test_a_key_is_looked_at_before_anything_is_sent(self):
        machine = self.add(accept=False, folder=str(self.dir / "agent"))  # where nothing of ours is yet
        self.assertEqual(machine, "far")
        shown = fingerprint(self.sshd.host_key)
        got = self.tried(password="secret")
        self.assertEqual((got["state"], got["fingerprint"]), ("unknown-key", shown))
        problems = self.run_far(status=400)["problems"]
        self.assertEqual([p["field"] for p in problems], ["target"])
        self.assertIn("accepted", problems[0]["text"])
        self.assertEqual(self.call("PUT", "/machines/far/key", {"fingerprint": "SHA256:" + "A" * 43}).status, 409)
        self.assertEqual(self.get("/machines")[0]["key"], "")
        self.do("PUT", "/machines/far/key", {"fingerprint": shown}, 204)
        self.assertEqual(self.get("/machines")[0]["key"], shown)
        self.assertEqual(stat.S_IMODE((self.data / ".unitrace/known_hosts").stat().st_mode), 0o600)
        self.assertNotIn("Accepted publickey", (self.sshd.folder / "log").read_text())
        got = self.tried()
        self.assertEqual(got["state"], "ready", got)
        self.assertGreater(got["copied"], 1 << 20)
        self.assertEqual(self.tried()["copied"], 0)
        self.assertEqual([p.name for p in (self.data / ".unitrace").glob("scan.*")], [])

    def test_another_key_is_refused(self):
        self.add()
        self.assertEqual(self.tried()["state"], "ready")
        self.sshd.stop()
        self.sshd.host_key = make_key(self.sshd.folder / "other_key")
        self.sshd.start()
        got = self.tried()
        self.assertEqual((got["state"], got["fingerprint"]), ("changed-key", fingerprint(self.sshd.host_key)))
        self.assertIn("another key than the one that was accepted", got["text"])
        failed = self.wait_for("p", self.run_far(parameters="task x"))
        self.assertEqual(failed["state"], "failed")
        self.assertIn("another key", failed["trouble"])
        self.do("DELETE", "/machines/far/key", status=204)
        self.assertEqual(self.tried()["state"], "unknown-key")

    def test_a_key_of_another_kind_is_another_key(self):
        self.add()
        self.sshd.stop()
        self.sshd.host_key = make_key(self.sshd.folder / "rsa_key", "rsa")
        self.sshd.start()
        self.assertEqual(self.tried()["state"], "changed-key")

    def test_who_is_not_let_in_is_reported_why(self):
        make_key(self.dir / "stranger")
        self.add(identity=str(self.dir / "stranger"))
        got = self.tried()
        self.assertEqual(got["state"], "refused")
        self.assertIn("authorized_keys", got["text"])
        failed = self.wait_for("p", self.run_far(parameters="task x"))
        self.assertIn("does not let", failed["trouble"])
        self.assertIsNone(failed["far"])

    def test_a_machine_that_is_not_there(self):
        self.add()
        self.sshd.stop()
        got = self.tried()
        self.assertEqual(got["state"], "unreachable", got)
        self.assertIn("Connection refused", got["text"])
        self.assertEqual(self.call("POST", "/machines/far/processes", {}).status, 502)
        self.assertEqual(self.call("PUT", "/machines/far/key", {"fingerprint": "SHA256:x"}).status, 502)

    def test_a_key_that_is_protected(self):
        make_key(self.sshd.folder / "locked", secret="open sesame")
        with open(self.sshd.folder / "authorized_keys", "a") as keys:
            keys.write((self.sshd.folder / "locked.pub").read_text())
        self.add(identity=str(self.sshd.folder / "locked"))
        self.assertEqual(self.tried()["state"], "refused")
        got = self.tried(password="open barley")
        self.assertEqual(got["state"], "refused")
        self.assertIn("the passphrase of the key is wrong", got["text"])
        got = self.tried(password="open sesame")
        self.assertEqual(got["state"], "ready", got)
        name = self.run_far(parameters="task unlocked", password="open sesame")
        self.assertEqual(self.wait_for("p", name)["state"], "ready")
        self.assertEqual(self.names(name), {"unlocked": 1})

    def test_a_wrong_password_is_tried_once(self):
        self.sshd.stop()
        self.sshd.start("PasswordAuthentication yes")
        self.add(login="password", identity="")
        self.assertIn("needs the password", self.tried()["text"])
        self.assertEqual(self.run_far(status=400)["problems"][0]["field"], "password")
        got = self.tried(password="this is not it")
        self.assertEqual(got["state"], "refused", got)
        self.assertIn("the password is wrong", got["text"])
        log = (self.sshd.folder / "log").read_text()
        self.assertEqual(log.count("Failed password"), 1, log)


    def test_a_right_password_of_a_real_user(self):
        self.sshd.stop()
        if not self.sshd.add_user("ut_guest", "correct horse"):
            self.skipTest("not here: a user with a password takes root and a mount namespace")
        self.sshd.start("PasswordAuthentication yes")
        self.add(login="password", identity="", user="ut_guest")
        self.assertEqual(self.tried(password="wrong horse")["state"], "refused")
        got = self.tried(password="correct horse")
        self.assertEqual(got["state"], "ready", got)
        name = self.run_far(parameters="task inside", password="correct horse")
        self.assertEqual(self.wait_for("p", name)["state"], "ready")
        self.assertEqual(self.names(name), {"inside": 1})
        self.assertIn("Accepted password for ut_guest", (self.sshd.folder / "log").read_text())


class Runs(Added):
    def test_a_run_is_a_result_like_any_other(self):
        name = self.run_far("bash", arguments=["-c", f"{STEPS} task one; echo said; exit 3"])
        got = self.wait_for("p", name)
        self.assertEqual((got["state"], got["status"] >> 8, got["target"], got["trouble"]), ("ready", 3, "far", ""))
        self.assertEqual(self.output(name), "said\n")
        self.assertEqual(self.names(name), {"one": 1})
        self.assertEqual(self.runs_there(), [])
        self.assertIsNone(got["far"])
        self.assertIn('"kind":"finished"', self.call("GET", f"/projects/p/results/{name}/log").json["text"])
        agents = list((self.sshd.home / ".cache/unitrace/agents").iterdir())
        self.assertEqual(len(agents), 1)
        self.assertEqual(stat.S_IMODE(agents[0].stat().st_mode), 0o700)
        line = got["asked"]["shell"]
        self.assertRegex(line, rf"^ssh -p {self.sshd.port} .*{USER}@127\.0\.0\.1 -- ")
        shell = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=self.dir)
        self.assertEqual((shell.returncode, shell.stdout), (3, "said\n"), shell.stderr)

    def test_words_stay_words(self):
        script = self.dir / "words.py"
        script.write_text("import json, os, sys\ngiven = [os.environ[f'GIVEN{i}'] for i in range(len(sys.argv) - 2)]\n"
                          "print(json.dumps([sys.argv[1:], given, os.getcwd()]))\n")
        for first in range(0, len(NASTY), 6):  # several at once: what one of them breaks is seen in all
            some = NASTY[first:first + 6]
            folder = self.dir.joinpath(*(f"in {nasty.replace('/', '')}" for nasty in some))
            folder.mkdir(parents=True)
            name = self.run_far(sys.executable, arguments=[str(script), *some, "last"], directory=str(folder),
                                environment=[{"name": f"GIVEN{i}", "value": nasty} for i, nasty in enumerate(some)])
            got = self.wait_for("p", name)
            self.assertEqual(got["state"], "ready", got)
            self.assertEqual(json.loads(self.output(name)), [[*some, "last"], some, str(folder)])
        self.assertEqual([str(p) for p in self.dir.rglob("OWNED")], [])
        self.assertEqual(self.runs_there(), [])

    def test_names_of_programs_and_results_stay_names(self):
        started = []
        for nasty in NASTY:
            if "/" in nasty or nasty.startswith(("-", "~", "*")):
                continue
            target = self.dir / nasty
            target.symlink_to(STEPS)
            wanted = {} if nasty in ("\\",) else {"name": f"r {nasty.strip()}"}
            got = self.call("POST", "/projects/p/runs", {"application": str(target), "parameters": "task here", "analysis": "itt", "target": "far", **wanted})
            if got.status == 400:
                self.assertIn("name", [p["field"] for p in got.json["problems"]])
                continue
            started.append(got.json["result"])
        for name in started:  # they run side by side
            self.assertEqual(self.wait_for("p", name)["state"], "ready", name)
        self.assertEqual([str(p) for p in self.dir.rglob("OWNED")], [])

    def test_a_program_that_cannot_run_says_why(self):
        for words, why in (({"application": "/nonexistent/x"}, "/nonexistent/x"), ({"directory": "/nonexistent"}, "/nonexistent: No such file")):
            got = self.wait_for("p", self.run_far(**words))
            self.assertEqual(got["state"], "failed", got)
            self.assertIn(why, got["trouble"])
        self.assertEqual(self.runs_there(), [])

    def test_pause_resume_and_stop(self):
        gate, script = self.gate()
        second, other = self.gate()
        script.write_text(script.read_text().replace("exit 3", f"bash {other}"))
        name = self.run_far("bash", parameters=str(script), paused=True)
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.wait_for("p", name, ("paused",))
        self.control(name, "resume")
        self.wait_for("p", name, ("running",))
        gate.touch()
        self.until(lambda t: t.count("waiting") == 2, lambda: self.output(name))
        self.control(name, "pause")
        self.wait_for("p", name, ("paused",))
        self.control(name, "stop")
        got = self.wait_for("p", name)
        self.assertEqual(got["state"], "ready", got)
        self.assertEqual({k: v for k, v in self.names(name).items()}, {"after": 1, "before": 1})
        self.assertEqual(self.runs_there(), [])
        self.control(name, "pause", 409)

    def test_cancel_ends_everything_there(self):
        _, script = self.gate()
        name = self.run_far("bash", parameters=str(script))
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.control(name, "cancel")
        got = self.wait_for("p", name)
        self.assertEqual((got["state"], got["trouble"]), ("failed", "cancelled"))
        self.assertEqual(subprocess.run(["pgrep", "-f", str(script)], capture_output=True).stdout, b"")
        self.assertEqual(self.runs_there(), [])

    def test_processes_there(self):
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        self.until(lambda l: [p for p in l if p["pid"] == sleeper.pid], lambda: self.do("POST", "/machines/far/processes", {}))

    def test_a_process_there_is_attached_to(self):
        burner = subprocess.Popen([program("burn"), "shares", "60000"], stdout=subprocess.DEVNULL)
        self.addCleanup(burner.wait)
        self.addCleanup(burner.kill)
        name = self.run_far("", what="attach", pid=burner.pid, duration="300ms", analysis="hotspots")
        got = self.wait_for("p", name)
        if got["state"] == "failed" or "nothing was recorded" in got["trouble"]:
            raise unittest.SkipTest(f"no samples here: {got['trouble']} {self.output(name)}")
        self.assertGreater(self.ask("p", name, "info")["samples"], 0)

    def test_a_folder_of_ones_own_there(self):
        folder = self.sshd.home / "we ird; 'x' & `touch OWNED` | \\y"
        self.do("PUT", "/machines/far", self.sshd.machine(folder=str(folder)), 204)
        got = self.tried()
        self.assertEqual((got["state"], got["folder"]), ("ready", str(folder)))
        name = self.run_far(parameters="task there")
        self.assertEqual(self.wait_for("p", name)["state"], "ready")
        self.assertEqual(self.names(name), {"there": 1})
        self.do("PUT", "/machines/far", self.sshd.machine(folder="~/other place"), 204)
        self.assertEqual(self.tried()["folder"], str(self.sshd.home / "other place"))
        self.assertFalse((self.sshd.home / "OWNED").exists())

    def test_versions_that_nobody_uses_any_more_go(self):
        self.assertEqual(self.tried()["state"], "ready")
        agents = self.sshd.home / ".cache/unitrace/agents"
        own, = agents.iterdir()
        month = time.time() - 30 * 86400

        def make(name, when):
            (agents / name / "bin").mkdir(parents=True)
            shutil.copy("/bin/sleep", agents / name / "bin/unitrace")
            os.utime(agents / name, (when, when))

        kept = ["0.0.2-0123456789abcdee", "0.0.3-0123456789abcdec", "notes", "0.0.1-xyz", "0.0.4-0123456789abcde0"]
        for name in ("0.0.1-0123456789abcdef", "new.abCD12", kept[1], *kept[2:4]):
            make(name, month)
        make(kept[0], time.time() - 86400)  # somebody used it yesterday
        (agents / kept[4]).symlink_to(self.dir)
        used = subprocess.Popen([agents / kept[1] / "bin/unitrace", "600"])
        self.addCleanup(used.wait)
        self.addCleanup(used.kill)
        self.assertEqual(self.tried()["state"], "ready")
        self.until(lambda left: left == {own.name, *kept}, lambda: {p.name for p in agents.iterdir()})
        self.assertTrue(self.data.exists())
        used.kill()
        used.wait()
        os.utime(own, (month, month))
        self.assertEqual(self.tried()["state"], "ready")
        self.until(lambda left: left == {own.name, *kept} - {kept[1]}, lambda: {p.name for p in agents.iterdir()})
        self.assertGreater(own.stat().st_mtime, month + 86400)  # it was used just now
        for name in set(kept) - {kept[1], kept[4]}:
            shutil.rmtree(agents / name)
        (agents / kept[4]).unlink()

    def test_a_loud_login_script_is_not_taken_for_our_agent(self):
        (self.sshd.folder / "loud.sh").write_text('#!/bin/sh\necho "unitrace-agent-9 says hello"\nprintf "%05000d\\n" 1\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n')
        (self.sshd.folder / "loud.sh").chmod(0o755)
        self.sshd.stop()
        self.sshd.start(f"ForceCommand {self.sshd.folder}/loud.sh")
        self.assertEqual(self.tried()["state"], "ready")

    def test_another_kind_of_machine(self):
        (self.sshd.folder / "other.sh").write_text('#!/bin/sh\necho unitrace-absent\necho Plan9\necho mips\n')
        (self.sshd.folder / "other.sh").chmod(0o755)
        self.sshd.stop()
        self.sshd.start(f"ForceCommand {self.sshd.folder}/other.sh")
        got = self.tried()
        self.assertEqual(got["state"], "unsuitable")
        self.assertIn("Plan9 mips", got["text"])

    def test_a_hostile_machine_writes_nothing_elsewhere(self):
        for i, frame in enumerate(("file 0 1 ../../../OWNED\nx", "file 0 1 /tmp/OWNED\nx", "file 0 1 result.json\nx", "file 0 1 .x\nx", "file 0 1 notes.txt\nx",
                                   "file 0 99999999999 x\nx", "state 0 4 -\n{\"a\"", "sorry 0 6 -\nmy bad", "nonsense\n", "x" * 100000, "over 0 0 -\n")):
            with self.subTest(frame[:40]):
                name = f"evil {i}"
                got = self.hostile(frame, name)
                self.assertEqual(json.loads((self.path(name) / "result.json").read_text())["kind"], "run")
                self.assertEqual(set(p.name for p in self.path(name).iterdir()) - {"log.jsonl", "supervisor"}, {"result.json", "state.json", "output.txt"}, got)
        self.assertEqual([str(p) for p in self.dir.rglob("OWNED")], [])


    def hostile(self, frames, name):
        """A machine that says these to who starts a run there; the result."""
        evil = self.sshd.folder / "evil.sh"
        (self.sshd.folder / "frame").write_text(frames)
        if not evil.exists():
            evil.write_text(f"#!/bin/sh\necho unitrace-agent-1\ncat {self.sshd.folder}/frame\nsleep 1\n")
            evil.chmod(0o755)
            self.sshd.stop()
            self.sshd.start(f"ForceCommand {evil}")
        return self.wait_for("p", self.run_far(parameters="task x", name=name))

    def test_a_hostile_machine_has_no_folder_but_for_modules(self):
        wrong = ("a.modules/../../OWNED", "a.modules/b/OWNED", "x/OWNED", ".modules/OWNED", "a.modules/.OWNED", "a.session/OWNED", "a.modules.session/OWNED")
        for i, name in enumerate(wrong):
            with self.subTest(name):
                got = self.hostile(f"file 0 0 {name}\nfile 0 1 {name}\nxover 0 0 -\n", f"evil {i}")
                self.assertIn("does not speak as our agent does", got["trouble"])
        self.assertEqual([str(p) for p in self.data.rglob("*OWNED*")], [])

    def test_a_hostile_machine_leaves_no_hole_and_no_file_that_did_not_begin(self):
        for i, (frames, why) in enumerate((("file 0 0 a.modules/x\nfile 4000000000000 1 a.modules/x\nx", "sends no whole file: x"),
                                           ("file 0 1 a.modules/x\nx", "a.modules: No such file"), ("file 0 1 x\nx", "x cannot be written here"),
                                           ("file 0 0 x.modules\nfile 0 0 x.modules/x\n", "x.modules: is no folder"),
                                           ("file 0 0 viewer\n", "sends a file of ours: viewer"),
                                           ("".join(f"file 0 0 a.modules/{n}\n" for n in range(300)) + "file 0 0 a.modules/1\n" * 65300, "more than a result has"))):
            with self.subTest(why):
                got = self.hostile(frames, f"hole {i}")
                self.assertEqual(got["state"], "failed")
                self.assertIn(why, got["trouble"])
                self.assertLess(sum(p.stat().st_size for p in self.path(f"hole {i}").rglob("*") if p.is_file()), 10000)

    def test_a_link_in_the_way_is_not_followed(self):
        """Whoever else may write here: a folder that is a link leads nowhere."""
        outside = self.dir / "outside"
        outside.mkdir()
        began = self.sshd.folder / "began"
        (self.sshd.folder / "evil.sh").write_text(f"#!/bin/sh\necho unitrace-agent-1\nwhile ! test -e {began}; do sleep 0.05; done\n"
                                                  "printf 'file 0 0 a.modules/OWNED\\n'\nsleep 1\n")
        (self.sshd.folder / "evil.sh").chmod(0o755)
        self.sshd.stop()
        self.sshd.start(f"ForceCommand {self.sshd.folder}/evil.sh")
        name = self.run_far(parameters="task x")
        (self.path(name) / "a.modules").symlink_to(outside)
        began.touch()
        self.assertIn("is no folder", self.wait_for("p", name)["trouble"])
        self.assertEqual(list(outside.iterdir()), [])


class Code(Added):
    """What a stall analysis there leaves: the code of the kernels comes with it."""

    def test_the_code_of_kernels_comes_with_their_stalls(self):
        if not backend("cuda").exists() or not program("fake_cuda").exists():
            self.skipTest("the backend of CUDA is not built")
        cupti, cubin = program("libfake_cupti.so"), SOURCE / "tests/data/cuda/kernels.cubin"
        env = {"UNITRACE_CUPTI": cupti, "FAKE_CUPTI_LONG": 1, "FAKE_CUPTI_CUBIN": cubin}
        name = self.run_far(str(program("fake_cuda")), arguments=[str(backend("cuda")), str(cupti), "10"], analysis="stalls",
                            environment=[{"name": k, "value": str(v)} for k, v in env.items()])
        got = self.wait_for("p", name)
        self.assertEqual((got["state"], got["status"], got["trouble"]), ("ready", 0, ""), self.output(name))
        folder, = self.path(name).glob("*.modules.*")
        self.assertTrue(folder.is_dir())
        self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        files = {p.name for p in folder.iterdir()}
        self.assertIn("stalls.json", files)
        self.assertIn(cubin.read_bytes(), [p.read_bytes() for p in folder.iterdir()])
        self.assertEqual(self.runs_there(), [])
        stalls = self.ask("p", name, "sheet", tool="metrics", name="metrics")["stalls"]
        self.assertTrue(stalls)
        code = self.ask("p", name, "stalls", name=stalls[0]["kernel"])
        if not code["report"]:
            self.assertRegex(code["notes"][0], "nvdisasm of the CUDA toolkit is needed")
        else:
            self.assertTrue(any(i["samples"] for i in code["report"]["instructions"]))


class Devices(Added):
    """What there is to be analysed on, over there."""

    def known(self):
        return self.get("/machines")[0].get("devices")

    def look(self, **more):
        return self.do("POST", "/machines/far/devices", more)

    def test_a_test_gives_them_and_they_are_known_from_then_on(self):
        self.assertIsNone(self.known())
        self.sshd.restart("POCL_DEVICES=basic basic basic")
        before = int(time.time())
        got = self.tried()
        found = got["devices"]
        self.assertEqual(self.known(), found)
        self.assertLessEqual(before, found["asked"])
        self.assertLessEqual(found["asked"], time.time())
        here = self.get("/devices")
        self.assertTrue(found["devices"] or found["notes"])
        if any("OpenCL" in d["name"] for d in here["devices"]):  # PoCL: three there, and one here
            self.assertEqual(len([d for d in found["devices"] if "basic" in d["name"]]), 3, found)
        self.assertEqual([d["number"] for d in found["devices"]], list(range(len(found["devices"]))))
        self.sshd.stop()
        self.assertEqual(self.tried()["state"], "unreachable")
        self.assertEqual(self.call("POST", "/machines/far/devices", {}).status, 502)
        self.assertEqual(self.known(), found)
        self.end()
        self.start_server("--enable-server-profiling")
        self.assertEqual(self.known(), found)

    def test_a_machine_without_any_says_why_and_is_asked_again(self):
        self.sshd.restart("OCL_ICD_VENDORS=/nonexistent")
        found = self.tried()["devices"]
        self.assertEqual(found["devices"], [])
        self.assertTrue([n for n in found["notes"] if n.startswith("opencl: ")], found)
        self.sshd.restart()
        again = self.look()
        self.assertEqual(again["devices"], self.get("/devices")["devices"])
        self.assertEqual(self.known(), again)

    def test_what_another_machine_had_is_not_taken_for_its_own(self):
        found = self.tried()["devices"]
        machine = self.sshd.machine()
        for change in ({"host": "localhost"}, {"port": 1}, {"user": "another"}):
            self.do("PUT", "/machines/far", {**machine, **change}, 204)
            self.assertIsNone(self.known(), change)
        self.do("PUT", "/machines/far", {**machine, "folder": "~/elsewhere"}, 204)
        self.assertEqual(self.known(), found)
        self.do("DELETE", "/machines/far/key", status=204)
        self.assertIsNone(self.known())
        self.assertEqual(self.tried()["state"], "unknown-key")
        self.assertEqual(self.call("POST", "/machines/far/devices", {}).status, 409)
        self.do("DELETE", "/machines/far", status=204)
        self.assertEqual([p.name for p in (self.data / ".unitrace/machines").iterdir()], [])
        self.assertEqual(self.call("POST", "/machines/far/devices", {}).status, 404)

    def test_a_hostile_machine_gives_a_bounded_list_of_texts(self):
        long = "x" * 239 + "\u00e9" * 1000
        evil = {"devices": [{"number": n, "name": name} for n, name in enumerate(("<img src=x onerror=alert(1)>", "a\nb\x00c\x1b[31m\x7f", long, "", "\u202eevil"))] +
                [{"number": -1, "name": "x"}, {"number": 1e300, "name": "x"}, {"number": 0.5, "name": "x"}, {"number": "1", "name": "x"},
                 {"number": 9}, {"number": 9, "name": 7}, {"number": 9, "name": None}, 7, None, "x", ["x"], {}] +
                [{"number": 10, "name": f"device {n}", "more": {"deep": [1]}} for n in range(1000)],
                "notes": ["why\r\nnot", 7, None, {"a": 1}] + ["y" * 1000] * 100, "asked": 7, "of": "me", "extra": "z" * 5000}
        self.sshd.lie(json.dumps(evil).encode())
        got = self.look()
        names = [d["name"] for d in got["devices"]]
        self.assertEqual(len(names), 128)
        self.assertEqual(names[:5], ["<img src=x onerror=alert(1)>", "a b c [31m ", "x" * 239, "", "\u202eevil"])
        self.assertEqual(set(d["number"] for d in got["devices"][5:]), {10})
        self.assertEqual(got["notes"][:2], ["there are more devices than are listed here", "why  not"])
        self.assertEqual((len(got["notes"]), max(map(len, got["notes"]))), (16, 240))
        self.assertEqual(set(got), {"devices", "notes", "asked"})
        self.assertGreater(got["asked"], 1700000000)
        self.assertEqual(self.known(), got)
        self.assertLess((self.data / ".unitrace/machines/far.found").stat().st_size, 64 << 10)

    def test_whatever_a_hostile_machine_answers_the_server_stays(self):
        nothing = {"devices": [], "notes": []}
        for answer in (b"{}", b"[]", b"7", b'"x"', b'{"devices":{"a":1},"notes":"x"}', b'{"devices":null}', b'{"notes":[[]]}'):
            with self.subTest(answer):
                self.sshd.lie(answer)
                got = self.look()
                got.pop("asked")
                self.assertEqual(got, nothing)
        for answer in (b"", b"{", b"\xff\xfe", b"[" * 5000, b'{"devices":[' + b"0," * 100000):
            with self.subTest(answer[:20]):
                self.sshd.lie(answer)
                self.assertEqual(self.call("POST", "/machines/far/devices", {}).status, 502)
        self.sshd.lie(b'{"version":"' + b"v" * 100000 + b'","host":7,"folder":"/x","cores":-1,"devices":[{"number":0,"name":"\xff\xed\xa0\x80"}]}')
        got = self.tried()
        self.assertEqual((got["state"], got["version"], got["host"], got["cores"]), ("ready", "", "", 0))
        self.assertEqual(got["devices"]["devices"], [])
        self.assertEqual(self.known(), got["devices"])
        (self.data / ".unitrace/machines/far.found").write_text("no json")
        self.assertIsNone(self.known())


class Fields(Server):
    def test_what_a_shell_or_ssh_could_take_for_something_else_is_refused(self):
        self.start("--enable-server-profiling")
        good = {"name": "m", "host": "h.example", "port": 22, "user": "u", "login": "key", "identity": "~/.ssh/id", "folder": "/scratch/u"}
        wrong = [("name", n) for n in ("", "../x", "a/b", ".x", "-x", "x\n", 1)]
        wrong += [("host", h) for h in ("", "-oProxyCommand=touch OWNED", "h;touch OWNED", "$(touch OWNED)", "`x`", "h x", "u@h", "h/x", "ssh://h", "h\n", "a" * 300, "'h'", 5)]
        wrong += [("user", u) for u in ("-l", "u;id", "$(id)", "u h", "u'", 'u"', "u\n", "`id`", "a" * 100, 5)]
        wrong += [("port", p) for p in (0, -1, 65536, "22; id", 1.5)]
        wrong += [("identity", i) for i in ("id", "-oX", "$HOME/id", '/x"y', "/x\ny", "../id")]
        wrong += [("folder", f) for f in ("x", "-x", "$HOME", "/x$(id)", '/x"y', "/x\ny")]
        wrong += [("login", w) for w in ("none", 1)]
        for field, value in wrong:
            with self.subTest(field, value=value):
                got = self.call("POST", "/machines", {**good, field: value})
                self.assertEqual(got.status, 400, got.body)
                if value != "" or field != "name":
                    self.assertTrue(got.error.startswith((f"{field}:", f'"{field}":')), got.error)
        self.assertEqual(self.get("/machines"), [])
        self.do("POST", "/machines", good, 204)
        self.assertEqual(self.call("POST", "/machines", good).status, 409)
        self.assertEqual(self.call("PUT", "/machines/other", {**good, "name": "other"}).status, 404)
        self.assertEqual(self.call("PUT", "/machines/m", {**good, "name": "other"}).status, 400)
        self.do("PUT", "/machines/m", {**good, "host": "other.example"}, 204)
        self.assertEqual(self.get("/machines"), [{**good, "host": "other.example", "key": ""}])
        self.assertEqual(self.call("POST", "/machines/none/test", {}).status, 404)
        self.assertEqual(self.call("POST", "/machines/m/test", {"password": "a\nb"}).status, 400)
        self.assertEqual(self.call("POST", "/machines/m/test", {"password": "a" * 5000}).status, 400)
        self.do("DELETE", "/machines/m", status=204)
        self.assertEqual(self.call("DELETE", "/machines/m").status, 404)
        self.assertEqual([str(p) for p in self.dir.rglob("OWNED")], [])

    def test_without_profiling_there_are_none(self):
        self.start()
        self.assertEqual(self.call("GET", "/machines").status, 403)
        self.assertEqual(self.call("POST", "/machines", {"name": "m", "host": "h"}).status, 403)


if __name__ == "__main__":
    common.main()
