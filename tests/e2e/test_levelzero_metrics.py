#!/usr/bin/env python3
"""Hardware metrics of Level Zero on the simulated driver: queries, streams, stalls.

The values that the driver gives follow from what ran when (tests/levelzero/sim_metrics.c): XVE_ACTIVE
is 50 while a kernel runs, GPU_MEMORY_BYTE_READ four bytes a nanosecond. So every row can be checked.
"""
import collections
import csv
import http.client
import json
import re
import subprocess

import common
from levelzero_support import FOLDER, KERNELS, Case, need_levelzero

need_levelzero()
QUERY, STREAM, STALLS = "-q", "-k", "--stall-sampling"
BARRIER = 500  # ns; the simulated driver's, between a kernel and the end of its query
Row = collections.namedtuple("Row", "name shape instance values")


class MetricsCase(Case):
    def sheet(self):
        """The rows of the only file of metrics, with their columns."""
        path, = self.dir.glob("*.metrics.*.csv")
        lines = [l for l in path.read_text().splitlines() if l.strip()]
        self.assertEqual(lines[0], "=== Device #0 Metrics ===")
        rows = list(csv.DictReader(lines[1:], skipinitialspace=True))
        return [{k.strip(): v.strip() for k, v in row.items()} for row in rows]

    def kernels(self):
        rows = []
        for row in self.sheet():
            name, shape = re.fullmatch(r"(.*?)(\[SIMD.*\])?", row.pop("Kernel")).groups()
            rows.append(Row(name, shape, int(row.pop("GlobalInstanceId")), row))
        return rows

    def measure(self, way, *options, count=10, **more):
        for old in self.dir.glob("*.metrics.*.csv"):
            old.unlink()
        return self.record_way(way, count, options=options, **more)


class Query(MetricsCase):
    def check(self, rows, done, together):
        """together: the driver got the kernel and what is around it in one list. Otherwise it runs
        each as it comes, and the time that the host takes in between is measured, too."""
        self.assertEqual([r.name.split("(")[0] for r in rows],
                         [d.name.replace("_Z5saxpyPfS_f", "saxpy") for d in done])
        for number, (row, d) in enumerate(zip(rows, done), 1):
            took = int(row.values["GpuTime[ns]"])
            self.assertEqual(row.instance, number)
            self.assertEqual(row.values["SubDeviceId"], "0")
            self.assertGreaterEqual(took, d.end - d.begin)
            if together:
                self.assertEqual(took, d.end - d.begin + BARRIER, (row, d))
            self.assertEqual(int(row.values["GPU_MEMORY_BYTE_READ[bytes]"]), 4 * took)
            self.assertEqual(int(row.values["GpuCoreClocks[cycles]"]), took * 1600 // 1000)
            self.assertEqual(row.values["XVE_ACTIVE[%]"], "50.000000")
            self.assertEqual(row.values["XVE_STALL[%]"], "25.000000")

    def test_every_kernel_has_its_own_values(self):
        for way in ("regular", "immediate", "again", "synchronous", "events", "tasks"):
            with self.subTest(way):
                self.measure(way, QUERY)
                self.check(self.kernels(), self.done_by_the_driver("kernel"),
                           way in ("regular", "again"))
                self.assertNothingLeft()

    def test_the_program_notices_nothing(self):
        for way in ("several", "refilled", "fences", "device-resets", "odd-ends", "copies",
                    "timed-events", "threads", "everywhere"):
            with self.subTest(way):
                got, submitted = self.measure(way, QUERY, simulated="devices=1")
                self.assertEqual(len(got.work), submitted)
                self.assertNothingLeft()

    def test_kernels_in_the_timeline_carry_their_values(self):
        got, _ = self.measure("regular", QUERY)
        gemm, = got.named("gemm")
        row, = [r for r in self.kernels() if r.name == "gemm"]
        self.assertEqual(gemm.args["instance"], 1)
        self.assertEqual(gemm.args["XVE_ACTIVE[%]"], 50)
        self.assertEqual(gemm.args["GPU_MEMORY_BYTE_READ[bytes]"],
                         int(row.values["GPU_MEMORY_BYTE_READ[bytes]"]))
        self.assertIn("/%22gemm%5BSIMD32", gemm.args["metrics"])

    def test_a_list_that_is_executed_again_too_soon_is_not_measured_and_that_is_said(self):
        got, submitted = self.measure("burst", QUERY, count=50)
        self.assertEqual(len(got.work), submitted)
        measured = self.kernels() if list(self.dir.glob("*.metrics.*.csv")) else []
        missing = int((re.search(r"-q: (\d+) runs of kernels were not measured", self.said)
                       or [0, 0])[1])
        self.assertEqual(len(measured) + missing, len(self.done_by_the_driver("kernel")))
        self.assertGreater(missing, 0)
        for row in measured:
            self.assertEqual(row.values["XVE_ACTIVE[%]"], "50.000000")

    def test_instances_and_groups_are_chosen(self):
        self.measure("immediate", QUERY, "--metric-instances", "2-3", count=6)
        self.assertEqual(sorted(r.name.split("(")[0] for r in self.kernels()),
                         ["saxpy", "saxpy", "tiny", "tiny"])
        self.measure("regular", QUERY, "--group", "VectorEngine138")
        for row in self.kernels():
            took = int(row.values["GpuTime[ns]"])
            self.assertEqual(int(row.values["XVE_INST_EXECUTED_FP32[events]"]), 2 * took)
            self.assertEqual(int(row.values["XVE_INST_EXECUTED_FP64[events]"]), took)

    def test_a_group_that_only_the_driver_could_know(self):
        got, submitted = self.measure("regular", QUERY, "--group", "Nonsense9")
        self.assertEqual(len(got.work), submitted)
        self.assertEqual(self.said.count("the device has no group Nonsense9 for --metric-query"), 1)

    def test_failures_cost_the_values_and_nothing_else(self):
        for function in ("zetMetricGroupGet", "zetContextActivateMetricGroups",
                         "zetMetricQueryPoolCreate", "zetMetricQueryCreate",
                         "zetCommandListAppendMetricQueryBegin",
                         "zetCommandListAppendMetricQueryEnd",
                         "zetMetricGroupCalculateMultipleMetricValuesExp"):
            with self.subTest(function):
                got, submitted = self.measure("regular", QUERY,
                                              simulated=f"fail={function}:1-1000:0x70000001")
                self.assertEqual(len(got.work), submitted)
                self.assertEqual(self.said.count("no hardware metrics"), 1, self.said)
                self.assertNothingLeft()


class Readers(MetricsCase):
    """What is made of files of the simulated driver: charts, verdicts, roofs, the viewer's tab."""

    def told(self, *words):
        done = self.unitrace(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def only(self, pattern):
        path, = self.dir.glob(pattern)
        return path

    def recorded(self, *options, **more):
        self.measure("regular", *options, **more)
        return self.only("ze_work.*.json"), self.only("*.metrics.*.csv")

    def judged(self, trace):
        return {k["name"]: k["why"] for k in json.loads(self.told("kernels", "--json", trace))}

    def test_charts(self):
        for way in QUERY, STREAM:
            with self.subTest(way):
                path = self.recorded(way, simulated="kernel_ns=5000000")[1]
                self.assertIn("gemm", self.told("metrics", "-l", path))
                chart = self.dir / "chart.svg"
                self.told("metrics", "-o", chart, "-k", "gemm", "-m", "XVE_ACTIVE[%],XVE_STALL[%]", path)
                self.assertIn("XVE_STALL", chart.read_text())
                chart.unlink()

    def test_report_of_stalls(self):
        path = self.recorded(STALLS, simulated="kernel_ns=5000000")[1]
        chart = self.dir / "chart.svg"
        self.told("metrics", "-o", chart, "-k", "gemm", path)
        self.assertIn("SbidStall", chart.read_text())

    def test_verdicts(self):
        for way, words in ((QUERY, "most used of what was: the multiprocessors at 50 % of its peak"), (STALLS, " of samples")):
            with self.subTest(way):
                trace = self.recorded(way, KERNELS, simulated="kernel_ns=5000000")[0]
                self.assertIn(words, self.judged(trace)["gemm"])

    def test_roofline(self):
        """Two groups, as on Intel's devices; 2 operations of FP32 and 1 of FP64 in a nanosecond, 4 bytes."""
        program = f"{FOLDER / 'ze_work'} regular 10"
        for group, name in (("VectorEngine138", "compute"), ("ComputeBasic", "memory")):
            self.measure("regular", QUERY, "--group", group, "-o", name)
        env = self.environment()
        for words in (("--compute", "compute", "--memory", "memory"), ("--app", program)):
            with self.subTest(words):
                done = self.unitrace("roofline", *words, "--device", "pvc-1tile", "--json", env=env)
                self.assertEqual(done.returncode, 0, done.stderr)
                rows = json.loads(done.stdout[done.stdout.index(b"[{"):])  # behind what the program says
                self.assertEqual([r["kernel"].split("[")[0] for r in rows], ["gemm", "scale"])
                for row in rows:
                    self.assertEqual((row["bound"], row["unit"]), ("dram", "fp32"))
                    self.assertAlmostEqual(row["rate_gflops"], 64, delta=0.5)
                    self.assertAlmostEqual(row["gb_per_s"]["dram"], 4, delta=0.1)
                    self.assertAlmostEqual(row["intensity"]["dram"], 16, delta=0.5)

    def seen(self, trace):
        """The sheet of the viewer's tab Metrics."""
        with subprocess.Popen([common.UNITRACE, "view", "--no-browser", "-p", "0", trace], cwd=self.dir,
                              env=common.environment(), stderr=subprocess.PIPE, text=True) as server:
            try:
                line = server.stderr.readline()
                if "built without the viewer's page" in line:
                    self.skipTest("built without the page (tools/setup.sh test)")
                port, token = re.search(r":(\d+)/\?token=(\w+)", line).groups()
                link = http.client.HTTPConnection("127.0.0.1", int(port), timeout=common.PATIENCE)
                link.request("GET", f"/?token={token}")
                answer = link.getresponse()
                answer.read()
                link.close()
                headers = {"Cookie": answer.headers["Set-Cookie"].split(";")[0], "X-Unitrace": "1"}
                status = 503
                while status == 503:  # as long as the trace is being read
                    link.request("POST", "/api/sheet", '{"tool":"metrics","name":"metrics"}', headers)
                    answer = link.getresponse()
                    status, body = answer.status, answer.read()
                    link.close()
                self.assertEqual(status, 200, body)
                return json.loads(body)
            finally:
                server.kill()

    def test_the_viewer(self):
        sheet = self.seen(self.recorded(QUERY, KERNELS)[0])
        columns = {c["key"]: (c["type"], values) for c, values in
                   zip(sheet["kernels"]["columns"], sheet["kernels"]["data"])}
        self.assertEqual(columns["kernel"][1], ["gemm", "scale"])
        self.assertEqual(columns["measured"][1], [1, 1])
        self.assertEqual(columns["XVE_ACTIVE[%]"], ("share", [0.5, 0.5]))
        self.assertEqual(columns["GPU_MEMORY_BYTE_READ[bytes]"][0], "bytes")
        self.assertEqual(sheet["memory"][0]["maker"], "intel")
        sheet = self.seen(self.recorded(STALLS, KERNELS, simulated="kernel_ns=5000000")[0])
        self.assertIn("gemm", [s["kernel"] for s in sheet["stalls"]])
        self.assertEqual(sheet["memory"][0]["maker"], "intel")


class Listed(MetricsCase):
    """--metric-list: what the driver can measure, as Intel's tool lists it, in front of our own groups."""

    def listed(self, simulated="", **more):
        done = self.unitrace("--metric-list", env=self.environment(simulated, **more))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode().split("\n\n")

    def test_groups_of_the_driver(self):
        basic, vector, stalls, ours = self.listed()[:4]
        self.assertEqual(basic.splitlines(), [
            "Group 0: ComputeBasic (Simulated ComputeBasic metrics)",
            "\tMetric 0: GpuTime[ns] (simulated: GpuTime) [UINT64, DURATION, ComputeBasic]",
            "\tMetric 1: GpuCoreClocks[cycles] (simulated: GpuCoreClocks) [UINT64, EVENT, ComputeBasic]",
            "\tMetric 2: AvgGpuCoreFrequencyMHz[MHz] (simulated: AvgGpuCoreFrequencyMHz)"
            " [UINT64, EVENT, ComputeBasic]",
            "\tMetric 3: XVE_ACTIVE[%] (simulated: XVE_ACTIVE) [FLOAT32, RATIO, ComputeBasic]",
            "\tMetric 4: XVE_STALL[%] (simulated: XVE_STALL) [FLOAT32, RATIO, ComputeBasic]",
            "\tMetric 5: GPU_MEMORY_BYTE_READ[bytes] (simulated: GPU_MEMORY_BYTE_READ)"
            " [UINT64, THROUGHPUT, ComputeBasic]",
            "\tMetric 6: QueryBeginTime[ns] (simulated: QueryBeginTime) [UINT64, TIMESTAMP, ComputeBasic]",
            "\tMetric 7: ReportReason (simulated: ReportReason) [UINT32, RAW, ComputeBasic]"])
        self.assertTrue(vector.startswith("Group 1: VectorEngine138 (Simulated VectorEngine138 metrics)\n"))
        self.assertTrue(stalls.startswith(
            "Group 2: EuStallSampling (Simulated EuStallSampling metrics; --stall-sampling)\n"
            "\tMetric 0: IP[address] (simulated: IP) [UINT64, IP, EuStallSampling]\n"))
        self.assertTrue(ours.startswith("Group 3: ComputeBasic (how busy"), ours)

    def test_every_group_that_is_listed_can_be_measured(self):
        for name in re.findall(r"^Group \d+: (\S+) \(Simulated [^;]*\)$", "\n".join(self.listed()), re.M):
            self.measure("regular", QUERY, "--group", name)
            self.assertTrue(self.kernels(), name)

    def test_a_driver_without_metrics_or_devices_leaves_ours(self):
        for simulated, more in (("fail=zetMetricGroupGet:1-9:0x70000001", {}),
                                ("", {"UNITRACE_DeviceId": "7"}),
                                ("", {"ZE_ENABLE_ALT_DRIVERS": "/nonexistent.so"})):
            self.assertTrue(self.listed(simulated, **more)[0].startswith("Group 0: ComputeBasic (how busy"))


class Stream(MetricsCase):
    def test_samples_belong_to_the_kernels_that_ran(self):
        got, _ = self.measure("regular", STREAM, "-i", "100", simulated="kernel_ns=5000000")
        done = {d.name: d for d in self.done_by_the_driver("kernel")}
        rows = collections.defaultdict(list)
        for row in self.kernels():
            rows[row.name].append(row)
        for name, d in done.items():
            took = d.end - d.begin
            self.assertLessEqual(abs(len(rows[name]) - took / 100_000), 2, (name, took))
            for row in rows[name]:
                begin = int(row.values["QueryBeginTime[ns]"])
                self.assertEqual(row.values["GpuTime[ns]"], "100000")
                self.assertGreaterEqual(begin + 50_000, d.begin - self.near(got))
                self.assertLessEqual(begin + 50_000, d.end + self.near(got))
        inside = [r for r in rows["gemm"][1:-1]]
        self.assertTrue(inside or done["gemm"].end - done["gemm"].begin < 400_000)
        for row in inside:
            self.assertEqual(row.values["XVE_ACTIVE[%]"], "50.000000")
            self.assertEqual(row.values["GPU_MEMORY_BYTE_READ[bytes]"], "400000")
        self.assertNothingLeft()
        self.assertTrue([c for c in got.trace.counters if c["name"].startswith("XVE_ACTIVE")])

    def test_idle_samples_if_they_are_wanted(self):
        self.measure("regular", STREAM, "--idle-sampling")
        names = {r.name for r in self.kernels()}
        self.assertTrue([n for n in names if n.startswith("NoKernel")], names)

    def test_a_buffer_that_was_full_is_reported(self):
        self.measure("regular", STREAM, "-i", "1", simulated="stream_room=10")
        self.assertIn("the device's buffer was full for a while", self.said)

    def test_failures_cost_the_samples_and_nothing_else(self):
        for function in ("zetMetricGroupGet", "zetContextActivateMetricGroups",
                         "zetMetricStreamerOpen",
                         "zetMetricGroupCalculateMultipleMetricValuesExp"):
            with self.subTest(function):
                got, submitted = self.measure("regular", STREAM,
                                              simulated=f"fail={function}:1-1000:0x70000001")
                self.assertEqual(len(got.work), submitted)
                self.assertEqual(self.said.count("no hardware metrics"), 1, self.said)
                self.assertNothingLeft()


class Stalls(MetricsCase):
    def test_columns_are_those_of_the_maker_however_few_samples_there_are(self):
        self.measure("regular", STALLS, count=1, simulated="kernel_ns=60000")
        columns = [k for k in self.sheet()[0] if k.endswith("[Events]")]
        self.assertEqual(len(columns), 9, columns)

    def test_instructions_that_wait(self):
        self.measure("regular", STALLS, simulated="kernel_ns=5000000")
        done = {d.name: d for d in self.done_by_the_driver("kernel")}
        rows = self.sheet()
        self.assertEqual(list(rows[0])[-1], "OtherStall[Events]")
        reasons = [k for k in rows[0] if k.endswith("[Events]")]
        self.assertEqual(len(reasons), 9)
        total = collections.Counter()
        for row in rows:
            self.assertIn(int(row["IP[Address]"], 16), range(0, 128, 16))
            total[row["Kernel"]] += sum(int(row[k]) for k in reasons)
        for name, d in done.items():
            expected = 2 * (d.end - d.begin) / 50_000
            self.assertLessEqual(abs(total[name] - expected), 4, (name, expected, total))
        self.assertNothingLeft()

    def test_a_driver_that_does_not_say_where_kernels_are(self):
        got, submitted = self.measure("regular", STALLS,
                                      simulated="fail=zetMetricStreamerOpen:1-9:0x70000001")
        self.assertEqual(len(got.work), submitted)
        self.assertEqual(self.said.count("no hardware metrics"), 1, self.said)


if __name__ == "__main__":
    common.main()
