#!/usr/bin/env python3
"""PyTorch's collective operations on gloo: recorded by us, and from files of torch.profiler.

Rank 1 sleeps before each allreduce: both kinds
of trace have to say that it is the one that is waited for, in which task, and how long.
"""
# ci: labels slow real
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import UNITRACE, Case, clean_env, main, need_module, need_unitrace, venv

need_unitrace()
VENV = venv()
need_module(VENV, "torch")
RANKS, STEPS, SLEEP, FLOATS = 3, 4, 0.3, 1 << 16

SCRIPT = f"""
import os
import sys
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, data, came = dist.get_rank(), torch.ones({FLOATS}), []

def steps(mark):
    for step in range({STEPS}):
        with mark("prepare"):
            time.sleep({SLEEP} * (rank == 1))
        came.append(time.monotonic_ns())
        dist.all_reduce(data)
        dist.broadcast(data, 0)
        parts = [torch.empty_like(data) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, data)
    dist.barrier()

dist.barrier()
if sys.argv[1] == "itt":
    with torch.autograd.profiler.emit_itt():
        steps(torch.profiler.itt.range)
else:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
        steps(torch.profiler.record_function)
    profile.export_chrome_trace(f"torch.{{rank}}.json")
with open(f"came.{{rank}}", "w") as out:
    out.write(str(came))
dist.destroy_process_group()
if sys.argv[1] != "itt":
    os._exit(0)  # now and then PyTorch's profiler aborts a process that is about to end
"""


class Gloo(Case):
    def torchrun(self, *before, how):
        (self.dir / "steps.py").write_text(SCRIPT)
        words = [*before, VENV / "python", "-m", "torch.distributed.run", "--standalone",
                 f"--nproc_per_node={RANKS}", "steps.py", how]
        env = clean_env(PATH=f"{VENV}:{os.environ['PATH']}", OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore")
        done = self.run_in(*words, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def ranks(self, *words):
        done = self.run_in(UNITRACE, "ranks", *words, "--json", *sorted(self.dir.glob("*.json")))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_ranks(self):
        """The one that is late, and by how much: the others wait for it each step. What they wait is known from
        the clocks of the ranks themselves, since on a busy machine the others may come late, too."""
        found = self.ranks()
        self.assertEqual([r["rank"] for r in found["ranks"]], list(range(RANKS)))
        came = [json.loads((self.dir / f"came.{rank}").read_text()) for rank in range(RANKS)]
        expected = [0] * RANKS
        for step in zip(*came):
            expected[step.index(max(step))] += sum(max(step) - one for one in step)
        waits, because_of_prepare = [0] * RANKS, [0] * RANKS
        for w in found["waits"]:
            waits[w["rank"]] += w["wait_ns"]
            because_of_prepare[w["rank"]] += w["wait_ns"] * (w["task"] == "prepare")
        # Rank 1 may be late for other reasons, too, starting the profiler for one; and a busy machine may pause
        # a rank between its own clock and the call.
        self.assertGreater(waits[1], 0.9 * expected[1])
        self.assertGreater(because_of_prepare[1], 0.6 * expected[1])
        self.assertLess(because_of_prepare[1], 1.1 * expected[1])
        self.assertLess(because_of_prepare[0] + because_of_prepare[2], expected[0] + expected[2] + 0.1 * sum(expected))
        rows = {row["collective"]: row for row in found["collectives"]}
        self.assertEqual({name: row["count"] for name, row in rows.items()},
                         {"allreduce": STEPS, "broadcast": STEPS, "allgather": STEPS, "barrier": 1})
        self.assertEqual({row["ranks"] for row in rows.values()}, {RANKS})
        return rows

    def test_recorded_by_one_unitrace_around_torchrun(self):
        self.torchrun(UNITRACE, "--chrome-ccl-logging", "--no-summary", "--quiet", how="itt")
        self.assertEqual(len(list(self.dir.glob("python*.json"))), RANKS)
        self.check_ranks()

    def test_in_files_of_torch_profiler(self):
        self.torchrun(how="profiler")
        rows = self.check_ranks()
        self.assertEqual(rows["allreduce"]["total_bytes"], STEPS * 4 * FLOATS)
        self.assertEqual(rows["allgather"]["total_bytes"], STEPS * 4 * FLOATS * RANKS)
        for name, factor in ("allreduce", 2 * (RANKS - 1) / RANKS), ("allgather", (RANKS - 1) / RANKS):
            row = rows[name]
            self.assertAlmostEqual(row["algbw_GB_s"], row["total_bytes"] / row["time_ns"], places=6)
            self.assertAlmostEqual(row["busbw_GB_s"], row["algbw_GB_s"] * factor, places=6)


if __name__ == "__main__":
    main()
