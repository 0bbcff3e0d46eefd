"""The plugin for NCCL without NCCL: a program of ours calls it as NCCL does, in all five versions of
the interface. What the real one does is tried in tests/device.
"""
import collections
import json
import subprocess

import common
from common import program
from device_support import backend, need_backend

PLUGIN, FAKE = backend("nccl"), program("fake_nccl")
CCL = "--chrome-ccl-logging"
KERNEL_US = 200.0


class Nccl(common.Case):
    def record(self, version, count=3, *, options=(CCL, "--chrome-itt-logging"), **env):
        for old in self.timelines():
            old.unlink()
        done = self.unitrace(*options, FAKE, version, count, env=common.environment(**env))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said, self.printed = done.stderr.decode(), done.stdout.decode()
        path, = self.timelines()
        return json.loads(path.read_text())["traceEvents"]

    def spans(self, events, cat):
        return [e for e in events if e["ph"] == "X" and e.get("cat") == cat]

    def rows(self, events):
        """Name of a row to its spans."""
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
                 if e["ph"] == "M" and e["name"] == "thread_name"}
        rows = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "X":
                rows[names.get((e["pid"], e["tid"]), "?")].append(e)
        return rows

    def operations(self, events):
        return [e for e in self.spans(events, "other") if "comm" in e["args"]]

    def test_every_version_gives_of_calls_operations_and_the_proxy_thread(self):
        for version in range(1, 6):
            with self.subTest(version=version):
                events = self.record(version)
                calls = collections.Counter(e["name"] for e in self.spans(events, "NCCL"))
                self.assertEqual(calls["ncclAllReduce"], 3)
                self.assertEqual(calls["ncclAllGather"], 1)
                self.assertEqual(calls["ncclSend"], int(version >= 4))
                done = self.operations(events)
                self.assertEqual(sorted(e["args"]["seq"] for e in done if e["name"] == "AllReduce"),
                                 [0, 1, 2])
                names = collections.Counter(e["name"] for e in self.spans(events, "other"))
                # three operations and one of another process, two steps each
                self.assertEqual((names["send"], names["send step"]), (4, 8))
                self.assertEqual((names["receive"], names["receive step"]), (4, 8))

    def test_an_operation_says_what_it_was(self):
        for version in 2, 5:
            args = self.operations(self.record(version, 1))[0]["args"]
            self.assertEqual((args["bytes"], args["received"], args["count"], args["datatype"]),
                             (4096, 4096, 1024, "ncclFloat32"))
            self.assertEqual((args["algorithm"], args["protocol"], args["channels"], args["warps"]),
                             ("RING", "LL", 2, 16))
            self.assertEqual(args["comm"], "default_pg feedbeef")
        self.assertEqual(args["ranks"], 2)

    def test_what_is_done_for_a_call_knows_its_task(self):
        events = self.record(5)
        work = [e for e in self.spans(events, "other") if e["args"].get("operation", e["name"]) == "AllReduce"]
        self.assertEqual({e["args"]["task"] for e in work}, {"step"})
        calls = {e["args"]["correlation"] for e in self.spans(events, "NCCL") if e["name"] == "ncclAllReduce"}
        self.assertEqual({e["args"]["correlation"] for e in work}, calls)

    def test_kernels_take_as_long_as_the_gpu_says_and_lie_in_our_time(self):
        for version in 4, 5:
            events = self.record(version, 5)
            rows = self.rows(events)
            kernels = [e for name, row in rows.items() if "kernel" in name for e in row
                       if e["name"] == "AllReduce"]
            self.assertEqual([e["dur"] for e in kernels], [KERNEL_US] * 10)
            done = [e for e in self.operations(events) if e["name"] == "AllReduce"]
            self.assertEqual(len(done), 5)
            tasks = sorted(self.spans(events, "fake.nccl"), key=lambda e: e["ts"])
            for one, task in zip(sorted(done, key=lambda e: e["ts"]), tasks):
                self.assertGreaterEqual(one["ts"], task["ts"])
                self.assertLessEqual(one["ts"] + one["dur"], task["ts"] + task["dur"] + 1)

    def test_steps_say_what_they_waited_for(self):
        rows = self.rows(self.record(5, 1))
        steps = [e["args"] for row in rows.values() for e in row if e["name"] == "send step"]
        for args in steps:
            self.assertEqual(args["bytes"], 2048)
            self.assertGreaterEqual(args["gpu_wait_ns"], 20000)
            self.assertGreaterEqual(args["net_wait_ns"], 10000)
            self.assertIn("peer_wait_ns", args)
        sends = [e["args"] for row in rows.values() for e in row if e["name"] == "send"]
        self.assertEqual({args["bytes"] for args in sends}, {4096})

    def test_events_can_be_chosen(self):
        events = self.record(5, 2, options=(CCL, "--backend-option", "nccl.events=coll,api"))
        self.assertEqual(collections.Counter(e["name"] for e in self.spans(events, "NCCL")),
                         {"ncclAllReduce": 2, "ncclAllGather": 1, "ncclSend": 1})
        self.record(5, 1, options=(CCL, "--backend-option", "nccl.events=coll,nonsense"))
        self.assertIn("nccl.events is a list of", self.said)

    def test_a_pause_leaves_nothing(self):
        done = self.unitrace(CCL, "--start-paused", "--one-switch", FAKE, 5, 3)
        self.assertEqual((done.returncode, self.timelines()), (0, []), done.stderr)

    def test_more_than_can_be_kept_is_reported_and_does_no_harm(self):
        events = self.record(5, 1, FAKE_NCCL_STORM="1")
        self.assertIn("NCCL does so much at once that some of it is not recorded", self.said)
        self.assertGreater(len(self.spans(events, "other")), 8000)

    def test_a_plugin_of_the_users_stays(self):
        done = self.unitrace(CCL, "sh", "-c", "echo $NCCL_PROFILER_PLUGIN",
                             env=common.environment(NCCL_PROFILER_PLUGIN="inspector"))
        self.assertEqual(done.stdout, b"inspector\n")
        self.assertIn(b"NCCL_PROFILER_PLUGIN is 'inspector' already and stays so", done.stderr)

    def test_without_a_session_nccl_does_without_it(self):
        done = subprocess.run([FAKE, "5"], env=common.environment(NCCL_PROFILER_PLUGIN=str(PLUGIN)),
                              capture_output=True, check=True)
        self.assertEqual((done.stdout, done.stderr), (b"without 0\n", b""))

    def test_nobody_asks_for_it_nobody_gets_it(self):
        done = self.unitrace("sh", "-c", "echo $NCCL_PROFILER_PLUGIN")
        self.assertEqual(done.stdout, b"\n")

    def test_the_table_has_each_call_once(self):
        self.record(5, 3, options=("-r",))
        lines = [line.split(",") for line in self.said.splitlines() if "NCCL::" in line]
        self.assertEqual([line[0].strip() for line in lines],
                         [line[0].strip() for line in dict((tuple(line), line) for line in lines).values()])
        self.assertEqual({line[0].strip(): int(line[1]) for line in lines},
                         {"NCCL::ncclAllReduce": 3, "NCCL::ncclSend": 1, "NCCL::ncclAllGather": 1})

    def test_ranks_has_a_table_of_its_operations(self):
        running = []
        for rank in range(2):
            env = common.environment(PMI_RANK=str(rank), PMI_SIZE="2", FAKE_NCCL_RANK=str(rank))
            running.append(subprocess.Popen(
                [common.UNITRACE, CCL, "--chrome-itt-logging", "--quiet", "--no-summary", "-o", f"r{rank}.json",
                 FAKE, "5", "4"], cwd=self.dir, env=env, stdout=subprocess.DEVNULL))
        for one in running:
            self.assertEqual(one.wait(), 0)
        done = self.unitrace("ranks", "--collectives", "--json", *sorted(self.dir.glob("r*.json")))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["collective"]: row for row in json.loads(done.stdout)}
        self.assertEqual((rows["allreduce"]["count"], rows["allreduce"]["ranks"],
                          rows["allreduce"]["total_bytes"]), (4, 2, 4 * 4096))
        self.assertEqual(rows["allreduce"]["library"], "NCCL")
        # The proxy thread may be at it for longer than the kernels.
        speed = rows["allreduce"]["algbw_GB_s"]
        self.assertAlmostEqual(speed, 4 * 4096 / rows["allreduce"]["time_ns"])
        self.assertLess(speed, 1.001 * 4096 / 200000)


if __name__ == "__main__":
    common.need("fake_nccl")
    need_backend("nccl")
    common.main()
