#!/usr/bin/env python3
"""`unitrace analyze --html`: the viewer with tabs of analyze. What its sheets say is what --json says,
figure by figure; in a headless Chromium every tab shows it, steps select in the timeline, names of
programs stay text."""
# ci: labels slow browser
import base64
import csv
import io
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import zlib

from browser_support import MODULES
from common import PATIENCE, UNITRACE, skip
import saved_page
from test_analyze_report import F, analyze, iterations, span

HERE = pathlib.Path(__file__).resolve().parent
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2> \u202e\x07 Cmpt Exec"
SHEET = re.compile(r'<script type="application/octet-stream" class="sheet" data-tool="analyze" '
                   r'data-name="([a-z]+)">([A-Za-z0-9+/=]*)</script>')


def sheets(path):
    """What the page carries besides the trace, by name."""
    return {name: json.loads(zlib.decompress(base64.b64decode(packed)))
            for name, packed in SHEET.findall(path.read_text())}


def trace_of(path):
    """The trace inside a page: what reads as text of it."""
    return saved_page.unpack(path.read_text())


def rows(table):
    keys = [c["key"] for c in table["columns"]]
    return [dict(zip(keys, row)) for row in zip(*table["data"])]


def us(ns):
    return None if ns is None else ns / 1000


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ut_analyze_page_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        events = list(iterations(slow=10)) + [span(HOSTILE, 0, 8100, 8101)]
        cls.json, cls.page = cls.make("both", events, "--flow")
        cls.sheets = sheets(cls.page)

    @classmethod
    def make(cls, name, events, *args):
        (cls.folder / f"{name}.json").write_text(json.dumps(events))
        run = analyze(cls.folder, "-i", f"{name}.json", "-o", f"{name}_out.json", "--freq",
                      f"{F}:800", "-M", "-D", "1", "--json", f"{name}_numbers.json", "--html",
                      f"{name}.html", *args)
        if run.returncode:
            raise AssertionError(run.stdout + run.stderr)
        return (json.loads((cls.folder / f"{name}_numbers.json").read_text()),
                cls.folder / f"{name}.html")

    def same(self, got, want, places=6):
        if want is None or got is None:
            self.assertEqual(got, want)
        else:
            self.assertAlmostEqual(got, want, places)

    def test_ranks_and_steps_are_those_of_the_summary(self):
        keys = {"compute": "compute_us", "exposed": "communication_exposed_us",
                "transfer": "transfer_exposed_us", "prep": "prep_exposed_us", "idle": "idle_us",
                "length": "length_us"}
        ranks = rows(self.sheets["ranks"])
        self.assertEqual(len(ranks), len(self.json["ranks"]))
        for got, want in zip(ranks, self.json["ranks"]):
            self.assertEqual((got["rank"], got["steps"], got["source"]),
                             (want["rank"], want["step_count"], want["step_source"]))
            for key, name in keys.items():
                self.same(us(got[key]), want[name])
            for key in "mean", "median", "min", "max":
                self.same(us(got[key]), want[f"step_{key}_us"], 3)
        steps = rows(self.sheets["steps"])
        self.assertEqual(len(steps), len(self.json["steps"]))
        for got, want in zip(steps, self.json["steps"]):
            self.assertEqual((got["rank"], got["step"], got["steps"]),
                             (want["rank"], want["first"], want["count"]))
            self.same(us(got["begin"]), want["begin_us"])
            self.same(us(got["end"] - got["begin"]), want["length_us"])
            self.same(got["energy"], want["energy_j"], 12)
            for key, name in keys.items():
                self.same(us(got[key]), want[name])

    def test_overlap_and_stragglers_are_those_of_the_summary(self):
        for got, want in zip(rows(self.sheets["overlap"]), self.json["ranks"]):
            self.same(us(got["communication"]), want["communication_us"])
            self.same(us(got["hidden"]), want["communication_hidden_us"])
            self.same(us(got["exposed"]), want["communication_exposed_us"])
            self.same(100 * got["overlap"], want["overlap_percent"], 3)
        for got, want in zip(rows(self.sheets["stragglers"]), self.json["ranks"]):
            self.assertEqual(got["straggler"], "yes" if want["straggler"] else "no")
            self.same(us(got["excess"]), want["step_excess_us"])
            for prefix, name in ("coll_", "late_in_collectives"), ("step_", "late_in_steps"):
                late = want[name]
                self.assertEqual(got[prefix + "seen"], late["seen"])
                self.assertEqual(got[prefix + "last"], late["last"])
                # who never came last is late by nothing that could be measured
                self.same(us(got[prefix + "mean"]), late["mean_late_us"] if late["last"] else None, 3)
                self.same(us(got[prefix + "max"]), late["max_late_us"] if late["last"] else None)
                self.same(us(got[prefix + "total"]), late["total_late_us"], 3)
        (got,), (want,) = rows(self.sheets["collectives"]), self.json["collectives"]
        self.assertEqual((got["name"], got["count"], got["ranks"], got["last_rank"], got["last_count"]),
                         tuple(want[k] for k in ("name", "count", "ranks", "last_rank", "last_count")))
        self.same(us(got["late"]), want["mean_late_us"])
        heat = self.json["late_heat"]
        self.assertEqual(self.sheets["late"]["collectives"], heat["collectives"])
        for got, want in zip(self.sheets["late"]["ranks"], heat["rows"]):
            self.assertEqual([us(v) for v in got["late"]], want["late_us"])

    def test_kernels_energy_and_trust_are_those_of_the_summary(self):
        by_key = {(k["name"], k["rank"]): k for k in self.json["kernels"]}
        kernels = rows(self.sheets["kernels"])
        self.assertEqual(len(kernels), self.json["kernel_count"])
        for got in kernels:
            want = by_key[got["name"], got["rank"]]
            self.assertEqual((got["kind"], got["calls"]), (want["kind"], want["calls"]))
            for key in "total", "mean", "median", "min", "max":
                self.same(us(got[key]), want[f"{key}_us"])
            self.same(100 * got["share"], want["share_percent"], 2)
            self.same(got["energy"], want["energy_j"], 12)
            self.same(got["power"], want["power_w"])
        for got, want in zip(rows(self.sheets["energy"]), self.json["ranks"]):
            self.same(got["energy"], want["energy_j"], 12)
            self.same(got["compute"], want["energy_compute_j"], 12)
        for got, want in zip(self.sheets["power"]["ranks"], self.json["power"]["ranks"]):
            self.assertEqual(got, want)
        trust, want = self.sheets["trust"], self.json["verify"]
        self.same(100 * trust["share"], want["trust_percent"])
        self.assertEqual((trust["read"], trust["kept"], trust["errors"], trust["warnings"]),
                         tuple(want[k] for k in ("events_read", "events_kept", "errors", "warnings")))
        self.assertEqual([(i["count"], i["what"]) for i in rows(self.sheets["issues"])],
                         [(i["count"], i["text"]) for i in sorted(
                             want["issues"], key=lambda i: ("error", "warning", "info").index(i["severity"]))])
        for issue in rows(self.sheets["issues"]):
            self.assertTrue(issue["remedy"])
        self.assertEqual([m["text"] for m in rows(self.sheets["messages"])],
                         [m["text"] for m in want["messages"]])
        self.assertEqual(rows(self.sheets["stages"]), want["stages"])
        for got, clock in zip(rows(self.sheets["clocks"]), want["clocks"]):
            self.same(got["detected"], clock["detected_mhz"])

    def test_the_verdict_comes_first_and_issues_have_their_remedy(self):
        first, *others = self.sheets["findings"]
        self.assertEqual((first["tone"], first["tab"]), ("bad", "stragglers"))
        self.assertIn("Rank 1 makes the others wait", first["say"])
        self.assertIn("12 of 12 collectives", first["why"])
        self.assertIn("in alpha_[N] Cmpt Exec: 120.0\u202f\u00b5s more", first["why"])
        flows = [f for f in others if "have no arrows" in f["say"]]
        self.assertEqual(len(flows), 1, others)
        self.assertIn("Give the files of all ranks with -i", flows[0]["why"])

    def test_there_is_no_tab_where_there_is_no_data(self):
        single = [span(f"k{k} Cmpt Exec", 0, 1000 + 30 * k, 1015 + 30 * k) for k in range(8)]
        numbers, page = self.make("single", single, "-C", "prep_queue")
        got = sheets(page)
        self.assertIsNone(numbers["totals"]["energy_j"])
        for name in "overlap", "stragglers", "collectives", "late", "energy", "power", "categories":
            self.assertNotIn(name, got)
        self.assertIn("steps", got)
        self.assertIn("Energy is not known.", [f["say"] for f in got["findings"]])
        _, page = self.make("none", [])
        got = sheets(page)
        self.assertLessEqual(set(got), {"overview", "trust", "findings", "issues", "messages"})
        self.assertEqual(got["findings"][0]["say"], "There is no device work in this trace.")

    def test_categories_are_those_of_the_table(self):
        inputs = HERE.parent / "golden/inputs/aiu_flex"
        run = analyze(self.folder, "-i", f"{inputs}/net-job-*.json", "-c", inputs / "ideal.log",
                      "--freq", f"{F}:800", "-o", "cat.json", "--html", "cat.html", "-D", "1")
        self.assertEqual(run.returncode, 0, run.stderr)
        table = list(csv.DictReader(io.StringIO((self.folder / "cat_categories.csv").read_text())))
        got = rows(sheets(self.folder / "cat.html")["categories"])
        self.assertEqual([(r["rank"], r["name"], r["calls"]) for r in got],
                         [(int(t["Pid"]), t["Category"], int(t["Calls"])) for t in table])
        for r, t in zip(got, table):
            self.assertAlmostEqual(us(r["time"]), float(t["Kernel_Time"]), 3)
            self.assertAlmostEqual(us(r["ideal"]), float(t["Ideal_Time"]), 3)

    def test_names_of_files(self):
        (self.folder / "in.json").write_text(json.dumps(list(iterations())))
        run = analyze(self.folder, "-i", "in.json", "-o", "named.json", "-M", "-D", "1", "--html")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue((self.folder / "named_report.html").exists())
        run = analyze(self.folder, "-i", "in.json", "-M", "--html=no/such/folder/x.html")
        self.assertEqual(run.returncode, 1)
        self.assertFalse((self.folder / "no").exists())

    def test_a_large_trace_is_a_small_page(self):
        """Stamps and readings, which differ from span to span, are left out and said to be."""
        events = [span(f"k{k % 40} Cmpt Exec", 0, 1000 + 20 * k, 1012 + 20 * k, Power=str(7919 * k))
                  for k in range(120000)]
        _, page = self.make("large", events)
        self.assertLess(page.stat().st_size, 1.2e6)
        self.assertIn(b"without cycles and readings of power", trace_of(page))
        self.assertNotIn(b"TS1", trace_of(page))
        self.assertIn(b"TS1", trace_of(self.page))
        self.assertLessEqual(len(rows(sheets(page)["steps"])), 1024)

    def test_in_a_browser(self):
        text = self.page.read_text()
        self.assertNotIn("window.hacked", text)
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        steps = rows(self.sheets["steps"])
        (self.folder / "want.json").write_text(json.dumps({
            "step": next(s for s in steps if s["rank"] == 1 and s["step"] == 3),
            "kernels": rows(self.sheets["kernels"]), "hostile": HOSTILE}))
        run = subprocess.run(["node", HERE / "analyze_page.js", MODULES,
                              self.page, self.folder / "want.json"],
                             capture_output=True, text=True, timeout=4 * PATIENCE)
        if run.returncode == 77:
            self.skipTest(run.stderr.strip() + " (tools/setup.sh test)")
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    if not UNITRACE.exists():
        skip(f"{UNITRACE} is not built")
    probe = analyze(pathlib.Path("/"), "-i", "no-such-file", "--html", "/dev/null")
    if "--html: " in probe.stdout + probe.stderr:
        skip("the viewer's page is not built (tools/setup.sh test)")
    unittest.main(verbosity=2)
