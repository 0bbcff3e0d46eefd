"""unitrace serve: programs started from the page run as the command line says, and nothing is lost."""
# ci: labels slow long
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest
import urllib.parse

import common
from common import PATIENCE, UNITRACE, program
from serve_support import STEPS, RunServer


class Runs(RunServer):
    def log(self, result):
        text = self.get(f"/projects/p/results/{result}/log")["text"]
        return [json.loads(line) for line in text.splitlines()]

    def supervisor(self, result):
        return json.loads((self.path(result) / "state.json").read_text())["supervisor"]


class Simple(Runs):
    def test_a_run_from_beginning_to_end(self):
        gate, script = self.gate()
        name = self.run_it("bash", parameters=f"{script} 3")
        self.assertEqual(name, f"r001-{script.stem}")
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        got = self.result("p", name)
        self.assertEqual((got["state"], got["analysis"], got["program"]), ("running", "ITT timeline", f"bash {script} 3"))
        self.assertEqual(self.call("DELETE", f"/projects/p/results/{name}").status, 409)
        self.assertEqual(self.call("PATCH", f"/projects/p/results/{name}", {"name": "x"}).status, 409)
        self.assertEqual(self.call("DELETE", "/projects/p").status, 409)
        live = self.ask("p", name, "info")
        self.assertTrue(live["live"])
        gate.touch()
        got = self.wait_for("p", name)
        self.assertEqual((got["state"], got["status"]), ("ready", 3 << 8))
        self.assertGreater(got["seconds"], 0)
        self.assertEqual(self.names(name), {"before": 1, "after": 1})
        kinds = [n["kind"] for n in self.log(name)]
        self.assertEqual(kinds[0], "starting")
        self.assertEqual(kinds[-1], "finished")
        self.assertIn("gone on", self.output(name))
        self.assertEqual(sorted(p.name for p in self.path(name).iterdir() if p.suffix not in (".utr", ".json") and p.name[0] != "."),
                         ["log.jsonl", "output.txt"])  # but for a verdict that is being written
        self.assertEqual(self.run_it("bash", parameters=f"{script} 0"), f"r002-{script.stem}")

    def test_who_asks_when_it_has_ended_asks_one_viewer(self):
        name = self.run_it(parameters="task x")
        self.wait_for("p", name)
        self.assertEqual(self.names(name), {"x": 1})
        viewer = common.children_of(self.server.pid)
        other = self.run_it(parameters="task y")
        self.until(lambda r: bool(r["say"]), lambda: self.result("p", other))  # now the server knows that both have ended
        self.assertLessEqual(set(viewer), set(common.children_of(self.server.pid)))

    def test_what_is_run_is_the_line_that_is_shown(self):
        words = ["a b", "it's", '"q"', "$(touch /tmp/x)", "`id`", "a;b", "&", "*", "", "-x", "é\u2028", "\\", "a\tb"]
        show = self.dir / "show.py"
        show.write_text("import json, os, sys\nprint(json.dumps([sys.argv[1:], os.getcwd(), os.environ.get('A B') , "
                        "os.environ.get('EVIL')]))\n")
        folder = self.dir / "a folder'; echo $HOME"
        folder.mkdir()
        asked = {"application": sys.executable, "arguments": [str(show), *words], "directory": str(folder),
                 "environment": [{"name": "EVIL", "value": "x'; y $(z)"}], "analysis": "itt"}
        line = self.do("POST", "/command", {**asked, "project": "p"})
        self.assertEqual(line["problems"], [])
        name = self.run_it(**asked)
        got = self.wait_for("p", name)
        self.assertEqual(got["asked"]["words"], line["words"])
        self.assertEqual(got["asked"]["shell"], line["shell"])
        said = json.loads(self.output(name))
        self.assertEqual(said, [words, str(folder), None, "x'; y $(z)"])
        # what a shell makes of the line is what was run, but for where the server wants its results
        own = line["words"].index("--format")
        self.assertEqual(line["words"][own:own + 6:2], ["--format", "--output-dir-path",
                                                         "--event-log"])
        front = line["shell"].replace(line["words"][0], f"{sys.executable} {show}", 1)
        shell = subprocess.run(["bash", "-c", front], capture_output=True, text=True, cwd="/")
        self.assertEqual(json.loads(shell.stdout), [line["words"][1:own] + line["words"][own + 6:], str(folder), None,
                                                    "x'; y $(z)"])
        # it runs as it is, before its result is there and after, and leaves that alone
        before = self.call("GET", f"/projects/p/results/{name}").json["bytes"]
        shell = subprocess.run(["bash", "-c", line["shell"]], capture_output=True, text=True, cwd="/")
        self.assertEqual(shell.returncode, 0, shell.stderr)
        self.assertEqual(json.loads(shell.stdout), [words, str(folder), None, "x'; y $(z)"])
        self.assertEqual(self.call("GET", f"/projects/p/results/{name}").json["bytes"], before)
        self.assertEqual(shlex.split(line["shell"])[-len(words):], words)
        self.assertFalse(os.path.exists("/tmp/x"))

    def test_a_field_of_the_wrong_type_is_a_problem_of_the_request(self):
        fields = [f for f in ("application", "arguments", "launcherWords", "parameters", "launcher", "environment", "directory",
                              "options", "analysis", "what", "name", "project", "machine", "pid")]
        values = (1, -1.5, True, [], [1], [{}], [None], [[]], {}, {"a": [1]}, "", "\x00", None)
        for field in fields:
            for value in values:
                asked = {"application": "x", "analysis": "itt", field: value}
                for path in "/command", "/projects/p/runs":
                    got = self.call("POST", path, asked)
                    self.assertLess(got.status, 500, (path, asked, got.body))

    def test_every_analysis_makes_a_line_that_record_takes(self):
        all_of_it = self.get("/analyses")
        options = {o["key"]: o for o in all_of_it["options"]}
        self.assertGreaterEqual(len(all_of_it["analyses"]), 10)
        sample = {"flag": True, "number": 100, "text": "1"}
        for analysis in all_of_it["analyses"]:
            with self.subTest(analysis["id"]):
                self.assertTrue(analysis["help"].endswith("."))
                for values in ({}, {o["key"]: sample.get(options[o["key"]]["kind"], (options[o["key"]].get("choices") or [""])[0])
                                    for o in analysis["options"] if o["open"]}):
                    got = self.do("POST", "/command", {"application": "sh", "analysis": analysis["id"], "options": values})
                    self.assertEqual([p for p in got["problems"] if not p["text"].startswith("--python-min")], [], got["shell"])
                    for key in values:
                        word = options[key]["words"].split()[0].partition("=")[0]
                        if not options[key].get("with") or values.get(options[key]["with"]):
                            self.assertTrue(any(w.partition("=")[0] == word for w in got["words"]), (key, got["words"]))
        for o in all_of_it["options"]:
            self.assertTrue(o["help"].endswith("."), o["key"])

    def test_clones_have_all_options_open_and_ours_are_read_only(self):
        clone = {"title": "softmax, memory", "base": "gpu-hotspots",
                 "options": {"metric-query": True, "group": "Memory", "include-kernels": "softmax", "python": True}}
        self.do("POST", "/analyses", clone, 204)
        self.assertEqual(self.call("POST", "/analyses", clone).status, 409)
        got = self.do("POST", "/command", {"application": "sh", "analysis": "softmax, memory"})
        self.assertIn("--python", got["words"])
        got = self.do("POST", "/command", {"application": "sh", "analysis": "gpu-hotspots", "options": {"python": True}})
        self.assertEqual(got["problems"], [{"field": "python", "text": "can be changed in a clone of this analysis only"}])
        self.do("PUT", "/analyses/softmax%2C%20memory", {**clone, "options": {"group": "Tensor"}}, 204)
        self.assertNotIn("--python", self.do("POST", "/command", {"application": "sh", "analysis": "softmax, memory"})["words"])
        for wrong in ({**clone, "title": "../x"}, {**clone, "base": "none"}, {**clone, "title": "n", "options": {"nonsense": 1}},
                      {**clone, "title": "n", "options": {"group": "nonsense"}}, {**clone, "title": "itt"}, {}):
            self.assertIn(self.call("POST", "/analyses", wrong).status, (400, 409), wrong)
        self.assertEqual(self.call("DELETE", "/analyses/itt").status, 403)
        self.do("DELETE", "/analyses/softmax%2C%20memory", status=204)
        self.assertEqual(self.call("DELETE", "/analyses/softmax%2C%20memory").status, 404)

    def test_what_is_wrong_is_said_at_its_field_and_nothing_is_made(self):
        cases = ((("application", {"application": ""}), ("application", {"application": "-x"}),
                  ("directory", {"directory": "relative"}), ("environment", {"environment": [{"name": "a b", "value": ""}]}),
                  ("environment", {"environment": [{"name": "$(x)", "value": ""}]}), ("parameters", {"parameters": "'open"}),
                  ("resumeAfter", {"resumeAfter": "soon"}), ("stopAfter", {"stopAfter": -1}), ("maxSize", {"maxSize": "x"}),
                  ("keepLast", {"keepLast": "3 apples"}), ("analysis", {"analysis": "none"}), ("name", {"name": "../x"}),
                  ("pid", {"what": "attach"}), ("launcher", {"what": "mpi"}),
                  ("sampling", {"analysis": "hotspots", "options": {"sampling": "many"}}),
                  ("group", {"analysis": "gpu-hotspots", "options": {"group": "; rm -rf"}}),
                  ("include-kernels", {"analysis": "gpu-hotspots", "options": {"include-kernels": "a\nb"}})))
        for field, wrong in cases:
            with self.subTest(field, wrong=wrong):
                got = self.run_it(status=400, **wrong)
                self.assertIn(field, [p["field"] for p in got["problems"]], got)
        self.assertEqual(self.get("/projects")[0]["results"], [])

    def test_what_is_not_there_is_reported_while_it_is_typed(self):
        (self.dir / "plain").write_text("no program")
        for wrong, field, why in (({"application": "/nonexistent/x"}, "application", "no such file on this machine"),
                                  ({"application": "no-such-program-here"}, "application", "in the server's PATH"),
                                  ({"application": str(self.dir / "plain")}, "application", "may not be executed"),
                                  ({"directory": "/nonexistent"}, "directory", "no such folder on this machine"),
                                  ({"directory": str(self.dir / "plain")}, "directory", "no such folder")):
            with self.subTest(wrong):
                problems = self.do("POST", "/command", {"application": str(STEPS), "analysis": "itt", **wrong})["problems"]
                self.assertEqual([p["field"] for p in problems], [field])
                self.assertIn(why, problems[0]["text"])
        for fine in ({}, {"application": "sh"}, {"application": "./not-yet", "directory": str(self.dir)}, {"what": "attach", "pid": os.getpid(), "application": "", "analysis": "hotspots"},
                     {"application": "no-such-program-here", "environment": [{"name": "PATH", "value": "/elsewhere"}]}):
            self.assertEqual(self.do("POST", "/command", {"application": str(STEPS), "analysis": "itt", **fine})["problems"], [], fine)

    def test_a_program_that_cannot_run_is_a_result_that_says_why(self):
        for words, why in (({"application": "/nonexistent/x"}, "/nonexistent/x"), ({"application": "/etc/passwd"}, "cannot be executed"),
                           ({"directory": "/nonexistent"}, "/nonexistent: No such file")):
            got = self.wait_for("p", self.run_it(**words))
            self.assertEqual(got["state"], "failed", got)
            self.assertIn(why, got["trouble"])

    def test_a_percent_sign_in_a_name_is_no_pattern(self):
        for wanted in ("50%", "a%p b", "%h%u"):
            name = self.run_it(parameters="task here", name=wanted)
            self.assertEqual(name, wanted)
            got = self.wait_for("p", urllib.parse.quote(name))
            self.assertEqual(got["state"], "ready", got)
            self.assertEqual(len(list(self.path(name).glob("*.utr"))), 1)
            started = json.loads((self.path(name) / "log.jsonl").read_text().splitlines()[0])
            self.assertEqual(pathlib.Path(started["path"]).parent, self.path(name))  # where pause and resume look for it
        self.assertEqual({p.name for p in (self.data / "p").iterdir() if p.is_dir()}, {"50%", "a%p b", "%h%u"})

    def test_nothing_recorded_is_explained(self):
        got = self.wait_for("p", self.run_it("true"))
        self.assertEqual(got["state"], "ready")
        self.assertIn("nothing was recorded", got["trouble"])

    def test_much_output_is_bounded_and_its_beginning_and_end_are_kept(self):
        script = self.dir / "loud.py"
        script.write_text("import sys\nfor i in range(400000): sys.stdout.write(f'line {i:07}\\n')\n")
        name = self.run_it(sys.executable, parameters=str(script))
        self.wait_for("p", name)
        first = self.get(f"/projects/p/results/{name}/output")
        self.assertTrue(first["text"].startswith("line 0000000\n"))
        last = self.get(f"/projects/p/results/{name}/output?from={first['next']}")
        self.assertGreater(last["from"], first["next"])
        self.assertTrue(last["text"].endswith("line 0399999\n"))
        self.assertEqual(last["next"], 400000 * 13)
        kept = sum(p.stat().st_size for p in self.path(name).glob("output*"))
        self.assertLess(kept, 3 << 20)

    def test_without_profiling_nothing_is_started(self):
        self.end()
        self.start(enter=False)
        for path, body in (("/projects/p/runs", {"application": "true", "analysis": "itt"}),
                           ("/projects/p/results/x/control", {"do": "stop"})):
            got = self.call("POST", path, body)
            self.assertEqual(got.status, 403)
            self.assertIn("--enable-server-profiling", got.error)
        for path in ("/processes", "/folder", "/devices"):
            self.assertEqual(self.call("GET", path).status, 403)
        self.assertEqual(self.do("POST", "/command", {"application": "x", "analysis": "itt"})["problems"], [])

    def start(self, *options, **more):
        if self.server is not None:  # again: the cookie has the port in its name
            options = ("--web-port", str(self.port), *options)
        super().start(*options, **more)

    def test_what_there_is_to_choose_from(self):
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        found = self.until(lambda l: [p for p in l if p["pid"] == sleeper.pid], lambda: self.get("/processes"))
        self.assertIn("time.sleep", found[0]["words"])
        got = self.get(f"/folder?path={self.dir}")
        self.assertIn({"name": "data", "folder": True, "program": False}, got["entries"])
        self.assertEqual(self.call("GET", "/folder?path=x").status, 400)
        self.assertEqual(self.call("GET", "/folder?path=/nonexistent").status, 404)


    def test_devices_are_those_that_the_command_lists(self):
        listed = self.unitrace("--device-list")
        got = self.get("/devices")
        self.assertEqual([f"Device #{d['number']}: {d['name']}" for d in got["devices"]],
                         [line for line in listed.stdout.decode().splitlines() if line])
        for note in got["notes"]:
            self.assertIn(f"unitrace: {note}\n", listed.stderr.decode())
        self.assertTrue(got["devices"] or got["notes"])


class Verdicts(Runs):
    def judged(self, name):
        return self.until(lambda r: bool(r["say"]), lambda: self.result("p", name))

    def test_a_run_has_a_verdict_when_it_has_ended(self):
        name = self.run_it(parameters="begin slow sleep 50 end task quick")
        got = self.judged(name)
        first = self.ask("p", name, "findings", scope={})[0]
        self.assertEqual((got["say"], got["tone"]), (first["say"], first["tone"]))
        kept = json.loads((self.path(name) / "verdict.json").read_text())
        self.assertEqual((kept["say"], kept["why"]), (first["say"], first["why"]))
        row = next(r for r in self.get("/projects")[0]["results"] if r["name"] == name)
        self.assertEqual(row["say"], first["say"])

    def test_samples_are_evaluated_by_the_tool_that_looks_at_them(self):
        name = self.run_it(program("burn"), parameters="shares 400", analysis="hotspots")
        self.wait_for("p", name)
        sheets = [t for t in self.ask("p", name, "info").get("tools", []) if "findings" in t["sheets"]]
        if not sheets:
            raise unittest.SkipTest("no samples here")
        first = self.ask("p", name, "sheet", tool=sheets[0]["id"], name="findings")[0]
        got = self.judged(name)
        self.assertEqual((got["say"], got["verdict"], got["tone"]), (first["say"], "hot spot", first["tone"]))

    def test_too_few_samples_are_no_hot_spot(self):
        name = self.run_it("sleep", parameters="0.1", analysis="hotspots")
        self.wait_for("p", name)
        if not any("findings" in t["sheets"] for t in self.ask("p", name, "info").get("tools", [])):
            raise unittest.SkipTest("no samples here")
        got = self.judged(name)
        self.assertRegex(got["say"], "^too few samples")
        self.assertEqual(got["verdict"], "few samples")

    def test_an_analysis_of_a_device_without_one_says_so(self):
        for analysis in "gpu-offload", "gpu-hotspots":
            name = self.run_it(parameters="task quick", analysis=analysis)
            self.assertIn("no work of a device was recorded", self.wait_for("p", name)["trouble"])
        name = self.run_it(parameters="task quick", analysis="snapshot")
        self.assertEqual(self.wait_for("p", name)["trouble"], "")

    def test_a_program_that_failed_is_evaluated_as_that(self):
        name = self.run_it("bash", arguments=["-c", f"{program('burn')} shares 200; exit 3"], analysis="hotspots")
        self.wait_for("p", name)
        got = self.judged(name)
        self.assertEqual((got["status"], got["verdict"], got["tone"]), (3 << 8, "failed", "bad"))
        self.assertRegex(got["say"], r"bash \(\d+\) failed: exit status 3")
        file = next(f["name"] for f in got["files"] if f["trace"])
        got = self.call("POST", f"/projects/p/results?file={file}", (self.path(name) / file).read_bytes())
        other = got.json["result"]
        self.ask("p", other, "info")
        self.assertEqual(self.judged(other)["verdict"], "failed")

    def test_what_was_imported_is_evaluated_when_somebody_looks(self):
        spans = [{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 500, "name": "imported one"}]
        got = self.call("POST", "/projects/p/results?file=run.json", json.dumps(spans).encode())
        name = got.json["result"]
        self.assertEqual(self.result("p", name)["say"], "")
        self.ask("p", name, "info")
        self.assertIn("imported one", self.judged(name)["say"])

    def test_what_has_a_verdict_keeps_it(self):
        folder = self.data / "p/by hand"
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 500, "name": "x"}]))
        (folder / "verdict.json").write_text('{"verdict":"mine","tone":"good","say":"as I say"}')
        self.ask("p", "by%20hand", "info")
        got = self.result("p", "by%20hand")
        self.assertEqual((got["verdict"], got["tone"], got["say"]), ("mine", "good", "as I say"))

    def test_nothing_recorded_has_none(self):
        name = self.run_it("true")
        self.wait_for("p", name)
        other = self.run_it(parameters="task x")
        self.judged(other)  # they are judged in their order
        self.assertEqual(self.result("p", name)["say"], "")


class Control(Runs):
    def test_start_paused_and_resumed_by_the_program(self):
        name = self.run_it(parameters="task early resume task counted pause task late", paused=True)
        got = self.wait_for("p", name)
        self.assertEqual(got["state"], "ready", got)
        self.assertEqual(self.names(name).keys() & {"early", "counted", "late"}, {"counted"})

    def test_pause_and_resume_from_outside(self):
        gate, script = self.gate()
        second, other = self.gate()
        script.write_text(script.read_text().replace("exit $1", f"bash {other} 0"))
        name = self.run_it("bash", parameters=f"{script}", paused=True)
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.assertEqual(self.result("p", name)["state"], "paused")
        self.control(name, "resume")
        self.wait_for("p", name, ("running",))
        gate.touch()
        self.until(lambda t: t.count("waiting") == 2, lambda: self.output(name))
        self.control(name, "pause")
        self.wait_for("p", name, ("paused",))
        second.touch()
        self.wait_for("p", name)
        self.assertEqual({k for k in self.names(name) if k in ("before", "after")}, {"before", "after"})
        self.assertEqual(self.names(name)["before"], 1)  # the second one's, after the resume
        self.assertEqual(self.names(name)["after"], 1)   # the first one's: then it was paused
        self.control(name, "pause", 409)

    def test_stop_ends_the_program_and_keeps_what_was_recorded(self):
        _, script = self.gate()
        name = self.run_it("bash", parameters=f"{script} 0")
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.control(name, "stop")
        got = self.wait_for("p", name)
        self.assertEqual(got["state"], "ready", got)
        self.assertEqual(self.names(name), {"before": 1})
        self.assertNotIn("gone on", self.output(name))

    def test_a_program_that_does_not_want_to_end_is_ended(self):
        if not os.environ.get("UNITRACE_LONG"):
            raise unittest.SkipTest("long: it is told after 10 s, and ended after 20")
        script = self.dir / "stubborn.sh"
        script.write_text(f"trap '' INT TERM\n{STEPS} task done\necho waiting\nwhile :; do sleep 0.1; done\n")
        name = self.run_it("bash", parameters=str(script))
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.control(name, "stop")
        self.wait_for("p", name)
        self.assertEqual(self.names(name), {"done": 1})

    def test_cancel_ends_everything_at_once(self):
        _, script = self.gate()
        name = self.run_it("bash", parameters=f"{script} 0")
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        supervisor = self.supervisor(name)
        self.control(name, "cancel")
        got = self.wait_for("p", name)
        self.assertEqual((got["state"], got["trouble"]), ("failed", "cancelled"))
        self.until(lambda gone: gone, lambda: not pathlib.Path(f"/proc/{supervisor}").exists())
        left = subprocess.run(["pgrep", "-f", str(script)], capture_output=True).stdout
        self.assertEqual(left, b"")
        self.do("DELETE", f"/projects/p/results/{name}")

    def test_resume_and_stop_after_a_time(self):
        script = self.dir / "ticks.sh"
        script.write_text(f"{STEPS} task first\ndate +%s.%N\nsleep 1.2\n{STEPS} task second\ndate +%s.%N\n"
                          f"sleep 1.8\n{STEPS} task third\n")
        before = time.time()
        name = self.run_it("bash", parameters=str(script), resumeAfter=0.8, stopAfter="2s")
        got = self.wait_for("p", name)
        words = got["asked"]["words"]
        self.assertIn("--resume-after", words)
        names = set(self.names(name))
        # The run began behind before: on a machine that is too slow the first may come late, and the second, too.
        first, second = (float(line) - before for line in self.output(name).split() if re.fullmatch(r"\d+\.\d+", line))
        if first < 0.8:
            self.assertNotIn("first", names)
        if second < 2:
            self.assertIn("second", names)
        self.assertNotIn("third", names)

    def test_children_and_limits(self):
        name = self.run_it(parameters="task own fork task childs", children=False)
        self.wait_for("p", name)
        self.assertEqual(set(self.names(name)), {"own", "joined"})
        name = self.run_it(parameters="many 2000 task last", keepLast="64K")
        got = self.wait_for("p", name)
        self.assertIn("--keep-last", got["asked"]["words"])
        self.assertIn("last", self.names(name))
        self.assertFalse([n for n in self.log(name) if "--keep-last" in n.get("text", "")])

    def test_samples_are_not_limited_and_that_is_said(self):
        name = self.run_it(parameters="task last", analysis="hotspots", keepLast="64K")
        self.wait_for("p", name)
        self.assertEqual([n["level"] for n in self.log(name) if "--keep-last does not limit CPU samples" in n.get("text", "")],
                         ["warning"])

    def test_a_process_that_runs_already(self):
        burner = subprocess.Popen([program("burn"), "shares", "60000"], stdout=subprocess.DEVNULL)
        self.addCleanup(burner.wait)
        self.addCleanup(burner.kill)
        name = self.run_it("", what="attach", pid=burner.pid, duration="1s", analysis="hotspots")
        got = self.wait_for("p", name)
        if got["state"] == "failed" or "nothing was recorded" in got["trouble"]:
            raise unittest.SkipTest(f"no samples here: {got['trouble']} {self.output(name)}")
        self.assertIn("--attach", got["asked"]["words"])
        self.assertIsNone(burner.poll())
        self.assertGreater(self.ask("p", name, "info")["samples"], 0)

    def test_it_is_seen_while_only_samples_arrive(self):
        gate = self.dir / "enough"
        name = self.run_it("bash", arguments=["-c", f"while [ ! -e {gate} ]; do :; done"], analysis="hotspots")
        path = f"/projects/p/results/{name}/view/info"
        seen = 0
        for _ in range(3):
            got = self.until(lambda a: a.status == 200 and a.json["samples"] > seen and a.json,
                             lambda: self.call("POST", path, {}, check=False))
            self.assertTrue(got["live"])
            seen = got["samples"]
        gate.touch()
        self.wait_for("p", name)

    def test_what_takes_a_program_that_is_started_is_refused(self):
        can = {a["id"] for a in self.get("/analyses")["analyses"]
               if not self.do("POST", "/command", {"what": "attach", "pid": os.getpid(), "analysis": a["id"]})["problems"]}
        self.assertEqual(can, {"hotspots"})
        got = self.run_it("", what="attach", pid=os.getpid(), analysis="memory", status=400)
        self.assertEqual([p["field"] for p in got["problems"]], ["analysis"])
        self.assertIn("Memory takes a program that is started", got["problems"][0]["text"])
        for option in "--memory", "--python", "--chrome-mpi-logging", "--itt-groups=sync", "--chrome-kernel-logging", "-q":
            run = subprocess.run([UNITRACE, "--attach", str(os.getpid()), option], capture_output=True, text=True, cwd=self.dir,
                                 timeout=PATIENCE)
            self.assertEqual(run.returncode, 2, (option, run.stderr))
            self.assertIn("--attach takes CPU samples and nothing else", run.stderr)

    def test_stop_ends_the_sampling_of_a_process_and_not_the_process(self):
        burner = subprocess.Popen([program("burn"), "shares", "600000"], stdout=subprocess.DEVNULL)
        self.addCleanup(burner.wait)
        self.addCleanup(burner.kill)
        name = self.run_it("", what="attach", pid=burner.pid, analysis="hotspots")
        got = self.wait_for("p", name, ("running", "ready", "failed"))
        if got["state"] != "running":
            raise unittest.SkipTest(f"no samples here: {got['trouble']} {self.output(name)}")
        self.control(name, "stop")
        got = self.wait_for("p", name)
        self.assertEqual(got["state"], "ready", got)
        self.assertIsNone(burner.poll())

    def test_ranks_of_a_job(self):
        if not shutil.which("mpirun.mpich"):
            raise unittest.SkipTest("no MPICH")
        name = self.run_it(what="mpi", launcher="mpirun.mpich -n 3", parameters="task ranked", analysis="mpi",
                           environment=[{"name": "HYDRA_LAUNCHER", "value": "fork"}])
        got = self.wait_for("p", name)
        self.assertEqual(got["asked"]["words"][:4], ["mpirun.mpich", "-n", "3", got["asked"]["words"][3]])
        self.assertEqual(len(list(self.path(name).glob("*.utr"))), 3, got)
        self.assertEqual(self.names(name)["ranked"], 3)


class Survival(Runs):
    def restart(self):
        self.start("--web-port", str(self.port), "--enable-server-profiling", enter=False)

    def test_a_run_goes_on_when_the_server_is_killed(self):
        gate, script = self.gate()
        name = self.run_it("bash", parameters=f"{script} 0")
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.end(signal.SIGKILL)
        self.restart()
        self.assertEqual(self.result("p", name)["state"], "running")
        self.control(name, "pause")
        self.wait_for("p", name, ("paused",))
        self.control(name, "resume")
        gate.touch()
        got = self.wait_for("p", name)
        self.assertEqual((got["state"], got["status"]), ("ready", 0))
        self.assertEqual(self.names(name), {"before": 1, "after": 1})

    def test_a_run_that_ended_meanwhile_is_there(self):
        gate, script = self.gate()
        name = self.run_it("bash", parameters=f"{script} 0")
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.end(signal.SIGKILL)
        gate.touch()
        self.until(lambda s: '"ready"' in s, lambda: (self.path(name) / "state.json").read_text())
        self.restart()
        self.assertEqual(self.names(name), {"before": 1, "after": 1})

    def test_when_everybody_who_kept_it_is_killed_the_recording_becomes_files_later(self):
        _, script = self.gate()
        name = self.run_it("bash", parameters=f"{script} 0")
        self.until(lambda t: "waiting" in t, lambda: self.output(name))
        self.end(signal.SIGKILL)
        supervisor = self.supervisor(name)
        launcher = common.children_of(supervisor)[0]
        bash = common.children_of(launcher)[0]
        for pid in (supervisor, launcher, bash):
            os.kill(pid, signal.SIGKILL)
        self.until(lambda gone: gone, lambda: not pathlib.Path(f"/proc/{bash}/fd").exists() or
                   "Z" in pathlib.Path(f"/proc/{bash}/stat").read_text().split(")")[1][:3])
        self.assertTrue(list(self.path(name).glob("*.session/*.spool")))
        self.restart()
        got = self.until(lambda r: r["state"] == "ready", lambda: self.result("p", name))
        self.assertIn("was killed", got["trouble"])
        self.assertEqual(list(self.path(name).glob("*.session")), [])
        self.assertEqual(self.names(name), {"before": 1})

    def test_a_program_that_is_killed_is_still_a_result(self):
        name = self.run_it("bash", arguments=["-c", f"{STEPS} task kept; kill -9 $$"])
        got = self.wait_for("p", name)
        self.assertEqual(got["status"] & 127, signal.SIGKILL)
        self.assertEqual(self.names(name), {"kept": 1})


if __name__ == "__main__":
    common.main()
