"""Chrome JSON in every legal and broken shape, a file each: what is read, said and refused.

A refused input is one line with file, offset and reason, exit status 1, and no output file.
"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

from common import PATIENCE, UNITRACE, environment, skip

EVENT = b'{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'
SPAN = {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}


def event(**more):
    return json.dumps({**SPAN, **more}).encode()


def listed(*events):
    return b"[" + b",".join(events) + b"]"


# name: bytes, events that are read, a part of each line that is said
READ = {
    "list": (listed(EVENT, EVENT), 2, []),
    "empty list": (b"[]", 0, []),
    "object": (b'{"a":1,"traceEvents":' + listed(EVENT) + b',"b":[2]}', 1, []),
    "object with an empty list": (b'{"traceEvents":[]}', 0, []),
    "lines": (EVENT + b"\n" + EVENT + b"\n", 2, []),
    "one event": (EVENT, 1, []),
    "two documents": (listed(EVENT) + b"\n" + listed(EVENT), 2, []),
    "metadata only": (b'[{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}}]', 0, []),
    "CR LF": (b"[\r\n" + EVENT + b",\r\n" + EVENT + b"\r\n]\r\n", 2, []),
    "blanks in front": (b" \n" * 5000 + listed(EVENT), 1, []),
    "byte order mark": (b"\xef\xbb\xbf" + listed(EVENT), 1, ["offset 0: a byte order mark"]),
    "cut in an event": (b"[" + EVENT + b"," + EVENT[:20], 1,
                        ["offset 54: the file ends inside an event"]),
    "no closing bracket": (b"[" + EVENT + b",\n" + EVENT, 2, ["offset 107: the end is missing"]),
    "no opening bracket": (EVENT + b",\n" + EVENT + b"]", 2,
                           ["offset 52: events without a list around them"]),
    "trailing comma": (b"[" + EVENT + b",]", 1, ["offset 53: a comma with nothing behind it"]),
    "missing comma": (b"[" + EVENT + EVENT + b"]", 2, ["offset 53: a missing comma"]),
    "control bytes": (listed(EVENT.replace(b'"a"', b'"a\x01\tb\n"')), 1,
                      ["offset 20: a raw control byte in a string; repaired (3 of them"]),
    "zero bytes behind": (listed(EVENT) + b"\0" * 64, 1, ["offset 54: a zero byte between values"]),
    "unknown escape": (listed(EVENT.replace(b'"a"', b'"C:\\\\x\\d"')), 1,
                       ["an escape that JSON does not know"]),
    "lone surrogate": (listed(EVENT.replace(b'"a"', b'"a\\ud800b"')), 1,
                       ["offset 20: half of a surrogate pair"]),
    "NaN": (listed(event(args={"v": float("nan"), "w": -float("inf")})), 1,
            ["a number that JSON does not know (NaN"]),
    "unescaped quote": (listed(EVENT, EVENT.replace(b'"a"', b'"a"b"'), EVENT), 2,
                        ["damage, and what it reaches to is left out"]),
    "time as text": (listed(event(ts="1.5", dur="2.5")), 1, []),
    "time below zero": (listed(event(ts=-5.5), EVENT), 2, ["everything is moved by 5500 ns"]),
    "time missing": (b'[{"ph":"X","name":"b","dur":1},' + EVENT + b"]", 1,
                     ["offset 1: an event without a time"]),
    "time too big": (listed(EVENT.replace(b'"ts":1', b'"ts":1e400'), EVENT), 1,
                     ["offset 1: an event without a time"]),
    "negative duration": (listed(event(dur=-3)), 1, ["offset 1: a negative duration"]),
    "no duration": (b'[{"ph":"X","name":"a","ts":1}]', 1, ["offset 1: a complete event (X) without"]),
    "pids of all kinds": (listed(event(pid="1"), event(pid=1.0), event(pid=-1), event(tid="x")), 4, []),
    "no thread, no process": (b'[{"ph":"i","name":"c","ts":5,"s":"g"}]', 1, []),
    "nested too deep": (listed(EVENT[:-1] + b',"args":{"d":' + b"[" * 10000 + b"]" * 10000 + b"}}",
                               EVENT), 1, ["brackets nested too deep"]),
    "not UTF-8": (listed(EVENT.replace(b'"a"', b'"a\xff"')), 1, []),
    "unknown phase": (listed(event(ph="Q"), event(ph="long")), 2,
                      ["an event of an unknown phase; kept as an instant (2 of them"]),
    "elements that are no events": (b"[" + EVENT + b',1,"x",null,{}]', 1,
                                    ["an element of the list that is no event; left out (3 of them"]),
}

# name: bytes, the line behind "FILE: "
REFUSED = {
    "empty": (b"", "offset 0: the file is empty"),
    "spaces": (b" \n" * 5000, "offset 0: nothing but blanks"),
    "zeros": (b"\0" * 5000, "offset 0: nothing but zero bytes"),
    "empty object": (b"{}", 'offset 2: JSON without "traceEvents"'),
    "other JSON": (b'{"a":1,"b":[1,2,3]}', 'offset 19: JSON without "traceEvents"'),
    "traceEvents is null": (b'{"traceEvents":null}', 'offset 20: JSON without "traceEvents"'),
    "a number": (b"42", "offset 0: not a trace that we know"),
    "numbers": (b"[1,2,3]", "it starts with '[1,2,3]'"),
    "text": (b"hello world, this is text\n", "it starts with 'hello world, this is tex'"),
    "UTF-16": (b"\xff\xfe" + "[{}]".encode("utf-16-le"), "offset 0: UTF-16 text; convert it first"),
    "UTF-16 without a mark": ("[{}]".encode("utf-16-be"), "offset 0: UTF-16 text"),
    "UTF-32": ("[{}]".encode("utf-32"), "offset 0: UTF-32 text"),
    "single quotes": (b"[{'ph':'X'}]", "offset 2: no key where one should be"),
    "lists in lists": (b"[" * 10000 + b"]" * 10000, "offset 513: brackets nested too deep"),
    "objects in objects": (b'{"a":' * 10000 + b"1" + b"}" * 10000, "brackets nested too deep"),
    "gzip in gzip": (gzip.compress(gzip.compress(listed(EVENT))), "offset 0: compressed twice"),
    "gzip without content": (gzip.compress(listed(EVENT))[:8],
                             "offset 0: the compressed data ends before it holds anything"),
    "gzip, wrong checksum": (gzip.compress(listed(EVENT))[:-8] + b"12345678",
                             "damaged gzip data: incorrect data check"),
    "gzip and more": (gzip.compress(listed(EVENT)) + b"garbage", "other bytes follow behind its end"),
}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.json"

    def run_unitrace(self, *args, **more):
        return subprocess.run([UNITRACE, *args], env=environment(), cwd=self.folder, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, **more)

    def export(self, *args, **more):
        return self.run_unitrace("export", "--quiet", "-f", "chrome", "-o", self.out, *args, **more)

    def events(self):
        events = json.loads(self.out.read_text())["traceEvents"]
        return [e for e in events if e["ph"] != "M"]

    def refused(self, done, part):
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 1, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn(part, said)
        self.assertFalse(self.out.exists())


class Shapes(Folder):
    def test_what_is_read(self):
        for name, (data, count, lines) in READ.items():
            with self.subTest(name):
                (self.folder / "in.json").write_bytes(data)
                done = self.export("--overwrite", "in.json")
                said = done.stderr.decode().splitlines()
                self.assertEqual(done.returncode, 0, said)
                self.assertEqual(len(self.events()), count)
                self.assertEqual(len(said), len(lines), said)
                for line, part in zip(said, lines):
                    self.assertIn("in.json: ", line)
                    self.assertIn(part, line)

    def test_what_is_refused(self):
        for name, (data, part) in REFUSED.items():
            with self.subTest(name):
                (self.folder / "in.json").write_bytes(data)
                done = self.export("in.json")
                self.refused(done, part)
                self.assertIn(b"in.json: ", done.stderr)

    def test_big_numbers_are_kept(self):
        args = '{"a":18446744073709551615,"b":-9223372036854775808,"c":123456789012345678901234567890,' \
               '"d":1e400,"e":"4711","f":"0x1f","g":"007","h":"18446744073709551616","i":["1","0x2",3]}'
        (self.folder / "in.json").write_text(
            '[{"ph":"X","name":"n","ts":1,"dur":1,"pid":1,"tid":99999999999999999999,"args":%s}]' % args)
        self.assertEqual(self.export("in.json").returncode, 0)
        line = [x for x in self.out.read_text().split("\n") if '"ph":"X"' in x][0]
        self.assertIn(f'"args":{args}', line)
        self.assertIn('"tid":99999999999999999999,', line)

    def test_ids_of_20_digits_stay_apart(self):
        flow = '{"ph":"%s","name":"n","cat":"c","id":%s,"ts":1,"pid":1,"tid":1}'
        (self.folder / "in.json").write_text("[%s]" % ",".join(
            flow % (ph, i) for ph in "sf" for i in ("18446744073709551615", "18446744073709551616")))
        self.assertEqual(self.export("in.json").returncode, 0)
        self.assertEqual(len({e["id"] for e in self.events()}), 2)

    def test_equal_numbers_are_equal_ids_however_they_are_spelled(self):
        flow = '{"ph":"%s","name":"n","cat":"c","id":%s,"ts":1,"pid":1,"tid":1}'
        groups = (("1", "1.0", "10e-1", '"1"', '"0x1"'), ("-1", "-1.0", '"-1"'), ("1.5", "150e-2"),
                  ("36893488147419103232", "36893488147419103232.0"), ("36893488147419103233",),
                  ('"18446744073709551615"', '"0xFFFFFFFFFFFFFFFF"', "18446744073709551615"))
        for spellings in groups:
            (self.folder / "in.json").write_text("[%s]" % ",".join(
                flow % (ph, i) for ph in "sf" for i in spellings))
            self.assertEqual(self.export("--overwrite", "in.json").returncode, 0)
            self.assertEqual(len({e["id"] for e in self.events()}), 1, spellings)
        (self.folder / "in.json").write_text("[%s]" % ",".join(flow % ("s", g[-1]) for g in groups))
        self.assertEqual(self.export("--overwrite", "in.json").returncode, 0)
        self.assertEqual(len({e["id"] for e in self.events()}), len(groups))

    def test_the_later_of_two_members_counts(self):
        (self.folder / "in.json").write_text(
            '[{"ph":"X","name":"a","name":"b","ts":1,"ts":2,"dur":1,"pid":1,"tid":1,'
            '"args":{"x":1},"args":{"y":3,"y":4}}]')
        self.assertEqual(self.export("in.json").returncode, 0)
        self.assertEqual(self.events(), [{"ph": "X", "pid": 1, "tid": 1, "ts": 2, "dur": 1,
                                          "name": "b", "args": {"y": 4}}])

    def test_members_without_a_meaning_are_arguments(self):
        (self.folder / "in.json").write_bytes(listed(
            event(id=7, s="t", bp="e", scope="q", bind_id="0x3", id2={"local": 5}, tts=3)))
        self.assertEqual(self.export("in.json").returncode, 0)
        self.assertEqual(self.events()[0]["args"], {
            "id": 7, "s": "t", "bp": "e", "scope": "q", "bind_id": "0x3", "id2": {"local": 5}, "tts": 3})


class Sources(Folder):
    def test_zstd_with_several_frames(self):
        if not shutil.which("zstd"):
            self.skipTest("zstd is not installed")
        parts = [b"[" + EVENT + b",", EVENT, b"]"]
        packed = [subprocess.run(["zstd", "-c"], input=p, stdout=subprocess.PIPE, check=True).stdout
                  for p in parts]
        (self.folder / "in.zst").write_bytes(b"".join(packed))
        self.assertEqual(self.export("in.zst").returncode, 0)
        self.assertEqual(len(self.events()), 2)

    def test_a_directory_stands_for_the_traces_in_it(self):
        inside = self.folder / "d"
        inside.mkdir()
        (inside / "a.json").write_bytes(listed(EVENT))
        (inside / "list.json").write_bytes(b"[1,2]")
        (inside / "settings.json").write_bytes(b'{"setting":1}')
        (inside / "readme.txt").write_bytes(b"some words about it")
        (inside / "noise.bin").write_bytes(bytes(range(200, 256)) * 40)
        (inside / "empty").write_bytes(b"")
        done = self.export("d")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(len(self.events()), 1)
        (inside / "a.json").unlink()
        self.out.unlink()
        self.refused(self.export("d"), "d: no trace in this directory")

    def test_a_file_in_a_directory_that_cannot_be_read_is_an_error(self):
        if os.geteuid() == 0:
            self.skipTest("not here: root can read everything")
        inside = self.folder / "d"
        inside.mkdir()
        (inside / "a.json").write_bytes(listed(EVENT))
        (inside / "a.json").chmod(0)
        self.refused(self.export("d"), "a.json: Permission denied")

    def test_a_pattern_that_matches_nothing(self):
        self.refused(self.export("nothing-*.json"), "nothing-*.json: no file matches")

    def test_no_such_file(self):
        self.refused(self.export("nothing.json"), "nothing.json: No such file")

    def test_a_pipe_with_a_name(self):
        os.mkfifo(self.folder / "pipe")
        writer = threading.Thread(target=(self.folder / "pipe").write_bytes, args=(listed(EVENT),))
        writer.start()
        done = self.export("pipe")
        writer.join()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.events()), 1)

    def test_standard_input_can_be_read_once(self):
        done = self.run_unitrace("stats", "-", input=listed(EVENT))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refused(self.run_unitrace("stats", "-", "-", input=listed(EVENT)),
                     "-: standard input was named twice")


if __name__ == "__main__":
    if not UNITRACE.exists():
        skip(f"{UNITRACE} is not built")
    unittest.main()
