#!/usr/bin/env python3
"""Saved traces from the command line: what goes in comes out, from any command that reads traces,
and a file that is damaged, cut short or too new is told in one line."""
import json
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

from common import PATIENCE, UNITRACE, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")


def made_up():
    """Some of everything, with times that need all nanoseconds."""
    events = [{"ph": "M", "pid": 7, "tid": 1, "name": "thread_name", "args": {"name": "main"}}]
    for i in range(3000):
        ts = 1e9 + i * 10
        events.append({"ph": "X", "pid": 7, "tid": i % 3, "ts": ts + 0.001 * (i % 999), "dur": 8.125,
                       "name": f"op {i % 40}", "cat": "cpu", "args": {"id": i, "shape": [1, i % 5]}})
        events.append({"ph": "C", "pid": 7, "ts": ts, "name": "memory", "args": {"bytes": i * 1e9}})
        if i % 10 == 0:
            events.append({"ph": "i", "s": "t", "pid": 7, "tid": i % 3, "ts": ts + 1, "name": "müde"})
    return {"traceEvents": events}


class Saved(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="utr-"))
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "in.json").write_text(json.dumps(made_up()))

    def run_unitrace(self, *args, status=0):
        got = subprocess.run([UNITRACE, *args], cwd=self.dir, capture_output=True, timeout=PATIENCE)
        self.assertEqual(got.returncode, status, got.stderr.decode())
        return got

    def save(self, name="a.utr"):
        self.run_unitrace("export", "-o", name, "in.json")
        return self.dir / name

    def refused(self, data):
        """What unitrace says about a file with these bytes: one line."""
        (self.dir / "bad.utr").write_bytes(data)
        got = self.run_unitrace("export", "-o", "never.json", "bad.utr", status=1)
        self.assertFalse((self.dir / "never.json").exists())
        text = got.stderr.decode()
        self.assertEqual(text.count("\n"), 1, text)
        self.assertIn("bad.utr: ", text)
        return text

    def test_json_through_utr_is_the_same_json(self):
        self.save()
        self.run_unitrace("export", "-o", "direct.json", "in.json")
        self.run_unitrace("export", "-o", "around.json", "a.utr")
        events = [json.loads((self.dir / name).read_text())["traceEvents"]
                  for name in ("direct.json", "around.json")]
        self.assertEqual(events[0], events[1])

    def test_utr_through_utr_is_the_same_file(self):
        first = self.save().read_bytes()
        self.run_unitrace("export", "-o", "b.utr", "a.utr")
        self.assertEqual((self.dir / "b.utr").read_bytes(), first)

    def test_compressed_files_are_read(self):
        self.save("a.utr.gz")
        self.run_unitrace("export", "-o", "b.utr", "a.utr.gz")
        self.assertEqual((self.dir / "b.utr").read_bytes(), self.save("c.utr").read_bytes())

    def test_from_a_pipe(self):
        data = self.save().read_bytes()
        got = subprocess.run([UNITRACE, "export", "-o", "b.utr", "-"], cwd=self.dir, input=data,
                             capture_output=True, timeout=PATIENCE)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertEqual((self.dir / "b.utr").read_bytes(), data)

    def test_cut_short(self):
        data = self.save().read_bytes()
        for size in (4, 40, 64, 1000, len(data) - 1):
            text = self.refused(data[:size])
            self.assertIn(f"offset {size}: the file ends", text)

    def test_newer_versions(self):
        data = bytearray(self.save().read_bytes())
        struct.pack_into("<HH", data, 12, 9, 4)
        self.assertIn("format version 9.4 is newer than 2.", self.refused(data))

    def test_a_flipped_bit_is_found_by_every_command(self):
        path = self.save()
        self.run_unitrace("validate", "a.utr")
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 4  # among the rows, which opening does not read
        path.write_bytes(data)
        for words in (["validate"], ["stats"], ["info"], ["head"], ["query", "-f", "/dev/null"],
                      ["diff", "a.utr"], ["filter", "-o", "b.json"], ["export", "-o", "b.json"],
                      ["merge", "-o", "b.json"]):
            got = self.run_unitrace(*words, "a.utr", status=1)
            self.assertRegex((got.stdout + got.stderr).decode(),
                             r"offset \d+: the checksum of section '[a-z ]+' \(\d+ bytes\) is wrong")
            self.assertFalse((self.dir / "b.json").exists(), words)

    def test_options_may_stand_behind_the_trace(self):
        self.save()
        self.run_unitrace("export", "a.utr", "-o", "late.json", "--quiet")
        self.assertTrue((self.dir / "late.json").exists())


if __name__ == "__main__":
    unittest.main()
