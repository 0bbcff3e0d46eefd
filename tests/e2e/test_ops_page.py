"""The page of unitrace ops in a headless Chromium: it is the viewer, with a tab of its own. What is drawn,
which numbers stand there (those of the CSV file), what is selected here and in the timeline, and nothing
asked of any network. Skipped without the page, node, Chromium or playwright-core."""
# ci: labels slow browser
import csv
import io
import json
import re
import shutil
import subprocess
import unittest

from common import PATIENCE, SOURCE, UNITRACE, Case, main, skip
from view_support import look

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

TITLES = ("Name, Start timer count [ns], Stop timer count [ns], Delta timer count [ns], Global Call Count, "
          "Call Count, Stack Size, Inputs, Outputs, Math Fidelity, Parallelization Strategy, Preferred Name, "
          "Meta Data, Type\n")
LOG = """ARCH: grayskull, CHIP_FREQ[MHz]: 1000
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]
0, 0, 0, BRISC, 1, 1000
0, 0, 0, BRISC, 2, 1100
0, 0, 0, BRISC, 3, 1900
0, 0, 0, BRISC, 4, 2000
"""
MARKUP = "<img src=x onerror=alert(1)>"
HOSTILE = [MARKUP, "\u202eturned\u202c around", "</script><script>alert(2)</script>", "a\x01b", "x" * 100_000]
SMALL = 4  # columns of the table that also fit on a phone


def span(cat, name, ts, dur, pid=100, tid=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def number(text):
    return None if text in ("", "-") else float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else text


def told(row):
    """A row of CSV without what it does not have."""
    return {k: v for k, v in ((k, number(v)) for k, v in row.items()) if v is not None}


class Pages(Case):
    def folder_report(self):
        for name, start, stop, call, depth in (("outer", 1000, 9000, 1, 1), ("inner", 2000, 4000, 2, 2)):
            folder = self.dir / "logs/ops" / name
            folder.mkdir(parents=True)
            (folder / "profile_log_host.csv").write_text(
                f"{TITLES}{name}, {start}, {stop}, {stop - start}, {call}, 1, {depth}, , , , , , <b>m</b>, "
                "tt_dnn_device\n")
        device = self.dir / "logs/ops_device/outer/1"
        device.mkdir(parents=True)
        (device / "profile_log_device.csv").write_text(LOG)
        return self.report(self.dir / "logs/ops", "folder", "profile_log_ops")

    def tracy_report(self):
        shutil.copytree(SOURCE / "tests/golden/inputs/tt_ops26/art", self.dir / "art", symlinks=True)
        return self.report(self.dir / "art", "tracy", "ops_perf_results")

    def trace_report(self, name, events):
        (self.dir / f"{name}.json").write_text(json.dumps(events))
        return self.report(self.dir / f"{name}.json", name, "profile_log_ops")

    def report(self, source, out, name):
        run = subprocess.run([UNITRACE, "ops", source, "-o", out], cwd=self.dir, timeout=PATIENCE, capture_output=True,
                             text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        if "no page:" in run.stderr:
            raise unittest.SkipTest("built without the page (tools/setup.sh test)")
        return self.dir / out / f"{name}.html"

    def open(self, *pages):
        told = look("ops_page.js", self.dir / "seen.json", *pages)
        seen = [told[str(page)] for page in pages]
        for page, each in zip(pages, seen):
            self.check_page(page, each)
        return seen

    def check_page(self, page, seen):
        """What is true of every one of them."""
        self.assertEqual((seen["console"], seen["outside"]), ([], []))
        self.assertEqual(seen["tab"], "Ops")
        self.assertIn("Timeline", seen["tabs"])
        self.assertEqual(seen["tabs"].count("Ops"), 1)
        self.assertRegex(seen["crumb"], r"rows?, written \d{4}-\d\d-\d\d \d\d:\d\d UTC$")
        self.assertEqual({r["height"] for r in seen["rows"]}, {26}, "one line a row")
        self.assertEqual(seen["tall"], 26, "also with every column")
        self.assertEqual(seen["scroll"]["style"], "auto")
        self.assertLessEqual(len(seen["heads"]), 17)
        self.assertTrue(all(why for _, why in seen["flags"]), "what is judged says why")
        self.assertEqual(seen["narrow"]["width"], 420)
        self.assertLessEqual(max(seen["narrow"]["wide"]), 420)
        self.assertEqual(seen["narrow"]["heads"][:1], ["Op"])
        self.assertLessEqual(len(seen["narrow"]["heads"]), SMALL)
        self.assertRegex(seen["narrow"]["about"], r"written \d{4}")
        self.check_numbers(page, seen)

    def check_numbers(self, page, seen):
        """The file that the page saves, with every column, is the report's."""
        with open(page.with_suffix(".csv"), newline="") as file:
            report = [told({k: v.strip(" ") if k == "OP CODE" else v for k, v in row.items()})
                      for row in csv.DictReader(file)]
        saved = [told(row) for row in csv.DictReader(io.StringIO(seen["csv"], newline=""))]
        self.assertEqual(seen["rowCount"], len(report))
        self.assertEqual(len(saved), len(report))
        for mine, theirs in zip(saved, report):
            mine.pop("INPUTS", None)
            # an average over no calls is open here; there it is 0
            theirs = {k: v for k, v in theirs.items() if not (k.endswith(" Average [ns]") and v == 0)}
            self.assertEqual(mine, theirs)
        self.check_sums(seen, report)

    def check_sums(self, seen, report):
        for row in csv.DictReader(io.StringIO(seen["byName"], newline="")):
            own = [r for r in report if str(r.get("OP CODE", "?")) == row["name"] and r.get("OP TYPE") != "signpost"]
            for key, column in (("host_ns", "HOST DURATION [ns]"), ("device_ns", "DEVICE KERNEL DURATION [ns]"),
                                ("gap_ns", "OP TO OP LATENCY [ns]")):
                has = [r[column] for r in own if column in r]
                self.assertEqual(number(row.get(key, "")), sum(has) if has else None, (row["name"], key))
            self.assertEqual(int(row["calls"]), len(own))

    def test_folders_of_2023(self):
        seen, = self.open(self.folder_report())
        self.assertEqual([r["cells"][0] for r in seen["rows"]], ["outer", "inner"])
        kernels = seen["heads"].index("Kernels")
        self.assertEqual([r["cells"][kernels] for r in seen["rows"]], ["800\u202fns", "\u2013"],
                         "what was not measured is no zero")
        self.assertEqual(seen["cut"], [], "names are whole where there is room")
        self.assertIn("brisc kernel", seen["details"].lower())
        self.assertIn("<b>m</b>", seen["details"])
        self.assertIn("<b>m</b>", seen["drawer"])
        self.assertEqual(seen["picked"], {"tab": "ops", "name": "outer", "t": 0, "dur": 8000, "place": "thread"})
        self.assertEqual(seen["opened"]["tab"], "timeline")
        self.assertEqual(seen["followed"]["place"], "queue")
        self.assertEqual(seen["followed"]["dur"], 1000)
        self.assertEqual(len(seen["arrows"]), 1)
        self.assertEqual(seen["drawn"], 3)

    def test_exports_of_2026(self):
        seen, = self.open(self.tracy_report())
        self.assertEqual(seen["columns"], 82)
        self.assertLess(len(seen["heads"]), 14, "of 82 columns those that matter")
        self.assertIn("Devices wait 79.4 %", seen["verdict"])
        self.assertIn("record them once and replay them", seen["verdict"], "the remedy beside the finding")
        host = seen["heads"].index("Host")
        self.assertEqual(seen["rows"][3]["cells"][:2], ["warm", "\u2013"])
        self.assertEqual(seen["rows"][0]["cells"][host], "950\u202fns")
        self.assertEqual(seen["back"], [1], "the slice that was chosen in the timeline")
        self.assertEqual(seen["stepped"]["dur"], 3100)
        flags = dict(seen["flags"])
        self.assertEqual(flags["\u2691 12.00 \u00b5s"], "the device waited 12.00\u202f\u00b5s for an op of 2.900\u202f\u00b5s")
        self.assertEqual(flags["\u2691 False"], "not in the program cache: the host compiled it")
        self.assertEqual(len(seen["arrows"]), 4)
        self.assertTrue(all(b >= a - 1000 for a, b in seen["arrows"]), "no op begins before its call")
        self.assertEqual([p for p in seen["places"] if p[0] in ("process", "device")],
                         [["process", "host"], ["device", "device 0"]])

    def test_a_trace_and_hostile_names(self):
        events = [e for i in range(300) for e in (
            span("cpu_op", f"aten::op{i % 3}", i * 100, 50),
            span("cuda_runtime", "cudaLaunchKernel", i * 100 + 2, 3, correlation=i + 1),
            span("kernel", "gemm", i * 100 + 20, 30, pid=0, tid=1, correlation=i + 1))]
        hostile = [span("cpu_op", f"aten::{name}", i * 100, 10) for i, name in enumerate(HOSTILE)]
        many, odd = self.open(self.trace_report("many", events), self.trace_report("odd", hostile))
        self.assertEqual(many["rowCount"], 300)
        self.assertLess(len(many["rows"]), 100, "only rows that are seen are in the page")
        self.assertGreater(many["scroll"]["more"], 0, "and the others can be scrolled to")
        self.assertEqual(len(many["arrows"]), 300)
        self.assertEqual([p for p in many["places"] if p[0] in ("thread", "queue")],
                         [["thread", "thread"], ["queue", "ops"]])
        self.assertEqual(odd["rows"][0]["cells"][0], f"aten::{MARKUP}")
        self.assertNotIn("\u202e", odd["rows"][1]["cells"][0])
        self.assertIn("</script><script>alert(2)", odd["rows"][2]["cells"][0])
        self.assertEqual(odd["picked"]["name"], f"aten::{MARKUP}")


if __name__ == "__main__":
    main()
