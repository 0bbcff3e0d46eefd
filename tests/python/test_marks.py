#!/usr/bin/env python3
"""Marks from Python: ours, and those of programs that were written for other packages."""
import os
import subprocess

from python_support import HERE, PACKAGE, SOURCE, Case, Trace, environment, find_venv, main, need_python

PYTHONS = need_python()
PYTHON = next(iter(PYTHONS.values()))
FALLBACK = PACKAGE / "fallback"


class Marks(Case):
    def mark(self, script, *options, python=PYTHON, path=(PACKAGE, FALLBACK)):
        env = environment(PYTHONPATH=os.pathsep.join(map(str, path)))
        got = self.unitrace("--no-summary", "-o", "out.json", "--overwrite", *options, python, script,
                            env=env)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.printed = got.stdout.decode()
        return Trace(self.dir / "out.json")

    def test_every_mark(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                self.check(self.mark(HERE / "marks.py", python=python))

    def check(self, trace):
        self.assertEqual(self.printed, "True\n")
        steps = trace.named("step")
        self.assertEqual(len(steps), 2)
        self.assertEqual(steps[0].args, {"batch": 32, "rate": 0.5, "note": "été \\udc80",
                                         "many": float(2**70), "METADATA": "HiFi2"})
        self.assertEqual(steps[0].cat, "python")
        self.assertEqual(trace.values("python: loss"), [1, 0.5])
        self.assertEqual(len([s for s in trace.spans if s.cat == "steps"]), 2)
        self.assertEqual(trace.one("around").cat, "mine")
        self.assertGreater(trace.over("over").end, trace.one("around").end)
        for name in ("decorated", "left by an exception"):
            trace.one(name)
        for name in ("hello", "header: text", "here", "lone \\udc80"):
            trace.instant(name)
        self.assertIn("the main thread", trace.thread_names().values())
        self.assertFalse(trace.named("after the end"))
        self.assertFalse(trace.losses)

    def test_without_a_recorder_they_do_nothing(self):
        env = environment(PYTHONPATH=str(PACKAGE))
        got = self.run_words(PYTHON, HERE / "marks.py", env=env)
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, b"False\n", b""))

    def test_without_the_c_half_they_do_nothing(self):
        empty = self.dir / "only_python"
        subprocess.run(["cp", "-r", PACKAGE, empty], check=True)
        for library in empty.glob("unitrace/_core*.so"):
            library.unlink()
        env = environment(PYTHONPATH=str(empty), UT_SESSION="/nowhere")
        got = self.run_words(PYTHON, HERE / "marks.py", env=env)
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, b"False\n", b""))

    def test_start_paused_resume_and_detach_with_itt_python(self):
        trace = self.mark(HERE / "recipe.py", "--start-paused")
        self.assertEqual([s.name for s in trace.spans if s.cat == "recipe"], ["measured"])

    def test_what_is_no_domain_is_refused_whether_recorded_or_not(self):
        text = """
import itt, ittapi
def tell(function, *args):
    try:
        print(function(*args))
    except TypeError as wrong:
        print("TypeError:", wrong)
tell(ittapi.task_begin, "domain", "name")
tell(ittapi.task_end, None)
tell(ittapi.task, "name", 5)
tell(ittapi.task_begin_overlapped, ittapi.domain("d"), "name", ittapi.id(ittapi.domain("d")))
tell(itt.task_begin, None, "name")
tell(ittapi.thread_set_name, ittapi.string_handle("by handle"))
tell(ittapi.collection_control.ManualCollectionRegionActivator())
with ittapi.task("a row"): pass
"""
        (self.dir / "script.py").write_text(text)
        path = os.pathsep.join(map(str, (PACKAGE, FALLBACK)))
        plain = self.run_words(PYTHON, "script.py", env=environment(PYTHONPATH=path))
        self.assertEqual(plain.stderr, b"")
        trace = self.mark("script.py")
        self.assertEqual(self.printed, plain.stdout.decode())
        self.assertEqual(self.printed.count("TypeError: a "), 4)
        self.assertIn("by handle", trace.thread_names().values())

    def picture(self, trace):
        """What a program has marked, without the numbers of ids and times."""
        rows = trace.thread_names()
        spans = [(rows[s.tid], s.cat, s.name, "parent" in s.args) for s in trace.spans]
        return spans, sorted((s.cat, s.name) for s in trace.overlapped), trace.losses

    def test_programs_for_ittapi_look_as_with_the_vendors_package(self):
        venv, why = find_venv("ittapi", "unitrace._core", env=environment(PYTHONPATH=str(PACKAGE)))
        if why:
            self.skipTest(why)
        for script, options in (("everything.py", ()), ("compat.py", ("--start-paused",)),
                                ("selected.py", ("--start-paused",)), ("selected.py", ()),
                                ("switched.py", ("--start-paused",))):
            with self.subTest(script):
                path = SOURCE / "tests/real/ittapi" / script
                theirs = self.picture(self.mark(path, *options, python=venv, path=()))
                said = self.printed
                ours = self.picture(self.mark(path, *options, python=venv))
                self.assertEqual(ours, theirs)
                self.assertEqual(self.printed, said)


if __name__ == "__main__":
    main()
