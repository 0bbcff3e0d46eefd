#!/usr/bin/env python3
"""oneTBB: a flow graph's nodes, edges and bodies; loops, groups and pipelines; its threads."""
# ci: labels real
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import Case, main, need_unitrace

need_unitrace()

PRINTS = "graph 46970\nloop 5000050000\ngroup 45\npipeline 90\n"


class Tbb(Case):
    def setUp(self):
        super().setUp()
        self.program = self.compile("tbb_flow.cpp", "-std=c++17", "-ltbb", "-pthread")

    def recorded(self, *options):
        printed, _ = self.record("-o", "t.json", *options, self.program)
        self.assertEqual(printed, PRINTS)
        return self.trace()

    def test_algorithms_are_tasks_of_their_groups(self):
        trace = self.recorded()
        names = trace.names("tbb")
        for name in ("tbb_flow_graph", "tbb_parallel_for", "tbb_parallel_reduce", "tbb_custom"):
            self.assertGreater(names[name], 0, names)
            for e in trace.named(name):
                # Ids are addresses that TBB uses again: the name has to be that of the moment.
                self.assertEqual(e["args"]["parent"], name)

    def test_bodies_know_their_nodes(self):
        trace = self.recorded()
        bodies = collections.Counter(e["args"]["parent"] for e in trace.named("body"))
        # The source runs once more, to say that it is done.
        self.assertEqual(bodies, {"input_node": 21, "square": 20, "cube": 20, "function_node": 20})
        self.assertEqual({e["cat"] for e in trace.named("body")}, {"tbb.flow"})

    def test_the_graph_is_a_region_with_the_users_name(self):
        trace = self.recorded()
        begin, end = [e for e in trace.events if e["ph"] in "be"]
        self.assertEqual((begin["ph"], begin["name"], begin["cat"]), ("b", "powers", "tbb.flow"))
        self.assertEqual((end["ph"], end["id2"]), ("e", begin["id2"]))
        bodies = trace.named("body")
        self.assertLess(begin["ts"], min(e["ts"] for e in bodies))
        self.assertGreater(end["ts"], max(e["ts"] + e["dur"] for e in bodies))

    def test_edges_between_nodes_are_arrows_between_their_bodies(self):
        arrows = {(a["args"]["parent"], b["args"]["parent"]) for a, b in self.recorded().flows()}
        self.assertEqual(arrows, {("input_node", "square"), ("input_node", "cube")})

    def test_a_worker_has_its_name(self):
        workers = set(self.recorded().threads.values()) - {"tbb_flow"}
        self.assertLessEqual(workers, {"TBB Worker Thread"})

    def test_locks_only_when_asked_for(self):
        self.assertNotIn("sync", self.recorded().domains())
        (self.dir / "t.json").unlink()
        trace = self.recorded("--itt-groups", "sync,stitch")
        waits = [e for e in trace.slices if e["cat"] == "sync"]
        self.assertIn("wait tbb::spin_mutex", {e["name"] for e in waits})
        self.assertTrue(all(e["args"]["object"].startswith("0x") for e in waits))

    def test_only_the_domain_that_was_asked_for(self):
        self.assertEqual(self.recorded("--itt-domains", "tbb.flow").domains(), {"tbb.flow"})


if __name__ == "__main__":
    main()
