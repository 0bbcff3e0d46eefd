#!/usr/bin/env python3
"""Perfetto traces that others write, from the command line: protoc makes them from text.

What is read is compared as CSV, read by Python's csv. Files go in plain, compressed, through a pipe,
cut off and damaged; and what comes out as Perfetto again must say the same."""
import csv
import gzip
import io
import json
import shutil
import subprocess
import zlib

from common import Case, SOURCE, main, need, program, skip

SCHEMA = SOURCE / "tests/export"
APP = """
packet { track_descriptor { uuid: 1 process { pid: 10 process_name: "app" } } }
packet { track_descriptor { uuid: 2 parent_uuid: 1 thread { pid: 10 tid: 11 thread_name: "main" } } }
"""
# Two writers with a clock and names of their own, one after the other.
WRITERS = APP + """
packet { trusted_packet_sequence_id: 1 clock_snapshot {
         clocks { clock_id: 6 timestamp: 1000000 } clocks { clock_id: 3 timestamp: 400000 }
         clocks { clock_id: 1 timestamp: 1700000000000000000 } clocks { clock_id: 64 timestamp: 0 unit_multiplier_ns: 1000
         is_incremental: true } } }
packet { trusted_packet_sequence_id: 1 sequence_flags: 1 trace_packet_defaults { timestamp_clock_id: 64
         track_event_defaults { track_uuid: 2 } } }
packet { trusted_packet_sequence_id: 2 sequence_flags: 1 trace_packet_defaults { timestamp_clock_id: 3 } }
packet { trusted_packet_sequence_id: 1 sequence_flags: 2 timestamp: 5
         interned_data { event_names { iid: 1 name: "work" } event_categories { iid: 1 name: "cat" } }
         track_event { type: TYPE_SLICE_BEGIN name_iid: 1 category_iids: 1 flow_ids: 99 } }
packet { trusted_packet_sequence_id: 1 sequence_flags: 2 timestamp: 3 track_event { type: TYPE_SLICE_END } }
packet { trusted_packet_sequence_id: 2 sequence_flags: 2 timestamp: 406000
         interned_data { event_names { iid: 1 name: "io" } debug_annotation_names { iid: 1 name: "req" } }
         track_event { type: TYPE_SLICE_BEGIN track_uuid: 5 name_iid: 1 terminating_flow_ids: 99
         debug_annotations { name_iid: 1 dict_entries { name: "bytes" uint_value: 4096 }
                             dict_entries { name: "tags" array_values { string_value: "a" } array_values { bool_value: true } } } } }
packet { trusted_packet_sequence_id: 2 sequence_flags: 2 timestamp: 407000
         track_event { type: TYPE_SLICE_BEGIN track_uuid: 6 name_iid: 1 } }
packet { trusted_packet_sequence_id: 2 sequence_flags: 2 timestamp: 408000 track_event { type: TYPE_SLICE_END track_uuid: 5 } }
packet { trusted_packet_sequence_id: 2 sequence_flags: 2 timestamp: 409000 track_event { type: TYPE_SLICE_END track_uuid: 6 } }
packet { track_descriptor { uuid: 5 parent_uuid: 1 name: "requests" } }
packet { track_descriptor { uuid: 6 parent_uuid: 1 name: "requests" } }
packet { track_descriptor { uuid: 7 parent_uuid: 1 name: "heap" counter { unit: UNIT_SIZE_BYTES } } }
packet { timestamp: 1010000 track_event { type: TYPE_COUNTER track_uuid: 7 counter_value: 512 } }
"""
SMALL = APP + """
packet { timestamp: 5 track_event { type: TYPE_INSTANT track_uuid: 2 name: "one" } }
packet { timestamp: 6 track_event { type: TYPE_INSTANT track_uuid: 2 name: "two" } }
"""


def encode(text):
    return subprocess.run(["protoc", "--encode=perfetto.protos.Trace", f"-I{SCHEMA}",
                           "perfetto_min.proto"], input=text.encode(), stdout=subprocess.PIPE,
                          check=True).stdout


def decode(path):
    """As text; a field that the schema does not know would show as a number."""
    with open(path, "rb") as f:
        run = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", f"-I{SCHEMA}",
                              "perfetto_min.proto"], stdin=f, stdout=subprocess.PIPE, check=True)
    return run.stdout.decode()


def compressed(data):
    packed = "".join(f"\\{b:03o}" for b in zlib.compress(data))
    return encode(f'packet {{ compressed_packets: "{packed}" }}')


class PerfettoCase(Case):
    def write(self, name, data):
        path = self.dir / name
        path.write_bytes(data)
        return path

    def csv_text(self, path, **options):
        got = self.unitrace("export", "--quiet", "-f", "csv", "-o", "-", path, **options)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got

    def rows(self, path, **options):
        text = self.csv_text(path, **options).stdout.decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))


class Reading(PerfettoCase):
    def check_writers(self, rows):
        by_kind = {}
        for row in rows:
            by_kind.setdefault(row["kind"], []).append(row)
        (span,) = by_kind["span"]
        self.assertEqual([span[k] for k in ("pid", "process", "tid", "track", "ts_ns", "dur_ns", "name",
                                            "category", "depth")],
                         ["10", "app", "11", "main", "1005000", "3000", "work", "cat", "0"])
        begins, ends = by_kind["async begin"], by_kind["async end"]
        self.assertEqual([(r["track"], r["name"], r["ts_ns"], r["id"]) for r in begins],
                         [("requests", "io", "1006000", "1"), ("requests", "io", "1007000", "2")])
        self.assertEqual([(r["ts_ns"], r["id"]) for r in ends], [("1008000", "1"), ("1009000", "2")])
        self.assertEqual(json.loads(begins[0]["args"]), {"req": {"bytes": 4096, "tags": ["a", True]}})
        (out,), (end,) = by_kind["flow out"], by_kind["flow in"]
        self.assertEqual((out["ts_ns"], out["track"], out["id"]), ("1005000", "main", "1"))
        self.assertEqual((end["ts_ns"], end["track"], end["id"]), ("1006000", "requests", "1"))
        (counter,) = by_kind["counter"]
        self.assertEqual((counter["name"], counter["value"], counter["ts_ns"]), ("heap", "512", "1010000"))

    def test_writers_have_names_and_clocks_of_their_own(self):
        self.check_writers(self.rows(self.write("a.pftrace", encode(WRITERS))))

    def test_packets_and_files_may_be_compressed(self):
        data = encode(WRITERS)
        self.check_writers(self.rows(self.write("packed.pftrace", compressed(data))))
        self.check_writers(self.rows(self.write("a.pftrace.gz", gzip.compress(data))))
        if not shutil.which("zstd"):
            self.skipTest("zstd is not installed")
        path = self.write("b.pftrace", data)
        self.run_words("zstd", "-q", path)
        self.check_writers(self.rows(self.dir / "b.pftrace.zst"))

    def test_a_pipe_is_as_good_as_a_file(self):
        self.check_writers(self.rows("-", input=encode(WRITERS)))

    def test_the_clock_leads_to_real_time(self):
        path = self.write("a.pftrace", encode(WRITERS))
        got = self.unitrace("info", path)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(b"2023-11-14 22:13:20", got.stdout)


class Damage(PerfettoCase):
    def test_a_file_cut_at_any_byte_keeps_what_is_complete(self):
        data = encode(SMALL)
        before = 0
        for n in range(4, len(data)):
            path = self.write("cut.pftrace", data[:n])
            got = self.csv_text(path)
            rows = got.stdout.count(b"\n") - 1
            self.assertGreaterEqual(rows, before)
            before = rows
            if got.stderr:
                self.assertRegex(got.stderr.decode(),
                                 r"^unitrace: warning: .*cut\.pftrace: offset \d+: the file ends inside a packet[^\n]*\n$")
        self.assertEqual(before, 1)

    def test_garbage_is_one_line_with_the_offset_and_no_file(self):
        data = encode(SMALL)
        path = self.write("bad.pftrace", data + b"garbage, and more of it")
        got = self.unitrace("export", "--quiet", "-o", "out.csv", path)
        self.assertEqual(got.returncode, 1)
        self.assertRegex(got.stderr.decode(), rf"bad\.pftrace: offset {len(data)}: [^\n]*\n$")
        self.assertEqual(got.stderr.count(b"\n"), 1)
        self.assertFalse((self.dir / "out.csv").exists())

    def test_what_is_left_out_is_reported_once(self):
        lost = 'packet { trusted_packet_sequence_id: 9 sequence_flags: 2 track_event { type: TYPE_INSTANT } }'
        got = self.csv_text(self.write("lost.pftrace", encode(SMALL + 3 * lost)))
        self.assertEqual(got.stdout.count(b"\n"), 3)
        self.assertEqual(got.stderr.decode().count("lost.pftrace: packets left out because what they refer to was lost while recording: 3\n"), 1)


class RoundTrip(PerfettoCase):
    def check(self, path):
        """Perfetto out, and in again: the same."""
        got = self.unitrace("export", "--quiet", "-o", "again.pftrace", path)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertNotRegex(decode(self.dir / "again.pftrace"), r"(?m)^\s*\d+[:{ ]")
        first = self.csv_text(path).stdout
        self.assertEqual(self.csv_text(self.dir / "again.pftrace").stdout, first)
        return first

    def test_foreign_traces_stay_what_they_are(self):
        text = self.check(self.write("a.pftrace", encode(WRITERS)))
        self.assertEqual(text.count(b"\n"), 9)

    def test_recordings_stay_what_they_are(self):
        got = self.unitrace("--quiet", "-f", "perfetto", "-o", "run.pftrace", program("every_call"))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertGreater(self.check(self.dir / "run.pftrace").count(b"\n"), 50)

    def test_json_with_overlaps_and_nested_arguments_survives(self):
        events = [
            {"ph": "X", "pid": "gpu 0", "tid": "stream 7", "ts": 1, "dur": 10, "name": "a",
             "args": {"o": {"k": [1, {"x": None}], "e": []}, "n": 2.5}},
            {"ph": "X", "pid": "gpu 0", "tid": "stream 7", "ts": 5, "dur": 10, "name": "b"},
            {"ph": "X", "pid": 1, "tid": 2, "ts": 5, "dur": 10, "name": "c"},
        ]
        path = self.write("a.json", json.dumps(events).encode())
        got = self.unitrace("export", "--quiet", "-o", "a.pftrace", path)
        self.assertEqual(got.returncode, 0, got.stderr)
        text = decode(self.dir / "a.pftrace")
        self.assertIn('thread_name: "stream 7"', text)
        self.assertIn('(overlap)"', text)
        self.assertIn("dict_entries", text)
        rows = self.rows(self.dir / "a.pftrace")
        spans = {r["name"]: r for r in rows if r["kind"] == "span"}
        self.assertEqual({n: (r["ts_ns"], r["dur_ns"]) for n, r in spans.items()},
                         {"a": ("1000", "10000"), "b": ("5000", "10000"), "c": ("5000", "10000")})
        self.assertEqual(spans["a"]["track"], spans["b"]["track"])
        self.assertEqual(json.loads(spans["a"]["args"]), events[0]["args"])
        self.check(self.dir / "a.pftrace")


if __name__ == "__main__":
    need("every_call")
    if not shutil.which("protoc"):
        skip("protoc is not installed")
    main()
