#!/usr/bin/env python3
"""PyTorch on the CPU: Python, libraries, OpenMP and oneDNN workers, operators, in one sampled run."""
# ci: labels slow real
import json
import os
import textwrap

from common import Case, main, need, need_kernel_samples, need_venv

need()
need_kernel_samples()
PYTHON = need_venv("torch")

SCRIPT = textwrap.dedent("""
    import time
    import torch

    torch.set_num_threads(3)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 24, 3), torch.nn.ReLU(), torch.nn.Conv2d(24, 24, 3),
                                torch.nn.Flatten(), torch.nn.Linear(24 * 44 * 44, 50))
    data = torch.rand(16, 3, 48, 48)

    def step():
        model(data).sum().backward()

    def train(seconds):
        end = time.process_time() + seconds
        with torch.autograd.profiler.emit_itt():
            while time.process_time() < end:
                with torch.profiler.itt.range("iteration"):
                    step()

    train(3)
    """)


class Torch(Case):
    def report(self, *words):
        got = self.unitrace("hotspots", "--json", *words, "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)

    def test_one_run(self):
        """A run is dear: all questions are asked about the same one."""
        (self.dir / "train.py").write_text(SCRIPT)
        got = self.unitrace("hotspots", "--threads", "-o", "run.utr", PYTHON, "train.py",
                            env=dict(os.environ, OMP_WAIT_POLICY="passive"))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        rows = {r["name"].split(".")[-1]: r for r in self.report()}
        trained = rows["train"]["total_ns"] / 1e9
        # what backward() does is done by a thread of its own, called by nobody
        self.assertGreater(trained, 0.8, rows["train"])
        self.assertLessEqual(rows["step"]["total_ns"], rows["train"]["total_ns"])
        tasks = {r["name"]: r for r in self.report("--by", "task")}
        self.assertTrue(any(name.startswith("aten::") for name in tasks), tasks)
        modules = {os.path.basename(r["name"]): r for r in self.report("--by", "module")}
        self.assertIn("libtorch_cpu.so", modules)
        threads = self.report("--threads")
        workers = [r for r in threads if r["name"].endswith(": OpenMP worker")]
        self.assertGreaterEqual(len(workers), 2, threads)
        busy = [r for r in workers if r["cpu_ns"] > 50e6]
        self.assertGreaterEqual(len(busy), 2, threads)
        regions = self.report("--threads=regions")
        self.assertTrue(any("_omp_fn" in r["name"] or "omp" in r["name"] for r in regions), regions)
        unknown = sum(r["self_share"] for r in self.report() if r["name"] == "[unknown]")
        self.assertLess(unknown, 10)


if __name__ == "__main__":
    main()
