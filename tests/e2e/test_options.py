#!/usr/bin/env python3
"""Where results go and what options of the original and of our own do."""
import json
import os
import shutil
import subprocess
import sys

from common import SOURCE
from launch_support import BUILD, COLLECTOR, PATIENCE, PROBE, UNITRACE, Case, clean_env, main, need

need(UNITRACE, COLLECTOR, PROBE)


class Names(Case):
    def test_default_name_is_program_and_pid(self):
        got = self.unitrace(PROBE)
        self.assertRegex(self.files()[0], r"^launch_probe\.\d+\.json$")
        self.assertIn(f"[INFO] Timeline is stored in {self.files()[0]}\n".encode(), got.stderr)

    def test_rank_is_in_the_name(self):
        self.unitrace(PROBE, env=clean_env(PMI_RANK="3"))
        self.assertRegex(self.files()[0], r"^launch_probe\.\d+\.3\.json$")

    def test_output_names_the_timeline(self):
        self.unitrace("-o", "sub/run.json", PROBE)
        self.assertEqual(self.timelines(self.dir / "sub"), [self.dir / "sub" / "run.json"])
        self.assertEqual(os.listdir(self.dir / "sub"), ["run.json"])

    def test_output_pattern(self):
        self.unitrace("-o", "run-%q{WHO}-%r.json", PROBE, env=clean_env(WHO="me", PMI_RANK="1"))
        self.assertEqual(self.files(), ["run-me-1.json"])

    def test_other_output_is_the_text_report(self):
        got = self.unitrace("-o", "report.txt", PROBE)
        text = [f for f in self.files() if f.endswith(".txt")]
        self.assertRegex(text[0], r"^report\.\d+\.txt$")
        self.assertIn(b"[INFO] Log is stored in report.", got.stderr)
        self.assertIn("work", (self.dir / text[0]).read_text())
        self.assertNotIn(b"work", got.stderr)

    def test_output_dir(self):
        self.unitrace("--output-dir-path", "a/b", PROBE)
        self.assertEqual(len(self.timelines(self.dir / "a" / "b")), 1)
        self.assertEqual(self.files(), ["a"])

    def test_result_dir(self):
        self.unitrace("--result-dir", "r", PROBE, "say", 'a "quoted" word')
        found = sorted(str(p.relative_to(self.dir)) for p in self.dir.rglob("*.*") if p.is_file())
        self.assertEqual(len(found), 3, found)
        self.assertRegex(found[0], r"^r/launch_probe\.\d+/chrome_trace\.json$")
        self.assertRegex(found[1], r"^r/launch_probe\.\d+/itt_summary\.txt$")
        self.assertRegex(found[2], r"^r/unitrace\.\d+/run_config\.json$")
        config = json.loads((self.dir / found[2]).read_text())
        self.assertEqual(config["unitrace_args"], ["--result-dir", "r"])
        self.assertEqual(config["app"], str(PROBE))
        self.assertIn('a "quoted" word', config["app_args"])

    def test_existing_files_are_kept(self):
        (self.dir / "run.json").write_text("mine")
        got = self.unitrace("-o", "run.json", PROBE)
        self.assertEqual((self.dir / "run.json").read_text(), "mine")
        self.assertEqual(self.files(), ["run-2.json", "run.json"])
        self.assertIn(b"--overwrite", got.stderr)
        self.unitrace("-o", "run.json", "--overwrite", PROBE)
        self.assertEqual(self.names(self.dir / "run.json"), ["work"])

    def test_each_process_has_its_report_and_reports_are_reported_first(self):
        """`unitrace ... -o output.txt mpirun -np 4 ...; tar ... output.*`: no process counts twice."""
        got = self.unitrace("--chrome-itt-logging", "-o", "output.txt", "sh", "-c",
                            f"{PROBE}; {PROBE}; exec {PROBE}")
        reports = sorted(self.dir.glob("output.*"))
        self.assertEqual(len(reports), 3)
        for path in reports:
            self.assertRegex(path.name, r"^output\.\d+\.txt$")
            row, = (line.split() for line in path.read_text().splitlines()
                    if line.startswith("work "))
            self.assertEqual(row[2], "1")
        said = [line.split()[1] for line in got.stderr.decode().splitlines()
                if line.startswith("[INFO]")]
        self.assertEqual(said, ["Log"] * 3 + ["Timeline"] * 3)

    def test_the_scenarios_of_the_manual_pass(self):
        """A file of one's own, with programs that print what the collector tells them."""
        (self.dir / "mine.txt").write_text("    -c\n    -h\n    --chrome-call-logging \n"
                                           "    --chrome-kernel-logging\n")
        got = subprocess.run([sys.executable, SOURCE / "tests/scenarios.py", "--run", "--build",
                              BUILD, "--config", self.dir / "mine.txt", "--only", "old_copy",
                              "--only", "null_args"], check=False, capture_output=True, timeout=PATIENCE)
        self.assertEqual(got.returncode, 0, got.stdout)
        self.assertIn(b"8 passed, 0 failed", got.stdout)

    def test_two_formats(self):
        self.unitrace("--format", "chrome,perfetto", PROBE)
        self.assertEqual([f.rsplit(".", 1)[1] for f in self.files()], ["json", "pftrace"])

    def test_relative_names_count_from_where_unitrace_started(self):
        self.unitrace("-o", "run.json", "sh", "-c", f"cd / && exec {PROBE}")
        self.assertEqual(self.files(), ["run.json"])


class Words(Case):
    def test_plain_record_and_two_dashes_are_the_same(self):
        for words in ([PROBE], ["record", PROBE], ["--", PROBE], ["record", "--", PROBE]):
            self.assertEqual(self.unitrace("--quiet", *words).returncode
                             if words[0] == PROBE else self.unitrace(*words).returncode, 0)
        self.assertEqual(len(self.timelines()), 4)

    def test_program_named_like_a_command(self):
        shutil.copy(PROBE, self.dir / "info")
        self.assertEqual(self.unitrace("record", "./info", "exit", 9).returncode, 9)
        env = clean_env(PATH=f"{self.dir}:{os.environ['PATH']}")
        self.assertEqual(self.unitrace("--", "info", "exit", 8, env=env).returncode, 8)

    def test_options_of_the_program_are_its_own(self):
        got = self.unitrace("echo", "--help", "-o", "x")
        self.assertEqual(got.stdout, b"--help -o x\n")

    def test_help_and_version(self):
        for words in ([], ["--help"], ["help"], ["help", "record"], ["record", "--help"],
                      ["help", "export"], ["export", "--help"], ["info", "-h"], ["--version"]):
            got = self.unitrace(*words)
            self.assertEqual((got.returncode, got.stderr), (0, b""), words)
            self.assertIn(b"unitrace", got.stdout)
        self.assertTrue(self.unitrace("--version").stdout.startswith(b"unitrace 0."))

    def test_options_without_effect_warn_once(self):
        got = self.unitrace("--system-time", "--chrome-kernel-logging", PROBE)
        self.assertEqual(got.returncode, 0)
        self.assertEqual(got.stderr.count(b"--system-time"), 1, got.stderr)

    def test_lists_say_what_is_missing(self):
        got = self.unitrace("--device-list")
        self.assertEqual(got.returncode, 0)
        self.assertTrue(b"Device #" in got.stdout or b"cuda: " in got.stderr, got)
        got = self.unitrace("--metric-list")
        self.assertEqual((got.returncode, got.stderr), (0, b""))
        self.assertIn(b"Group 0: ComputeBasic", got.stdout)


class Recording(Case):
    def test_domains_are_filtered(self):
        got = self.unitrace("--itt-domains", "other*", PROBE)
        self.assertIn(b"[INFO] No event of interest is logged for process", got.stderr)
        self.assertEqual(self.files(), [])
        self.unitrace("--itt-domains", "launch.*", PROBE)
        self.assertRecorded()

    def test_library_options_leave_other_libraries_out(self):
        """And keep what is the program's own."""
        said = [word for domain, name in (("dnnl::primitive::execute", "conv"),
                                          ("oneCCL", "allreduce"), ("MPI", "MPI_Send"),
                                          ("PyTorch", "linear"), ("my.app", "iteration"))
                for word in ("task", domain, name)]
        for options, kept in ((["ccl"], ["allreduce"]), (["dnn"], ["conv"]), (["mpi"], ["MPI_Send"]),
                              (["dnn", "ccl"], ["conv", "allreduce"]),
                              (["dnn", "itt"], ["conv", "allreduce", "MPI_Send"])):
            with self.subTest(options):
                self.unitrace(*(f"--chrome-{o}-logging" for o in options), "-o", "out.json",
                              "--overwrite", PROBE, *said)
                names = set(self.names(self.dir / "out.json"))
                self.assertEqual(names, {"work", *kept, "linear", "iteration"})
        self.unitrace("--chrome-ccl-logging", "--itt-domains", "my.*", "-o", "out.json", "--overwrite",
                      PROBE, *said)
        self.assertEqual(self.names(self.dir / "out.json"), ["allreduce", "linear", "iteration"])

    def test_ccl_report_is_laid_out_as_in_the_original(self):
        got = self.unitrace("-r", PROBE, *["task", "oneCCL", "allreduce"] * 3,
                            "task", "oneCCL", "bcast", env=clean_env(PMI_RANK="2"))
        text = got.stderr.decode()
        self.assertEqual(text.count("Process ID"), 1)
        lines = text[text.index("*" * 60):].splitlines()
        self.assertRegex(lines[1], r"^\*  Process ID : \d+ \| Rank ID : 2$")
        self.assertEqual(lines[3], "         Function,        Calls,            Time (ns),"
                         "     Time (%),         Average (ns),             Min (ns),"
                         "             Max (ns)")
        row = next(l for l in lines if l.startswith("oneCCL::allreduce,")).split(",")
        self.assertEqual([len(c) for c in row[1:]], [13, 21, 13, 21, 21, 21])
        self.assertEqual(int(row[1]), 3)
        self.assertNotIn("launch.probe::work", text)
        self.assertIn("CCL_ITT_LEVEL=1", self.unitrace("-r", "env").stdout.decode())

    def test_start_paused_records_nothing(self):
        self.unitrace("--start-paused", PROBE)
        self.assertEqual(self.files(), [])
        self.unitrace("--conditional-collection", PROBE, env=clean_env(PTI_ENABLE_COLLECTION="1"))
        self.assertRecorded()

    def test_children_are_not_followed_on_request(self):
        self.unitrace("--follow-child-process", 0, "sh", "-c", f"{PROBE}; true")
        self.assertEqual(self.files(), [])
        self.unitrace("sh", "-c", f"{PROBE}; true")
        self.assertRecorded()

    def test_foreign_collector_is_replaced_with_a_warning(self):
        got = self.unitrace(PROBE, env=clean_env(INTEL_LIBITTNOTIFY64="/opt/vtune/libitt.so"))
        self.assertIn(b"INTEL_LIBITTNOTIFY64 was '/opt/vtune/libitt.so'", got.stderr)
        self.assertRecorded()

    def test_summary_can_be_left_out(self):
        self.assertIn(b"work", self.unitrace(PROBE).stderr)
        self.assertNotIn(b"work", self.unitrace("--no-summary", PROBE).stderr)

    def test_sessions_speak_like_the_original(self):
        name = f"ut-e2e-{os.getpid()}"
        script = "".join(f"{UNITRACE} --{word} {name}; " for word in ("pause", "resume", "stop"))
        got = self.unitrace("--session", name, "sh", "-c", script)
        self.assertEqual(got.stderr.splitlines()[:3], [
            f"[INFO] Session {name} is paused".encode(),
            f"[INFO] Session {name} is resumed".encode(),
            f"[INFO] Session {name} is stopped and can no longer be paused or resumed".encode()])


class ExportAndInfo(Case):
    def keep(self):
        self.unitrace("--keep-session", "-o", "first.json", PROBE)
        return [f for f in self.files() if f.endswith(".session")][0]

    def test_kept_session_can_be_exported_again(self):
        session = self.keep()
        self.assertEqual(self.unitrace("export", "-o", "again.json", session).returncode, 0)
        self.assertEqual(self.names(self.dir / "again.json"), self.names(self.dir / "first.json"))
        self.unitrace("export", "--remove", "--output-dir-path", "d", session)
        self.assertFalse((self.dir / session).exists())
        self.assertRegex(os.listdir(self.dir / "d")[0], r"^launch_probe\.\d+\.json$")

    def test_export_to_standard_output(self):
        got = self.unitrace("export", "-f", "chrome", "-o", "-", self.keep())
        self.assertIn("work", "".join(e["name"] for e in json.loads(got.stdout)["traceEvents"]))

    def test_info_gives_what_is_there(self):
        session = self.keep()
        got = self.unitrace("info", "--json", session)
        info = json.loads(got.stdout)[0]
        self.assertEqual(info["name"], "launch_probe")
        self.assertEqual(info["events"]["span"], 1)
        self.assertFalse(info["alive"])
        self.assertEqual(set(info["losses"].values()), {0})
        self.assertIn(b"launch_probe", self.unitrace("info", session).stdout)

    def test_failed_export_keeps_the_recording(self):
        # While it runs a file takes the place of the folder; before, all was well.
        words = ["--spool-dir", "s", "-o", "out/run.json", "sh", "-c", f'touch out; {PROBE} "$@"',
                 "sh"]
        got = self.unitrace(*words)
        self.assertEqual(got.returncode, 125, got.stderr)
        self.assertIn(b"try again with: unitrace export", got.stderr)
        session = os.listdir(self.dir / "s")[0]
        self.assertEqual(self.unitrace("export", f"s/{session}").returncode, 0)
        self.assertEqual(len(self.timelines()), 1)
        (self.dir / "out").unlink()
        self.assertEqual(self.unitrace(*words, "exit", 3).returncode, 3)

    def test_what_is_no_recording_is_refused(self):
        (self.dir / "junk").write_text("junk")
        for words in (["export", "junk"], ["info", "junk"], ["export", "missing"], ["info", "."]):
            got = self.unitrace(*words)
            self.assertEqual(got.returncode, 1, words)
            self.assertEqual(len(got.stderr.splitlines()), 1, got.stderr)


class Generated(Case):
    def test_completions_and_manual_are_well_formed(self):
        for kind in ("man", "bash", "zsh", "fish"):
            self.assertEqual(self.unitrace("--generate", kind, kind).returncode, 0)
        help_text = self.unitrace("help").stdout.decode()
        listed = help_text.split("Commands:")[1].split("\n\n")[0].split("\n")
        commands = [line.split()[0] for line in listed if line.strip()]
        self.assertIn("record", commands)
        pages = [p for p in os.listdir(self.dir / "man") if p.startswith("unitrace")]
        self.assertEqual(sorted(pages), sorted(["unitrace.1", *(f"unitrace-{c}.1" for c in commands
                                                                if c != "help")]))
        for shell, path in (("bash", "bash/unitrace"), ("zsh", "zsh/_unitrace")):
            if shutil.which(shell):
                got = subprocess.run([shell, "-n", path], cwd=self.dir, capture_output=True)
                self.assertEqual((got.returncode, got.stderr), (0, b""))

    def test_bash_completes_options_values_and_commands(self):
        self.unitrace("--generate", "bash", "bash")

        def complete(*words):
            line = " ".join(f"'{w}'" for w in words)
            script = f". bash/unitrace; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; " \
                     "_unitrace; printf '%s\\n' \"${COMPREPLY[@]}\""
            got = subprocess.run(["bash", "--norc", "-c", script], cwd=self.dir,
                                 capture_output=True, text=True)
            self.assertEqual(got.stderr, "")
            return got.stdout.split()

        self.assertEqual(complete("unitrace", "--chrome-i"), ["--chrome-itt-logging"])
        self.assertEqual(complete("unitrace", "--format", "per"), ["perfetto"])
        self.assertEqual(complete("unitrace", "--format", "=", "ch"), ["chrome"])
        self.assertEqual(complete("unitrace", "export", "--rem"), ["--remove"])
        self.assertEqual(complete("unitrace", "profile-this", "--comm"), ["--command"])
        self.assertEqual(complete("unitrace", "help", "ex"), ["export"])
        self.assertIn("export", complete("unitrace", "expor"))
        self.assertEqual(complete("unitrace", "-o", "x", "ls", "--format", "per"), [])


if __name__ == "__main__":
    print("testing", BUILD)
    main()
