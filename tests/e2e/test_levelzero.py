#!/usr/bin/env python3
"""Level Zero on a simulated driver: every command is recorded once each time it runs, when and as
long as the driver says, and the program notices nothing.

Programs of ours use Level Zero in many ways, through Debian's loader, and say how many commands they
have submitted. The driver, tests/levelzero/sim.h, works out when each of them runs, writes that down,
and ends the process if it is used in a way that a real one might not survive.
"""
# ci: labels slow
import collections
import os
import re
import shutil
import signal

import common
from device_support import DeviceTrace, wait_until_told
from levelzero_support import CALLS, DRIVER, FOLDER, KERNELS, WORK, Case, need_levelzero

need_levelzero()


class Program(Case):
    def test_every_command_is_recorded_once_and_the_results_stay_the_same(self):
        for way in ("regular", "again", "burst", "several", "refilled", "fences", "immediate",
                    "synchronous", "events", "timed-events", "host-signal", "device-resets",
                    "odd-ends", "copies", "images", "threads", "tasks"):
            with self.subTest(way):
                got, submitted = self.record_way(way)
                self.assertEqual(len(got.work), submitted, got.names())
                self.assertFalse([s for s in got.work if "times" in s.args])
                self.assertNothingLeft()

    def test_times_are_those_of_the_driver(self):
        for way in ("regular", "again", "burst", "immediate", "copies"):
            with self.subTest(way):
                got, _ = self.record_way(way)
                self.assertAsDone(got)
        got, _ = self.record_way("device-resets")
        self.assertAsDone(got, kinds=("kernel",))  # copies of ours are among what the driver did

    def test_a_list_that_is_executed_again_shows_each_kernel_each_time(self):
        got, _ = self.record_way("burst", 200)
        self.assertEqual(collections.Counter(got.names()),
                         {"gemm": 200, "scale": 200, "zeCommandListAppendMemoryCopy(H2D)": 200,
                          "zeCommandListAppendMemoryCopy(D2S)": 200,
                          "zeCommandListAppendBarrier": 200})
        self.assertAsDone(got)
        order = [s.args.get("execution", 1) for s in got.named("gemm")]
        self.assertEqual(order, list(range(1, 201)))

    def test_a_stream_of_short_commands_is_complete(self):
        for way, commands in (("immediate", 1503), ("threads", 12000)):
            with self.subTest(way):
                got, submitted = self.record_way(way, 1500)
                self.assertEqual((len(got.work), submitted), (commands, commands))
                self.assertEqual(len({s.args["correlation"] for s in got.work}), commands)

    def test_names_sizes_and_properties(self):
        got, _ = self.record_way("regular")
        gemm, = got.named("gemm")
        self.assertEqual({k: gemm.args.get(k) for k in
                          ("grid", "block", "SIMD", "compiled", "arguments", "SLM per work group",
                           "spill memory per thread", "registers", "private memory per thread")},
                         {"grid": "16x16x1", "block": "16x16x1", "SIMD": 32, "compiled": "JIT",
                          "arguments": 4, "SLM per work group": 1024,
                          "spill memory per thread": 64, "registers": 256,
                          "private memory per thread": None})
        self.assertEqual(gemm.args["thread"], got.trace.pid)
        got, _ = self.record_way("immediate")
        self.assertEqual(len(got.named("saxpy(float*, float*, float)")), 5)

    def test_copies_say_what_they_move(self):
        got, _ = self.record_way("copies")
        self.assertEqual([(s.name, s.args["bytes"]) for s in got.work],
                         [("zeCommandListAppendMemoryCopy(H2D)", 65536),
                          ("zeCommandListAppendMemoryCopy(D2S)", 32768),
                          ("zeCommandListAppendMemoryCopy(D2M)", 65536),
                          ("zeCommandListAppendMemoryCopy(M2D)", 16384),
                          ("zeCommandListAppendMemoryCopy(D2D)", 4096),
                          ("zeCommandListAppendMemoryFill(D)", 4096),
                          ("zeCommandListAppendMemoryFill(S)", 4096),
                          ("zeCommandListAppendMemoryCopyRegion(H2D)", 1024)])
        got, _ = self.record_way("images")
        self.assertEqual([s.args["bytes"] for s in got.work], [8192, 8192, 512, 8192])

    def test_an_engine_that_only_copies(self):
        # Timestamps are read by the host there: of a list that is executed again before that, it is
        # not known when each of its commands ran.
        got, submitted = self.record_way("copy-engine", 1)
        self.assertEqual((len(got.work), submitted), (2, 2))
        self.assertEqual(set(got.rows.values()), {"L0 Copy Engine<1,1>"})
        self.assertAsDone(got)
        got, submitted = self.record_way("copy-engine", 5)
        self.assertEqual(len(got.work), submitted)
        untimed = [s for s in got.work if s.args.get("times") == "unknown"]
        self.assertIn(f"{len(untimed)} commands stand at their calls", self.said)

    def test_arrows_lead_from_calls_to_work_and_tasks_are_named(self):
        got, submitted = self.record_way("tasks")
        pairs = got.submissions()
        self.assertEqual(len(pairs), submitted)
        by_call = collections.Counter((c.name, w.args["task"]) for c, w in pairs)
        self.assertEqual(by_call, {("zeCommandListAppendLaunchKernel", "train"): 1,
                                   ("zeCommandQueueExecuteCommandLists", "replay"): 5})
        for call, work in pairs:
            # Calls are timed by the TSC, which is fitted to the clock that submissions are read from.
            self.assertLessEqual(call.begin, work.args["submitted"] + 20000)
            self.assertLessEqual(work.args["submitted"], work.begin)

    def test_half_of_it_during_a_pause(self):
        got, submitted = self.record_way("paused", options=(KERNELS, "--start-paused"))
        self.assertEqual((len(got.work), submitted), (12, 12))

    def test_every_device_and_every_tile(self):
        got, submitted = self.record_way("everywhere", simulated="devices=2 tiles=2")
        self.assertEqual(len(got.work), submitted)
        self.assertEqual(sorted(got.devices.values()),
                         ["DEVICE [Simulated GPU 0] 0:3a:0.0 #0",
                          "DEVICE [Simulated GPU 0] 0:3a:0.0 tile 0 #0",
                          "DEVICE [Simulated GPU 0] 0:3a:0.0 tile 1 #0",
                          "DEVICE [Simulated GPU 1] 0:3b:0.0 #1",
                          "DEVICE [Simulated GPU 1] 0:3b:0.0 tile 0 #1",
                          "DEVICE [Simulated GPU 1] 0:3b:0.0 tile 1 #1"])
        self.assertEqual(set(collections.Counter(s.event["pid"] for s in got.work).values()), {5})
        self.assertAsDone(got)

    def test_what_the_mask_hides_is_not_there(self):
        got, submitted = self.record_way("everywhere", simulated="devices=2 tiles=2",
                                         ZE_AFFINITY_MASK="1.1")
        self.assertEqual((len(got.work), submitted), (10, 10))
        self.assertEqual(len(got.devices), 2)
        got, submitted = self.record_way("everywhere", simulated="devices=2 tiles=2",
                                         ZE_FLAT_DEVICE_HIERARCHY="FLAT")
        self.assertEqual((len(got.work), submitted), (20, 20))
        self.assertEqual({name[-2:] for name in got.devices.values()}, {"#0", "#1", "#2", "#3"})

    def test_every_hierarchy_of_devices(self):
        """Devices with tiles, tiles as devices, and tiles as devices that say which they are."""
        composite = [f"0:3{bus}:0.0{tile} #{i}" for i, bus in enumerate("ab") for tile in ("", " tile 0", " tile 1")]
        flat = [f"0:3{bus}:0.0 #{2 * i + t}" for i, bus in enumerate("ab") for t in range(2)]
        combined = [f"0:3{bus}:0.0 tile {t} #{2 * i + t}" for i, bus in enumerate("ab") for t in range(2)]
        for hierarchy, names in (("COMPOSITE", composite), ("FLAT", flat), ("COMBINED", combined)):
            with self.subTest(hierarchy):
                env = {"simulated": "devices=2 tiles=2", "ZE_FLAT_DEVICE_HIERARCHY": hierarchy}
                got, submitted = self.record_way("everywhere", options=(KERNELS, "-d", "--no-summary"), **env)
                self.assertEqual(sorted(name.split("] ")[1] for name in got.devices.values()), sorted(names))
                self.assertEqual(len(got.work), submitted)
                self.assertEqual(set(collections.Counter(s.event["pid"] for s in got.work).values()), {5})
                self.assertAsDone(got)
                rows = re.findall(r'^ *"(.+)", +(\d+), +(\d+), +[\d.]+, +(\d+), +(\d+), +(\d+)$', self.said, re.M)
                self.assertEqual(sum(int(r[1]) for r in rows), submitted)
                self.assertEqual(sum(int(r[2]) for r in rows), sum(s.ns for s in got.work))
                done = self.unitrace("--device-list", env=self.environment(**env))
                listed = [line for line in done.stdout.decode().splitlines() if "Simulated" in line]
                self.assertEqual([line[:9] for line in listed],
                                 [f"Device #{i}" for i in range(2 if hierarchy == "COMPOSITE" else 4)])

    def test_tiles_by_themselves(self):
        got, _ = self.record_way("regular", options=(KERNELS, "--separate-tiles"),
                                 simulated="tiles=2 skew_ns=1600")
        self.assertEqual([(s.name, s.ns) for s in got.work if s.cat == "kernel"],
                         [("Tile #0: gemm", 200000), ("Tile #1: gemm", 196800),
                          ("Tile #0: scale", 20000), ("Tile #1: scale", 16800)])

    def test_devices_can_be_chosen(self):
        got, _ = self.record_way("everywhere", simulated="devices=2",
                                 options=(KERNELS, "--devices-to-sample", "1"))
        self.assertEqual(list(got.devices.values()), ["DEVICE [Simulated GPU 1] 0:3b:0.0 #1"])


class Clock(Case):
    """Clocks that wrap, drift, or stand still."""

    def test_timestamps_that_wrap_in_the_middle(self):
        # 32 bits at 12.5 MHz: the first kernel begins before the end of them.
        got, _ = self.record_way("burst", 100, simulated=f"ticks={2**32 - 50_000}")
        self.assertAsDone(got)
        got, _ = self.record_way("again", 10, simulated=f"ticks={2**36 - 9_000} bits=36")
        self.assertAsDone(got)

    def test_a_clock_that_is_too_fast(self):
        for ppm in (-90, 90):
            got, _ = self.record_way("burst", 100, simulated=f"ppm={ppm}")
            self.assertAsDone(got)

    def test_other_clocks(self):
        for settings in ("hz=19200000", "hz=1000000000 bits=64 clock_bits=64", "hz=38400000"):
            with self.subTest(settings):
                got, _ = self.record_way("again", 5, simulated=settings)
                self.assertAsDone(got)


class Detail(Case):
    def test_device_logging_has_no_calls(self):
        got, submitted = self.record_way("regular", options=(WORK,))
        self.assertEqual((len(got.work), got.calls, got.trace.arrows), (submitted, [], []))

    def test_kernel_logging_has_the_calls_that_submit(self):
        got, _ = self.record_way("regular")
        self.assertEqual(collections.Counter(c.name for c in got.calls),
                         {"zeCommandListAppendMemoryCopy": 2, "zeCommandListAppendLaunchKernel": 2,
                          "zeCommandListAppendBarrier": 1, "zeCommandQueueExecuteCommandLists": 1})

    def test_call_logging_has_every_call_and_no_work(self):
        got, _ = self.record_way("regular", options=(CALLS,))
        self.assertEqual(got.work, [])
        count = collections.Counter(c.name for c in got.calls)
        for name, times in (("zeKernelCreate", 4), ("zeKernelSetGroupSize", 4), ("zeMemAllocHost", 1),
                            ("zeMemFree", 3), ("zeCommandListClose", 1), ("zeContextDestroy", 1),
                            ("zeCommandListAppendLaunchKernel", 2), ("zeModuleCreate", 1),
                            ("zeCommandQueueSynchronize", 1), ("zeDeviceGet", 1)):
            self.assertEqual(count[name], times, name)

    def test_a_call_that_fails_says_how(self):
        self.unitrace(CALLS, FOLDER / "ze_work", "regular", env=self.environment(
            "fail=zeKernelSetGroupSize:2-2:78000009"))
        got = DeviceTrace(self.trace())
        failed, = [c for c in got.calls if "error" in c.args]
        self.assertEqual(failed.name, "zeKernelSetGroupSize")
        self.assertRegex(failed.args["error"], r"^ZE_RESULT_ERROR_\w+\(0x78000009\)$")

    def test_arguments_on_request(self):
        got, _ = self.record_way("regular", options=("-c", WORK))
        copy = next(c for c in got.calls if c.name == "zeCommandListAppendMemoryCopy")
        self.assertEqual((copy.args["size"], copy.args["hSignalEvent"], copy.args["result"]),
                         (65536, "0x0", "ZE_RESULT_SUCCESS(0x0)"))
        made = next(c for c in got.calls if c.name == "zeCommandListCreate")
        self.assertEqual(made.args["phCommandList"], copy.args["hCommandList"])

    def test_kernels_can_be_chosen(self):
        got, _ = self.record_way("regular", options=(KERNELS, "--include-kernels", "gem"))
        self.assertEqual([s.name for s in got.work if s.cat == "kernel"], ["gemm"])
        got, _ = self.record_way("regular", options=(KERNELS, "--exclude-kernels", "gemm"))
        self.assertEqual([s.name for s in got.work if s.cat == "kernel"], ["scale"])

    def test_one_row_for_all_engines(self):
        got, _ = self.record_way("several", options=(KERNELS, "--chrome-no-engine-on-device"))
        self.assertEqual(set(got.rows.values()), {"all queues"})

    def test_devices_are_listed(self):
        done = self.unitrace("--device-list", env=self.environment("devices=2"))
        lines = [line for line in done.stdout.decode().splitlines() if "Simulated" in line]
        self.assertEqual(lines, ["Device #0: [0:3a:0.0] Simulated GPU 0",
                                 "Device #1: [0:3b:0.0] Simulated GPU 1"])


class Tables(Case):
    """-h, -d, -s, -t, -c: the layouts of the original, called L0."""

    def report(self, *options, way="again", count=3):
        got, submitted = self.record_way(way, count, options=(*options, WORK, "--no-summary"))
        return got, submitted, self.said

    def test_device_timing(self):
        got, submitted, text = self.report("-d")
        self.assertIn("\n== L0 Backend ==\n", text)
        rows = re.findall(r'^ *"(.+)", +(\d+), +(\d+), +[\d.]+, +(\d+), +(\d+), +(\d+)$', text, re.M)
        self.assertEqual(sum(int(r[1]) for r in rows), submitted)
        self.assertIn(("gemm", "3", "600000", "200000", "200000", "200000"), rows)
        total = int(re.search(r"Total Device Time for L0 backend \(ns\): +(\d+)", text)[1])
        self.assertEqual(total, sum(s.ns for s in got.work))
        self.assertRegex(text, r'(?m)^ *"gemm", +JIT, +32, +4, +1024, +0, +64, +256$')
        self.assertRegex(text, r'(?m)^ *"scale", +JIT, +16, +2, +0, +128, +0, +128$')

    def test_host_timing(self):
        _, _, text = self.report("-h")
        self.assertRegex(text, r"(?m)^ *zeCommandQueueExecuteCommandLists, +3, ")
        self.assertIn("\n== L0 Backend ==\n", text)

    def test_submission_and_timeline(self):
        _, submitted, text = self.report("-s", "-t")
        lines = re.findall(r'^Thread (\d+) Device 0 : "(.+)" \[ns\] (\d+) \(append\) (\d+) \(submit\) '
                           r"(\d+) \(start\) (\d+) \(end\)$", text, re.M)
        self.assertEqual(len(lines), submitted)
        self.assertEqual({line[1] for line in lines},
                         {"gemm[SIMD32 {16; 16; 1} {16; 16; 1}]",
                          "scale[SIMD16 {16; 16; 1} {64; 1; 1}]", "zeCommandListAppendBarrier",
                          "zeCommandListAppendMemoryCopy(H2D)[65536]",
                          "zeCommandListAppendMemoryCopy(D2S)[65536]"})
        for *_, append, submit, start, end in lines:
            self.assertTrue(int(append) <= int(submit) <= int(start) <= int(end))
        self.assertRegex(text, r'(?m)^ *"gemm", +3, +\d+, +[\d.]+, +\d+, +[\d.]+, +600000, +[\d.]+$')

    def test_calls_are_lines_that_begin_and_end(self):
        _, _, text = self.report("-c")
        begins = re.findall(r"^>>>> \[\d+\] (ze\w+): \w+ = ", text, re.M)
        ends = re.findall(r"^<<<< \[\d+\] (ze\w+) \[\d+ ns\].* -> ZE_RESULT_SUCCESS\(0x0\)$", text,
                          re.M)
        self.assertGreater(len(begins), 20)
        self.assertEqual(collections.Counter(begins), collections.Counter(ends))


class Odd(Case):
    """Ways that few would think of."""

    def odd(self, way, count=10, **more):
        return self.record_way(way, count, program="ze_odd", **more)

    def test_loaders_that_programs_load_themselves(self):
        for way in ("dlopen", "tables"):
            got, submitted = self.record_way(way, program="ze_way")
            self.assertEqual((got.names(), submitted), (["scale"] * 3, 3))

    def test_newer_functions_asked_for_by_name(self):
        for way in ("counted", "counted-timed", "append-lists"):
            with self.subTest(way):
                got, submitted = self.odd(way)
                self.assertEqual(len(got.work), submitted)
                self.assertFalse([s for s in got.work if "times" in s.args])
                self.assertAsDone(got)
                self.assertNothingLeft()
        got, _ = self.odd("with-arguments")
        self.assertEqual((got.work[0].args["grid"], got.work[0].args["block"]), ("3x2x1", "8x4x2"))

    def test_several_drivers(self):
        second = self.dir / "libze_other.so"
        shutil.copy(DRIVER, second)
        got, submitted = self.odd("drivers", ZE_ENABLE_ALT_DRIVERS=f"{DRIVER},{second}")
        self.assertEqual((got.names(), submitted), (["scale"] * 2, 2))
        self.assertEqual(len({s.args["correlation"] for s in got.work}), 2)

    def test_threads_that_share_a_queue(self):
        got, submitted = self.odd("quarrels", 50)
        self.assertEqual((len(got.work), submitted), (400, 400))
        self.assertNothingLeft()

    def test_a_program_that_leaves(self):
        got, submitted = self.odd("leaves")
        self.assertEqual((len(got.work), submitted), (10, 10))
        got, _ = self.odd("leaves-early")
        self.assertEqual(got.names(), ["scale", "scale"])
        self.assertIn("1 commands had not finished when the process ended", self.said)
        got, submitted = self.odd("vanishes")
        self.assertEqual((len(got.work), submitted), (11, 11))

    def test_a_program_that_is_killed_has_lost_nothing(self):
        """The program does not look, but time passes."""
        process = self.start(common.UNITRACE, KERNELS, FOLDER / "ze_odd", "killed", 10,
                             env=self.environment())
        self.addCleanup(common.end_process, process)
        common.read_until(process.stdout, b"submitted 10\n")
        wait_until_told(self, 10)
        child, = common.children_of(process.pid)
        os.kill(child, signal.SIGKILL)
        self.assertEqual(process.wait(common.PATIENCE), -signal.SIGKILL)
        self.assertEqual(len(DeviceTrace(self.trace()).work), 10)

    def test_exit_inside_the_driver(self):
        bare = self.bare("ze_odd", "inside", simulated="raise=zeCommandListClose")
        done = self.unitrace(KERNELS, FOLDER / "ze_odd", "inside",
                             env=self.environment("raise=zeCommandListClose"))
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))
        self.assertEqual(bare.returncode, 4)

    def test_a_child_of_a_fork(self):
        got, _ = self.odd("forked")
        names = sorted(sorted(DeviceTrace(t).names()) for t in got)
        self.assertEqual(names, [["gemm", "saxpy(float*, float*, float)"], ["scale"] * 10])

    def test_handles_with_tables_of_their_own_are_hidden(self):
        # Debian's loader does not ask; one that does would crash on handles that have none.
        got, submitted = self.record_way("regular", simulated="ddi=1")
        self.assertEqual(len(got.work), submitted)

    def test_nothing_is_asked_for(self):
        done = self.unitrace(FOLDER / "ze_work", "regular", env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("zeCommandListAppendEventReset", self.log.read_text())


class Failures(Case):
    """What the driver refuses us is not the program's business."""

    def test_whatever_fails_for_us_the_program_goes_on(self):
        for way, function, first in (("again", "zeEventPoolCreate", 1), ("again", "zeEventCreate", 1),
                                     ("again", "zeEventHostReset", 1),
                                     ("again", "zeEventQueryKernelTimestamp", 1),
                                     ("burst", "zeEventQueryStatus", 1),
                                     ("again", "zeDeviceGetGlobalTimestamps", 1),
                                     ("again", "zeKernelGetProperties", 1),
                                     ("again", "zeMemGetAllocProperties", 1),
                                     ("burst", "zeMemAllocHost", 2),
                                     ("burst", "zeCommandListCreate", 2),
                                     ("burst", "zeCommandListClose", 2),
                                     ("burst", "zeCommandListAppendBarrier", 2),
                                     ("burst", "zeCommandListAppendEventReset", 1),
                                     ("burst", "zeCommandListAppendQueryKernelTimestamps", 1)):
            for to in (first, 999):
                with self.subTest(f"{way}: {function} {first}-{to}"):
                    got, submitted = self.record_way(
                        way, simulated=f"strict=0 fail={function}:{first}-{to}:70000003")
                    self.assertEqual(len(got.work), submitted)
                    self.assertIn("FAILED", self.log.read_text())

    def test_a_device_that_does_not_introduce_itself_is_left_alone(self):
        done = self.unitrace(KERNELS, FOLDER / "ze_work", "regular", env=self.environment(
            "fail=zeDeviceGetProperties:1-999:70000001"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"submitted 5", done.stdout)

    def test_what_fails_for_the_program_fails_as_without_us(self):
        for function, count in (("zeCommandListAppendLaunchKernel", 1),
                                ("zeCommandQueueExecuteCommandLists", 2),
                                ("zeCommandQueueSynchronize", 3), ("zeCommandListCreate", 1),
                                ("zeCommandQueueCreate", 1), ("zeModuleCreate", 1)):
            with self.subTest(function):
                settings = f"strict=0 fail={function}:{count}-{count}:70000001"
                bare = self.bare("ze_work", "again", 5, simulated=settings)
                done = self.unitrace(KERNELS, FOLDER / "ze_work", "again", 5,
                                     env=self.environment(settings))
                self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))
                self.assertEqual(bare.returncode, 1)


if __name__ == "__main__":
    common.main()
