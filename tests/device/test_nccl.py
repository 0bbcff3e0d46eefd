#!/usr/bin/env python3
"""NCCL through its profiler plugin on a real NVIDIA GPU, below torch.distributed with one rank and with two.

Run by hand on a machine that has one: UNITRACE_BUILD=build python3 tests/device/test_nccl.py
Everywhere else it skips aloud. It prints what it has found. NCCL refuses two ranks on one GPU of one host, so
the two are told that they are on different hosts (NCCL_HOSTID) and talk over sockets: all of NCCL but its
faster ways is at work. $OUT, if set, gets the recordings.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import device
from device import BUILD, UNITRACE

CALLS = 5
FLOATS, SLEEP = 1 << 20, 0.2


def missing():
    """Why nothing can be tested here; "" if it can."""
    if why := device.missing(torch=True):
        return why
    if not (BUILD / "lib/unitrace/backends/nccl.so").exists():
        return f"{BUILD} has no backend for NCCL"
    import torch
    return "" if torch.distributed.is_nccl_available() else "PyTorch was built without NCCL"


WHY = missing()


def calls(said):
    """{name: calls} of the table of -r."""
    rows = device.table_rows(said, "Function")
    return {row["Function"]: int(row["Calls"]) for row in rows}


SCRIPT = f"""
    import torch
    import torch.distributed as dist

    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29517", rank=0, world_size=1,
                            device_id=torch.device("cuda:0"))
    data = torch.ones(1 << 20, device="cuda")
    with torch.profiler.itt.range("talk"):
        for _ in range({CALLS}):
            dist.all_reduce(data)
        dist.broadcast(data, 0)
        dist.all_gather_into_tensor(torch.empty_like(data), data)
    torch.cuda.synchronize()
    print("nccl", *torch.cuda.nccl.version(), "sum", float(data[0]))
    dist.destroy_process_group()
"""


@unittest.skipIf(WHY, WHY)
class Nccl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ut_nccl_")
        cls.dir = pathlib.Path(cls.folder.name)
        (cls.dir / "talk.py").write_text(textwrap.dedent(SCRIPT))
        done = subprocess.run(
            [UNITRACE, "--chrome-ccl-logging", "--chrome-itt-logging", "--chrome-kernel-logging", "-r", "--no-summary",
             "-o", "talk.json", sys.executable, "talk.py"], cwd=cls.dir, capture_output=True, text=True, timeout=120,
            env={**os.environ, "NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": str(cls.dir / "nccl.log")})
        cls.done = done
        path = cls.dir / "talk.json"
        cls.events = json.loads(path.read_text())["traceEvents"] if path.exists() else []
        log = cls.dir / "nccl.log"
        cls.log = log.read_text() if log.exists() else ""
        words = done.stdout.split()
        cls.version = tuple(int(w) for w in words[1:4]) if words[:1] == ["nccl"] else ()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_program_is_what_it_was(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertIn("sum 1.0", self.done.stdout)
        print(f"\nNCCL {self.version}")

    def test_nccl_has_taken_the_plugin(self):
        if self.version < (2, 23):
            self.skipTest("this NCCL has no plugins for profilers")
        found = [line for line in self.log.splitlines() if "PROFILER/Plugin" in line or "rofiler plugin" in line]
        print("\n" + "\n".join(found[:4]))
        self.assertTrue(any("unitrace" in line or "nccl.so" in line for line in found), self.log[-2000:])

    def test_what_nccl_marks_with_nvtx_is_there(self):
        marks = [e for e in self.events if e["ph"] == "X" and e.get("cat") == "NCCL" and "correlation" not in
                 e.get("args", {})]
        print(f"\nNVTX: {collections.Counter(e['name'] for e in marks).most_common(5)}")
        if not marks:
            self.skipTest("this NCCL marks nothing with NVTX (NCCL_NVTX_DISABLE, or PyTorch's own build)")
        self.assertIn("ncclAllReduce", {e["name"] for e in marks})


PAIR = f"""
    import os
    import time
    import torch
    import torch.distributed as dist

    rank = int(os.environ["RANK"])
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29518", rank=rank, world_size=2,
                            device_id=torch.device("cuda:0"))
    data = torch.ones({FLOATS}, device="cuda")
    parts = torch.empty(2 * {FLOATS}, device="cuda")
    dist.all_reduce(data)
    torch.cuda.synchronize()
    for _ in range({CALLS}):
        with torch.profiler.itt.range("prepare"):
            time.sleep({SLEEP} * rank)
        with torch.profiler.itt.range("talk"):
            dist.all_reduce(data)
            torch.cuda.synchronize()
    dist.all_gather_into_tensor(parts, data)
    if rank:
        dist.recv(data, 0)
    else:
        dist.send(data, 1)
    torch.cuda.synchronize()
    print("nccl", *torch.cuda.nccl.version(), "sum", float(data[0]))
    dist.destroy_process_group()
"""


TRAIN = f"""
    import os
    import time
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.profiler import ProfilerActivity, profile, record_function

    rank = int(os.environ["RANK"])
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29519", rank=rank, world_size=2,
                            device_id=torch.device("cuda:0"))
    layers = [torch.nn.Linear(1024, 1024) for _ in range(6)]
    model = DistributedDataParallel(torch.nn.Sequential(*layers).cuda(), bucket_cap_mb=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = torch.randn(256, 1024, device="cuda")

    def step():
        with record_function("load batch"):
            time.sleep({SLEEP} * rank)
        model(data).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()

    step()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as profiler:
        for _ in range({CALLS}):
            step()
            profiler.step()
    profiler.export_chrome_trace(f"train.{{rank}}.json")
    print("nccl", *torch.cuda.nccl.version(), "sum", 1.0)
    dist.destroy_process_group()
"""


class Pair(unittest.TestCase):
    """Two ranks on one GPU, started with some words in front."""

    @classmethod
    def run_two(cls, script, *before):
        cls.folder = tempfile.TemporaryDirectory(prefix="ut_nccl2_")
        cls.dir = pathlib.Path(cls.folder.name)
        (cls.dir / "pair.py").write_text(textwrap.dedent(script))
        started = [cls.start(rank, *before) for rank in range(2)]
        cls.done = [(p.wait(150), (cls.dir / f"out.{rank}").read_text()) for rank, p in enumerate(started)]
        cls.traces = sorted(cls.dir.glob("*.json"))
        if os.environ.get("OUT"):
            for path in cls.traces:
                shutil.copy(path, os.environ["OUT"])

    @classmethod
    def start(cls, rank, *before):
        env = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2",
               "NCCL_HOSTID": f"host{rank}", "NCCL_SOCKET_IFNAME": "lo"}
        with open(cls.dir / f"out.{rank}", "wb") as out:
            return subprocess.Popen([*before, sys.executable, "pair.py"], cwd=cls.dir, stdout=out,
                                    stderr=subprocess.STDOUT, env=env)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_late(self, task):
        """Rank 1 is waited for while it sleeps; returns the table of operations."""
        found = device.ask("ranks", *self.traces)
        print(subprocess.run([UNITRACE, "ranks", *self.traces], capture_output=True, text=True).stdout)
        waits = {rank: sum(w["wait_ns"] for w in found["waits"] if (w["rank"], w["task"]) == (rank, task))
                 for rank in range(2)}
        expected = CALLS * SLEEP * 1e9
        self.assertGreater(waits[1], 0.9 * expected)
        self.assertLess(waits[1], 1.3 * expected)
        self.assertLess(waits[0], 0.1 * expected)
        return {row["collective"]: row for row in found["collectives"]}


@unittest.skipIf(WHY, WHY)
class Recorded(Pair):
    """What the plugin tells of two ranks."""

    @classmethod
    def setUpClass(cls):
        cls.run_two(PAIR, UNITRACE, "--chrome-ccl-logging", "--chrome-itt-logging", "--chrome-kernel-logging", "-r",
                    "--no-summary", "-o", "pair.json")
        cls.events = [json.loads(path.read_text())["traceEvents"] for path in cls.traces]

    def version(self):
        return tuple(int(word) for word in self.done[0][1].split("nccl ", 1)[1].split()[:3])

    def operations(self, rank, name):
        return [e for e in self.events[rank] if e["ph"] == "X" and e["name"] == name and "bytes" in e.get("args", {})]

    def test_the_programs_are_what_they_were(self):
        for status, output in self.done:
            self.assertEqual(status, 0, output[-3000:])
            self.assertIn(f"sum {2.0 ** (CALLS + 1)}", output)
        self.assertEqual(len(self.traces), 2)

    def test_every_operation_is_there_with_its_size(self):
        for rank in range(2):
            names = collections.Counter(e["name"] for e in self.events[rank]
                                        if e["ph"] == "X" and "bytes" in e.get("args", {}))
            print(f"\nrank {rank}: {dict(names)}")
            if self.version() >= (2, 28):
                self.assertEqual(len(self.operations(rank, "ncclAllReduce")), CALLS + 1)
            reduce = [e for e in self.operations(rank, "AllReduce") if "seq" in e["args"]]
            self.assertEqual(len(reduce), CALLS + 1)
            print(reduce[1])
            self.assertEqual({e["args"]["bytes"] for e in reduce}, {4 * FLOATS})
            self.assertEqual({e["args"]["ranks"] for e in reduce}, {2})

    def test_what_nccl_marks_with_nvtx_ends(self):
        """Its ranges are popped with a payload."""
        for events in self.events:
            marks = [e for e in events if e["ph"] == "X" and e["name"].startswith("ncclCommInit")]
            first = min(e["ts"] for e in events if e["ph"] == "X" and e["name"] == "prepare")
            print(f"\n{marks}")
            self.assertTrue(marks)
            self.assertLess(max(e["ts"] + e["dur"] for e in marks), first)

    def test_the_table_has_each_call_once(self):
        if self.version() < (2, 28):
            self.skipTest("calls are told since NCCL 2.28")
        for _, output in self.done:
            self.assertEqual(calls(output).get("NCCL::ncclAllReduce"), CALLS + 1)

    def test_ranks_names_the_one_that_is_late(self):
        reduce = self.check_late("prepare")["allreduce"]
        self.assertEqual((reduce["count"], reduce["total_bytes"]), (CALLS + 1, (CALLS + 1) * 4 * FLOATS))


@unittest.skipIf(WHY, WHY)
class Profiled(Pair):
    """Files of torch.profiler, in which nothing is ours: a model that is trained by both."""

    @classmethod
    def setUpClass(cls):
        cls.run_two(TRAIN)

    def test_ranks_names_the_one_that_is_late(self):
        self.assertEqual([status for status, _ in self.done], [0, 0], self.done[0][1][-3000:])
        reduce = self.check_late("load batch")["allreduce"]
        self.assertEqual(reduce["count"] % CALLS, 0)
        self.assertEqual(reduce["total_bytes"], CALLS * 6 * 4 * (1024 * 1024 + 1024))
        self.assertGreater(reduce["busbw_GB_s"], 0)


if __name__ == "__main__":
    device.main(WHY)
