#!/usr/bin/env python3
"""Small limits, long names and old interpreters: the program runs on, and what is missing is told."""
import glob
import json
import os
import resource
import shutil
import subprocess
import textwrap

from launch_support import BUILD, COLLECTOR, PROBE, UNITRACE, Case, clean_env, main, need

HAMMER = BUILD / "tests" / "programs" / "hammer"
need(UNITRACE, COLLECTOR, PROBE, HAMMER)
SOURCE = os.path.join(os.environ.get("UNITRACE_SOURCE", "."), "")


def limited(what, value):
    return lambda: resource.setrlimit(what, (value, value))


class Limits(Case):
    def test_results_beyond_the_file_limit_are_reported_and_kept(self):
        soft = lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                          (100 << 10, resource.RLIM_INFINITY))
        got = self.unitrace("-o", "run.json", "sh", "-c",
                            f"ulimit -S -f unlimited; exec {HAMMER}", preexec_fn=soft)
        self.assertEqual(got.returncode, 125, got.stderr)
        self.assertIn(b"run.json: File too large", got.stderr)
        self.assertEqual([f for f in self.files() if not f.endswith(".session")], [])

    def test_a_session_beyond_the_file_limit_is_reported_before_the_run(self):
        got = self.unitrace("touch", "ran", preexec_fn=limited(resource.RLIMIT_FSIZE, 4096))
        self.assertEqual(got.returncode, 125, got.stderr)
        self.assertIn(b"File too large", got.stderr)
        self.assertEqual(self.files(), [])

    def test_a_spool_beyond_the_file_limit_names_it(self):
        got = self.unitrace(PROBE, "exit", 3, preexec_fn=limited(resource.RLIMIT_FSIZE, 60 << 10))
        self.assertEqual(got.returncode, 3, got.stderr)
        self.assertIn(b"File too large (ulimit -f)", got.stderr)

    def test_the_program_still_gets_its_signal(self):
        script = "trap '' PIPE; head -c 100000 /dev/zero > big"
        bare = subprocess.run(["sh", "-c", script], cwd=self.dir, stderr=subprocess.DEVNULL,
                              preexec_fn=limited(resource.RLIMIT_FSIZE, 70000))
        got = self.unitrace("--quiet", "sh", "-c", script,
                            preexec_fn=limited(resource.RLIMIT_FSIZE, 70000))
        self.assertEqual(got.returncode, bare.returncode)
        self.assertNotEqual(got.returncode, 0)
        self.assertNotIn(b"File too large", got.stderr)  # head would say so if it were ignored

    def test_readers_tell_of_the_file_limit(self):
        self.unitrace("-o", "run.json", "--no-summary", HAMMER)
        got = self.unitrace("export", "-o", "copy.json", "run.json",
                            preexec_fn=limited(resource.RLIMIT_FSIZE, 1 << 16))
        self.assertEqual(got.returncode, 1)
        self.assertIn(b"copy.json: File too large", got.stderr)
        self.assertEqual(self.files(), ["run.json"])

    def test_a_small_stack(self):
        got = subprocess.run(["sh", "-c", f"ulimit -s 64 && exec {UNITRACE} --quiet {PROBE}"],
                             cwd=self.dir, env=clean_env(), capture_output=True)
        self.assertEqual((got.returncode, got.stderr), (0, b""))
        self.assertRecorded()


class Names(Case):
    def compiled(self, text):
        source, made = self.dir / "made.c", self.dir / "made"
        source.write_text(textwrap.dedent(text))
        done = subprocess.run(["cc", "-I", SOURCE + "include", "-o", made, source,
                               BUILD / "lib" / "libittnotify.a", "-ldl", "-lpthread"],
                              capture_output=True)
        if done.returncode:
            self.skipTest(f"cannot compile: {done.stderr[:200]}")
        return made

    def test_what_is_cut_is_counted(self):
        made = self.compiled("""
            #include <ittnotify.h>
            #include <string.h>
            static char text[100001];
            int main(void)
            {
                    __itt_domain *d = __itt_domain_create("d");
                    memset(text, 'x', sizeof(text) - 1);
                    __itt_string_handle *key = __itt_string_handle_create("key");
                    __itt_string_handle *name = __itt_string_handle_create(text);
                    for (int i = 0; i < 3; i++) {
                            __itt_task_begin(d, __itt_null, __itt_null, name);
                            __itt_metadata_str_add(d, __itt_null, key, text, 20000);
                            __itt_task_end(d);
                    }
            }
            """)
        got = self.unitrace("-o", "run.json", made)
        self.assertIn(b"4 names and arguments were too long to record and are cut", got.stderr)
        span = [e for e in json.loads((self.dir / "run.json").read_text())["traceEvents"]
                if e["ph"] == "X"][0]
        self.assertEqual((len(span["name"]), len(span["args"]["key"])), (60000, 15000))

    def test_so_is_what_is_no_name(self):
        """Histograms, texts about counters, paths of modules, lines of generated code."""
        made = self.compiled("""
            #include <ittnotify.h>
            #include <jitprofiling.h>
            #include <string.h>
            static char text[10001];
            static unsigned long long bins[801];
            static LineNumberInfo lines[1001];
            int main(void)
            {
                    __itt_domain *d = __itt_domain_create("d");
                    __itt_string_handle *name = __itt_string_handle_create("name");
                    __itt_histogram *h = __itt_histogram_create(d, "h", __itt_metadata_u64,
                                                                __itt_metadata_u64);
                    __itt_counter c = __itt_counter_create("c", "d");
                    memset(text, 'x', sizeof(text) - 1);
                    __itt_context_metadata more = { __itt_context_unitsA, text };
                    iJIT_Method_Load code = { 0 };
                    code.method_id = iJIT_GetNewMethodID();
                    code.method_name = "code";
                    code.method_load_address = (void *)main;
                    code.method_size = 1;
                    code.line_number_size = 1001;
                    code.line_number_table = lines;
                    __itt_bind_context_metadata_to_counter(c, 1, &more); /* adopted */
                    __itt_task_begin(d, __itt_null, __itt_null, name);
                    __itt_bind_context_metadata_to_counter(c, 1, &more);
                    __itt_histogram_submit(h, 801, bins, bins);
                    __itt_histogram_submit(h, 800, bins, bins);
                    __itt_module_load(text, text + 1, text);
                    iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED, &code);
                    __itt_task_end(d);
            }
            """)
        got = self.unitrace("-o", "run.json", made)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(b"5 names and arguments were too long to record and are cut", got.stderr)

    def test_names_without_memory_say_so(self):
        made = self.compiled("""
            #include <ittnotify.h>
            #include <stdio.h>
            #include <sys/resource.h>
            int main(void)
            {
                    __itt_domain *d = __itt_domain_create("d");
                    struct rlimit none = { 1 << 20, 1 << 20 };
                    char name[64];
                    for (int i = 0; i < 30000; i++) {
                            if (i == 100)
                                    setrlimit(RLIMIT_AS, &none);
                            snprintf(name, sizeof(name), "name number %d of many", i);
                            __itt_task_begin(d, __itt_null, __itt_null,
                                             __itt_string_handle_create(name));
                            __itt_task_end(d);
                    }
            }""")
        got = self.unitrace("-o", "run.json", made)
        self.assertEqual(got.returncode, 0, got.stderr)
        names = [e["name"] for e in json.loads((self.dir / "run.json").read_text())["traceEvents"]
                 if e["ph"] == "X"]
        self.assertGreater(len(names), 100)
        self.assertNotIn("", names)
        self.assertIn("(name lost)", names)
        self.assertEqual(sum(n.startswith("name number") for n in names),
                         len(names) - names.count("(name lost)"))


class OldPython(Case):
    """Interpreters that --python does not know run their programs as ever, and a line says so."""

    def old(self):
        found = [shutil.which(n) for n in ("python2", "python2.7", "python3.6", "python3.7")]
        found += glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python"))
        good = {}
        for python in filter(None, found):
            said = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                                  capture_output=True, text=True).stdout.strip()
            if said and tuple(map(int, said.split("."))) < (3, 9):
                good[said] = python
        if not good:
            self.skipTest("no toolkit: no Python before 3.9 is here")
        return good

    def test_runs_on_unrecorded(self):
        (self.dir / "s.py").write_text("import sys\nprint(sys.argv[1:])\nsys.exit(4)\n")
        for version, python in self.old().items():
            for options in ([], ["-S"], ["-E"], ["-Sc", "import sys; sys.exit(4)"]):
                with self.subTest(version=version, options=options):
                    words = [python, *options] + ([] if len(options) > 1 else ["s.py", "a", "b c"])
                    bare = subprocess.run(words, cwd=self.dir, env=clean_env(),
                                          capture_output=True)
                    got = self.unitrace("--python", *words)
                    self.assertEqual((got.returncode, got.stdout), (4, bare.stdout), got.stderr)
                    self.assertIn(f"Python {version} is not profiled: 3.9 or newer is needed",
                                  got.stderr.decode())
                    self.assertNotIn("itself has no ITT", got.stderr.decode())

    def test_the_users_sitecustomize_is_still_found(self):
        site = self.dir / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text("import sys\nsys.stdout.write('custom ')\n")
        for version, python in self.old().items():
            got = self.unitrace("--python", python, "-c", "print('main')",
                                env=clean_env(PYTHONPATH=str(site)))
            self.assertEqual(got.stdout, b"custom main\n", (version, got.stderr))


if __name__ == "__main__":
    main()
