"""unitrace view while the trace grows: recordings under way, files being read, and how it ends."""
# ci: labels slow browser
import gzip
import json
import os
import shutil
import signal
import subprocess
import unittest

from common import BUILD, PATIENCE, SOURCE, UNITRACE, environment, program, wait_for
from view_server import MODULES, View, trace

STEPS = BUILD / "tests/programs/steps"


class Growing(View):
    def record(self, *words, options=(), **more):
        """A recording that waits for lines on its standard input."""
        self.recorder = subprocess.Popen([UNITRACE, *options, STEPS, *words], cwd=self.dir,
                                         env=environment(), stdin=subprocess.PIPE, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        for stream in (self.recorder.stdin, self.recorder.stdout, self.recorder.stderr):
            self.addCleanup(stream.close)
        self.addCleanup(self.recorder.wait)
        self.addCleanup(self.recorder.kill)

    def go_on(self):
        self.recorder.stdin.write("\n")
        self.recorder.stdin.flush()

    def until(self, test, what="info"):
        def asked():
            self.got = self.ask(what)
            return test(self.got)

        try:
            wait_for(asked, f"answer about {what} that is good")
        except AssertionError as why:
            raise AssertionError(f"{why}: {self.got}") from None
        return self.got

    def session(self):
        return wait_for(lambda: list(self.dir.glob("*.session/*.spool")), "spool")[0].parent

    def wait_until_found(self, *name):
        """The viewer knows the recording that is under way: by its name, or the one here."""
        wait_for(lambda: b"is still being recorded" in self.unitrace("view", "--save", "x.html", *name).stderr,
                 "recording under way")

    def names(self):
        table = self.ask("aggregate", scope={})["slices"]
        return {row["name"]: row["count"] for row in self.rows(table)}

    def exported(self):
        """How often each span is in the timelines that the recording has left."""
        counts = {}
        for path in self.timelines():
            got = self.unitrace("query", "--format", "json", path,
                                "select name, count(*) n from slice group by name")
            for row in json.loads(got.stdout):
                counts[row["name"]] = counts.get(row["name"], 0) + row["n"]
        return counts


class Recordings(Growing):
    WORDS = ("begin", "outer", "many", "50", "wait", "many", "70", "thread", "task", "in thread",
             "wait", "fork", "task", "in child", "wait", "task", "last")

    def follow(self):
        """Each step shows up; the numbers of tracks and types stay."""
        first = self.until(lambda i: i["slices"] >= 51)
        self.assertTrue(first["live"])
        self.assertGreater(first["bytes"], 0)
        places = {p["track"]: (p["name"], p["id"]) for p in self.ask("places") if p["track"] >= 0}
        types = self.ask("types", first=0)["names"]
        self.go_on()
        second = self.until(lambda i: i["slices"] >= 122)
        self.assertTrue(second["live"])
        self.assertGreater(second["generation"], first["generation"])
        now = {p["track"]: (p["name"], p["id"]) for p in self.ask("places") if p["track"] >= 0}
        self.assertGreater(len(now), len(places))
        self.assertEqual({t: now[t] for t in places}, places)
        later = self.ask("types", first=0)["names"]
        self.assertEqual([n for n in zip(types, later) if n[0] and n[0] != n[1]], [])
        self.assertIn("in thread", later)
        self.go_on()
        self.until(lambda i: i["slices"] >= 123)
        self.go_on()
        last = self.until(lambda i: not i["live"])
        self.assertEqual(last["ended"], "recording ended: exit status 0")
        self.recorder.wait(PATIENCE)
        shown = self.names()
        self.assertEqual(shown, self.exported())
        self.assertEqual(shown["many 49"], 2)
        self.assertEqual(shown["in child"], 1)
        self.assertEqual(len([p for p in self.ask("places") if p["kind"] == "process"]), 2)

    def test_a_session_directory_is_shown_as_it_grows(self):
        self.record(*self.WORDS)
        self.start(str(self.session()))
        self.follow()

    def test_a_running_session_is_found_by_its_name(self):
        name = f"live{os.getpid()}"
        self.record(*self.WORDS, options=("--session", name))
        self.wait_until_found(name)
        self.start(name)
        self.follow()

    def test_without_a_name_the_recording_that_runs_here_is_taken(self):
        self.record(*self.WORDS)
        self.wait_until_found()
        server = subprocess.Popen([UNITRACE, "view", "--no-browser"], cwd=self.dir,
                                  env=environment(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertIn("taking the recording that is under way", server.stderr.readline())
        self.take_address(server.stderr)
        self.enter()
        self.wait_until_read()
        self.follow()

    def test_a_recording_that_is_watched_leaves_what_it_would_leave(self):
        self.record("many", "5", "wait", "say", "said")
        self.start(str(self.session()))
        self.until(lambda i: i["slices"] == 5)
        self.go_on()
        out, err = self.recorder.communicate(timeout=PATIENCE)
        self.assertEqual((out, self.recorder.returncode), ("said\n", 0), err)
        self.until(lambda i: not i["live"])
        self.assertEqual(list(self.dir.glob("*.session")), [])  # shown from files without a name
        self.assertEqual(self.ask("info")["slices"], 5)

    def test_a_session_that_is_over_is_a_trace_like_others(self):
        got = self.unitrace("--keep-session", STEPS, "many", "5")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.start(str(self.session()))
        info = self.ask("info")
        self.assertFalse(info["live"])
        self.assertEqual(info["slices"], 5)
        self.assertNotIn("ended", info)

    def test_save_waits_for_the_end(self):
        self.record("many", "5", "wait")
        got = self.unitrace("view", "--save", "x.html", self.session())
        self.assertEqual(got.returncode, 1)
        self.assertIn(b"is still being recorded", got.stderr)
        self.go_on()


class Followed(Growing):
    """Programs that nobody waits for: each look goes on where the last one ended, and what is shown
    in the end is what reading the whole gives."""

    def follow(self, *words, look=None):
        self.recorder = subprocess.Popen([UNITRACE, "-o", "run.%p.utr", *words], cwd=self.dir,
                                         env=environment(), stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        self.addCleanup(self.recorder.wait)
        self.addCleanup(self.recorder.kill)
        self.start(str(self.session()))
        seen, looks = -1, 0
        while True:
            info = self.ask("info")
            self.assertGreaterEqual(info["slices"], seen)
            looks += info["slices"] != seen and info["live"]
            seen = info["slices"]
            if look and looks <= 3:
                look()
            if not info["live"]:
                break
        self.recorder.wait(PATIENCE)
        self.assertEqual(self.names(), self.exported())
        return looks

    def timelines(self):
        return self.dir.glob("run.*.utr")

    def test_two_threads_at_full_speed(self):
        def look():  # no number is missing or twice
            answer = self.ask("sql", text="select s.name, count(*), count(distinct a.int_value), max(a.int_value) + 1 "
                              "from slice s join args a using (arg_set_id) group by 1")
            for row in self.rows(answer):
                one, two, three = list(row.values())[1:4]
                self.assertEqual((one, one), (two, three))

        self.assertGreater(self.follow(program("hammer"), "1500000", look=look), 0)

    def test_handlers_that_record_inside_of_records(self):
        self.follow(program("signal_storm"))

    def test_threads_by_the_thousand(self):
        self.follow(program("threads_many"))

    def test_work_of_a_device(self):
        self.follow(program("null_device"), BUILD / "lib/unitrace/backends/null.so", "20000")

    def test_children_and_pauses(self):
        self.follow(STEPS, "sleep", "500", "begin", "outer", "many", "100", "pause", "sleep", "600", "resume",
                    "overlap", "1", "fork", "many", "100", "sleep", "700", "overlapend", "1", "task", "last")


class RecordAndLook(Growing):
    def look(self, *words, **more):
        self.record(*words, options=("--view", "--no-browser", *more.pop("options", ())), **more)
        self.take_address(self.recorder.stderr)
        self.enter()
        self.wait_until_read()

    def stays(self):
        """When the results are written and the session is removed, only the viewer is left to wait for."""
        wait_for(lambda: self.timelines() and not list(self.dir.glob("*.session")), "end of the session")
        self.assertTrue(self.ask("info")["slices"])
        self.assertIsNone(self.recorder.poll())

    def test_a_program_that_ends_at_once_is_shown(self):
        """The viewer may not have looked at all before the results are written."""
        self.look("many", "3", "fork", "task", "in child")
        self.until(lambda i: not i["live"] and i["slices"])
        self.stays()
        self.assertEqual(self.names(), self.exported())
        self.recorder.terminate()
        self.assertEqual(self.recorder.wait(PATIENCE), 0)

    def test_it_grows_ends_and_stays_until_it_is_reported_to_end(self):
        self.look("say", "first", "many", "3", "wait", "many", "4")
        info = self.until(lambda i: i["slices"] == 3)
        self.assertTrue(info["live"])
        self.assertNotIn("cli", info)  # the launcher removes the session in the end
        self.go_on()
        info = self.until(lambda i: not i["live"] and i["slices"] == 7)
        self.assertNotIn("cli", info)
        self.stays()
        self.recorder.terminate()
        out, err = self.recorder.communicate(timeout=PATIENCE)
        self.assertEqual((out, self.recorder.returncode), ("first\n", 0), err)
        self.assertIn("many 3", err)  # the summary, as without a viewer
        self.assertEqual(self.exported()["many 0"], 2)

    def test_ctrl_c_is_the_programs_first_and_the_viewers_then(self):
        self.look("many", "3", "wait", start_new_session=True)
        self.until(lambda i: i["slices"] == 3)
        os.killpg(self.recorder.pid, signal.SIGINT)
        info = self.until(lambda i: not i["live"])
        self.assertRegex(info["ended"], r"^recording ended: signal 2 \(Interrupt\)$")
        self.assertEqual(info["slices"], 3)
        self.stays()
        os.killpg(self.recorder.pid, signal.SIGINT)
        self.recorder.communicate(timeout=PATIENCE)
        self.assertEqual(self.recorder.returncode, -signal.SIGINT)

    def test_the_status_of_the_program_is_passed_on(self):
        for word, status in (("/bin/false", 1), ("/nowhere/to/be/found", 127)):
            got = self.unitrace("--view", "--no-browser", word)  # there is nothing to see, and it ends by itself
            self.assertEqual(got.returncode, status, got.stderr)

    def test_once_ends_when_the_page_is_gone_however_it_went(self):
        self.look("many", "3", "wait", options=("--once",))
        with self.page():
            self.go_on()
            self.until(lambda i: not i["live"])
        self.recorder.wait(PATIENCE)  # nobody said goodbye
        self.assertEqual(self.recorder.returncode, 0)

    def test_options_of_the_viewer_need_it(self):
        for option in ("--once", "--no-browser", "--port=80"):
            got = self.unitrace(option, "true")
            self.assertEqual(got.returncode, 2, option)
            self.assertIn(b"belong to --view", got.stderr)


def large(path, slices):
    """Chrome JSON, one event a line, in order of time; tracks and names appear one after another."""
    with open(path, "w", encoding="ascii") as f:
        f.write('{"traceEvents":[\n')
        for i in range(slices):
            f.write('{"ph":"X","pid":%d,"tid":%d,"ts":%d,"dur":%d,"name":"op %d","cat":"c%d",'
                    '"args":{"number":%d,"text":"some words that take room %d"}},\n'
                    % (1 + i // 200000, i % 7, i, 1 + i % 5, i // 1000, i % 3, i, i))
        f.write('{"ph":"M","pid":1,"name":"process_name","args":{"name":"first"}}]}\n')


class Files(Growing):
    def numbers(self):
        info = self.ask("info")
        tables = self.ask("aggregate", scope={})
        places = sorted((p["kind"], p["name"], p.get("sub", ""), str(p["lanes"]))
                        for p in self.ask("places"))
        rows = sorted(str(sorted((k, v) for k, v in row.items()
                                 if k not in ("type", "id", "track", "longest")))
                      for row in self.rows(tables["slices"]))
        return ({k: info[k] for k in ("slices", "samples", "span", "start", "losses", "cats")},
                rows, places)

    def test_a_large_file_is_shown_while_it_is_read_and_is_the_same_in_the_end(self):
        """The file before it comes through a pipe, which is read when somebody writes into it."""
        large(self.dir / "big.json", 400000)
        self.assertGreater((self.dir / "big.json").stat().st_size, 48 << 20)
        first = self.dir / "first.json"
        os.mkfifo(first)
        self.start("first.json", "big.json", enter=False)
        self.enter()
        self.wait_until_shown()
        early = self.ask("info")
        self.assertLess(early["slices"], 400000)
        self.assertGreater(early["slices"], 50000)  # what 16 MB hold
        self.assertLess(early["read"], 1)
        first.write_text(json.dumps(trace()))
        done = self.until(lambda i: "read" not in i)
        self.assertGreater(done["generation"], 1)
        self.assertGreater(done["slices"], 400000)
        shown = self.numbers()
        self.server.terminate()
        self.cookie = None
        first.unlink()
        self.save(trace(), "first.json")
        self.start("first.json", "big.json")
        self.assertEqual(shown, self.numbers())

    def test_what_a_cut_file_holds_is_shown_and_the_cut_is_reported(self):
        text = json.dumps(trace())
        (self.dir / "cut.json").write_text(text[:len(text) * 2 // 3])
        self.start("cut.json")
        info = self.until(lambda i: "read" not in i)
        self.assertGreater(info["slices"], 500)
        self.assertIn("cut.json: offset", info["trouble"])
        self.server.terminate()
        self.assertEqual(self.server.wait(PATIENCE), 0)
        self.assertIn(info["trouble"].splitlines()[0], self.server.stderr.read())

    def test_one_of_several_that_cannot_be_read_is_reported_and_the_others_are_shown(self):
        self.save(trace(), "a.json")
        self.save(trace(6), "c.json")
        packed = gzip.compress(json.dumps(trace(7)).encode())
        (self.dir / "b.json.gz").write_bytes(packed[:2000] + b"\0\1\2\3" * 50 + packed[2200:])
        self.start("a.json", "b.json.gz", "c.json")
        info = self.until(lambda i: "read" not in i)
        self.assertEqual(info["files"], ["a.json", "c.json"])
        self.assertIn("b.json.gz", info["trouble"])
        self.server.terminate()
        self.assertEqual(self.server.wait(PATIENCE), 1)
        said = self.server.stderr.read()
        self.assertEqual(said.count("b.json.gz"), 1, said)

    def test_files_that_cannot_be_read_at_all_end_the_server(self):
        (self.dir / "no.json").write_text("{ nothing }")
        got = self.unitrace("view", "--no-browser", "no.json")
        self.assertEqual(got.returncode, 1)
        self.assertEqual(got.stderr.count(b"no.json: offset"), 1, got.stderr)


class Page(Growing):
    def test_the_page_follows_and_is_never_blank(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed (tools/setup.sh test)")
        modules = MODULES or SOURCE / "build/node/node_modules"
        done = subprocess.run(["node", SOURCE / "tests/e2e/view_live.js", modules, self.dir, UNITRACE,
                               STEPS, program("burn")], capture_output=True, text=True, timeout=2 * PATIENCE)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Goodbye(Growing):
    def test_pages_hear_that_the_server_ends(self):
        self.save(trace())
        self.start("run.json")
        with self.page() as page:
            got = b""
            while b'data: {"title":"run.json"' not in got:  # what it is told when it comes
                got += page.recv(65536)
            self.server.send_signal(signal.SIGINT)
            while chunk := page.recv(65536):
                got += chunk
        self.assertIn(b"event: end\ndata: {}\n\n", got)
        self.assertEqual(self.server.wait(PATIENCE), 0)

    def test_a_reader_that_is_not_done_does_not_keep_the_server(self):
        large(self.dir / "big.json", 200000)
        self.start("big.json", enter=False)
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
