"""unitrace view: pages of one file, hostile names, and what people complain about in other viewers."""
# ci: labels slow browser
import json
import os
import shutil
import subprocess
import unittest

from common import PATIENCE, SOURCE, environment, program, wait_for
from test_all_readers import SHAPES
from view_server import View, torch_trace, trace

BUNDLER = SOURCE / "build/page/node_modules"  # of tools/setup.sh, whatever the build folder


class Hostile(View):
    def test_hostile_names_are_only_text(self):
        names = ["<script>alert(1)</script>", "</script><!--", "a\0b", "\u202egnp.exe", "\x1b[2J\r\n",
                 "x" * (1 << 20), "'; drop table slice; --", "\\\"", "é\ud800", "%s%n", ""]
        events = []
        for i, name in enumerate(names):
            events.append({"ph": "X", "pid": 1, "tid": 1, "ts": i * 10, "dur": 5, "name": name, "cat": name[:50],
                           "args": {name[:50]: name[:50]}})
            events.append({"ph": "M", "pid": 1, "tid": i + 2, "name": "thread_name", "args": {"name": name}})
            events.append({"ph": "X", "pid": 1, "tid": i + 2, "ts": i * 10, "dur": 5, "name": name})
        text = json.dumps(events).encode().replace(b"%s%n", b"%s%n\xff\xfe\xc0\x80")
        (self.dir / "bad <b>&.json").write_bytes(text)
        self.start("bad <b>&.json")
        info = self.ask("info")
        self.assertEqual(info["title"], "bad <b>&.json")
        self.ask("places")
        got = self.ask("types", first=0)["names"]
        self.assertIn("<script>alert(1)</script>", got)
        self.assertIn("a\0b", got)
        self.assertIn("x" * (1 << 20), got)
        for name in ("<script>alert(1)</script>", "a\0b", "'; drop table slice; --"):
            tree = self.ask("tree", scope={}, kind="callers", name=name, nodes=10)
            self.assertEqual(tree["name"][0], name)
            spread = self.ask("distribution", scope={}, name=name, self=False, log=True, bins=3,
                              group="argument", argument=name)
            self.assertEqual(spread["count"], 2)
        area = self.ask("aggregate", scope={})
        self.assertGreaterEqual(area["slices"]["rows"], 10)
        self.ask("list", scope={}, limit=1000)
        self.ask("words")
        for found in self.ask("search", query="", limit=100, scope={})["list"]:
            self.ask("detail", id=found["id"])

    def test_hostile_names_are_inert_in_a_browser(self):
        names = ["<img src=x onerror='window.hacked=1'>", "\"><script>window.hacked=1</script>", "a\0b",
                 "\u202egnp.exe", "\x1b[2J\r\n\x07", "x" * (1 << 20), "\u2066isolated", "é\ud800", "%s%n", "",
                 "__proto__", "constructor"]
        events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": names[0]}}]
        for i, name in enumerate(names):
            events.append({"ph": "M", "pid": 1, "tid": i, "name": "thread_name", "args": {"name": name}})
            events.append({"ph": "X", "pid": 1, "tid": i, "ts": i * 10, "dur": 5, "name": name,
                           "cat": name[:50], "args": {name[:50]: name[:5000]}})
        text = json.dumps(events).encode().replace(b"%s%n", b"%s%n\xff\xfe\xc0\x80")
        (self.dir / "<b onclick=x>.json").write_bytes(text)
        self.start("<b onclick=x>.json", enter=False)
        self.browse("view_hostile.js", self.address)


class Pauses(View):
    def test_what_was_paused_is_hatched(self):
        done = self.unitrace("--start-paused", "-o", "run.utr", program("steps"), "resume", "task", "first", "sleep", "300",
                             "pause", "sleep", "600", "resume", "sleep", "300", "task", "last")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.start("run.utr", enter=False)
        self.browse("view_paused.js", self.address)


class Torn(View):
    def test_what_never_ended_frays(self):
        def event(ph, tid, ts, name, **more):
            return {"ph": ph, "pid": 1, "tid": tid, "ts": ts, "name": name, "cat": "op", **more}

        path = self.save([event("B", 1, 0, "main"), event("B", 1, 50, "request"), event("X", 1, 52, "query", dur=48),
                          event("X", 2, 0, "whole", dur=200), event("B", 3, 20, "stuck"), event("i", 3, 150, "alive", s="t")])
        self.assertEqual(self.unitrace("view", "--save", "run.html", path).returncode, 0)
        self.start(str(path), enter=False)
        self.browse("view_torn.js", self.address, f"file://{self.dir}/run.html")


class OneFile(View):
    def test_a_page_holds_its_trace(self):
        path = self.save(trace())
        for words in (("export", path, "-o", "a.html"), ("view", "--save", "b.html", path)):
            done = self.unitrace(*words)
            if b"built without the viewer's page" in done.stderr:
                self.skipTest("built without the viewer's page")
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("a.html", "b.html"):
            text = (self.dir / name).read_text()
            self.assertIn("default-src 'none'", text)
            self.assertEqual(text.lower().count("<script"), text.lower().count("</script>"))
            self.assertNotRegex(text, r'(src|href)="(http|//)')

    def say_the_same(self, events, name):
        """The answers inside a page, and those of the server about the same trace, to the last digit."""
        if not (BUNDLER / "@esbuild").is_dir() or not shutil.which("node"):
            self.skipTest("node or esbuild is not there (tools/setup.sh test)")
        path = self.save(events)
        self.assertEqual(self.unitrace("view", "--save", "run.html", path).returncode, 0)
        self.start("run.json")
        done = subprocess.run(["node", SOURCE / "tests/e2e/view_held.mjs", BUNDLER, self.dir / "run.html",
                               self.address, SOURCE / "web"], env=environment(VIEW_NAME=name, VIEW_COOKIE=self.cookie),
                              capture_output=True, text=True, timeout=4 * PATIENCE)
        self.assertEqual(done.stdout, "equal: aggregate at detail distribution find findings flows info list no such question places "
                         "search stacks step tree types window words\n", done.stderr[-3000:])

    def test_server_and_page_say_the_same(self):
        self.say_the_same(trace(), "step")

    def test_server_and_page_say_the_same_where_spans_overlap(self):
        self.say_the_same(trace(overlap=True), "deep")

    def test_server_and_page_say_the_same_of_devices(self):
        self.say_the_same(torch_trace(), "step")

    def test_server_and_page_say_the_same_of_counters_without_values(self):
        """Whole pieces of time, many samples long, and single ones; one counter never has a value."""
        values = [(i, "NaN" if i % 300 > 200 or i % 7 == 3 else i % 50) for i in range(900)]
        gaps = [{"ph": "C", "pid": 100, "ts": 1000 + 20 * i, "name": "usage", "args": {"%": v}} for i, v in values]
        never = [{"ph": "C", "pid": 100, "ts": 1000, "name": "never", "args": {"%": "NaN"}}]
        self.say_the_same(trace() + gaps + never, "step")

    def test_server_and_page_say_the_same_of_every_odd_shape(self):
        """All shapes of test_all_readers in one trace, a process of its own for each."""
        events = [{**e, "pid": 100 * i + e["pid"]}
                  for i, (shape, _) in enumerate(SHAPES.values()) for e in shape]
        self.say_the_same(events, "o")

    def test_tables_of_a_large_trace_are_exact(self):
        """More slices than fit into a page: those of a kind that is never the longest are all left out."""
        if not (BUNDLER / "@esbuild").is_dir() or not shutil.which("node"):
            self.skipTest("node or esbuild is not there (tools/setup.sh test)")
        lines = (f'{{"ph":"X","pid":1,"tid":{tid},"ts":{100 * i},"dur":90,"name":"step"}},\n'
                 f'{{"ph":"X","pid":1,"tid":{tid},"ts":{100 * i + 91},"dur":{i % 3 + 1},"name":"short{i % 3}"}}'
                 for tid in (1, 2) for i in range(260000))
        path = self.dir / "large.json"
        path.write_text("[" + ",\n".join(lines) + "]")
        done = self.unitrace("view", "--save", "run.html", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.decode(), r"run\.html: 1040000 slices are more than a page holds")
        done = subprocess.run(["node", SOURCE / "tests/e2e/view_whole.mjs", BUNDLER, self.dir / "run.html",
                               SOURCE / "web"], capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        page = json.loads(done.stdout)
        self.assertEqual((page["thinned"], page["slices"]), (True, 1040000))
        stats = json.loads(self.unitrace("stats", "--json", path).stdout)["spans"]
        true = {r["name"]: (r["count"], r["total_ns"], r["self_ns"]) for r in stats}
        self.assertEqual({r["name"]: (r["count"], r["total"], r["self"]) for r in page["whole"]}, true)
        for row in page["whole"]:
            self.assertEqual(row["typeName"], row["name"])
            self.assertIn(row.get("longestName"), (row["name"], None))
        self.assertLess(sum(r["count"] for r in page["half"]), 520000)

    def test_in_a_browser_without_a_complaint(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed (tools/setup.sh test)")
        path = self.save(trace())
        if self.unitrace("view", "--save", "run.html", path).returncode:
            self.skipTest("built without the viewer's page")
        self.start("run.json", enter=False)
        self.browse("view_page.js", self.address, f"file://{self.dir}/run.html")


class Complaints(View):
    """What people who use other viewers complain about in public."""

    def aggregate(self, t0, t1, tracks=None):
        scope = {"ranges": [[t0, t1]], **({"tracks": tracks} if tracks else {})}
        return {r["name"]: r for r in self.rows(self.ask("aggregate", scope=scope)["slices"])}

    def test_control_characters_in_names_do_not_break_the_file(self):
        """Raw, as some profilers write them, which is no JSON."""
        names = ["bell\x07", "tab\there", "esc\x1b[31m", "del\x7f"]
        events = ",".join('{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":5,"name":"%s"}' % (i * 10, name)
                          for i, name in enumerate(names))
        (self.dir / "run.json").write_text(f"[{events}]")
        self.start("run.json")
        self.assertEqual(set(self.ask("types", first=0)["names"]) - {""}, set(names))
        self.assertEqual(set(self.aggregate(0, 10**9)), set(names))

    def test_spans_that_overlap_by_a_hair_are_all_there(self):
        """with_stack of torch.profiler: an inner one ends a few ns behind the outer one."""
        events = []
        for i in range(500):
            events += [{"ph": "X", "pid": 1, "tid": 1, "ts": i * 10, "dur": 8, "name": "outer"},
                       {"ph": "X", "pid": 1, "tid": 1, "ts": i * 10 + 1, "dur": 7.005, "name": "inner"}]
        self.save(events)
        self.start("run.json")
        info, places = self.ask("info"), self.ask("places")
        self.assertEqual(info["slices"], 1000)
        self.assertEqual(sum(lane["count"] for p in places for lane in p["lanes"]), 1000)
        got = self.aggregate(0, info["span"])
        self.assertEqual([(got[n]["count"], got[n]["total"]) for n in ("outer", "inner")],
                         [(500, 4_000_000), (500, 3_502_500)])
        self.assertEqual(got["outer"]["self"], 500 * 1000)
        self.assertEqual(self.ask("search", query="inner", limit=1, scope={})["count"], 500)

    def test_an_area_has_average_least_and_greatest(self):
        self.save(trace(overlap=True))
        self.start("run.json")
        for t0, t1 in ((1_000_000, 3_000_000), (2_345_678, 2_399_999)):
            done = self.unitrace("stats", "--json", "--clip", "--from", f"{t0}ns", "--to", f"{t1}ns",
                                 "run.json")
            want = {r["name"]: r for r in json.loads(done.stdout)["spans"]}
            got = self.aggregate(t0, t1)
            self.assertEqual(set(want) - set(got), set())
            for name, row in want.items():
                for key in ("count", "total", "mean", "min", "max"):
                    self.assertAlmostEqual(got[name][key], row["count" if key == "count" else key + "_ns"],
                                           delta=1, msg=f"{name} {key}")
                if got[name]["self"] is not None:
                    self.assertEqual(got[name]["self"], row["self_ns"], name)
                    self.assertAlmostEqual(got[name]["share"] * 100, row["share"], places=3, msg=name)

    def test_a_large_step_of_torch_opens(self):
        """One step with stacks: depth, arguments and names by the hundred thousand; 10 MB, or 2 GB (UNITRACE_LONG=1)."""
        size = 2_000_000_000 if os.environ.get("UNITRACE_LONG") == "1" else 10_000_000
        path, count = self.dir / "run.json", 0
        with path.open("w") as out:
            out.write('{"traceEvents":[')
            while out.tell() < size:
                t = count * 3
                out.write("".join(
                    '%s{"ph":"X","cat":"python_function","pid":1,"tid":%d,"ts":%.3f,"dur":%.3f,'
                    '"name":"torch/nn/modules/module.py(%d): _call_impl","args":{"Python id":%d,'
                    '"Python parent id":%d,"Python module id":0}}'
                    % ("," if count or k else "", 1 + k % 2, t + k * .01, 2.9 - k * .02, 1000 + (count + k) % 997,
                       count + k, count + k - 1) for k in range(40)))
                count += 40
            out.write("]}")
        self.start("run.json", enter=False)
        self.enter()
        self.wait_until_read()
        # the beginning is there before the rest
        wait_for(lambda: self.ask("info")["slices"] == count, f"{count} slices", 4 * PATIENCE)
        info = self.ask("info")
        self.ask("window", t0=0, t1=info["span"], pixels=1400, lanes=[[0, i] for i in range(20)])
        self.assertEqual(sum(r["count"] for r in self.aggregate(0, info["span"]).values()), count)


if __name__ == "__main__":
    unittest.main()
