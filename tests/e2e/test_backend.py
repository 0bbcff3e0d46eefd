"""Backends through the null backend: what a backend tells is what the timeline shows."""
import collections
import signal

import common
from common import program
from device_support import KINDS, DeviceTrace, backend, need_backend

NULL = backend("null")


class Backend(common.Case):
    def record_null(self, count, *more, options=(), rc=0):
        trace = self.record(*options, program("null_device"), NULL, count, *more, rc=rc)
        return DeviceTrace(trace)

    def test_every_piece_of_work_is_there_with_its_kind_and_length(self):
        got = self.record_null(100)
        kernels = [n for n in range(100) if n % 4 != 3]
        expected = collections.Counter(f"kernel_{n % 3}" for n in kernels)
        expected["copy"] = 25
        self.assertEqual(collections.Counter(got.names()), expected)
        for span in got.work:
            self.assertIn(span.cat, KINDS)
            self.assertEqual(span.cat, "copy" if span.name == "copy" else "kernel")
            n = span.args["correlation"] - 1
            self.assertEqual(span.ns, 10 * (n + 1))

    def test_facts_of_every_type_arrive(self):
        got = self.record_null(8)
        for span in got.work:
            n = span.args["correlation"] - 1
            self.assertEqual(span.args.get("bytes", 0), n * 1024)
            self.assertEqual(span.args["grid"], "(1,1,1)")
            self.assertEqual(int(span.args["address"], 16), 0xabc000 + n)
            self.assertEqual(span.args.get("share", 0), -n)
            self.assertLessEqual(span.args["queued"], span.args["submitted"])

    def test_the_device_is_a_process_and_each_queue_a_row(self):
        got = self.record_null(10)
        self.assertEqual(list(got.devices.values()), ["DEVICE [Null device] null #0"])
        self.assertEqual({n for n in got.rows.values() if "(" not in n}, {"queue 0", "queue 1"})

    def test_one_row_per_device_on_request(self):
        got = self.record_null(10, options=["--chrome-no-engine-on-device"])
        self.assertEqual({n.split(" (")[0] for n in got.rows.values()}, {"all queues"})
        self.assertEqual(len(got.work), 10)

    def test_arrows_lead_from_each_call_to_its_work(self):
        got = self.record_null(20)
        pairs = got.submissions()
        self.assertEqual(len(pairs), 20)
        for call, work in pairs:
            self.assertEqual(call.cat, "NULL")
            self.assertEqual(call.name,
                             "nullCopy" if work.name == "copy" else "nullLaunchKernel")
            self.assertLessEqual(call.begin, work.begin)
        self.assertEqual(len({work.args["correlation"] for _, work in pairs}), 20)

    def test_work_knows_the_task_that_submitted_it(self):
        got = self.record_null(5)
        self.assertEqual({span.args.get("task") for span in got.work}, {"step"})
        task = got.trace.one("step")
        for call in got.calls:
            if call is not task:
                self.assertTrue(task.begin <= call.begin and call.end <= task.end)

    def test_what_a_backend_says_is_shown_once(self):
        done = self.unitrace(program("null_device"), NULL, 3)
        self.assertEqual(done.stderr.count(b"the null backend says good-bye"), 1, done.stderr)

    def test_kernels_are_chosen_by_parts_of_their_names(self):
        cases = [
            (["--include-kernels", "kernel_1"], {"kernel_1", "copy"}),
            (["--include-kernels", "_0,_2"], {"kernel_0", "kernel_2", "copy"}),
            (["--exclude-kernels", "kernel_1"], {"kernel_0", "kernel_2", "copy"}),
            (["--include-kernels", "kernel", "--exclude-kernels", "_2,\"_1\""],
             {"kernel_0", "copy"}),
            (["--include-kernels", "no such, kernel_2 "], {"kernel_2", "copy"}),
            (["--include-kernels", '"kernel_1,kernel_2"'], {"copy"}),
        ]
        for options, expected in cases:
            with self.subTest(options=options):
                got = self.record_null(12, options=options)
                self.assertEqual(set(got.names()), expected)
                self.timelines()[0].unlink()

    def test_the_same_from_a_file(self):
        (self.dir / "list.txt").write_text("nothing\nkernel_0,\n kernel_2\n")
        got = self.record_null(12, options=["--include-kernels-file", "list.txt"])
        self.assertEqual(set(got.names()), {"kernel_0", "kernel_2", "copy"})

    def test_too_many_names_are_refused(self):
        (self.dir / "list.txt").write_text("\n".join(f"some_kernel_{n}" for n in range(500)))
        done = self.unitrace("--exclude-kernels-file", "list.txt", program("null_device"), NULL, 1)
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"too many kernel names", done.stderr)
        self.assertEqual(self.timelines(), [])

    def test_a_killed_program_keeps_its_device_timeline(self):
        got = self.record_null(1000, "kill", rc=-signal.SIGKILL)
        self.assertEqual(len(got.work), 1000)
        self.assertEqual(len(got.trace.arrows), 1000)

    def test_a_forked_child_has_a_device_of_its_own(self):
        done = self.unitrace(program("null_device"), NULL, 10, "fork")
        self.assertEqual(done.returncode, 0, done.stderr)
        traces = [DeviceTrace(t) for t in self.traces()]
        self.assertEqual(len(traces), 2)
        for got in traces:
            self.assertEqual(len(got.work), 10)
            self.assertEqual(list(got.devices.values()), ["DEVICE [Null device] null #0"])

    def test_threads_of_a_program_tell_at_once(self):
        got = self.record_null(500, "threads")
        self.assertEqual(len(got.work), 5 * 500)

    def test_work_without_collector_is_nobodys_business(self):
        done = self.run_words(program("null_device"), NULL, 3)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotEqual(done.stdout.strip(), b"0")


class Doors(common.Case):
    """What the program finds in its environment."""

    VARIABLES = ("OPENCL_LAYERS", "CUDA_INJECTION64_PATH", "OCL_ICD_VENDORS",
                 "ZE_ENABLE_ALT_DRIVERS")

    def environment_of(self, *options, **env):
        clean = common.environment(**env)
        for name in self.VARIABLES:
            if name not in env:
                clean.pop(name, None)
        done = self.unitrace(*options, "env", env=clean)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.decode().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line), done.stderr.decode()

    def test_nothing_is_injected_unless_a_device_is_requested(self):
        for options in ([], ["--chrome-itt-logging"], ["--demangle", "-v"]):
            env, _ = self.environment_of(*options)
            self.assertFalse(set(self.VARIABLES) & set(env), options)

    def test_each_device_option_injects_the_backends_that_are_there(self):
        for option in ("-c", "-h", "-d", "-s", "-t", "--opencl", "--chrome-call-logging",
                       "--chrome-kernel-logging", "--chrome-device-logging"):
            env, _ = self.environment_of(option, "--opencl-via", "layer")
            for name, variable in (("opencl", "OPENCL_LAYERS"), ("cuda", "CUDA_INJECTION64_PATH")):
                expected = str(backend(name)) if backend(name).exists() else None
                self.assertEqual(env.get(variable), expected, option)
            # behind it the names of drivers that the loader knows and that are no GPU's
            first = env.get("ZE_ENABLE_ALT_DRIVERS", "").split(",")[0]
            self.assertEqual(first, str(backend("levelzero")), option)

    def test_layers_of_the_user_stay_in_the_list(self):
        if not backend("opencl").exists():
            self.skipTest("the backend opencl is not built")
        env, _ = self.environment_of("-d", "--opencl-via", "layer", OPENCL_LAYERS="/a.so:/b.so")
        self.assertEqual(env["OPENCL_LAYERS"], f"/a.so:/b.so:{backend('opencl')}")
        env, _ = self.environment_of("-d", "--opencl-via", "layer",
                                     OPENCL_LAYERS=f"{backend('opencl')}:/b.so")
        self.assertEqual(env["OPENCL_LAYERS"], f"{backend('opencl')}:/b.so")

    def test_where_there_is_room_for_one_the_users_own_stays(self):
        if not backend("cuda").exists():
            self.skipTest("the backend cuda is not built")
        env, said = self.environment_of("-d", CUDA_INJECTION64_PATH="/mine.so")
        self.assertEqual(env["CUDA_INJECTION64_PATH"], "/mine.so")
        self.assertIn("CUDA is not recorded", said)

    def test_ranks_that_are_not_to_be_sampled_inject_nothing(self):
        env, _ = self.environment_of("-d", "--ranks-to-sample", "1,3", PMI_RANK="2")
        self.assertFalse(set(self.VARIABLES) & set(env))
        env, _ = self.environment_of("-d", "--ranks-to-sample", "1,3", "--opencl-via", "layer",
                                     PMI_RANK="3")
        self.assertEqual("OPENCL_LAYERS" in env, backend("opencl").exists())
        _, said = self.environment_of("-d", "--ranks-to-sample", "1")
        self.assertIn("--ranks-to-sample", said)

    def test_what_has_no_effect_is_said_in_one_line(self):
        _, said = self.environment_of("-q", "--system-time", "-d", "--demangle")
        warnings = [line for line in said.splitlines() if "without effect" in line]
        self.assertEqual(len(warnings), 1, said)
        self.assertTrue(warnings[0].endswith("without effect: --system-time"), warnings)


class DeviceList(common.Case):
    def test_every_backend_says_what_it_finds_or_why_not(self):
        done = self.unitrace("--device-list")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.decode().splitlines():
            self.assertRegex(line, r"^Device #\d+: \[[^]]+\] .+")
        found = done.stdout + done.stderr
        for name in ("opencl", "cuda"):
            if backend(name).exists():
                self.assertIn(name.encode(), found.lower())

    def test_libraries_without_devices_are_not_missed(self):
        done = self.unitrace("--device-list")
        for line in done.stderr.decode().splitlines():
            self.assertNotRegex(line, r"unitrace: (memory|mpi|nccl|null|sycl): ")

    def test_a_missing_runtime_is_one_line(self):
        if not backend("opencl").exists():
            self.skipTest("the backend opencl is not built")
        env = common.environment(OCL_ICD_VENDORS=str(self.dir))  # no vendor there
        done = self.unitrace("--device-list", env=env)
        lines = [line for line in done.stderr.splitlines() if b"opencl: " in line]
        self.assertEqual(len(lines), 1, done.stderr)


if __name__ == "__main__":
    need_backend("null")
    common.need("null_device")
    common.main()
