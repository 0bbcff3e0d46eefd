"""Reports of devices: what the summary says is worked out again, from the timeline and by other
means; files, options and several processes.
"""
import collections
import csv
import io
import json
import math
import os
import re
import signal
import subprocess

import common
from common import program, to_ns
from device_support import backend, need_backend

CUDA, CUPTI = backend("cuda"), program("libfake_cupti.so")
KERNELS, WORK = "--chrome-kernel-logging", "--chrome-device-logging"
FAKE = (program("fake_cuda"), CUDA, CUPTI)


class Case(common.Case):
    def run_fake(self, *words, options=(KERNELS,), rc=0, **env):
        done = self.unitrace(*options, *words, env=common.environment(UNITRACE_CUPTI=str(CUPTI),
                                                                      **env))
        self.assertEqual(done.returncode, rc, done.stderr)
        self.said = done.stderr.decode()

    def record(self, count, *more, options=(KERNELS,), name="run.json", rc=0, **env):
        self.run_fake(*FAKE, count, *more, options=(*options, "-o", name, "--overwrite"), rc=rc,
                      **env)
        return json.loads((self.dir / name).read_text())["traceEvents"]

    def stats(self, *paths):
        done = self.unitrace("stats", "--device", "--json", *paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def stats_of(self, events):
        (self.dir / "made.json").write_text(json.dumps({"traceEvents": events}))
        return self.stats("made.json")


def covered(spans):
    """The time in which at least one of them runs: (sum, list of pieces)."""
    pieces = []
    for begin, end in sorted(spans):
        if pieces and begin <= pieces[-1][1]:
            pieces[-1][1] = max(end, pieces[-1][1])
        else:
            pieces.append([begin, end])
    return sum(end - begin for begin, end in pieces), pieces


def by_hand(events):
    """The summary of the only device, from the events of its timeline."""
    spans = [(e, to_ns(e["ts"]), to_ns(e["ts"]) + to_ns(e["dur"])) for e in events
             if e["ph"] == "X"]
    work = [s for s in spans if s[0]["cat"] in ("kernel", "copy", "fill")]
    calls = {}
    for e, begin, end in spans:
        if e["cat"].startswith("CUDA") and "correlation" in e["args"]:
            number = e["args"]["correlation"]
            calls[number] = min(calls.get(number, (begin, end)), (begin, end))
    kernels, _ = covered([s[1:] for s in work if s[0]["cat"] == "kernel"])
    copies, _ = covered([s[1:] for s in work if s[0]["cat"] != "kernel"])
    busy, pieces = covered([s[1:] for s in work])
    starved = 0
    for before, after in zip(pieces, pieces[1:]):
        # of several that begin together, the shortest was there first
        _, number = min((end, e["args"]["correlation"]) for e, begin, end in work
                        if begin == after[0])
        starved += max(0, min(calls[number][1], after[0]) - before[1])
    waits = sorted(begin - calls[e["args"]["correlation"]][0] for e, begin, _ in work)
    window = pieces[-1][1] - pieces[0][0]
    return {"window_ns": window, "busy_ns": busy, "idle_ns": window - busy, "kernel_ns": kernels,
            "copy_ns": copies, "overlap_ns": kernels + copies - busy, "starved_ns": starved,
            "delayed_ns": window - busy - starved, "timed": len(work),
            "latency_p50_ns": waits[math.ceil(len(waits) * 0.5) - 1],
            "latency_p99_ns": waits[math.ceil(len(waits) * 0.99) - 1],
            "latency_max_ns": waits[-1]}


class Figures(Case):
    def test_the_summary_is_what_the_timeline_shows(self):
        for count in (1, 20, 300):  # streams overlap, and a graph is launched at the end
            with self.subTest(count):
                events = self.record(count)
                device, = self.stats("run.json")["devices"]
                wanted = by_hand(events)
                self.assertEqual({key: device[key] for key in wanted}, wanted)

    def test_kernels_by_time_and_task(self):
        events = self.record(20)
        totals = collections.Counter()
        for e in events:
            if e.get("cat") == "kernel":
                totals[e["name"], e["args"]["task"]] += to_ns(e["dur"])
        got = self.stats("run.json")["kernels"]
        self.assertEqual([((k["kernel"], k["task"]), k["total_ns"]) for k in got],
                         totals.most_common())
        self.assertTrue(all(k["task_ns"] == k["total_ns"] for k in got))

    def test_the_depth_of_the_queue(self):
        events = self.record(50)
        calls = {e["args"]["correlation"]: to_ns(e["ts"]) for e in events
                 if e.get("cat") == "CUDA" and "correlation" in e["args"]}
        waits = [(calls[e["args"]["correlation"]], to_ns(e["ts"])) for e in events
                 if e.get("cat") in ("kernel", "copy", "fill")]
        device, = self.stats("run.json")["devices"]
        first = min(start for _, start in waits)
        area = sum(start - max(call, first) for call, start in waits)
        self.assertAlmostEqual(device["queue_depth_mean"], area / device["window_ns"], places=2)
        most = max(sum(call <= moment <= start for call, start in waits) for moment, _ in waits)
        self.assertEqual(device["queue_depth_max"], most)

    def test_a_saved_trace_and_the_run_itself_agree(self):
        self.record(20)
        said = self.unitrace("stats", "--device", "run.json").stdout.decode()
        # A file does not tell when the program began and ended.
        said, live = (re.sub(r"; the recording lasted .*", "", s) for s in (said, self.said))
        self.assertIn(said.strip(), live)

    def test_two_programs_are_kept_apart_also_after_a_merge(self):
        script = " ".join(map(str, FAKE))
        self.run_fake("sh", "-c", f"{script} 3; {script} 5", options=(KERNELS, "--quiet"))
        paths = [p.name for p in self.timelines()]
        self.assertEqual(len(paths), 2)
        apart = self.stats(*paths)["devices"]
        done = self.unitrace("merge", "-o", "both.json", *paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.stats("both.json")["devices"], apart)
        self.assertLess(apart[0]["latency_max_ns"], 10_000)

    def test_work_alone_says_busy_and_idle_and_blames_nobody(self):
        self.record(5, options=(WORK,))
        device, = self.stats("run.json")["devices"]
        self.assertEqual((device["timed"], device["starved_ns"], device["delayed_ns"]), (0, 0, 0))
        self.assertIn(device["verdict"], ("idle", "device-bound"))

    def test_a_killed_program_has_its_summary(self):
        self.record(50, "kill", rc=-signal.SIGKILL)
        self.assertIn("53 kernels, 1 copy (4096 bytes), 1 fill, 0 others", self.said)


class Made(Case):
    """Timelines made by hand."""

    GPU = {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "DEVICE [Fake] cuda:0 #0"}}

    @staticmethod
    def kernel(ts, dur, number=None, pid=9, tid=1):
        return {"ph": "X", "cat": "kernel", "name": "k", "pid": pid, "tid": tid, "ts": ts,
                "dur": dur, "args": {"correlation": number} if number else {}}

    @staticmethod
    def call(ts, dur, number):
        return {"ph": "X", "cat": "CUDA", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": ts,
                "dur": dur, "args": {"correlation": number}}

    def test_a_pause_is_not_idle(self):
        device, = self.stats_of([
            self.GPU, self.call(99, 1, 1), self.kernel(100, 50, 1), self.call(1100, 50, 2),
            self.kernel(1200, 50, 2),
            {"ph": "M", "name": "thread_name", "pid": 5, "tid": 6, "args": {"name": "Control"}},
            {"ph": "X", "cat": "control", "name": "paused", "pid": 5, "tid": 6, "ts": 160,
             "dur": 900},
        ])["devices"]
        self.assertEqual((device["paused_ns"], device["window_ns"], device["busy_ns"]),
                         (900_000, 250_000, 100_000))
        # 10 before the pause and 90 after it, then the work was there
        self.assertEqual((device["starved_ns"], device["delayed_ns"]), (100_000, 50_000))
        done = self.unitrace("stats", "--device", "made.json")
        self.assertIn(b"900.0 us of pauses left out", done.stdout)

    def test_devices_are_measured_each_by_itself(self):
        second = {**self.GPU, "pid": 10, "args": {"name": "DEVICE [Fake] cuda:1 #1"}}
        devices = self.stats_of([
            self.GPU, second, self.kernel(100, 100), self.kernel(400, 100),
            self.kernel(100, 300, pid=10), self.kernel(150, 300, pid=10, tid=2)])["devices"]
        self.assertEqual([(d["device"][-2:], d["busy_ns"], d["window_ns"]) for d in devices],
                         [("#0", 200_000, 400_000), ("#1", 350_000, 350_000)])

    def intels(self, rank=""):
        """Two kernels as Intel's tool writes them: no numbers, but arrows."""
        events = [{"ph": "M", "name": "process_name", "pid": pid, "ts": 1, "args": {"name": name}}
                  for pid, name in ((500, f"{rank}HOST<vm>"),
                                    (4294967295, f"{rank}DEVICE<vm>[Intel GPU] 0:3a:0.0 #0"))]
        for number, call, start in ((1, 10, 15), (2, 30, 37)):
            flow = {"name": "dep", "cat": f"Flow_H2D_{number}_500", "id": number}
            host, gpu = {"pid": 500, "tid": 500}, {"pid": 4294967295, "tid": 7}
            events += [
                {"ph": "X", **host, "name": "zeCommandListAppendLaunchKernel", "cat": "cpu_op",
                 "ts": call, "dur": 2, "id": 0},
                {"ph": "s", **host, **flow, "ts": call},
                {"ph": "X", **gpu, "name": "GEMM[SIMD32 {1; 1; 1} {32; 1; 1}]", "cat": "gpu_op",
                 "ts": start, "dur": 5, "args": {"id": str(number)}},
                {"ph": "t", **gpu, **flow, "ts": start}]
        return events

    def test_arrows_tell_when_intels_tool_launched(self):
        for rank in ("", "RANK 2 "):
            device, = self.stats_of(self.intels(rank))["devices"]
            self.assertEqual((device["timed"], device["latency_p50_ns"], device["latency_max_ns"]),
                             (2, 5000, 7000))
            self.assertEqual((device["starved_ns"], device["delayed_ns"], device["verdict"]),
                             (10_000, 7000, "host-bound"))

    def test_a_cluster_has_more_devices_than_a_machine(self):
        events = []
        for number in range(1500):
            events += [{**self.GPU, "pid": 10 + number,
                        "args": {"name": f"DEVICE [Fake] cuda:{number} #{number}"}},
                       self.kernel(100, 1 + number, pid=10 + number)]
        devices = self.stats_of(events)["devices"]
        self.assertEqual(sorted(d["busy_ns"] for d in devices),
                         [1000 * (1 + n) for n in range(1500)])

    def test_kernels_without_length_and_one_that_outlives_everything(self):
        device, = self.stats_of([self.GPU, self.call(10, 1, 1), self.kernel(20, 0, 1),
                                 self.kernel(20, 0), self.kernel(30, 1e9)])["devices"]
        self.assertEqual((device["kernels"], device["busy_ns"]), (3, 10**12))
        self.assertGreaterEqual(device["run_ns"], device["window_ns"])
        device, = self.stats_of([self.GPU, self.kernel(20, 0)])["devices"]
        self.assertEqual((device["kernels"], device["window_ns"]), (1, 0))

    def test_times_at_the_end_of_all_clocks(self):
        for ts, dur in ((1.8e16, 1e15), (0, 1.8e16), (9.2e15, 9.2e15)):
            device, = self.stats_of([self.GPU, self.call(0, 1, 1), self.kernel(ts, dur, 1),
                                     self.kernel(5, 1, 2)])["devices"]
            self.assertIn(device["kernels"], (1, 2))  # what no clock can say is left out
            self.assertLessEqual(device["busy_ns"], device["window_ns"])
            self.assertLess(device["window_ns"], 2**64)


def read_until_it_hangs_up(terminal):
    try:
        yield from terminal
    except OSError:
        pass


class Files(Case):
    def test_the_timeline_as_csv(self):
        self.run_fake(*FAKE, 4, options=("-t", "-d", "-s", "--no-summary", "-o", "log.csv"))
        path, = self.dir.glob("log.*.csv")
        lines, rows = path.read_text().split("\n\n")
        lines = list(csv.DictReader(io.StringIO(lines)))
        self.assertEqual(len(lines), 4 + 3 + 2)
        for line in lines:
            times = [int(line[f"{what}_ns"]) for what in ("append", "submit", "start", "end")]
            self.assertEqual(times, sorted(times))
        rows = {r["name"]: r for r in csv.DictReader(io.StringIO(rows))}
        self.assertEqual((rows["relu"]["registers"], rows["relu"]["shared_bytes"],
                          rows["relu"]["local_bytes"]), ("32", "1024", "16"))
        self.assertEqual(rows["Memset"]["registers"], "")
        execute = sum(int(line["end_ns"]) - int(line["start_ns"]) for line in lines)
        self.assertEqual(sum(int(r["total_ns"]) for r in rows.values()), execute)

    def test_each_process_and_rank_has_its_file(self):
        script = " ".join(map(str, FAKE))
        self.run_fake("sh", "-c", f"{script} 3; {script} 5", PMI_RANK="2", PMI_SIZE="4",
                      options=("-d", "--no-summary", "-o", "log.txt"))
        found = sorted(self.dir.glob("log.*.txt"))
        self.assertEqual(len(found), 2)
        for path in found:
            self.assertRegex(path.name, r"^log\.\d+\.2\.txt$")
            self.assertEqual(path.read_text().count("=== Device Timing Summary ==="), 1)

    def test_a_table_follows_the_summary_after_a_blank_line(self):
        self.run_fake(*FAKE, 2, options=("-t",))
        self.assertRegex(self.said, r"%\n\nThread \d+ Device 0 : ")

    def test_a_terminal_gets_long_names_without_their_middle(self):
        words = "-d", "-v", "--no-summary", *FAKE, 2
        self.run_fake(*words, options=())
        ours, theirs = common.terminal()
        with subprocess.Popen(
                [str(w) for w in (common.UNITRACE, *words)], cwd=self.dir, stderr=theirs,
                env=common.environment(UNITRACE_CUPTI=str(CUPTI))):
            os.close(theirs)
            with open(ours, encoding="utf-8", errors="replace") as f:
                shown = "".join(read_until_it_hangs_up(f))
        name = '"matmul(int, float const*, float const*, float*)[SIMD32 {64; 1; 1} {256; 1; 1}]",'
        self.assertIn(name, self.said)
        self.assertNotIn("…", self.said)
        short, = re.findall(r'^ *("matmul.*?",) +\d+, +\d+, ', shown, re.M)
        self.assertEqual(len(short), 60 + len('"",'))
        self.assertEqual([name[:20], name[-20:]], [short[:20], short[-20:]])

    def test_what_devices_did_is_reported_once(self):
        self.run_fake(*FAKE, 10, options=(KERNELS, "-o", "run.json"))
        tasks, devices = self.said.split("\nDEVICE [")
        lines = tasks[tasks.index("Task "):].splitlines()
        names = {line.split("  ")[0] for line in lines[1:]}
        self.assertTrue({"step", "cudaLaunchKernel"} <= names, names)
        self.assertFalse({"relu", "Memcpy HtoD", "Memset"} & names, names)
        self.assertNotIn(" - ", tasks)  # all of it is work
        below, = re.findall(r"and what devices did, (\d+\.\d)% of the time: below", tasks)
        shares = [float(line.split()[-1][:-1]) for line in lines[1:] if line.endswith("%")]
        self.assertAlmostEqual(sum(shares) + float(below), 100, delta=0.6)
        self.assertIn("\nrelu ", devices)
        # asked later, of all of it
        done = self.unitrace("stats", "--csv", "run.json")
        rows = {r["name"]: r for r in csv.DictReader(io.StringIO(done.stdout.decode()))}
        self.assertAlmostEqual(float(rows["step"]["share"]), shares[0], delta=0.06)
        self.assertAlmostEqual(sum(float(rows[n]["share"]) for n in rows if n[0] in "rmM"),
                               float(below), delta=0.06)

    def test_no_work_no_table_and_no_file(self):
        self.run_fake("true", options=("-h", "-d", "-s", "-t", "-c", "-o", "log.txt"))
        self.assertEqual(list(self.dir.glob("log*")), [])
        self.run_fake(*FAKE, 2, options=("-d", "--devices-to-sample", "3", "--no-summary",
                                         "-o", "log.txt"))
        self.assertEqual(list(self.dir.glob("log*")), [])
        self.assertIn("--devices-to-sample 3: the program has not used such a device", self.said)

    def test_any_number_of_a_device_runs(self):
        for number in ("64", "0,256", "99999999999999999999"):
            self.run_fake(*FAKE, 2, options=("-d", "--devices-to-sample", number, "--no-summary",
                                             "-o", f"{number}.txt"))
            self.assertEqual(bool(list(self.dir.glob(f"{number}*"))), number.startswith("0"))
        done = self.unitrace("-d", "--devices-to-sample", "one", "true")
        self.assertEqual(done.returncode, 2)

    def test_a_file_of_tables_holds_those_alone(self):
        self.run_fake(*FAKE, 2, options=("-t", "-o", "log.txt"))
        text, = (p.read_text() for p in self.dir.glob("log*"))
        for line in filter(None, text.splitlines()):
            self.assertRegex(line, r"^(== .* ==|Device Timeline|.*\[ns\] ?=? ?.*)")
        self.run_fake(*FAKE, 2, options=("-o", "sums.txt"))
        text, = (p.read_text() for p in self.dir.glob("sums*"))
        self.assertIn("step", text)

    def test_the_program_keeps_its_pid_beside_its_device(self):
        self.run_fake(*FAKE, 2, options=(WORK, "-o", "run.json", "--itt-domains", "none"))
        events = json.loads((self.dir / "run.json").read_text())["traceEvents"]
        names = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
        for name, pid in names.items():
            self.assertEqual(pid >= 1 << 30, name.startswith("DEVICE"), names)
        self.assertEqual(len(names), 2)

    def test_many_processes_cost_what_their_work_costs(self):
        """Tables of each of many processes: none looks through the work of all others."""
        text = f"for i in $(seq 30); do {' '.join(map(str, FAKE))} 50; done"
        self.run_fake("sh", "-c", text, options=("-d", "-v", "--no-summary", "--quiet",
                                                 "-o", "log.txt"))
        reports = list(self.dir.glob("log.*.txt"))
        self.assertEqual(len(reports), 30)
        for path in reports:
            calls = re.findall(r'^ *"(?:relu|matmul).*", +(\d+), +\d+, +\d', path.read_text(), re.M)
            self.assertEqual(sum(map(int, calls)), 53)


if __name__ == "__main__":
    common.need("fake_cuda", "libfake_cupti.so")
    need_backend("cuda")
    common.main()
