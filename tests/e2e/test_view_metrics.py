"""The viewer's tab Metrics in a headless Chromium, over HTTP and in one file: its numbers are those of the
trace, a kernel that is chosen there is chosen in the timeline and the other way round, and a kernel is
followed from a line of Python to the instruction that waits. Skipped without the page, node, Chromium or
playwright-core."""
# ci: labels browser
import csv
import io
import json

from common import SOURCE, UNITRACE, main, skip
from view_support import ViewCase, unitrace

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

MODEL = SOURCE / "tests/golden/inputs/kernels/model.json"
STALLS = SOURCE / "tests/golden/inputs/stalls"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed[%]"
READ = "dram__bytes_read.sum[bytes]"


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Metrics(ViewCase):
    script = "view_metrics.js"

    def check_table(self, text):
        judged = {k["name"]: k for k in json.loads(unitrace("kernels", "--json", MODEL))}
        events = [e for e in json.loads(MODEL.read_text())["traceEvents"] if e.get("cat") == "kernel"]
        seen = {r["kernel"]: r for r in rows(text)}
        self.assertEqual(set(seen), set(judged))
        for name, row in seen.items():
            own = [e for e in events if e["name"] == name]
            self.assertEqual((int(row["launches"]), float(row["time_ns"])), (len(own), sum(e["dur"] for e in own) * 1000))
            self.assertEqual((row["grid"], row["block"]), (own[0]["args"]["grid"], own[0]["args"]["block"]))
            self.assertEqual(row["verdict"], judged[name]["why"])
            if READ in own[0]["args"]:
                self.assertEqual(float(row[READ]), own[0]["args"][READ])
            else:
                self.assertEqual(row[READ], "")
            if DRAM in own[0]["args"]:
                self.assertAlmostEqual(float(row[DRAM]), own[0]["args"][DRAM] / 100)
        self.assertAlmostEqual(float(seen["counted(float*)"][DRAM]), 0.72)  # samples from 70 to 74, while it ran
        self.assertEqual((seen["copy(float4*)"]["bound"], seen["sgemm_128x256_ffma_tn"]["bound"]), ("DRAM", "FP32"))
        self.assertAlmostEqual(float(seen["copy(float4*)"]["reached"]), (246.8e6 + 246.1e6) / 132e-6 / 4616e9, places=3)
        self.assertEqual(seen["chase(int*)"]["bound"], "")

    def check(self, seen):
        self.assertEqual(seen["errors"], [])
        self.assertEqual(seen["first"]["kernel"], "sgemm_128x256_ffma_tn")  # the longest
        self.check_table(seen["csv"])
        chase = seen["chase"]
        self.assertEqual((chase["kernel"], chase["selected"], seen["event"]), ("chase(int*)", ["chase(int*)"], "chase(int*)"))
        self.assertIn("waits for memory: 90 % of samples, 90 % at chase.cu:12", chase["verdict"])
        self.assertEqual((chase["bars"], chase["disc"], chase["counters"]), (2, 0, [DRAM]))
        places = rows(seen["instructions"])
        self.assertEqual([(p["address"], p["line"], p["samples"], p["long_scoreboard"]) for p in places],
                         [("0x01c0", "12", "900", "900"), ("0x01d0", "13", "100", "0")])
        self.assertEqual(seen["chain"], [["Task", "step", ""], ["Python", "forward", "net.py:14"], ["Op", "aten::index", ""],
                                         ["Call", "cudaLaunchKernel", ""], ["Kernel", "chase(int*)", ""]])
        self.assertEqual(seen["drawer"], ["90.0 % of its samples are at 0x01c0, chase.cu:12"])
        sgemm = seen["sgemm"]
        self.assertEqual((sgemm["kernel"], sgemm["disc"]), ("sgemm_128x256_ffma_tn", 1))
        self.assertIn("is compute bound (FP32)", sgemm["roof"])
        self.assertEqual(seen["opened"], ["metrics", "chase(int*)"])  # sampled
        self.assertEqual(seen["unsampled"], ["timeline", "sgemm_128x256_ffma_tn"])
        self.assertEqual(seen["width"], 420)

    def check_code(self, seen):
        self.assertEqual(seen["errors"], [])
        self.assertRegex(seen["lines"][0], r"^chase\.cu:12\s+(–|statement 12;)\s+589\s+56\.9.%\s+long_scoreboard$")
        self.assertEqual(len(seen["instructions"]), 12)
        self.assertRegex(seen["instructions"][4], r"IMAD\.WIDE\.U32 R8, R7, 0x4, R4 ;\s+49\.2.%\s+long_scoreboard\s+98\.2.%\s+0x0030 LDG\.E R7, desc\[UR4\]\[R6\.64\] ;\s+509\s")
        self.assertEqual([r for r in seen["reasons"] if r.endswith(" stalls")][:2],
                         ["long_scoreboard stalls", "short_scoreboard stalls"])  # most samples first

    def test_kernels_metrics_and_the_way_between_them(self):
        page = self.dir / "model.html"
        unitrace("view", MODEL, "--save", page)
        unitrace("metrics", "-k", "chase", "-s", STALLS / "modules", "-o", self.dir / "stalls.html", STALLS / "nvidia.csv")
        *pages, code = self.serve_and_look([MODEL], page, self.dir / "stalls.html")
        self.check_code(code)
        for seen in pages:
            for part in (seen["first"], seen["chase"], seen["sgemm"]):
                for key, value in part.items():
                    if isinstance(value, str):
                        part[key] = value.replace("\u202f", " ")
            seen["drawer"] = [t.replace("\u202f", " ") for t in seen["drawer"]]
            self.check(seen)


if __name__ == "__main__":
    main()
