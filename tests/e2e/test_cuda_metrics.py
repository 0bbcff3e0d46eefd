"""Hardware metrics of CUDA without a GPU: a fake CUPTI that insists on the order of calls that the
real one needs (tests/programs/fake_cupti_metrics.h). What an H200 measures: tests/device.
"""
# ci: labels slow
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import urllib.parse

import common
from common import program
from device_support import backend, need_backend

CUDA, CUPTI = backend("cuda"), program("libfake_cupti.so")
KERNELS = "--chrome-kernel-logging"
SOURCE = pathlib.Path(os.environ.get("UNITRACE_SOURCE", pathlib.Path(__file__).parents[2]))
CUBIN = SOURCE / "tests/data/cuda/kernels.cubin"
SHAPE = "[SIMD32 {64; 1; 1} {256; 1; 1}]"
RELU, MATMUL = "relu" + SHAPE, "matmul(int, float const*, float const*, float*)" + SHAPE


class Case(common.Case):
    def record(self, *options, count=4, more=(), rc=0, **env):
        """Runs the fake program; what was said is in self.said, the events in self.events."""
        env.setdefault("UNITRACE_CUPTI", str(CUPTI))
        for old in self.dir.iterdir():
            subprocess.run(["rm", "-rf", old], check=True)
        done = self.unitrace(*options, program("fake_cuda"), CUDA, CUPTI, count, *more,
                             env=common.environment(**env))
        self.said = done.stderr.decode()
        self.assertEqual(done.returncode, rc, self.said)
        self.events = []
        for path in self.timelines():
            self.events += json.loads(path.read_text())["traceEvents"]
        return self.said

    def file(self, pattern="*.metrics.*"):
        path, = self.dir.glob(pattern)
        return path

    def rows(self, text):
        """The columns, and the rows as lists of fields; None for an empty line."""
        lines = text.split("\n")
        self.assertEqual(lines[:3], ["", "=== Device #0 Metrics ===", ""])
        self.assertEqual(lines[-1], "")
        comma = ", " if lines[3].startswith("Kernel, ") else ","
        rows = []
        for line in lines[4:-1]:
            if not line:
                rows.append(None)
                continue
            name, rest = re.match(r'"((?:[^"]|"")*)"(.*)$', line).groups()
            rows.append([name, *rest[len(comma):].split(comma)])
        return lines[3].split(comma), rows

    def kernels(self):
        return [e for e in self.events if e["ph"] == "X" and e.get("cat") == "kernel"]

    def warnings(self):
        return [line for line in self.said.splitlines() if line.startswith("unitrace: warning")]


class Query(Case):
    def test_each_kernel_has_a_row_in_the_layout_of_intels(self):
        self.record("-q", KERNELS, "-o", "perf.csv")
        columns, rows = self.rows(self.file("perf.metrics.*.csv").read_text())
        self.assertEqual(columns[:5], ["Kernel", "GlobalInstanceId", "SubDeviceId", "GpuTime[ns]",
                                       "sm__cycles_elapsed.avg.per_second[Hz]"])
        self.assertEqual(rows[1::2], [None] * 4)
        self.assertEqual([r[:4] for r in rows[::2]],
                         [[RELU, "1", "0", "1000"], [MATMUL, "2", "0", "1001"],
                          [RELU, "3", "0", "1002"], [MATMUL, "4", "0", "1003"]])
        at = columns.index("dram__bytes_read.sum[bytes]")
        self.assertEqual([r[at] for r in rows[::2]], ["4096", "8192", "12288", "16384"])
        self.assertEqual({len(r) for r in rows[::2]}, {len(columns)})

    def test_the_lines_of_the_seed_come_in_its_order(self):
        said = [line for line in self.record("-q", KERNELS, "-o", "perf.csv").splitlines()
                if line.startswith("[INFO]")]
        self.assertEqual([re.sub(r"\d+", "N", line) for line in said],
                         ["[INFO] Log is stored in perf.N.csv",
                          "[INFO] Timeline is stored in fake_cuda.N.json",
                          "[INFO] Kernel metrics are stored in perf.metrics.N.csv"])

    def test_the_report_says_what_kernels_are_bound_by(self):
        for options in (("-q",), ("-k",), ("--stall-sampling",)):
            with self.subTest(options):
                self.record(*options, KERNELS, FAKE_CUPTI_LONG="1")
                rows = json.loads(self.unitrace("kernels", "--json", *self.timelines()).stdout)
                self.assertEqual(len(rows), 2)
                table = self.said[self.said.index("What kernels are bound by"):].splitlines()[3:5]
                for row, line in zip(rows, table):
                    self.assertTrue(line.startswith(row["name"]), line)
                    self.assertTrue(line.endswith(row["why"]), line)
        self.record("-q", KERNELS, "-o", "perf.csv")
        path, = (p for p in self.dir.glob("perf.*.csv") if "metrics" not in p.name)
        rows = json.loads(self.unitrace("kernels", "--json", *self.timelines()).stdout)
        for row in rows:
            self.assertIn(f'"{row["name"]}",{row["launches"]},{row["total_ns"]},', path.read_text())
        for options in ((KERNELS,), ("-q", KERNELS, "--no-summary"), ("-q", KERNELS, "--quiet")):
            self.assertNotIn("bound by", self.record(*options))

    def test_kernels_carry_metrics_times_and_a_link(self):
        self.record("-q", KERNELS, "-o", "perf.csv")
        measured = {k["args"]["instance"]: k for k in self.kernels() if "instance" in k["args"]}
        self.assertEqual(sorted(measured), [1, 2, 3, 4])
        k = measured[2]
        self.assertEqual((k["dur"], k["args"]["dram__bytes_read.sum[bytes]"]), (1.001, 8192))
        self.assertEqual(k["args"]["task"], "step")
        link = k["args"]["metrics"]
        self.assertEqual(urllib.parse.unquote(link), f'http://localhost:8000/"{MATMUL}"/2')
        self.assertRegex(link, r"^http://localhost:8000/[A-Za-z0-9%._~-]+/2$")

    def test_graphs_run_as_they_are_and_that_is_said(self):
        self.record("-q", KERNELS)
        graph = [k for k in self.kernels() if "graph" in k["args"]]
        self.assertEqual(len(graph), 3)
        self.assertTrue(all("metrics" not in k["args"] for k in graph))
        self.assertIn("-q: kernels of CUDA graphs cannot be measured one by one", self.said)

    def test_kernels_and_instances_are_chosen(self):
        self.record("-q", KERNELS, "--include-kernels", "matmul", count=8)
        _, rows = self.rows(self.file().read_text())
        self.assertEqual([r[0] for r in rows if r], [MATMUL] * 4)
        self.record("-q", KERNELS, "--metric-instances", "2,4-", count=10)
        _, rows = self.rows(self.file().read_text())
        self.assertEqual(collections.Counter(r[0] for r in rows if r), {RELU: 3, MATMUL: 3})
        self.assertEqual([r[3] for r in rows if r], ["1002", "1003", "1006", "1007", "1008", "1009"])
        self.assertEqual(len(self.kernels()), 13) # the others are in the timeline as before

    def test_devices_are_chosen(self):
        self.record("-q", KERNELS, "--devices-to-sample", "1")
        self.assertEqual(list(self.dir.glob("*.metrics.*")), [])

    def test_nothing_is_measured_in_a_pause(self):
        self.record("-q", KERNELS, "--start-paused", count=5, more=("pause",))
        _, rows = self.rows(self.file().read_text())
        self.assertEqual(len([r for r in rows if r]), 5)

    def test_groups(self):
        for name, column in (("--g", "ComputeBasic"), ("--group", "memory"), ("-g", "Roofline")):
            self.record(name, column, "-q", KERNELS)
            self.assertNotIn("nearest", self.said)
        self.assertIn("sm__ops_path_tensor_src_fp8.sum[operations]", self.file().read_text())
        self.record("--g", "VectorEngine138", "-q", KERNELS)
        self.assertIn("--group VectorEngine138 is a group of Intel's devices; on NVIDIA's, Roofline"
                      " is measured", self.said)

    def test_groups_of_ones_own(self):
        (self.dir.parent / "mine.ini").write_text(
            "[Mine]\nabout = what I want\nsm__inst_executed.sum = [warps] instructions\n"
            "nonsense.sum|l1tex__t_bytes.sum = [bytes]\nsm__foo.avg.pct\nnonsense.avg = [%]\n"
            "nonsense.more.sum|- = [bytes] there or not\n")
        self.record("-q", KERNELS, "--metric-file", self.dir.parent / "mine.ini", "-g", "Mine")
        columns, _ = self.rows(self.file().read_text())
        self.assertEqual(columns[4:], ["sm__inst_executed.sum[warps]", "nonsense.sum[bytes]",
                                       "sm__foo.avg.pct[%]"])
        self.assertRegex(self.said, r"(?m)does not have these metrics of Mine: nonsense\.avg$")

    def test_a_killed_program_keeps_what_was_measured(self):
        self.record("-q", KERNELS, "-o", "perf.csv", more=("kill",), rc=-signal.SIGKILL)
        _, rows = self.rows(self.file().read_text())
        self.assertEqual(len([r for r in rows if r]), 4)

    def test_caches_and_clocks(self):
        self.record("-q", "--cache-control", "all", "--clock-control", "base", KERNELS,
                    FAKE_CUPTI_VERSION="130400")
        self.assertIn("fake CUPTI: caches are emptied", self.said)
        self.assertIn("fake CUPTI: clocks are locked (1)", self.said)
        self.assertIn("fake CUPTI: clocks are free", self.said)
        self.record("-q", "--cache-control", "all", KERNELS)
        self.assertIn("--cache-control all: this CUPTI (130000) cannot do it, version 13.4 or newer",
                      self.said)
        self.assertEqual(len([r for r in self.rows(self.file().read_text())[1] if r]), 4)

    def test_a_destroyed_context(self):
        self.record("-q", KERNELS, FAKE_CUPTI_RESET="1")
        self.assertEqual(len([r for r in self.rows(self.file().read_text())[1] if r]), 4)


class Sampling(Case):
    OPTIONS = ("-k", "-g", "Tensor", KERNELS, "-o", "perf.csv")

    def sample(self, *options, **env):
        self.record(*self.OPTIONS, *options, count=6, FAKE_CUPTI_LONG="1", **env)
        return self.rows(self.file("perf.metrics.*.csv").read_text())

    def test_samples_belong_to_the_kernels_that_ran(self):
        columns, rows = self.sample()
        self.assertEqual(columns[:3], ["Kernel", "GlobalInstanceId", "GpuTime[ns]"])
        self.assertEqual(columns[-1], "QueryBeginTime[ns]")
        self.assertIn("[INFO] Device metrics are stored in perf.metrics.", self.said)
        spans = {k["args"]["instance"]: (k["ts"] * 1000, (k["ts"] + k["dur"]) * 1000)
                 for k in self.kernels() if "instance" in k["args"] and "graph" not in k["args"]}
        self.assertEqual(len(spans), 6)
        seen = collections.Counter()
        for row in filter(None, rows):
            begin, end = spans[int(row[1])] if int(row[1]) in spans else (0, 1e30)
            middle = int(row[-1]) + int(row[2]) / 2
            self.assertTrue(begin - 1 <= middle <= end + 1, row)
            seen[int(row[1])] += 1
        self.assertTrue(all(7 <= seen[n] <= 9 for n in spans), seen) # 400 us, one every 50
        self.assertEqual(sum(r is None for r in rows), len(seen))

    def test_samples_are_counters_of_the_device(self):
        self.sample("-i", "100")
        counters = collections.defaultdict(list)
        for e in self.events:
            if e["ph"] == "C" and "pipe_tensor" in e["name"]:
                counters[e["name"]].append(e["ts"])
        (name, times), = counters.items()
        steps = {round((b - a) * 1000) for a, b in zip(times, times[1:])}
        self.assertEqual(steps, {100000})
        self.assertGreater(len(times), 20)

    def test_samples_outside_kernels_on_request(self):
        _, rows = self.sample("--idle-sampling")
        idle = {r[0] for r in rows if r and r[1] == "0"}
        self.assertIn(f"NoKernel(Before {MATMUL})", idle)
        _, rows = self.sample()
        self.assertEqual([r for r in rows if r and r[1] == "0"], [])

    def test_what_does_not_fit_into_one_pass_is_left_out(self):
        columns, _ = self.sample(FAKE_CUPTI_PASSES="2")
        self.assertEqual(len(columns), 3 + 2 + 1)
        self.assertIn("or not at the same time: sm__inst_executed_realtime", self.said)

    def test_a_full_buffer_is_reported(self):
        self.sample(FAKE_CUPTI_OVERFLOW="1")
        self.assertIn("-k: the device's buffer was full for a while", self.said)

    def test_a_killed_program_keeps_what_was_decoded(self):
        self.record(*self.OPTIONS, count=6, more=("kill",), rc=-signal.SIGKILL, FAKE_CUPTI_LONG="1")
        _, rows = self.rows(self.file("perf.metrics.*.csv").read_text())
        self.assertGreaterEqual(len({r[1] for r in rows if r}), 5)

    def test_below_a_result_folder(self):
        self.record("-k", KERNELS, "--result-dir", "rd", count=3, FAKE_CUPTI_LONG="1")
        path, = self.dir.glob("rd/fake_cuda.*/metrics/metrics_0.csv")
        self.rows(path.read_text())


class Hangs(common.Case):
    """An end that hangs in the driver does not hang the program. The backend waits for it for some
    seconds, so both are waited for at once."""

    def check(self, kind, function, **more):
        case = kind()
        case.setUp()
        try:
            case.record(*case.OPTIONS, FAKE_CUPTI_HANG=function, **more)
            case.assertIn("the last samples were not to be had", case.said)
            if kind is Sampling:
                _, rows = case.rows(case.file("perf.metrics.*.csv").read_text())
                case.assertTrue([r for r in rows if r])
        finally:
            case.doCleanups()

    def test_an_end_that_hangs_in_the_driver_does_not_hang_the_program(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ends = [pool.submit(self.check, Sampling, "PmSamplingStop", count=40, FAKE_CUPTI_LONG="1"),
                    pool.submit(self.check, Stalls, "PCSamplingDisable")]
        for end in ends:
            end.result()


class Stalls(Case):
    OPTIONS = ("--stall-sampling", KERNELS, "-o", "stall.csv")

    def setUp(self):
        super().setUp()
        if not CUBIN.exists():
            self.fail(f"{CUBIN} is missing")

    def stalls(self, *options, **env):
        self.record(*self.OPTIONS, *options, FAKE_CUPTI_CUBIN=str(CUBIN), **env)
        lines = self.file("stall.metrics.*.csv").read_text().split("\n")
        head = [c.strip() for c in lines[3].split(",")]
        rows = [re.match(r' *"(.*)", (.*)$', line).groups() for line in lines[4:] if line]
        return head, [(name, *(c.strip() for c in rest.split(","))) for name, rest in rows]

    def test_the_form_of_intels(self):
        head, rows = self.stalls()
        self.assertEqual(head[:4], ["Kernel", "IP[Address]", "Active[Events]", "BarrierStall[Events]"])
        self.assertEqual(head[-1], "OtherStall[Events]")
        self.assertEqual([r[:3] for r in rows], [(MATMUL.removesuffix(SHAPE), "00000000", "4"),
                                                 (MATMUL.removesuffix(SHAPE), "00000020", "4"),
                                                 ("relu", "00000010", "4")])
        at = head.index("LongScoreboardStall[Events]")
        self.assertEqual([r[at] for r in rows], ["0", "32", "0"])
        self.assertEqual([r[-1] for r in rows], ["4", "4", "4"])

    def test_the_code_is_kept_beside_it(self):
        self.stalls()
        folder = self.file("stall.modules.*")
        self.assertEqual((folder / "0000000000005eed.cubin").read_bytes(), CUBIN.read_bytes())
        told = json.loads((folder / "stalls.json").read_text())
        self.assertEqual(told["modules"], [{"crc": "0000000000005eed", "bytes": CUBIN.stat().st_size,
                                            "file": "0000000000005eed.cubin"}])
        matmul = next(f for f in told["functions"] if f["symbol"] == "_Z6matmuliPKfS0_Pf")
        self.assertEqual(matmul["kernel"], MATMUL.removesuffix(SHAPE))
        pc = matmul["pcs"][1]
        self.assertEqual(pc["samples"], {"selected": 4, "long_scoreboard": 32, "misc": 4})
        self.assertEqual((pc["offset"], pc["not_issued"]), (32, 20))

    def test_lines_of_source(self):
        self.stalls()
        told = json.loads((self.file("stall.modules.*") / "stalls.json").read_text())
        matmul = next(f for f in told["functions"] if f["symbol"] == "_Z6matmuliPKfS0_Pf")
        self.assertEqual({pathlib.Path(pc["file"]).name for pc in matmul["pcs"]}, {"kernels.cu"})
        self.assertTrue(all(pc["line"] for pc in matmul["pcs"]))

    def test_samples_are_in_the_timeline(self):
        self.stalls("-f", "utr", "-f", "chrome")
        path, = self.dir.glob("*.utr")
        done = self.unitrace("export", path, "-o", "x.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.dir / "x.csv").read_text()
        self.assertIn("long_scoreboard", text)
        self.assertIn("not issued", text)

    def test_a_destroyed_context_and_a_killed_program(self):
        _, rows = self.stalls(FAKE_CUPTI_RESET="1")
        self.assertEqual([r[2] for r in rows], ["4"] * 3)
        self.record(*self.OPTIONS, more=("kill",), rc=-signal.SIGKILL, FAKE_CUPTI_CUBIN=str(CUBIN))
        self.assertIn("LongScoreboardStall", self.file("stall.metrics.*.csv").read_text())

    def test_both_at_once_are_refused(self):
        self.record("-q", *self.OPTIONS, rc=2)
        self.assertIn("drivers do one at a time; record twice", self.said)

    def test_the_first_run_of_each_kernel_is_measured_and_the_others_are_sampled(self):
        """In turns, which real drivers do not survive today; whoever asks for it by name has it."""
        turns = ("-q", "--backend-option", "cuda.together=off")
        self.record(*turns, "-g", "Memory", *self.OPTIONS, count=6, FAKE_CUPTI_CUBIN=str(CUBIN))
        self.assertIn("the first run of each kernel is measured, the others are sampled", self.said)
        _, rows = self.rows(self.file("stall.metrics.*.csv").read_text())
        self.assertEqual([r[:2] for r in rows if r], [[RELU, "1"], [MATMUL, "2"]])
        lines = self.file("stall.stalls.*.csv").read_text().split("\n")
        self.assertEqual({line.split(",")[-20].strip() for line in lines[4:] if line}, {"4"}) # of 6 launches
        self.assertTrue((self.file("stall.modules.*") / "stalls.json").exists())
        stored = [re.sub(r"\d+", "N", line) for line in self.said.splitlines() if "are stored in" in line]
        self.assertEqual(stored, ["[INFO] Kernel metrics are stored in stall.metrics.N.csv",
                                  "[INFO] Device metrics are stored in stall.stalls.N.csv"])
        measured = [k for k in self.kernels() if "dram__bytes_read.sum[bytes]" in k["args"]]
        self.assertEqual(len(measured), 2)
        rows = {r["name"]: r for r in json.loads(self.unitrace("kernels", "--json", *self.timelines()).stdout)}
        self.assertIn("memory_wait", [a["verdict"] for a in rows[MATMUL.removesuffix(SHAPE)]["also"]])
        self.record(*turns, *self.OPTIONS, "--metric-instances", "2-", count=6, more=("kill",), rc=-signal.SIGKILL,
                    FAKE_CUPTI_CUBIN=str(CUBIN))
        _, rows = self.rows(self.file("stall.metrics.*.csv").read_text())
        self.assertEqual(len([r for r in rows if r]), 4)
        self.record(*turns, KERNELS, "--stall-sampling", "--result-dir", "rd", FAKE_CUPTI_CUBIN=str(CUBIN))
        self.assertEqual(sorted(p.name for p in self.dir.glob("rd/*/metrics/*")), ["metrics_0.csv", "stalls_0.csv"])
        self.assertEqual(len(list(self.dir.glob("rd/*/modules/stalls.json"))), 1)

    def test_a_module_that_cannot_be_kept(self):
        self.record(*self.OPTIONS, FAKE_CUPTI_CUBIN=str(CUBIN), FAKE_CUPTI_REFUSE="GetCubinCrc:1")
        self.assertIn("the code of a module could not be kept", self.said)


class Trouble(Case):
    """One line, and the timeline is there as without metrics."""

    def test_permission(self):
        for option, function in (("-q", "RangeProfilerEnable"), ("-q", "RangeProfilerStart"),
                                 ("-q", "ProfilerGetCounterAvailability"), ("-k", "PmSamplingEnable"),
                                 ("-k", "PmSamplingGetCounterAvailability"), ("-k", "PmSamplingStart"),
                                 ("--stall-sampling", "PCSamplingEnable")):
            with self.subTest(function):
                self.record(option, KERNELS, FAKE_CUPTI_REFUSE=f"{function}:35")
                line, = [w for w in self.warnings() if "no hardware metrics" in w]
                for word in ("ERR_NVGPUCTRPERM", "CAP_SYS_ADMIN",
                             "NVreg_RestrictProfilingToAdminUsers=0"):
                    self.assertIn(word, line)
                self.assertEqual(len(self.kernels()), 7)

    def test_other_reasons(self):
        for code, words in ((26, "another tool uses the counters"), (40, "enable_profiling=1"),
                            (41, "confidential computing"), (43, "MIG"), (99, "FAKE_ERROR (99)")):
            with self.subTest(code):
                self.record("-q", KERNELS, FAKE_CUPTI_REFUSE=f"RangeProfilerEnable:{code}")
                line, = [w for w in self.warnings() if "no hardware metrics" in w]
                self.assertIn(words, line)

    def test_a_kernel_whose_counters_fail_is_in_the_timeline(self):
        self.record("-q", KERNELS, FAKE_CUPTI_REFUSE="RangeProfilerDecodeData:999")
        self.assertEqual(len(self.kernels()), 7)
        self.assertEqual(list(self.dir.glob("*.metrics.*")), [])

    def test_what_makes_no_sense_is_refused(self):
        for options, words in ((("-q", "-k"), "cannot be used together"),
                               (("-q", "-g", "Foo"), "--group Foo: no such group for --metric-query; "
                                "there are: ComputeBasic, ComputeExtended"),
                               (("-k", "-g", "Warps"), "no such group for --metric-sampling"),
                               (("-q", "--metric-instances", "0"), "takes numbers such as 1-3,7"),
                               (("-q", "--cache-control", "some"), "takes none or all"),
                               (("-q", "--metric-file", "nowhere.ini"), "nowhere.ini: No such file")):
            with self.subTest(options):
                done = self.unitrace(*options, "true")
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr.decode())

    def test_options_without_a_mode_are_reported(self):
        done = self.unitrace("-g", "Memory", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("metrics are not asked for", done.stderr.decode())

    def test_the_list(self):
        text = self.unitrace("--metric-list").stdout.decode()
        self.assertRegex(text, r"(?m)^Group 0: ComputeBasic \(.*; -q\)$")
        self.assertRegex(text, r"(?m)^\tMetric \d+: dram__bytes_read.sum\[bytes\] \(read from device "
                               r"memory\) \[UINT64, EVENT, Memory\]$")


class Files(Case):
    def test_names(self):
        for options, pattern in (((), "fake_cuda.metrics.*.csv"), (("-o", "x.json"), "x.metrics.*.csv"),
                                 (("-o", "perf"), "perf.metrics.*"),
                                 (("-o", "p.%p.csv"), "p.metrics.*.csv"),
                                 (("--output-dir-path", "d"), "d/fake_cuda.metrics.*.csv")):
            with self.subTest(options):
                self.record("-q", KERNELS, *options)
                self.assertEqual(len(list(self.dir.glob(pattern))), 1, os.listdir(self.dir))

    def test_a_kept_session_gives_the_same_file_again(self):
        self.record("-q", KERNELS, "--keep-session", "-o", "perf.csv")
        first = self.file("perf.metrics.*.csv").read_text()
        session, = [p for p in self.dir.iterdir() if p.is_dir() and list(p.glob("*.spool"))]
        done = self.unitrace("export", session, "-o", "again.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.file("again.metrics.*.csv").read_text(), first)

    def test_the_table_of_times_comes_without_being_asked_for(self):
        self.record("-q")
        self.assertIn("=== Device Timing Summary ===", self.said)


if __name__ == "__main__":
    common.need("fake_cuda", "libfake_cupti.so")
    need_backend("cuda")
    common.main()
