#!/usr/bin/env python3
"""SYCL through XPTI: command groups, their graph, waits, memory and calls of the runtime below.

A pretended framework (tests/programs/libfake_xpti.cpp) is made to tell what a SYCL runtime would, so
that it is known what the recording has to hold. Intel's own runtime: test_real_dpctl.py.
"""
import collections
import signal

import common
from common import program
from device_support import backend, need_backend

need_backend("sycl")
common.need("sycl_work")
FRAMEWORK = program("libfake_xpti.so")
if not FRAMEWORK.exists():
    common.skip("the pretended framework is not built (no C++ compiler)")

SYCL = "--chrome-sycl-logging"
VARIABLES = ("XPTI_TRACE_ENABLE", "XPTI_SUBSCRIBERS", "XPTI_FRAMEWORK_DISPATCHER",
             "UR_ENABLE_LAYERS")
LAUNCH = "urEnqueueKernelLaunchWithArgsExp"


class Case(common.Case):
    def tell(self, way, count=1, options=(SYCL,), **more):
        env = common.environment(XPTI_FRAMEWORK_DISPATCHER=str(FRAMEWORK))
        return self.record(*options, program("sycl_work"), way, count, env=env, **more)

    def of(self, trace, api="SYCL"):
        return sorted((s for s in trace.spans if s.cat == api), key=lambda s: (s.begin, -s.end))

    def dependencies(self, trace):
        """Pairs of spans: an end of an arrow is bound to the last that began there."""
        at = {(s.tid, s.begin): s for s in self.of(trace)}

        def bound(flow):
            return at[flow["tid"], common.to_ns(flow["ts"])]
        return [(bound(a), bound(b)) for a, b in trace.arrows
                if a["args"]["name"] == "SYCL dependency"]


class Told(Case):
    def test_command_groups_with_their_place_in_the_source(self):
        trace = self.tell("graph")
        produce, = [s for s in self.of(trace) if s.name == "Produce"]
        self.assertEqual({k: produce.args[k] for k in ("node", "file", "line", "column", "device",
                                                       "queue")},
                         {"node": 1, "file": "src/model.cpp", "line": 10, "column": 7,
                          "device": "Pretended GPU", "queue": 3})
        scale, = [s for s in self.of(trace) if s.name == "Scale<float>"]
        self.assertEqual((scale.args["node"], scale.args["line"]), (2, 11))
        host, = [s for s in self.of(trace) if s.name == "host task"]
        self.assertNotIn("file", host.args)  # the runtime says <unknown-file>

    def test_calls_of_the_runtime_below_are_inside_of_them(self):
        trace = self.tell("graph", 3)
        calls = self.of(trace, "UR")
        self.assertEqual(collections.Counter(s.name for s in calls), {LAUNCH: 6, "urEventWait": 3})
        for call in calls:
            around = [s.name for s in self.of(trace)
                      if s.begin <= call.begin and call.end <= s.end]
            self.assertIn(around, (["Produce"], ["Scale<float>"], ["event.wait"]))
            self.assertEqual(call.args, {})

    def test_nodes_and_edges_exactly_as_told(self):
        trace = self.tell("graph", 100)
        names = collections.Counter(s.name for s in self.of(trace))
        # what is called virtual stands for a node that is there already
        self.assertEqual(names, {"node create": 300, "edge create": 200, "Produce": 100,
                                 "Scale<float>": 100, "host task": 100, "event.wait": 100})
        number = {s.args["node"]: s.args["command"] for s in self.of(trace)
                  if s.name == "node create"}
        edges = [(number[s.args["from node"]], number[s.args["to node"]], s.args["access"])
                 for s in self.of(trace) if s.name == "edge create"]
        self.assertEqual(collections.Counter(edges),
                         {("_ZTS7Produce", "Scale<float>", "read_write"): 100,
                          ("Scale<float>", "host task", "Event"): 100})

    def test_arrows_lead_from_a_command_to_those_that_need_it(self):
        trace = self.tell("graph", 100)
        pairs = self.dependencies(trace)
        self.assertEqual(collections.Counter((a.name, b.name) for a, b in pairs),
                         {("Produce", "Scale<float>"): 100, ("Scale<float>", "host task"): 100})
        told = {(s.args["from node"], s.args["to node"]) for s in self.of(trace)
                if s.name == "edge create"}
        self.assertEqual({(a.args["node"], b.args["node"]) for a, b in pairs}, told)

    def test_a_wait_says_which_command_it_waits_for(self):
        trace = self.tell("graph", 5)
        scales = [s.args["node"] for s in self.of(trace) if s.name == "Scale<float>"]
        self.assertEqual([s.args["node"] for s in self.of(trace) if s.name == "event.wait"], scales)

    def test_errors_have_names(self):
        calls = self.of(self.tell("errors"), "UR")
        self.assertEqual([(s.name, s.args.get("error")) for s in calls],
                         [("urUSMDeviceAlloc", "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"),
                          ("urEventWait", "0x7ffffffe"), ("urFromTheFuture", None)])

    def test_memory_that_is_in_use(self):
        trace = self.tell("memory")
        self.assertEqual([(s.name, s.args) for s in self.of(trace)],
                         [("alignedAlloc", {"bytes": 1 << 30, "address": "0x1000",
                                            "device": "Pretended GPU"}),
                          ("alignedAlloc", {"bytes": 512, "address": "0x1001",
                                            "device": "Pretended GPU"}),
                          ("free", {"address": "0x1001"})])
        self.assertEqual(trace.values("SYCL memory: Pretended GPU (bytes)"),
                         [1 << 30, (1 << 30) + 512, 1 << 30])

    def test_buffers(self):
        trace = self.tell("buffers")
        place = {"file": "src/model.cpp", "line": 30, "column": 5}
        self.assertEqual([(s.name, s.args) for s in self.of(trace)],
                         [("buffer create", {"object": "0x5000", "bytes": 8192, "range": "64x32x1",
                                             "element": "f", **place}),
                          ("accessor create", {"object": "0x5000", "access": "read", **place}),
                          ("allocate memory", {"object": "0x7000", "address": "0x8000",
                                               "bytes": 8192}),
                          ("release memory", {"object": "0x7000", "address": "0x8000"}),
                          ("buffer destroy", {"object": "0x5000", **place})])
        self.assertEqual(trace.values("SYCL memory: buffers (bytes)"), [8192, 0])

    def test_an_older_runtime(self):
        calls = self.of(self.tell("old", 7), "UR")
        self.assertEqual([s.name for s in calls], ["piEnqueueKernelLaunch"] * 7)


class Odd(Case):
    def test_a_command_that_throws_ends_with_what_is_around_it(self):
        trace = self.tell("throws")
        lasting = [s for s in self.of(trace) if "create" not in s.name]
        self.assertEqual([s.name for s in lasting], ["queue.wait", "bad", "good", "after"])
        wait, bad, good, after = lasting
        self.assertLessEqual(bad.end, wait.end)
        self.assertLess(good.end, bad.end)
        self.assertLess(wait.end, after.begin)
        self.assertEqual(trace.losses["unfinished"], 0)

    def test_deeper_than_there_is_room_for(self):
        trace = self.tell("deep")
        self.assertEqual(len(self.of(trace)), 16)
        self.assertEqual([s.name for s in self.of(trace, "UR")], ["urEventWait"])
        self.assertEqual(trace.losses["unfinished"], 0)

    def test_threads_do_not_meet(self):
        trace = self.tell("threads", 500)
        pairs = self.dependencies(trace)
        self.assertEqual(len(pairs), 4000)
        for a, b in pairs:
            self.assertEqual(a.tid, b.tid)
        self.assertEqual(collections.Counter(s.name for s in self.of(trace))["host task"], 2000)

    def test_a_child_goes_on_by_itself(self):
        env = common.environment(XPTI_FRAMEWORK_DISPATCHER=str(FRAMEWORK))
        self.assertEqual(self.unitrace(SYCL, program("sycl_work"), "child", 5, env=env).returncode, 0)
        traces = self.traces()
        self.assertEqual([len([s for s in self.of(t) if s.name == "Produce"]) for t in traces],
                         [5, 5])

    def test_a_program_that_is_killed_keeps_what_was_reported(self):
        trace = self.tell("killed", 20, rc=-signal.SIGKILL)
        names = collections.Counter(s.name for s in self.of(trace))
        self.assertEqual((names["Produce"], names["last"]), (20, 1))
        self.assertTrue([s for s in self.of(trace) if s.name == "last"][0].unfinished)

    def test_nothing_is_reported_without_the_option(self):
        env = common.environment(XPTI_FRAMEWORK_DISPATCHER=str(FRAMEWORK))
        done = self.unitrace(program("sycl_work"), "graph", env=env)
        self.assertEqual((done.returncode, done.stdout), (0, b"told\n"))
        self.assertFalse([s for t in self.traces() for s in self.of(t)])

    def test_a_pause_leaves_out_what_happens_meanwhile(self):
        env = common.environment(XPTI_FRAMEWORK_DISPATCHER=str(FRAMEWORK))
        done = self.unitrace(SYCL, "--start-paused", program("sycl_work"), "graph", 3, env=env)
        self.assertEqual((done.returncode, done.stdout), (0, b"told\n"))
        self.assertFalse([s for t in self.traces() for s in self.of(t)])


class Door(Case):
    def environment_of(self, *options, **more):
        done = self.unitrace(*options, "env", env=common.environment(**more))
        lines = done.stdout.decode().splitlines()
        return ({k: v for k, _, v in (l.partition("=") for l in lines) if k in VARIABLES},
                done.stderr.decode())

    def test_it_is_open_only_when_it_is_asked_for(self):
        self.assertEqual(self.environment_of("--chrome-kernel-logging")[0], {})
        env, _ = self.environment_of(SYCL)
        self.assertEqual(env, {"XPTI_TRACE_ENABLE": "1",
                               "XPTI_SUBSCRIBERS": str(backend("sycl")),
                               "XPTI_FRAMEWORK_DISPATCHER": "libxptifw.so",
                               "UR_ENABLE_LAYERS": "UR_LAYER_TRACING"})

    def test_what_the_user_has_set_stays(self):
        env, said = self.environment_of(SYCL, XPTI_SUBSCRIBERS="/opt/theirs.so",
                                        XPTI_FRAMEWORK_DISPATCHER="/opt/libxptifw.so",
                                        UR_ENABLE_LAYERS="UR_LAYER_FULL_VALIDATION")
        self.assertEqual(env, {"XPTI_TRACE_ENABLE": "1",
                               "XPTI_SUBSCRIBERS": f"/opt/theirs.so,{backend('sycl')}",
                               "XPTI_FRAMEWORK_DISPATCHER": "/opt/libxptifw.so",
                               "UR_ENABLE_LAYERS": "UR_LAYER_FULL_VALIDATION,UR_LAYER_TRACING"})
        self.assertNotIn("warning", said)

    def test_a_user_who_has_switched_it_off_is_reported(self):
        env, said = self.environment_of(SYCL, XPTI_TRACE_ENABLE="0")
        self.assertEqual(env, {"XPTI_TRACE_ENABLE": "0"})
        self.assertIn("XPTI_TRACE_ENABLE is '0': SYCL is not recorded", said)

    def test_recorded_inside_a_recording_it_is_named_once(self):
        env, _ = self.environment_of(SYCL, XPTI_SUBSCRIBERS=str(backend("sycl")),
                                     UR_ENABLE_LAYERS="UR_LAYER_TRACING")
        self.assertEqual(env["XPTI_SUBSCRIBERS"], str(backend("sycl")))
        self.assertEqual(env["UR_ENABLE_LAYERS"], "UR_LAYER_TRACING")


if __name__ == "__main__":
    common.main()
