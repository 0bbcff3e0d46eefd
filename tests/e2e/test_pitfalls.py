#!/usr/bin/env python3
"""What collectors of ITT marks stumble over, one test each, numbered as we found them."""
import ctypes.util
import re
import shutil
import subprocess
import sys
import textwrap
import unittest

from common import COLLECTOR, Case, Trace, environment, main, need, program

need("copies", "edges", "ending", "family", "first_format", "hammer", "late_init", "malloc_marks",
     "null_args", "old_copy", "plain", "signal_storm", "steps", "threads_many", "timestamps",
     "libcopy_a.so", "libcopy_b.so")


class Pitfalls(Case):
    def steps(self, text):
        return self.record(program("steps"), *text.split())

    def test_01_calls_of_other_threads_during_the_first_one_are_kept(self):
        for _ in range(5):
            trace = self.record("--quiet", program("late_init"))
            for i in range(8):
                racers = trace.named(f"racer {i}")
                self.assertEqual(len(racers), 500)
                self.assertEqual({trace.thread_names()[s.tid] for s in racers}, {f"thread {i}"})
            self.assertEqual({s.cat for s in trace.spans}, {"race"})
            self.assertFalse(trace.losses)
            trace.path.unlink()

    def test_02_calls_before_main_and_after_exit_are_kept(self):
        trace = self.record(program("edges"))
        self.assertEqual(sorted(trace.names()), sorted(
            ["constructor", "main", "thread", "key destructor", "key destructor", "atexit",
             "destructor"]))
        self.assertFalse(trace.losses)

    def test_03_unbalanced_tasks_are_closed_and_counted(self):
        trace = self.steps("end end task a begin b other c end begin d begin e")
        self.assertEqual(trace.losses["stray_ends"], 2)
        self.assertEqual(trace.losses["implicit_ends"], 1)
        self.assertEqual(trace.losses["unfinished"], 2)
        self.assertTrue(trace.one("c").args["implicit_end"])
        self.assertFalse(trace.one("b").unfinished)
        self.assertTrue(trace.one("d").unfinished and trace.one("e").unfinished)

    def test_03_ends_on_another_thread_do_not_end_the_task(self):
        trace = self.steps("begin a thread end task b")
        self.assertTrue(trace.one("a").unfinished)
        self.assertEqual(trace.losses["stray_ends"], 1)
        trace.one("b")

    def test_03_interleaved_domains_pair_by_domain(self):
        trace = self.steps("begin a other b otherend end other c begin d end otherend")
        for outer, inner in (("a", "b"), ("c", "d")):
            self.assertLessEqual(trace.one(inner).end, trace.one(outer).end)
        self.assertFalse(trace.losses)

    def test_04_ends_in_a_pause_close_what_was_begun_before(self):
        trace = self.record("--start-paused", program("steps"),
                            *"resume begin a pause end begin b resume end task c".split())
        self.assertFalse(trace.one("a").unfinished)
        self.assertEqual(trace.named("b"), [])
        self.assertFalse(trace.losses)

    def test_05_domain_create_never_gives_null(self):
        got = self.unitrace(program("null_args"))
        self.assertEqual((got.returncode, got.stdout), (0, b"0 failures\n"), got.stderr)
        self.assertEqual(len({s.cat for s in self.trace().named("in many domains")}), 1000)

    def test_06_event_calls_return_what_bindings_assert(self):
        got = self.unitrace(program("null_args"))
        self.assertNotIn(b"event", got.stdout)

    def test_06_an_event_without_a_name_is_not_another_s(self):
        trace = self.record(program("null_args"))
        names = trace.names() + [e["name"] for e in trace.instants]
        self.assertNotIn("first of all", names)  # the first text that was numbered

    def test_07_null_and_nonsense_do_no_harm(self):
        got = self.unitrace("--itt-groups", "sync,heap,stitch", program("null_args"))
        self.assertEqual((got.returncode, got.stdout), (0, b"0 failures\n"), got.stderr)
        trace = self.trace()
        trace.one("the end")
        self.assertIn("null", trace.one("null text").args["info"])

    def test_07_any_bytes_become_valid_text(self):
        trace = self.record(program("null_args"))
        trace.one("caf\u00e9 \u20ac \U0001f600")
        trace.one('quote " backslash \\ newline \n tab \t bell \a nul-less \x7f')
        broken, = [n for n in trace.names() if "broken" in n]
        self.assertIn("\ufffd", broken)
        self.assertIn(" utf-8 ", broken)
        self.assertEqual({s.cat for s in trace.named("the end")}, {'nulls; with "quotes"'})

    def test_07_giant_names_are_kept_or_cut_never_garbage(self):
        trace = self.record(program("null_args"))
        giants = sorted((n for n in trace.names() if n.startswith("ggg")), key=len)
        self.assertEqual(len(giants), 2)
        self.assertEqual(giants[0], "g" * 4096)
        self.assertGreaterEqual(len(giants[1]), 16384)
        self.assertEqual(set(giants[1]), {"g"})
        args = trace.one("giant argument").args
        self.assertEqual(set(args["giant"]), {"g"})
        self.assertGreaterEqual(len(args["giant"]), 4096)
        self.assertEqual(set(args["info"]), {"g"})

    def test_08_formatted_metadata_as_the_first_call(self):
        trace = self.record(program("first_format"))
        self.assertEqual(trace.instants[0]["args"], {"info": "first word 42"})
        self.assertEqual(trace.one("after").args, {"info": "second text"})

    def test_08_arguments_that_a_vendor_s_stub_lost_are_not_made_up(self):
        trace = self.record(program("old_copy"))
        first = [e["args"]["info"] for e in trace.instants if e["cat"] == "old"]
        self.assertEqual(first, ["%s lost"] * 2)
        self.assertEqual([s.args for s in trace.named("old task")], [{"info": "not lost"}] * 2)

    @unittest.skip("not here: wide strings exist on Windows only")
    def test_09_wide_strings_are_not_read(self):
        pass

    def library(self, name):
        found = ctypes.util.find_library(name)
        if not found:
            self.skipTest(f"no lib{name} here")
        return found

    def test_10_members_that_old_static_parts_lack_are_not_read(self):
        got = self.unitrace(program("old_copy"))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual({s.cat for s in self.trace().spans}, {"old"})

    def test_10_older_static_parts_are_served(self):
        """libomp carries one of 2018: fewer functions, a shorter structure."""
        library = self.library("omp")
        got = self.unitrace(sys.executable, "-B", "-c", textwrap.dedent(f"""
            import ctypes
            omp = ctypes.CDLL({library!r})
            body = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda unused: None)
            for _ in range(3):
                omp.GOMP_parallel(body, None, 2, 0)
            print("done", flush=True)
            import os
            os._exit(0)  # Python threads and OpenMP's do not end well together
        """))
        self.assertEqual((got.returncode, got.stdout), (0, b"done\n"), got.stderr)
        names = self.trace().thread_names().values()
        self.assertTrue([n for n in names if n and n.startswith("OMP")], names)

    def check_copies(self):
        trace = self.record(program("copies"), program("libcopy_a.so"), program("libcopy_b.so"))
        shared = trace.named("shared name")
        self.assertEqual(len(shared), 13)
        numbers = [list(s.args.values())[0] for s in shared if s.args]
        self.assertEqual(numbers, list(range(12)))
        self.assertEqual([list(s.args)[0] for s in shared if s.args], list("aabb" * 3))
        self.assertEqual({s.cat for s in trace.spans}, {"copies"})
        outer = trace.one("outer")
        self.assertTrue(all(outer.begin <= s.begin <= s.end <= outer.end for s in shared))
        return trace

    def test_11_copies_of_the_static_part_share_names(self):
        trace = self.check_copies()
        self.assertEqual(trace.values("copies: shared counter"), list(range(1, 13)))

    def test_12_a_library_that_is_loaded_again_records_again(self):
        trace = self.check_copies()
        self.assertEqual(len(trace.named("unload a")), 3)
        self.assertEqual(len(trace.named("unload b")), 3)

    def test_13_pointers_stay_callable_after_the_end_of_recording(self):
        got = self.unitrace(program("steps"), *"task a detach task b thread task c begin d "
                            "overlap 1 overlapend 1 event e name x".split())
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(self.trace().names(), ["a"])

    def test_14_an_allocator_may_call_us(self):
        got = self.unitrace(program("malloc_marks"))
        self.assertEqual((got.returncode, got.stdout), (0, b"done\n"), got.stderr)
        trace = self.trace()
        # Each loop allocates 2000 times and frees as often.
        by_thread = [len([s for s in trace.spans if s.tid == t]) for t in
                     {s.tid for s in trace.spans}]
        self.assertEqual(len(by_thread), 4)
        self.assertTrue(all(n >= 4000 for n in by_thread), by_thread)
        self.assertFalse(trace.losses["stray_ends"] + trace.losses["dropped"], trace.losses)

    def storm(self):
        got = self.unitrace(program("signal_storm"))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.ready, self.made = map(int, got.stdout.split())
        self.assertGreater(self.made, 0, "a hook has changed errno")
        path, = self.timelines()
        return Trace(path, duplicate_keys=True)

    def test_15_signal_handlers_record_in_the_middle_of_a_record(self):
        trace = self.storm()
        dropped = trace.losses["dropped"]
        self.assertEqual(trace.losses["torn"], 0)
        threads = {s.tid for s in trace.named("main")}
        self.assertEqual(len(threads), 2)
        for tid in threads:
            numbers = [s.args.get("n") for s in trace.named("main") if s.tid == tid]
            self.assertEqual(len(numbers), 100000)
            wrong = [n for i, n in enumerate(numbers) if n != i]
            self.assertLessEqual(len(wrong), dropped, wrong[:5])

    def test_15_no_record_of_a_signal_handler_is_lost(self):
        trace = self.storm()
        self.assertEqual(trace.losses["dropped"], 0)
        numbers = sorted(s.args.get("n", -1) for s in trace.named("storm"))
        self.assertEqual(numbers, list(range(self.made)))

    def test_16_threads_that_ended_leave_their_room_to_others(self):
        trace = self.record("--keep-session", program("threads_many"), 4000)
        self.assertEqual(len(trace.named("short")), 4000)
        self.assertFalse(trace.losses)
        size = sum(p.stat().st_size for p in self.dir.glob("*.session/*.spool"))
        # 16 KiB for each thread would be 64 MiB.
        self.assertLessEqual(size, 4 << 20)

    def test_17_reused_thread_ids_are_distinguished(self):
        trace = self.record("--quiet", program("threads_many"), 3000)
        self.assertEqual(sorted(trace.numbered("thread ")), list(range(3000)))
        for tid in {s.tid for s in trace.spans}:
            spans = [s for s in trace.spans if s.tid == tid]
            self.assertEqual(len(spans) % 2, 0)

    def test_17_the_last_thread_name_wins_whenever_it_came(self):
        for text in ("name first task a", "task a name first", "name zero task a name first",
                     "name zero name first task a"):
            trace = self.steps(text)
            self.assertEqual(trace.thread_names()[trace.one("a").tid], "first", text)
            trace.path.unlink()

    def test_17_threads_without_a_name_have_the_kernel_s(self):
        trace = self.record(program("plain"))
        self.assertEqual(trace.thread_names(), {trace.pid: "plain"})

    def test_18_forked_children_have_a_recording_of_their_own(self):
        got = self.unitrace(program("steps"), *"begin a fork task b end".split())
        self.assertEqual(got.returncode, 0)
        child, parent = sorted(self.traces(), key=lambda t: "a" in t.names())
        self.assertEqual(child.names(), ["b"])
        self.assertEqual(parent.names(), ["a", "joined"])
        self.assertTrue(parent.one("a").unfinished)

    def test_19_no_exit_hook_is_needed(self):
        trace = self.record(program("ending"), "kill", rc=-9)
        self.assertEqual(trace.numbered("task "), list(range(5000)))

    def test_20_exec_chains_leave_a_timeline_each(self):
        script = f"exec {program('ending')} exec {program('family')} again 1"
        self.assertEqual(self.unitrace("sh", "-c", script).returncode, 0)
        pids = {t.pid for t in self.traces()}
        self.assertEqual((len(self.timelines()), len(pids)), (3, 1))

    def test_21_libomp_13_does_not_get_what_it_crashes_on(self):
        got = self.unitrace(program("old_copy"))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(b"2015: frames left, unknown left\n2018: frames taken\n", got.stdout)

    def test_22_volume_is_bounded_by_words_not_by_calls(self):
        trace = self.record("--keep-session", "--no-summary", program("steps"), "many", 1, "begin",
                            "x", "end")
        self.assertEqual(len(trace.spans), 2)
        trace.path.unlink()
        got = self.unitrace("--quiet", "--keep-session", "-o", "x.pftrace", program("family"),
                            "late-close")
        self.assertEqual(got.returncode, 0, got.stderr)
        used = sum(p.stat().st_blocks * 512 for p in self.dir.glob("*family*.session/*.spool"))
        self.assertLessEqual(used / 300000, 32, "bytes per begin and end")

    def test_22_filters_silence_domains(self):
        trace = self.record("--itt-exclude-domains", "steps.*", program("steps"),
                            *"task a other b otherend".split())
        self.assertEqual(trace.names(), ["a"])
        self.assertFalse(trace.losses)

    def test_23_timestamps_are_on_the_clock_of_our_records(self):
        got = self.unitrace(program("timestamps"))
        self.assertEqual(got.returncode, 0)
        self.assertNotIn(b"backwards", got.stdout)
        trace = self.trace()
        task = trace.one("timed")
        frame, = [s for s in trace.spans if trace.thread_names()[s.tid] == "Frames: times"]
        self.assertTrue(frame.begin <= task.begin <= task.end <= frame.end)

    def test_24_times_are_clock_monotonic(self):
        got = self.unitrace(program("timestamps"))
        before, after = map(int, got.stdout.split()[-2:])
        task = self.trace().one("timed")
        slack = 20000  # ns: the clock pairs' own error, on a busy machine
        self.assertTrue(before - slack <= task.begin <= task.end <= after + slack,
                        (before, task.begin, task.end, after))

    @unittest.skipUnless(shutil.which("readelf") and shutil.which("nm"), "no binutils")
    def test_25_the_library_binds_at_once_and_exports_only_its_part(self):
        dynamic = subprocess.run(["readelf", "-dW", COLLECTOR], capture_output=True,
                                 text=True).stdout
        self.assertRegex(dynamic, r"\bNOW\b")
        needed = re.findall(r"NEEDED.*\[(.+?)\]", dynamic)
        self.assertFalse([n for n in needed if not re.match(r"lib(c|m|asan|tsan|ubsan)\.so|ld-", n)],
                         needed)
        symbols = subprocess.run(["nm", "-D", "--defined-only", COLLECTOR], capture_output=True,
                                 text=True).stdout
        names = {line.split()[2].split("@")[0] for line in symbols.splitlines()}
        allowed = {"__itt_api_init", "__itt_api_fini", "Initialize", "NotifyEvent", "setenv",
                   "unsetenv", "putenv", "clearenv", "unitrace_join"}
        extra = {n for n in names - allowed if not n.startswith(("__itt_", "_MPI_Internal_"))}
        self.assertEqual(extra, set())

    def test_26_another_collector_is_not_replaced_silently(self):
        got = self.unitrace(program("plain"),
                            env=environment(INTEL_LIBITTNOTIFY64="/opt/other/collector.so"))
        self.assertEqual(got.returncode, 0)
        self.assertIn(b"/opt/other/collector.so", got.stderr)
        self.assertEqual(self.trace().names(), ["plain work"])


if __name__ == "__main__":
    main()
