#!/usr/bin/env python3
"""The files of `analyze --tb -R` load in TensorBoard's own plugin, with its distributed view."""
# ci: labels slow real
import json
import subprocess

from common import PATIENCE, SOURCE, Case, environment, main, need, need_venv

need()
PYTHON = need_venv("torch_tb_profiler")

LOAD = """
import json, sys
from torch_tb_profiler import io
from torch_tb_profiler.profiler.loader import RunLoader
if __name__ == "__main__":
    run = RunLoader("run", sys.argv[1], io.Cache()).load()
    found = {}
    for p in run.profiles.values():
        views = [v.display_name for v in p.views]
        found[p.worker] = {"views": views}
        if p.worker == "All":
            found[p.worker].update(overlap=p.steps_to_overlap["data"]["all"], ops=p.comm_ops["data"])
    print(json.dumps(found))
"""


class Plugin(Case):
    def test_every_rank_loads_and_the_distributed_view_is_there(self):
        logs = self.dir / "logs"
        logs.mkdir()
        done = self.unitrace("analyze", "-i", str(SOURCE / "tests/golden/inputs/aiu_coll/*.json"), "--freq",
                             "560:800", "--flow", "-R", "--tb", "--disable_file", "-o", logs / "job.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        workers = sorted(p.name for p in logs.glob("*.pt.trace.json"))
        self.assertEqual(workers, [f"job_worker_{r}.pt.trace.json" for r in range(3)])
        for name in workers:
            for e in json.loads((logs / name).read_text())["traceEvents"]:
                self.assertIsInstance(e.get("tid", 0), int)
        (self.dir / "load.py").write_text(LOAD)
        got = subprocess.run([PYTHON, "load.py", logs], cwd=self.dir, capture_output=True, text=True,
                             timeout=PATIENCE, env=environment())
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertNotIn("Failed to parse", got.stderr)
        found = json.loads(got.stdout.splitlines()[-1])
        self.assertEqual(set(found), {"All", *(f"job_worker_{r}" for r in range(3))}, got.stderr)
        self.assertEqual(found["All"]["views"], ["Distributed"])
        for r in range(3):
            self.assertIn("Trace", found[f"job_worker_{r}"]["views"])
            self.assertIn("gloo:all_reduce", json.dumps(found["All"]["ops"][f"job_worker_{r}"]))
            self.assertGreater(sum(found["All"]["overlap"][f"job_worker_{r}"]), 0)


if __name__ == "__main__":
    main()
