#!/usr/bin/env python3
"""Intel's ittapi package for Python: everything that it can say; and beside PyTorch's own copy."""
# ci: labels slow real
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import (HERE, Case, clean_env, main, missing_module, need_module, need_unitrace,
                          venv)

need_unitrace()
VENV = venv()
need_module(VENV, "ittapi")


class IttApi(Case):
    def python(self, script, *options):
        env = clean_env(PATH=f"{VENV}:{os.environ['PATH']}", PYTHONWARNINGS="ignore")
        printed, said = self.record(*options, "python", HERE / "ittapi" / script, env=env)
        return self.trace(), printed, said

    def test_tasks_nest_as_the_program_says(self):
        trace, printed, _ = self.python("everything.py")
        self.assertEqual(printed, "done\n")
        self.assertEqual(trace.paths(trace.slices[0]["pid"]), [
            "decorated",
            "by another name", "by another name/decorated",
            "outer",
            "outer/inner 0", "outer/inner 0/decorated",
            "outer/inner 1", "outer/inner 1/decorated",
            "outer/inner 2", "outer/inner 2/decorated",
            "an event",
            "the parent", "the parent/the child",
        ])

    def test_ids_and_parents(self):
        trace, _, _ = self.python("everything.py")
        parent, = trace.named("the parent")
        child, = trace.named("the child")
        self.assertEqual(child["args"]["parent"], parent["args"]["id"])

    def test_overlapped_tasks(self):
        trace, _, _ = self.python("everything.py")
        ends = [(e["ph"], e["name"]) for e in sorted(
            (e for e in trace.events if e["ph"] in "be"), key=lambda e: e["ts"])]
        self.assertEqual(ends, [("b", "first"), ("b", "second"), ("e", "first"), ("e", "second")])

    def test_threads_and_their_names(self):
        trace, _, _ = self.python("everything.py")
        task, = trace.named("on the worker")
        self.assertEqual(task["cat"], "other.domain")
        self.assertEqual(trace.threads[task["tid"]], "été worker")
        self.assertEqual(trace.threads[task["pid"]], "the main thread")

    def test_pause_and_resume_with_conditional_collection(self):
        trace, _, _ = self.python("selected.py", "--conditional-collection")
        tasks = [e["name"] for e in trace.slices if e["cat"] == "ittapi"]
        self.assertEqual(tasks, ["selected 1", "selected 2"])
        self.assertEqual([e["name"] for e in trace.instants],
                         2 * ["collection resumed", "collection paused"])

    def test_pause_and_resume_without(self):
        trace, _, _ = self.python("selected.py")
        self.assertEqual([e["name"] for e in trace.slices],
                         ["before", "selected 1", "between", "selected 2", "after"])

    def test_a_program_for_itt_python(self):
        trace, _, said = self.python("compat.py", "--start-paused")
        self.assertEqual(trace.paths(trace.slices[0]["pid"]), ["step", "step/half a step"])
        self.assertEqual(trace.other["processes"][0]["losses"], {"stray_ends": 1})
        self.assertIn("without a begin", said)

    def test_two_static_parts_mean_the_same_by_a_name(self):
        reason = missing_module(VENV, "torch")
        if reason:
            self.skipTest(reason)
        trace, _, said = self.python("with_torch.py")
        self.assertEqual(trace.domains(), {"PyTorch"})
        paths = trace.paths(trace.slices[0]["pid"])
        # The outer one is ittapi's, the inner one PyTorch's.
        self.assertEqual(paths.count("aten::ones/aten::ones"), 2)
        self.assertEqual(paths.count("shared"), 4)
        # One name, one row.
        self.assertEqual(len([line for line in said.splitlines()
                              if line.startswith("shared ")]), 1, said)


if __name__ == "__main__":
    main()
