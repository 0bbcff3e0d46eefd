#!/usr/bin/env python3
"""Perfetto's trace_processor finds in our files what our own query finds: recordings, as JSON and
as .pftrace."""
# ci: labels slow real
import json
import unittest

import common
import perfetto_oracle

common.need("every_call")

SLICES = "select name, ts, dur from slice where dur > 0 order by ts, dur desc, name"
THREADS = ("select thread.name as t, count(*) as n from slice "
           "join thread_track on thread_track.id = slice.track_id "
           "join thread using (utid) where dur > 0 group by 1 order by 1")
COUNTERS = "select counter.ts, value from counter order by 1, 2"


def as_it_reads(path, value):
    """It takes whole numbers of JSON for signed ones of 64 bits, whatever they were."""
    if path.suffix == ".json" and float(value) >= 2.0 ** 63:
        return float(value) - 2.0 ** 64 if float(value) < 2.0 ** 64 else -1.0
    return float(value)


@unittest.skipIf(perfetto_oracle.missing(), perfetto_oracle.missing())
class Oracle(common.Case):
    def ours(self, path, sql):
        got = self.unitrace("query", "--json", path, sql)
        self.assertEqual(got.returncode, 0, got.stderr)
        return [tuple(row.values()) for row in json.loads(got.stdout)]

    def record_as(self, suffix, *words):
        path = self.dir / f"run{suffix}"
        got = self.unitrace("-o", path, *words)
        self.assertEqual(got.returncode, 0, got.stderr)
        return path

    def compare(self, path):
        slices, threads, counters = perfetto_oracle.ask(path, SLICES, THREADS, COUNTERS)
        self.assertGreater(len(slices), 0)
        first = min(ts for _, ts, _ in slices)  # it counts JSON from 0, or not: only distances matter
        ours = self.ours(path, SLICES)
        ours_first = min(ts for _, ts, _ in ours)
        self.assertEqual([(n, ts - first, d) for n, ts, d in slices],
                         [(n, ts - ours_first, d) for n, ts, d in ours])
        self.assertEqual([(ts - first, float(v)) for ts, v in counters],
                         [(ts - ours_first, as_it_reads(path, v))
                          for ts, v in self.ours(path, COUNTERS)])
        return threads

    def test_json_of_every_call(self):
        self.compare(self.record_as(".json", common.program("every_call")))

    def test_pftrace_of_every_call(self):
        self.compare(self.record_as(".pftrace", common.program("every_call")))

    def test_threads_of_an_example(self):
        program = common.BUILD / "examples/threads"
        if not program.exists():
            self.skipTest(f"{program} is not built")
        of_json = self.compare(self.record_as(".json", program))
        of_pftrace = self.compare(self.record_as(".pftrace", program))
        # Rows that are no threads (frames) have no other place in JSON.
        self.assertLessEqual({name for name, _ in of_pftrace}, {name for name, _ in of_json})
        self.assertGreater(len(of_pftrace), 1)


if __name__ == "__main__":
    common.main()
