#!/usr/bin/env python3
"""NCCL through its profiler plugin on a real NVIDIA GPU, below torch.distributed with one rank.

Run by hand on a machine that has one: UNITRACE_BUILD=build python3 tests/device/test_nccl.py
Everywhere else it skips aloud. It prints what it has found. One GPU is one rank, for NCCL refuses two
on one: there are calls, and what NCCL marks with NVTX, but no kernels that talk to each other.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
UNITRACE = BUILD / "bin/unitrace"
CALLS = 5


def missing():
    """Why nothing can be tested here; "" if it can."""
    if not (BUILD / "lib/unitrace/backends/nccl.so").exists():
        return f"{BUILD} has no backend for NCCL"
    try:
        import torch
        if not torch.cuda.is_available():
            return "PyTorch sees no NVIDIA GPU"
        if not torch.distributed.is_nccl_available():
            return "PyTorch was built without NCCL"
    except ImportError:
        return "no PyTorch"
    return ""


WHY = missing()

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

    def spans(self, cat):
        return [e for e in self.events if e["ph"] == "X" and e.get("cat") == cat]

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

    def test_calls_are_there_with_sizes_in_their_task(self):
        if self.version < (2, 28):
            self.skipTest("calls are told since NCCL 2.28; one rank has nothing else")
        calls = [e for e in self.spans("NCCL") if "bytes" in e.get("args", {})]  # the others are NVTX's
        if not calls:
            self.skipTest("NCCL tells a plugin nothing of a job of one rank")
        names = collections.Counter(e["name"] for e in calls)
        print(f"\n{dict(names)}\n{calls[:1]}")
        self.assertEqual(names["ncclAllReduce"], CALLS)
        self.assertGreaterEqual(names["ncclBroadcast"], 1)
        self.assertEqual(names["ncclAllGather"], 1)
        reduce = [e["args"] for e in calls if e["name"] == "ncclAllReduce"]
        self.assertEqual({(a["bytes"], a["datatype"], a["ranks"]) for a in reduce}, {(4 << 20, "ncclFloat32", 1)})
        self.assertEqual({a.get("task") for a in reduce}, {"talk"})

    def test_the_table_has_each_call_once(self):
        if self.version < (2, 28):
            self.skipTest("calls are told since NCCL 2.28")
        if not any("bytes" in e.get("args", {}) for e in self.spans("NCCL")):
            self.skipTest("NCCL tells a plugin nothing of a job of one rank")
        rows = [line.split(",") for line in self.done.stderr.splitlines() if "NCCL::nccl" in line]
        self.assertEqual({row[0].strip(): int(row[1]) for row in rows}.get("NCCL::ncclAllReduce"), CALLS)

    def test_what_nccl_marks_with_nvtx_is_there(self):
        marks = [e for e in self.events if e["ph"] == "X" and e.get("cat") == "NCCL" and "correlation" not in
                 e.get("args", {})]
        print(f"\nNVTX: {collections.Counter(e['name'] for e in marks).most_common(5)}")
        if not marks:
            self.skipTest("this NCCL marks nothing with NVTX (NCCL_NVTX_DISABLE, or PyTorch's own build)")
        self.assertIn("ncclAllReduce", {e["name"] for e in marks})


if __name__ == "__main__":
    unittest.main(verbosity=2)
