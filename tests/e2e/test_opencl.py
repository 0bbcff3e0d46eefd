"""OpenCL: every command is recorded once, at the right time, and the program notices nothing.

A program of ours uses OpenCL in many ways and says how many commands it has queued; what it prints
must not depend on being recorded. OPENCL_TEST_PLATFORM=N picks the platform that it uses.
"""
# ci: labels slow real
import collections
import os
import pathlib
import re
import shutil
import signal
import sys

import common
from common import program
from device_support import KINDS, DeviceTrace, backend, need_backend, wait_until_told
from opencl_support import CALLS, KERNELS, NEAR, WORK, Case, FakeCase


class Program(Case):
    def test_every_command_is_recorded_once_and_the_results_stay_the_same(self):
        for way, kinds in (("gemm", {"kernel", "copy"}), ("unordered", {"kernel", "copy", "fill",
                                                                        "sync"}),
                           ("images", {"copy", "fill"}), ("buffers", {"copy", "fill", "sync"}),
                           ("svm", {"kernel", "copy", "fill"}), ("callbacks", {"kernel", "fill"}),
                           ("user-events", {"kernel", "copy", "fill"}),
                           ("command-buffer", {"other", "copy", "fill"}),
                           ("queries", {"fill", "sync"}), ("objects", {"kernel", "copy", "fill"}),
                           ("threads", {"kernel"})):
            with self.subTest(way):
                got, enqueued = self.record_way(way)
                self.assertEqual(len(got.work), enqueued, got.names())
                self.assertEqual({s.cat for s in got.work}, kinds)
                self.assertLess(kinds - set(KINDS), {"x"})

    def test_the_same_as_a_vendor(self):
        for way in ("gemm", "queries", "unordered", "images", "command-buffer"):
            with self.subTest(way):
                got, enqueued = self.record_way(way, options=(KERNELS, "--opencl-via", "icd"))
                self.assertEqual(len(got.work), enqueued, got.names())

    def test_a_stream_of_short_commands_is_complete(self):
        for way, commands in (("user-events", 2002), ("unordered", 2003), ("threads", 8000)):
            with self.subTest(way):
                got, enqueued = self.record_way(way, 2000)
                self.assertEqual((len(got.work), enqueued), (commands, commands))
                self.assertEqual(len({s.args["correlation"] for s in got.work}), commands)

    def test_names_sizes_bytes_and_directions(self):
        got, _ = self.record_way("gemm")
        self.assertEqual(collections.Counter(got.names()),
                         {"gemm": 10, "scale": 10, "clEnqueueWriteBuffer": 2,
                          "clEnqueueReadBuffer": 1})
        for s in got.named("gemm"):
            self.assertEqual((s.args["global"], s.args["local"]), ("64x64", "8x8"))
        for s in got.named("scale"):
            self.assertEqual(s.args["global"], "4096")
            self.assertNotIn("local", s.args)
        for s in got.named("clEnqueueWriteBuffer"):
            self.assertEqual((s.args["bytes"], s.args["direction"]), (16384, "H2D"))
        self.assertEqual(got.named("clEnqueueReadBuffer")[0].args["direction"], "D2H")
        self.assertTrue(all(s.args["thread"] == got.trace.pid for s in got.work))

    def test_images_and_boxes_have_bytes(self):
        got, _ = self.record_way("images")
        self.assertEqual({s.args["bytes"] for s in got.work if "Unmap" not in s.name}, {16384})
        got, _ = self.record_way("buffers")
        self.assertEqual(got.named("clEnqueueCopyBufferRect")[0].args["bytes"], 16384)

    def test_a_command_buffer_says_how_many_commands_it_holds(self):
        got, _ = self.record_way("command-buffer")
        found = got.named("clEnqueueCommandBufferKHR")
        self.assertEqual([s.args["commands"] for s in found], [3] * 10)

    def test_arrows_lead_from_calls_to_work(self):
        got, enqueued = self.record_way("gemm")
        pairs = got.submissions()
        self.assertEqual(len(pairs), enqueued)
        for call, work in pairs:
            self.assertEqual(call.cat, "OpenCL")
            expected = "clEnqueueNDRangeKernel" if work.cat == "kernel" else work.name
            self.assertEqual(call.name, expected)

    def test_rows_are_queues_of_a_device(self):
        got, _ = self.record_way("unordered")
        self.assertEqual(len(got.devices), 1)
        self.assertRegex(list(got.devices.values())[0], r"^DEVICE \[.+\] OpenCL .+ #\d+$")
        self.assertIn("OpenCL queue 1 (out of order), context 1", got.rows.values())
        got, _ = self.record_way("threads", options=(KERNELS, "--chrome-no-engine-on-device"))
        self.assertEqual({name.split(" (")[0] for name in got.rows.values()}, {"all queues"})


class Times(Case):
    def test_work_lies_between_the_call_and_the_moment_the_program_knows(self):
        got, _ = self.record_way("gemm", options=(KERNELS, CALLS))
        calls = {id(work): call for call, work in got.submissions()}
        for work in got.work:
            call = calls[id(work)]
            self.assertGreaterEqual(work.args["queued"], call.begin - NEAR)
            self.assertLessEqual(work.args["queued"], work.args["submitted"])
            self.assertLessEqual(work.args["submitted"], work.begin)
            if call.name == "clEnqueueReadBuffer":  # it blocks
                self.assertLessEqual(work.end, call.end + NEAR)

    def test_commands_of_a_queue_that_keeps_order_do_not_overlap(self):
        got, _ = self.record_way("user-events", 500)
        self.assertEqual(len(got.rows), 1)
        for before, after in zip(got.work, got.work[1:]):
            self.assertLessEqual(before.end, after.begin)

    def test_what_waits_for_the_program_starts_after_its_word(self):
        got, _ = self.record_way("user-events", options=(KERNELS, CALLS))
        word = next(c for c in got.calls if c.name == "clSetUserEventStatus")
        for kernel in got.named("add"):
            self.assertGreaterEqual(kernel.begin, word.begin - NEAR)

    def test_a_chain_runs_in_the_order_of_its_events(self):
        got, _ = self.record_way("unordered", 50)
        chain = sorted(got.named("add"), key=lambda s: s.args["correlation"])
        for before, after in zip(chain, chain[1:]):
            self.assertLessEqual(before.end, after.begin + NEAR)


class Detail(Case):
    def test_device_logging_has_no_calls(self):
        got, enqueued = self.record_way("gemm", options=(WORK,))
        self.assertEqual((len(got.work), got.calls, got.trace.arrows), (enqueued, [], []))

    def test_kernel_logging_has_the_calls_that_submit(self):
        got, enqueued = self.record_way("gemm")
        self.assertEqual(len(got.calls), enqueued)
        self.assertTrue(all(c.name.startswith("clEnqueue") for c in got.calls))

    def test_call_logging_has_every_call_and_no_work(self):
        for injection in self.injections():
            got, _ = self.record_way("gemm", options=(CALLS, "--opencl-via", injection))
            count = collections.Counter(c.name for c in got.calls)
            self.assertEqual(got.work, [])
            for name, times in (("clSetKernelArg", 6), ("clCreateBuffer", 3), ("clCreateKernel", 2),
                                ("clEnqueueNDRangeKernel", 20), ("clBuildProgram", 1),
                                ("clReleaseMemObject", 3), ("clReleaseContext", 1)):
                self.assertEqual(count[name], times, (injection, name))

    def test_a_call_that_fails_says_how(self):
        got, _ = self.record_way("queries", options=(CALLS,))
        errors = [c.args["error"] for c in got.calls if "error" in c.args]
        self.assertIn("CL_INVALID_VALUE", errors)
        self.assertIn("CL_INVALID_DEVICE", errors)

    def test_arguments_on_request(self):
        got, _ = self.record_way("gemm", options=("-c",))
        read = next(c for c in got.calls if c.name == "clEnqueueReadBuffer")
        self.assertEqual((read.args["size"], read.args["blocking_read"]), (16384, 1))
        self.assertEqual((read.args["event"], read.args["result"]), ("0x0", "CL_SUCCESS"))
        made = next(c for c in got.calls if c.name == "clCreateKernel")
        self.assertEqual(made.args["kernel_name"], "gemm")
        self.assertRegex(made.args["result"], r"^0x[0-9a-f]+$")

    def test_kernels_can_be_chosen(self):
        got, _ = self.record_way("gemm", options=(KERNELS, "--include-kernels", "gem"))
        self.assertEqual(set(got.names()), {"gemm", "clEnqueueWriteBuffer", "clEnqueueReadBuffer"})
        got, _ = self.record_way("gemm", options=(KERNELS, "--exclude-kernels", "gemm"))
        self.assertEqual(set(got.names()), {"scale", "clEnqueueWriteBuffer", "clEnqueueReadBuffer"})

    def test_nothing_is_recorded_while_paused(self):
        self.bare(program("opencl_work"), "gemm")
        done = self.unitrace(KERNELS, CALLS, "--start-paused", program("opencl_work"), "gemm")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.timelines(), [])

    def test_the_device_is_listed(self):
        self.bare(program("opencl_work"), "gemm")
        done = self.unitrace("--device-list")
        self.assertRegex(done.stdout.decode(), r"(?m)^Device #\d+: \[OpenCL .+\] .+$")


class Fake(FakeCase):
    """A vendor of our own: old, with a strange clock, and it counts what is left over."""

    def test_an_old_vendor_is_not_asked_for_what_it_lacks(self):
        for injection in self.injections():
            for more in ([], [CALLS]):
                got, enqueued = self.record_way("simple", env=self.env,
                                                options=[KERNELS, "--opencl-via", injection, *more])
                self.assertEqual(len(got.work), enqueued)
                self.assertEqual({s.args["global"] for s in got.named("add")}, {"4x5x6"})

    def test_no_event_is_left_over(self):
        for injection in self.injections():
            self.record_way("simple", 1000, env=self.env, options=[KERNELS, "--opencl-via", injection])
            # record_way() has compared the output: "events left over: 0"

    def test_functions_of_extensions_are_recorded(self):
        got, _ = self.record_way("simple", env=self.env)
        copy = got.named("clEnqueueMemcpyINTEL")
        self.assertEqual([(s.cat, s.args["bytes"]) for s in copy], [("copy", 4)])

    def test_a_clock_of_another_world_is_mapped(self):
        got, enqueued = self.record_way("simple", env=self.env)
        pairs = got.submissions()
        self.assertEqual(len(pairs), enqueued)
        for call, work in pairs:
            self.assertLessEqual(abs(work.begin - call.begin), NEAR + call.ns)

    def test_a_device_that_cannot_be_timed_works_all_the_same(self):
        self.env["FAKE_NO_PROFILING"] = "1"
        for injection in self.injections():
            got, enqueued = self.record_way("simple", env=self.env,
                                            options=[KERNELS, CALLS, "--opencl-via", injection])
            self.assertEqual(got.work, [])
            self.assertIn(f"{enqueued} commands are missing", self.said)

    def test_two_vendors_behind_one_loader(self):
        real = [p for p in pathlib.Path("/etc/OpenCL/vendors").glob("*.icd")]
        if not real:
            self.skipTest("no toolkit: no other vendor of OpenCL is installed")
        for path in real:
            shutil.copy(path, self.dir / "vendors" / f"z_{path.name}")
        for number in "01":
            self.env["OPENCL_TEST_PLATFORM"] = number
            got, enqueued = self.record_way("simple", env=self.env,
                                            options=[KERNELS, "--opencl-via", "icd"])
            self.assertEqual(len(got.work), enqueued)


LOADER = r"""
import ctypes, sys
layer = ctypes.CDLL(sys.argv[1])
version, name, size = ctypes.c_uint(), ctypes.create_string_buffer(64), ctypes.c_size_t()
assert layer.clGetLayerInfo(0x4240, ctypes.c_size_t(4), ctypes.byref(version), None) == 0
assert layer.clGetLayerInfo(0x4241, ctypes.c_size_t(64), name, ctypes.byref(size)) == 0
assert layer.clGetLayerInfo(0x4241, ctypes.c_size_t(2), name, None) == -30
assert layer.clGetLayerInfo(1, ctypes.c_size_t(64), name, None) == -30
function = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value
theirs = (ctypes.c_void_p * 300)(*[function] * 300)
theirs[59] = None  # clEnqueueNDRangeKernel
count, ours = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
init = getattr(layer, sys.argv[3])
more = [None] if "Properties" in sys.argv[3] else []
entries = int(sys.argv[2])
assert init(entries, theirs, ctypes.byref(count), ctypes.byref(ours), *more) == 0
wrapped = [i for i in range(count.value) if ours[i]]
assert layer.clDeinitLayer() == 0
print(version.value, name.value.decode(), count.value, len(wrapped), max(wrapped, default=-1),
      48 in wrapped, 59 in wrapped)
"""


class Loader(Case):
    """The layer as loaders of other ages see it."""

    def init(self, entries, function, *options):
        words = sys.executable, "-c", LOADER, backend("opencl"), entries, function
        done = self.unitrace(*options, *words) if options else self.run_words(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().split()

    def test_tables_of_other_sizes_are_filled_as_far_as_both_know(self):
        for function in ("clInitLayer", "clInitLayerWithProperties"):
            for entries, last in ((60, 58), (149, 139), (300, 139)):
                got = self.init(entries, function, KERNELS)
                self.assertEqual(got[:3], ["100", "unitrace", "149"])
                self.assertEqual((int(got[4]), got[5], got[6]), (last, "True", "False"),
                                 (function, entries))

    def test_every_call_is_wrapped_only_on_request(self):
        few, many = (int(self.init(149, "clInitLayer", o)[3]) for o in (KERNELS, CALLS))
        self.assertLess(few, 60)
        self.assertEqual(many, 149 - 17 - 1)

    def test_without_a_session_nothing_is_wrapped(self):
        self.assertEqual(self.init(149, "clInitLayerWithProperties")[3], "0")


SOURCE = pathlib.Path(os.environ.get("UNITRACE_SOURCE", pathlib.Path(__file__).parents[2]))
SHARED = pathlib.Path(os.environ.get("UNITRACE_SHARED", SOURCE.resolve().parent / "shared"))
GOLD = SHARED / "data" / "unitrace" / "gold"


class Tables(Case):
    """-h, -d, -s, -t, -c: the layouts of the original, and numbers that fit the timeline."""

    def report(self, *options, way="gemm", count=5):
        got, enqueued = self.record_way(way, count, options=(*options, "--no-summary"))
        return got, enqueued, self.said

    def layout(self, text, title):
        """What of a table does not depend on names: titles, and the widths of their columns."""
        head = re.search(rf"^ *{title},.*$", text, re.M)[0]
        return head[head.index(","):]

    def test_device_timing_adds_up(self):
        got, enqueued, text = self.report("-d")
        rows = re.findall(r"^ *(\w+), +(\d+), +(\d+), +[\d.]+, +(\d+), +(\d+), +(\d+)$", text, re.M)
        self.assertEqual(sum(int(r[1]) for r in rows), enqueued)
        total = int(re.search(r"Total Device Time for CL \w+ backend \(ns\): +(\d+)", text)[1])
        self.assertEqual(sum(int(r[2]) for r in rows), total)
        self.assertEqual(sum(s.ns for s in got.work), total)
        for row in rows:
            self.assertEqual(int(row[3]), int(row[2]) // int(row[1]))

    def test_host_timing_names_the_kind_of_device_also_without_its_work(self):
        _, _, text = self.report("-h")
        self.assertRegex(text, r"(?m)^== CL [CG]PU Backend ==$")
        self.assertRegex(text, r"(?m)^ *clEnqueueNDRangeKernel, +10, ")

    def test_waiting_and_running_are_reported_for_each_command(self):
        got, enqueued, text = self.report("-t", "-s")
        lines = re.findall(r"^Thread (\d+) Device 0x\w+ : (\w+) \[ns\] (\d+) \(append\) (\d+) "
                           r"\(submit\) (\d+) \(start\) (\d+) \(end\)$", text, re.M)
        self.assertEqual(len(lines), enqueued)
        queued = collections.Counter()
        for _, name, *times in lines:
            times = [int(t) for t in times]
            self.assertEqual(times, sorted(times))
            queued[name] += times[1] - times[0]
        rows = re.findall(r"^ *(\w+), +\d+, +(\d+), +[\d.]+, +\d+, +[\d.]+, +\d+, +[\d.]+,$", text,
                          re.M)
        self.assertEqual({name: int(ns) for name, ns in rows}, queued)

    def test_calls_are_lines_that_begin_and_end(self):
        _, _, text = self.report("-c", "--pid", "--tid")
        begins = re.findall(r"^>>>> \[\d+\] <PID:\d+> <TID:\d+> (cl\w+): \w+ = ", text, re.M)
        ends = re.findall(r"^<<<< \[\d+\] <PID:\d+> <TID:\d+> (cl\w+) \[\d+ ns\]"
                          r"(?: result = 0x\w+)? -> CL_SUCCESS \(0\)$", text, re.M)
        self.assertGreater(len(begins), 20)
        self.assertEqual(collections.Counter(begins), collections.Counter(ends))

    def test_shapes_on_request(self):
        _, _, text = self.report("-d", "-v")
        self.assertRegex(text, r"(?m)^ *gemm\[\{\d+; \d+; 1\} \{\d+; \d+; 1\}\], +5, ")
        self.assertRegex(text, r"(?m)^ *clEnqueueReadBuffer\[\d+\], +1, ")

    def test_columns_are_where_the_original_has_them(self):
        if not GOLD.is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        for option, gold, title in (("-d", "cl_gemm.d.txt", "Kernel"),
                                    ("-h", "cl_gemm.h.txt", "Function")):
            _, _, text = self.report(option)
            theirs = (GOLD / gold).read_text().split("== CL GPU Backend ==")[1]
            self.assertEqual(self.layout(text, title), self.layout(theirs, title))
            ours = re.search(r"^ *Total Execution Time \(ns\): +\d+$", text, re.M)[0]
            self.assertIn(len(ours), {len(line) for line in (GOLD / gold).read_text().splitlines()
                                      if "Total Execution Time" in line})


class Endings(Case):
    def setUp(self):
        super().setUp()
        self.bare(program("opencl_work"), "gemm")

    def test_a_program_that_dies_after_clfinish_has_told_everything(self):
        done = self.unitrace(KERNELS, program("opencl_work"), "killed", 1000)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(len(DeviceTrace(self.trace()).work), self.enqueued(done))

    def test_work_is_reported_when_it_is_complete_also_if_nobody_looks(self):
        process = self.start(common.UNITRACE, KERNELS, program("opencl_work"), "asleep", 1000)
        self.addCleanup(common.end_process, process)
        said = common.read_until(process.stdout, b"\n")
        enqueued = int(re.search(rb"enqueued (\d+)", said)[1])
        child = common.children_of(process.pid)[0]
        wait_until_told(self, enqueued)
        os.kill(child, signal.SIGKILL)
        process.wait(common.PATIENCE)
        self.assertEqual(len(DeviceTrace(self.trace()).work), enqueued)

    def test_work_that_never_ends_does_not_keep_the_program(self):
        got, enqueued = self.record_way("unfinished-exit")
        self.assertEqual(len(got.work), enqueued)
        self.assertIn("1 commands had not finished", self.said)
        got, enqueued = self.record_way("unfinished")
        self.assertEqual(len(got.work), enqueued)

    def test_work_under_way_at_exit_is_waited_for(self):
        got, enqueued = self.record_way("hasty", 300)
        self.assertEqual(len(got.work), enqueued)

    def test_a_forked_child_leaves_the_parents_commands_alone(self):
        done = self.unitrace(KERNELS, program("opencl_work"), "forks", 200)
        self.assertEqual(done.returncode, 0, done.stderr)
        work = sum(len(DeviceTrace(t).work) for t in self.traces())
        self.assertEqual(work, self.enqueued(done))


if __name__ == "__main__":
    need_backend("opencl")
    common.need("opencl_work")
    common.main()
