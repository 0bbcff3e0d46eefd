#!/usr/bin/env python3
"""Every ITT function, called once: what arrives in the timeline, value by value."""
import re
import subprocess
import unittest

from common import COLLECTOR, LANES, SOURCE, Case, Trace, main, need, program

need("every_call", "clock_pairs")


def identity(number):
    """How __itt_id_make(NULL, number) is shown."""
    return ["0x0", number, 0]


class EveryCall(Case):
    """One recording for all tests."""

    @classmethod
    def setUpClass(cls):
        case = Case()
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.bare = case.run_words(program("every_call"))
        cls.got = case.unitrace("--itt-groups", "sync,heap,stitch", program("every_call"))
        cls.result = case.trace()
        cls.plain_got = case.unitrace("-o", "plain.out.json", program("every_call"))
        cls.plain = Trace(next(case.dir.glob("plain.out*")))

    def setUp(self):
        self.t = self.result

    def span(self, name, cat="api"):
        span = self.t.one(name)
        self.assertEqual(span.cat, cat, name)
        return span

    def test_the_program_calls_every_function(self):
        listed = set(re.findall(r"^ITT_(?:FN|STATIC|\w+)\(.*?,\s*(\w+),\s*\(",
                                (SOURCE / "src/record/itt/api.def").read_text(), re.M))
        self.assertGreater(len(listed), 150)
        text = (SOURCE / "tests/programs/every_call.c").read_text()
        self.assertEqual(listed - set(re.findall(r"__itt_(\w+)\(", text)), set())

    def test_the_program_is_unharmed(self):
        self.assertEqual((self.got.returncode, self.bare.returncode), (0, 0))
        self.assertEqual(self.got.stdout, b"clock asked 2 times\n"
                         b"states 7 7 1 2 1 3\nversion known, state 4\njit 1 1 1 1 1 1\n")

    def test_the_version_is_known_also_without_groups_on_request(self):
        """OpenCV takes ITT for switched off when it is not."""
        self.assertIn(b"version known", self.plain_got.stdout)

    def test_every_function_of_the_table_has_a_hook(self):
        listed = set(re.findall(r"^ITT_\w+\(.*?,\s*\w+,\s*\(.*?(\w+),\s*__itt_group",
                                (SOURCE / "src/record/itt/api.def").read_text(), re.M | re.S))
        self.assertEqual(len(listed), 152)
        symbols = subprocess.run(["nm", COLLECTOR], capture_output=True)
        self.assertEqual(symbols.returncode, 0, symbols.stderr)
        defined = set(re.findall(r" [Tt] __itt_(\w+)$", symbols.stdout.decode(), re.M))
        self.assertEqual(listed - defined, set())

    def test_nothing_was_lost(self):
        self.assertEqual(dict(self.t.losses), {"ignored": 4})

    # Tasks

    def test_ids_and_parents_are_arguments(self):
        self.assertEqual(self.span("task with id").args,
                         {"id": identity(10), "parent": "the group"})
        self.assertEqual(self.span("task with parent").args,
                         {"id": identity(11), "parent": identity(10)})

    def test_tasks_nest(self):
        outer, inner = self.span("task with id"), self.span("task inside")
        self.assertLessEqual(outer.begin, inner.begin)
        self.assertLessEqual(inner.end, outer.end)
        self.assertEqual(inner.args, {})

    def test_task_of_a_function_has_the_function_s_name(self):
        first, second = self.t.named("a_named_function")  # task_begin_fn, task_begin_fn_ex
        self.assertEqual((first.cat, second.cat), ("api", "api"))
        self.assertGreaterEqual(first.ns, 1000000)

    def test_id_created_inside_a_task_is_that_task_s(self):
        self.assertEqual(self.span("task given an id").args, {"by id": "found"})

    def test_overlapped_tasks(self):
        a, b = self.t.over("overlapped a"), self.t.over("overlapped b")
        self.assertTrue(a.begin <= b.begin <= a.end <= b.end)
        self.assertEqual((a.cat, b.cat), ("api", "api"))
        self.assertEqual(a.args, {"id": identity(20), "info": "formatted -7"})
        self.assertEqual(b.args, {"id": identity(21), "parent": identity(20), "colour": "green"})

    def test_regions(self):
        region = self.t.over("region")
        self.assertEqual((region.cat, region.args), ("api", {"id": identity(30)}))
        self.assertGreaterEqual(region.ns, 1000000)

    # Frames

    def frames(self, domain):
        return [s for s in self.t.spans if s.cat == domain]

    def test_frames(self):
        frames = self.frames("frames.v3")
        self.assertEqual([f.args for f in frames],
                         [{"id": identity(40), "aside": True}, {"aside": True}, {"aside": True}])
        self.assertGreaterEqual(frames[0].ns, 1000000)
        self.assertEqual(frames[1].end, frames[2].begin)
        self.assertEqual({self.t.thread_names()[f.tid] for f in frames}, {"Frames: frames.v3"})
        self.assertTrue(all(f.tid >= LANES for f in frames))

    def test_submitted_frames(self):
        first, second = self.frames("frames.sent")
        self.assertGreaterEqual(first.ns, 2000000)
        self.assertEqual(first.end, second.begin)

    def test_frames_of_the_first_generation(self):
        frame, = self.frames("frames.v1")
        self.assertEqual(self.t.thread_names()[frame.tid], "Frames: frames.v1")

    # Moments

    def test_markers_and_their_scope(self):
        for name, scope in (("global", "g"), ("process", "p"), ("thread", "t"), ("task", "t")):
            marker = self.t.instant(f"marker {name}")
            self.assertEqual((marker["s"], marker["cat"]), (scope, "api"), name)
        self.assertEqual(self.t.instant("marker thread")["args"], {"id": identity(50)})

    def test_marks(self):
        moment = self.t.instant("mark moment")
        self.assertEqual((moment["cat"], moment["args"]), ("mark", {"parameter": "a parameter"}))
        self.assertEqual(self.t.over("mark span").cat, "mark")
        self.assertEqual(self.t.over("mark global").args, {"parameter": "global parameter"})

    def test_legacy_events(self):
        self.assertEqual(self.span("event span", "event").cat, "event")
        self.assertEqual(self.t.instant("event moment")["s"], "t")  # its name is cut at 12

    # Arguments

    def test_metadata_of_every_type(self):
        self.assertEqual(self.span("metadata").args, {
            "u64": 2**64 - 1, "s64": [-2**63, 2], "u32": 2**32 - 1, "s32": -2147483647,
            "u16": 65535, "s16": [-32768, 0, 32767], "float": 0.5, "double": [0.1, -1e300],
            "cut": "abc", "whole": "abcdef"})

    def test_formatted_metadata(self):
        self.assertEqual(self.span("formatted").args,
                         {"info": "[text] -1 2 -3 4 -5 6 -7 8 9.25 10.500000 %"})

    def test_metadata_with_scope(self):
        self.assertEqual(self.t.processes[0]["args"], {"global number": 7})
        self.assertEqual(self.span("scoped").args, {"task text": "of task"})
        main_thread, = [e for e in self.t.meta if e["name"] == "thread_name" and
                        e["tid"] == self.t.pid]
        self.assertEqual(main_thread["args"], {"name": "the main thread",
                                               "thread text": "of main"})

    # Relations

    def assertArrow(self, tail, head):
        tail, head = self.span(tail), self.span(head)
        found = [(s, f) for s, f in self.t.arrows
                 if (s["tid"], round(s["ts"] * 1000)) == (tail.tid, tail.begin) and
                 (f["tid"], round(f["ts"] * 1000)) == (head.tid, head.begin)]
        self.assertTrue(found, (tail, head, self.t.arrows))
        return len(found)

    def test_relations_are_arrows(self):
        self.assertArrow("cause", "effect")
        self.assertArrow("first", "second")
        self.assertEqual(self.assertArrow("first ex", "second ex"), 2)

    def test_stitched_stacks_are_arrows(self):
        self.assertArrow("caller", "callee")
        self.assertEqual(len(self.t.arrows), 5)

    # Clocks

    def test_clock_domains(self):
        task = self.span("clock task", "clocked")
        base = task.begin - 1000000  # begun 1000 us after the clock's base
        self.assertEqual(task.ns, 2500000)
        self.assertEqual(task.args, {"id": identity(70)})
        self.assertEqual(self.t.thread_names()[task.tid], "Clock: clocked")
        overlapped = self.t.over("clock overlapped")
        self.assertEqual((overlapped.begin - base, overlapped.ns), (5000000, 1000000))
        marker = self.t.instant("clock marker")
        self.assertEqual(round(marker["ts"] * 1000) - base, 7000000)
        counter, = [e for e in self.t.counters if e["name"] == "api: clocked counter"]
        self.assertEqual(round(counter["ts"] * 1000) - base, 8000000)
        self.assertEqual(counter["args"], {"value": 77})

    # Numbers

    def test_counters_count_absolute_values(self):
        self.assertEqual(self.t.values("api: plain"), [1, 11, 10, 6])
        self.assertEqual(self.t.values("api: v3"), [12])
        self.assertEqual(self.t.values("api: v3 by name"), [1, 6, 5, 3])

    def test_counters_of_every_type(self):
        for name, value in (("u64", 2**64 - 1), ("s64", -9223372036854775807),
                            ("u32", 4000000000), ("s32", -2000000000), ("u16", 60000),
                            ("s16", -30000), ("float", 0.25), ("double", -1.5e10)):
            self.assertEqual(self.t.values(f"api: {name}"), [value])

    def test_counters_have_their_domain_as_category(self):
        self.assertEqual({e["cat"] for e in self.t.counters}, {"api"})

    def test_the_unit_of_a_counter_is_its_series(self):
        counter, = [e for e in self.t.counters if e["name"] == "api: described"]
        self.assertEqual(counter["args"], {"bytes": 512})

    def test_what_is_said_about_a_counter_is_kept(self):
        text = str(self.t.other) + str(self.t.meta)
        for word in ("the name", "disk", "0000:00:1f.0", "bandwidth"):
            self.assertIn(word, text)

    def test_histograms(self):
        self.assertEqual(self.t.instant("histogram")["args"],
                         {"x": [0.5, 1.5, 2.5], "y": [1, 20, 300]})
        self.assertEqual(self.t.instant("series")["args"], {"x": [0, 1], "y": [-1, 2]})

    # Threads, tracks, control

    def test_thread_names(self):
        names = self.t.thread_names()
        self.assertEqual(names[self.t.pid], "the main thread")
        self.assertEqual(names[self.span("on older name").tid], "older name")

    def test_ignored_threads_are_not_there(self):
        self.assertEqual(self.t.named("ignored"), [])
        self.span("before ignore")

    def test_tracks(self):
        self.assertEqual(self.t.row_of("on the row"), "group: row")
        self.assertEqual(self.t.row_of("back on the thread"), "the main thread")

    def test_pause_has_no_effect_unless_asked_for(self):
        for name in ("before pause", "in pause", "after resume", "in scoped pause",
                     "in offload pause"):
            self.span(name)

    def test_detach_ends_the_recording(self):
        self.span("last")
        self.assertEqual(self.t.named("after detach"), [])
        self.assertEqual(self.t.instant("collector detached")["s"], "p")

    # On request

    def test_waits(self):
        for name in ("wait Mutex my lock", "wait Oldest legacy", "wait"):
            self.span(name, "sync")
        self.assertEqual(len(self.t.named("wait Older name")), 2)
        self.assertTrue([n for n in self.t.names() if n.startswith("wait") and "right" in n])

    def test_heap(self):
        self.assertEqual(self.t.values("api: heap: pool"), [100, 250, 0])

    def test_groups_on_request_are_off_by_default(self):
        self.assertEqual(self.plain_got.returncode, 0)
        self.assertFalse([n for n in self.plain.names() if n.startswith("wait")])
        self.assertFalse([e for e in self.plain.counters if "heap" in e["name"]])
        self.assertEqual(len(self.plain.arrows), 4)

    def test_modules(self):
        loads = [e["args"] for e in self.t.instants if e["name"] == "module load"]
        self.assertEqual(loads, [
            {"start": "0x10000", "end": "0x20000", "path": "/made/up.so"},
            {"start": "0x30000", "end": "0x31000", "path": "/made/up/sections.so"}])
        unloads = [e["args"]["start"] for e in self.t.instants if e["name"] == "module unload"]
        self.assertEqual(unloads, ["0x10000", "0x30000"])

    def test_models(self):
        for site, task in (("model site", "model task"), ("model site A", "model task A"),
                           ("model site AL", "model task AL")):
            outer, inner = self.span(site, "advisor"), self.span(task, "advisor")
            self.assertTrue(outer.begin <= inner.begin <= inner.end <= outer.end)
        first, second = self.span("iteration A", "advisor"), self.span("iteration AL", "advisor")
        self.assertEqual(first.end, second.begin)

    def test_hints_to_checkers_and_advisors(self):
        found = [(e["name"], e.get("args", {})) for e in self.t.instants if e.get("cat") == "hint"]
        names = [name for name, _ in found]
        self.assertEqual(names, [
            "lock acquire", "lock release", "lock acquire", "lock release", "record allocation",
            "record deallocation", "induction uses", "reduction uses", "observe uses",
            "clear uses", "disable push", "disable pop", "aggregate task", "suppress push",
            "suppress pop", "suppress range", "suppress clear range", "save array", "memory read",
            "memory write", "memory update", "pt region"])
        args = dict(found)
        self.assertEqual(args["suppress push"], {"mask": 0x7fffffff})
        self.assertEqual(args["record allocation"]["bytes"], 4)
        self.assertEqual(args["record allocation"]["address"], args["lock acquire"]["address"])
        self.assertEqual(args["aggregate task"], {"count": 3})
        self.assertEqual((args["save array"]["name"], args["save array"]["count"]),
                         ("no-file.txt", 2))
        self.assertEqual(args["memory read"]["bytes"], 8)
        self.assertEqual(args["pt region"], {"name": "pt region", "number": 1})

    def test_jit(self):
        found = {e["name"]: e["args"] for e in self.t.instants if e.get("cat") == "jit"}
        self.assertEqual(found["jit_loop"], {"address": "0x7000", "bytes": 64, "class": "Jit",
                                             "file": "jit.src"})
        self.assertEqual(found["jit_v2"]["address"], "0x8000")
        self.assertEqual(found["jit_v3"]["address"], "0x9000")
        self.assertEqual(found["jit_inline"]["bytes"], 8)


class Clocks(Case):
    def test_tasks_on_another_clock(self):
        trace = self.record(program("clock_pairs"))
        outer, inner = trace.one("outer"), trace.one("inner")
        self.assertEqual((outer.ns, inner.ns, inner.begin - outer.begin), (4000, 1000, 1000))
        own = trace.one("own clock")
        self.assertTrue(outer.begin - 10**9 < own.begin < outer.begin + 10**9)

    def test_a_task_that_never_ends_is_unfinished_on_another_clock_too(self):
        self.assertTrue(self.record(program("clock_pairs")).one("never ended").unfinished)

    def test_tasks_of_functions_on_another_clock(self):
        trace = self.record(program("clock_pairs"))
        self.assertEqual(trace.one("clocked_function").ns, 2000)
        self.assertEqual(trace.losses["stray_ends"], 0)


class Formats(Case):
    def test_every_call_as_perfetto(self):
        got = self.unitrace("-f", "perfetto", "--itt-groups", "sync,heap,stitch",
                            program("every_call"))
        self.assertEqual(got.returncode, 0, got.stderr)
        data = next(self.dir.glob("*.pftrace")).read_bytes()
        for text in (b"a_named_function", b"frames.v3", b"overlapped b", b"group: row"):
            self.assertTrue(text in data, text)

    def test_info_reads_a_kept_session(self):
        got = self.unitrace("--keep-session", "--quiet", program("every_call"))
        session, = self.dir.glob("*.session")
        self.assertEqual(got.returncode, 0, got.stderr)
        info = self.unitrace("info", session)
        self.assertEqual(info.returncode, 0, info.stderr)
        again = self.unitrace("export", "-o", "again.json", session)
        self.assertEqual(again.returncode, 0, again.stderr)
        first = next(p for p in self.timelines() if p.name.startswith("every"))
        self.assertEqual([e["name"] for e in Trace(first).events],
                         [e["name"] for e in Trace(self.dir / "again.json").events])


if __name__ == "__main__":
    main()
