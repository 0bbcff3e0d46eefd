"""What the viewer's Summary says to do first: the verdicts of `stats --device`, `kernels` and `ranks`, the one that could
win most, with a link to the evidence; over HTTP and in one file. Skipped without the page, node, Chromium or
playwright-core."""
# ci: labels slow browser
import json
import re

from common import SOURCE, UNITRACE, main, skip
from view_support import ViewCase, unitrace

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

INPUTS = SOURCE / "tests/golden/inputs"
CG = sorted((INPUTS / "mpi").glob("cg.?.json"))
DEVICE = 1 << 30 | 1


def starved():
    """Four kernels of 10 us, each launched 100 us after the last by a thread that is in Python; once 300 us."""
    events, at = [{"ph": "X", "name": "forward", "pid": 300, "tid": 300, "ts": 1000, "dur": 900, "cat": "Python",
                   "args": {"file": "net.py", "line": 3}}], 1010
    for i in range(4):
        at += 300 if i == 2 else 100
        events += [{"ph": "X", "name": "cudaLaunchKernel", "pid": 300, "tid": 300, "ts": at, "dur": 4, "cat": "CUDA",
                    "args": {"correlation": i + 1}},
                   {"ph": "X", "name": "scale(float*)", "pid": DEVICE, "tid": DEVICE + 1, "ts": at + 6, "dur": 10,
                    "cat": "kernel", "args": {"correlation": i + 1, "grid": "1056x1x1", "block": "256x1x1"}}]
    return {"traceEvents": events, "otherData": {"tool": "unitrace", "version": "0.0.9", "clock": "CLOCK_MONOTONIC", "processes": [
        {"pid": 300, "name": "python", "host": "box"},
        {"pid": DEVICE, "os_pid": 300, "name": "DEVICE [NVIDIA H200] cuda:0 #0", "host": "box"}]}}


def shown(text):
    """As the page has what a command says."""
    return re.sub(r"(\d) us\b", "\\1 µs", text)


class Advice(ViewCase):
    script = "view_advice.js"

    def pages(self, *traces):
        """Of a server, and of one file."""
        page = self.dir / "page.html"
        unitrace("view", *traces, "--save", page)
        seen = self.serve_and_look(traces, page)
        for one in seen:
            self.assertEqual(one["errors"], [])
        return seen

    def test_a_device_that_waits_for_the_host_is_said_and_its_longest_gap_shown(self):
        path = self.dir / "starved.json"
        path.write_text(json.dumps(starved()))
        told = next(line for line in unitrace("stats", "--device", path).splitlines() if "host-bound" in line)
        idle, because = re.findall(r"([\d.]+)%", told)
        for seen in self.pages(path):
            self.assertEqual(seen["verdict"], [
                "Host-bound by Python: launch work earlier, or more of it at once; DEVICE [NVIDIA H200] cuda:0 #0 is idle "
                f"{idle} % of the time, {because} % because the host had not launched what came next."])
            self.assertIn("the longest gap is 290 µs", seen["why"][0])
            self.assertTrue(seen["flags"])
            self.assertFalse([o for o in seen["others"] if "is idle" in o])  # not said twice
            self.assertEqual(seen["tab"], "timeline")
            self.assertLessEqual(seen["view"]["t0"], 226000)  # 226 to 516 us after the begin of the trace
            self.assertGreaterEqual(seen["view"]["t1"], 516000)

    def test_of_several_ranks_it_is_said_whose_device_waits_and_which_file_says_so(self):
        files = [INPUTS / f"h200/train.{i}.json.gz" for i in (0, 1)]
        told = next(line for line in unitrace("stats", "--device", files[1]).splitlines() if "host-bound" in line)
        idle, because = re.findall(r"([\d.]+)%", told)
        for seen in self.pages(*files):
            self.assertEqual(seen["verdict"], [
                f"Host-bound: launch work earlier, or more of it at once; GPU 0 of rank 1 is idle {idle} % of the time, "
                f"{because} % because the host had not launched what came next."])
            self.assertIn("(unitrace stats --device train.1.json.gz)", seen["why"][0])
            shared = next(o for o in seen["others"] if "Communication-bound" in o)
            self.assertRegex(shared, r"in ncclDevKernel_\w+\.")  # without its arguments

    def test_of_a_busy_device_the_kernel_that_loses_most_is_named_with_its_verdict(self):
        judged = {k["name"]: k for k in json.loads(unitrace("kernels", "--json", INPUTS / "kernels/model.json"))}
        for seen in self.pages(INPUTS / "kernels/model.json"):
            self.assertIn("Memory-bound: make gather(float*) faster", seen["verdict"][0])
            self.assertIn(shown(judged["gather(float*)"]["why"]), seen["verdict"][0])
            self.assertIn(shown(judged["gather(float*)"]["advice"]), seen["why"][0])
            self.assertEqual((seen["tab"], seen["selected"]), ("metrics", "gather(float*)"))

    def test_gaps_in_which_counters_are_read_are_not_the_programs(self):
        """A run with -q: what takes the time between kernels is the measuring, so the kernel comes first, and nothing is red but it."""
        trace = starved()
        for e in trace["traceEvents"]:
            if e.get("cat") == "kernel":
                e["args"]["dram__throughput.avg.pct_of_peak_sustained_elapsed[%]"] = 91.5
        path = self.dir / "counted.json"
        path.write_text(json.dumps(trace))
        for seen in self.pages(path):
            self.assertIn("Memory-bound: make scale(float*) faster", seen["verdict"][0])
            self.assertEqual([o for o in seen["others"] if "idle" in o or "Host-bound" in o], [])
            self.assertTrue([o for o in seen["others"] if "counters were read between kernels" in o], seen["others"])
            self.assertEqual(seen["flags"], [])

    def test_idle_for_one_reason_is_said_once(self):
        path = self.dir / "starved.json"
        trace = starved()
        trace["traceEvents"] = [e for e in trace["traceEvents"] if e["cat"] != "Python"]
        path.write_text(json.dumps(trace))
        said = self.pages(path)[0]["verdict"][0]
        self.assertEqual(len(re.findall(r"[\d.]+ %", said)), len(set(re.findall(r"[\d.]+ %", said))), said)

    def test_kernels_that_wait_for_other_ranks_are_no_advice_to_make_a_small_one_faster(self):
        for seen in self.pages(INPUTS / "h200/train.0.json.gz"):
            self.assertRegex(seen["verdict"][0], r"^Communication-bound: 9\d\.\d % of the kernels' time is moving data between ranks, most of it in "
                                                 "ncclDevKernel_AllReduce")
            self.assertIn("record all ranks", seen["why"][0])
            self.assertNotIn(" 0.0 %", " ".join(seen["verdict"]))

    def test_ranks_that_wait_are_the_verdict_of_a_job_without_devices(self):
        told = json.loads(unitrace("ranks", "--json", *CG))
        for seen in self.pages(*CG):
            self.assertEqual(seen["verdict"], [shown(f"Imbalance, even out the work of ranks: r{told['verdict'][1:]}.")])
            self.assertEqual(seen["tab"], "ranks")


if __name__ == "__main__":
    main()
