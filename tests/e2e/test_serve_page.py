"""The page of unitrace serve in Chromium: coming in, projects and results, Configure Analysis, runs."""
# ci: labels slow browser
# ci: no sanitizers
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import common
from browser_support import MODULES, with_browser
from common import BUILD, PATIENCE, program
from serve_support import Server

HERE = pathlib.Path(__file__).parent
STEPS = program("steps")
common.need("steps")


def trace(scale):
    return json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5 * scale, "name": "step", "cat": "op"} for i in range(20)] +
                      [{"ph": "X", "pid": 1, "tid": 1, "ts": 10 * i + 1, "dur": 2, "name": "inner", "cat": "op"} for i in range(20)])


class Page(Server):
    def start(self, *options, **more):
        env = common.environment()
        env["PATH"] = f"{BUILD / 'bin'}:{env['PATH']}"
        env["HOME"] = str(self.dir)
        super().start("--enable-server-profiling", *options, env=env, enter=False, **more)

    def script(self, name, text):
        path = self.dir / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def command(self, scenario, **values):
        values = {"address": self.address, **values}
        return ["node", HERE / "serve_page.js", MODULES, self.dir, scenario, json.dumps(values)]

    def drive(self, scenario, **values):
        got = subprocess.run(self.command(scenario, **values), env=with_browser(), capture_output=True, timeout=4 * PATIENCE)
        if got.returncode == 77:
            self.skipTest(got.stderr.decode().strip())
        self.keep_pictures(scenario)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)

    def keep_pictures(self, scenario):
        keep = os.environ.get("UNITRACE_PICTURES")  # where to leave what was seen
        if keep:
            for picture in self.dir.glob("*.png"):
                (pathlib.Path(keep) / f"{scenario}-{picture.name}").write_bytes(picture.read_bytes())


class Entry(Page):
    def test_a_token_a_passphrase_and_guesses(self):
        self.start()
        self.drive("entry")

    def test_a_page_that_is_loaded_again_before_it_was_let_in(self):
        self.start()
        self.drive("reloaded")

    def test_from_other_machines_a_passphrase_comes_first(self):
        self.start("--allow-remote-access")
        self.assertEqual(self.scheme, "https")
        self.address = self.address.replace(self.host, "127.0.0.1")
        self.drive("remote")


class Projects(Page):
    def test_projects_and_results(self):
        for name, scale in (("run.json", 1), ("other.json", 1.5)):
            (self.dir / name).write_text(trace(scale))
        self.start()
        self.drive("project", trace=str(self.dir / "run.json"), other=str(self.dir / "other.json"))

    def test_a_thousand_results_can_be_used(self):
        for p in range(10):
            for r in range(100):
                folder = self.data / f"project {p}" / f"r{p * 100 + r:04}"
                folder.mkdir(parents=True)
                (folder / "result.json").write_text(json.dumps({"kind": "run", "made": 1700000000 + r, "analysis": "Hotspots",
                                                                "program": "python train.py --layers 6"}))
                (folder / "state.json").write_text('{"state":"ready","seconds":3.5,"status":0}')
            (self.data / f"project {p}/project.json").write_text("{}")
        self.start()
        took = self.drive("many")["took"]
        print(f"a thousand results after log-in: {took} ms", file=sys.stderr)

    def test_names_stay_names(self):
        evil = '<img src=x onerror=window.hacked=1>'
        self.start()
        names = {"projects": ["<script>window.hacked=1<", "javascript:alert(1)", "‮evil".replace("\u202e", "x"), evil.replace("/", "")],
                 "results": []}
        for project in names["projects"]:
            result = evil.replace("/", "")
            folder = self.data / project / result
            folder.mkdir(parents=True)
            (self.data / project / "project.json").write_text("{}")
            (folder / "run.json").write_text(trace(1).replace("inner", "<img src=x onerror=window.hacked=2>"))
            (folder / "result.json").write_text(json.dumps({"kind": "run", "made": 1700000000, "analysis": evil, "program": evil,
                                                            "words": [evil], "shell": evil, "configuration": {"analysis": evil, "options": {evil: evil}}}))
            (folder / "state.json").write_text(json.dumps({"state": "ready", "seconds": 1, "status": 0}))
            (folder / "output.txt").write_text("\x1b]0;title\x07\x1b[31m<script>window.hacked=3</script>\r\n")
            (folder / "log.jsonl").write_text(json.dumps({"kind": evil, "text": evil}) + "\nno json <b>\n")
            (folder / "notes.txt").write_text("<script>window.hacked=4</script>")
            names["results"].append([project, result])
        self.drive("hostile", **names)
        self.assertFalse((self.dir / "hacked").exists())

    def test_keyboards_and_screen_readers(self):
        folder = self.data / "p/r1"
        folder.mkdir(parents=True)
        (self.data / "p/project.json").write_text("{}")
        (folder / "run.json").write_text(trace(1))
        failed = self.data / "p/r2"
        failed.mkdir()
        (failed / "result.json").write_text(json.dumps({"kind": "run", "made": 1700000000, "analysis": "Hotspots", "program": "x"}))
        (failed / "state.json").write_text('{"state":"failed","seconds":1,"status":0,"trouble":"x: cannot be executed"}')
        machines = self.data / ".unitrace/machines"
        machines.mkdir(parents=True)
        (machines / "a machine.json").write_text(json.dumps({"name": "a machine", "host": "h.example", "login": "password", "user": "u"}))
        self.start()
        origin = self.address.partition("/?")[0]
        self.drive("accessible", results=[f"{origin}/r/p/r1/", f"{origin}/r/p/r2/"])

    def test_help_where_one_stands(self):
        self.start()
        self.drive("help")


class Runs(Page):
    def test_every_control_of_configure_analysis(self):
        self.script("prog.sh", "#!/bin/sh\n")
        (self.dir / "sub").mkdir()
        victim = subprocess.Popen(["sleep", "600"])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        self.start()
        self.drive("configure", folder=str(self.dir), victim="sleep", pid=victim.pid)

    def test_pause_resume_stop_cancel_and_bad_ends(self):
        self.start()
        self.drive("control",
                   endless=self.script("endless.sh", f"i=0\nwhile true; do {STEPS} begin tick sleep 20 end; i=$((i+1)); echo tick $i; done\n"),
                   killed=self.script("killed.sh", f"{STEPS} task one\nkill -9 $$\n"),
                   status3=self.script("status3.sh", f"{STEPS} task one\nexit 3\n"))

    def test_without_the_right_to_start_programs(self):
        Server.start(self, enter=False)
        self.drive("viewOnly")

    def test_each_click_starts_a_run(self):
        stamped = self.dir / "stamped"
        stamp = self.script("stamp.sh", f"echo $EPOCHREALTIME > {stamped}\n{STEPS} task one\n")
        by_hand = []
        for _ in range(3):
            start = time.time()
            self.unitrace("--format", "utr", "-o", self.dir / "x.utr", "bash", stamp)
            by_hand.append(float(stamped.read_text()) - start)
        self.start()
        took = self.drive("speed", stamp=stamp, stamped=str(stamped))["took"]
        print(f"from the click until the program runs: {took} s; from a terminal: {by_hand} s", file=sys.stderr)
        self.assertGreater(min(took), 0)  # each wrote its own time

    def test_the_page_finds_the_run_again_when_the_server_was_killed(self):
        endless = self.script("endless.sh", f"i=0\nwhile true; do {STEPS} begin tick sleep 20 end; i=$((i+1)); echo tick $i; done\n")
        self.start()
        port = self.port
        node = subprocess.Popen(self.command("survives", endless=endless), env=with_browser(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(node.kill)
        for line in node.stdout:
            if line.strip() == "KILL":
                self.end(signal.SIGKILL)
            elif line.strip() == "START":
                self.start("--web-port", str(port))
        errors = node.stderr.read()
        if node.wait(PATIENCE) == 77:
            self.skipTest(errors)
        node.stdout.close()
        node.stderr.close()
        self.assertEqual(node.returncode, 0, errors)


if __name__ == "__main__":
    unittest.main()
