"""OpenCL used in ways that few would think of: still every command once, and nothing is noticed."""
# ci: labels fast real
import collections

import common
from common import program
from device_support import need_backend
from opencl_support import CALLS, KERNELS, Case, FakeCase


class OddCase(Case):
    PROGRAM = "opencl_odd"


class Odd(OddCase):
    def test_every_command_is_recorded_once_and_the_results_stay_the_same(self):
        for injection in self.injections():
            for way, count in (("early", 200), ("chain", 200), ("native", 20), ("gated", 2000),
                               ("short-lives", 50), ("errors", 1)):
                with self.subTest(way, injection=injection):
                    options = KERNELS, CALLS, "--opencl-via", injection
                    got, enqueued = self.record_way(way, count, options=options)
                    self.assertEqual(len(got.work), enqueued)

    def test_references_are_those_that_the_program_holds(self):
        for injection in self.injections():
            self.record_way("references", options=(KERNELS, "--opencl-via", injection))
            # record_way() has compared the output, which says how many there are

    def test_queues_that_come_and_go_share_rows(self):
        got, enqueued = self.record_way("short-lives", 500)
        self.assertEqual((len(got.work), enqueued), (500, 500))
        self.assertLess(len(got.rows), 100)

    def test_all_commands_of_a_command_buffer_count(self):
        for injection in self.injections():
            got, _ = self.record_way("command-buffer", options=(KERNELS, "--opencl-via", injection))
            found = got.named("clEnqueueCommandBufferKHR")
            self.assertEqual([s.args["commands"] for s in found], [4] * 10)

    def test_calls_that_fill_a_command_buffer_are_calls(self):
        got, _ = self.record_way("command-buffer", options=(CALLS,))
        count = collections.Counter(c.name for c in got.calls)
        self.assertEqual([count[f"clCommand{name}KHR"] for name in
                          ("FillBuffer", "CopyBuffer", "CopyBufferRect", "BarrierWithWaitList")],
                         [1, 2, 1, 1])
        refused = [c.args for c in got.calls if c.name == "clCommandCopyBufferKHR"][1]
        self.assertIn("error", refused)

    def test_commands_of_destructors_are_recorded(self):
        for injection in self.injections():
            got, enqueued = self.record_way("late", options=(KERNELS, "--opencl-via", injection))
            self.assertEqual((len(got.work), enqueued), (20, 20))

    def test_a_device_that_is_not_wanted_is_not_recorded(self):
        got, enqueued = self.record_way("early", 100, options=(KERNELS, CALLS,
                                                               "--devices-to-sample", "7"))
        count = collections.Counter(c.name for c in got.calls)
        self.assertEqual((got.work, got.devices), ([], {}))
        self.assertEqual(count["clEnqueueNDRangeKernel"], enqueued)

    def test_what_is_queued_during_a_pause_is_not_recorded(self):
        for way, count in (("paused", 50), ("paused-under-way", 50)):
            got, enqueued = self.record_way(way, count,
                                            options=(KERNELS, CALLS, "--start-paused"))
            self.assertEqual((len(got.work), enqueued), (100, 150), way)
            self.assertEqual(len(got.submissions()), 100)

    def test_many_devices(self):
        env = common.environment(POCL_DEVICES=" ".join(["basic"] * 32))
        done = self.bare(program(self.PROGRAM), "early", env=env)
        listed = self.unitrace("--device-list", env=env).stdout.decode()
        if "basic-" not in listed:
            self.skipTest("no PoCL here: nobody else pretends to have many devices")
        self.assertEqual(done.returncode, 0)
        self.assertEqual([f"Device #{n}:" in listed for n in range(32)], [True] * 32)


class Fake(FakeCase):
    PROGRAM = "opencl_odd"

    def test_a_kernel_with_a_long_name_has_it(self):
        got, _ = self.record_way("long-name", env=self.env)
        self.assertEqual(got.names(), ["k" * 5000])

    def test_exit_from_inside_the_runtime_does_not_hang(self):
        self.env["FAKE_SIGNAL"] = "1"
        words = program(self.PROGRAM), "signalled"
        self.assertEqual(self.bare(*words, env=self.env).returncode, 3)
        for injection in self.injections():
            done = self.unitrace(KERNELS, "--opencl-via", injection, *words, env=self.env)
            self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    need_backend("opencl")
    common.need("opencl_odd")
    common.main()
