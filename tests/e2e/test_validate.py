"""unitrace validate and info: what is in a trace, and what is wrong with it."""
import json
import math

from common import UNITRACE, Case, main, program, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")


def x(name, ts, dur, **more):
    return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


GOOD = [x("outer", 0, 100), x("inner", 10, 50), x("next", 100, 5)]


class Validate(Case):
    def write(self, events, name="a.json"):
        path = self.dir / name
        path.write_text(events if isinstance(events, str) else json.dumps(events))
        return path

    def validate(self, events, *words, rc=None):
        path = self.write(events)
        got = self.unitrace("validate", "--json", path, *words)
        report, = json.loads(got.stdout)
        if rc is not None:
            self.assertEqual(got.returncode, rc, got.stdout)
        return report, {f["id"]: f for f in report["findings"]}

    def test_a_good_trace_is_good(self):
        report, findings = self.validate(GOOD, "--strict", rc=0)
        self.assertEqual((report["verdict"], report["format"], findings), ("good", "chrome", {}))
        got = self.unitrace("validate", "a.json")
        self.assertIn(b"nothing to complain about", got.stdout)

    def test_each_trouble_is_found_with_an_example(self):
        flow = {"pid": 1, "tid": 1, "cat": "f", "name": "f"}
        cases = {
            "overlap": [x("a", 0, 100), x("b", 50, 100)],
            "unfinished": [{"ph": "B", "name": "a", "pid": 1, "tid": 1, "ts": 1}, x("b", 5, 1)],
            "stray-end": [x("b", 5, 1), {"ph": "E", "pid": 1, "tid": 1, "ts": 9}],
            "async-no-end": [{"ph": "b", "name": "a", "cat": "c", "id": 1, "pid": 1, "ts": 1}],
            "async-no-begin": [{"ph": "e", "name": "a", "cat": "c", "id": 1, "pid": 1, "ts": 1}],
            "flow-no-end": [x("a", 0, 10), {"ph": "s", "id": 1, "ts": 5, **flow}],
            "flow-no-start": [x("a", 0, 10), {"ph": "f", "bp": "e", "id": 1, "ts": 5, **flow}],
        }
        for want, events in cases.items():
            report, findings = self.validate(events, rc=1)
            self.assertEqual(set(findings), {want}, events)
            self.assertEqual((report["verdict"], findings[want]["count"]), ("lost", 1))
            if want != "stray-end":
                self.assertEqual(findings[want]["first"]["process"], "pid 1", want)
        odd = {
            "overlap-slight": [x("a", 0, 100), x("b", 50, 50.5)],
            "zero-length": [x("z", i, 0) for i in range(200)],
            "duplicate": [x("a", 0, 10, args={"k": [1]}), x("a", 0, 10, args={"k": [1]})],
            "clock-jump": [x("a", 0, 10), x("a", 3.6e12, 10)],
            "far-away": [x("a", 0, 10), x("a", 3.6e12, 10, tid=2)],
            "flow-backwards": [x("a", 0, 10), {"ph": "s", "id": 1, "ts": 5, **flow},
                               {"ph": "f", "bp": "e", "id": 1, "ts": 2, **flow}],
        }
        for want, events in odd.items():
            report, findings = self.validate(events, rc=0)
            self.assertEqual((set(findings), report["verdict"]), ({want}, "odd"), events)
            self.validate(events, "--strict", rc=1)

    def test_repairs_are_reported_and_losses_counted(self):
        text = json.dumps(GOOD)
        report, _ = self.validate(text[:-1] + ",]", rc=0)
        self.assertEqual([w["weight"] for w in report["warnings"]], ["repaired"])
        self.validate(text[:-1] + ",]", "--strict", rc=1)
        report, _ = self.validate(text[:-20], rc=1)
        self.assertIn("lost", [w["weight"] for w in report["warnings"]])
        report, _ = self.validate([*GOOD, x("neg", 200, -5)], rc=1)
        self.assertTrue(any("negative" in w["text"] for w in report["warnings"]))

    def test_counters_that_are_no_numbers(self):
        events = [*GOOD, {"ph": "C", "name": "c", "pid": 1, "ts": 1, "args": {"v": math.nan}}]
        report, findings = self.validate(json.dumps(events))
        self.assertEqual(report["verdict"], "lost", report)
        self.assertIn("counter-value", findings)

    def test_the_dialect_is_reported(self):
        torch = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": GOOD}
        report, _ = self.validate(torch)
        self.assertEqual(report["dialect"], "torch")

    def test_saved_traces_are_checked_byte_by_byte(self):
        self.write(GOOD)
        self.assertEqual(self.unitrace("export", "-o", "a.utr", "a.json").returncode, 0)
        got = self.unitrace("validate", "--strict", "a.utr")
        self.assertEqual(got.returncode, 0, got.stdout)
        data = bytearray((self.dir / "a.utr").read_bytes())
        data[len(data) // 2] ^= 0x40
        (self.dir / "bad.utr").write_bytes(data)
        got = self.unitrace("validate", "--json", "bad.utr", "a.utr")
        bad, good = json.loads(got.stdout)
        self.assertEqual(got.returncode, 1)
        self.assertEqual((bad["verdict"], good["verdict"]), ("lost", "good"))
        self.assertIn("checksum", bad["failure"])

    def test_what_cannot_be_read_does_not_hide_the_rest(self):
        self.write(GOOD)
        self.write("no trace at all", "junk.json")
        got = self.unitrace("validate", "junk.json", "a.json")
        self.assertEqual(got.returncode, 1)
        self.assertIn(b"nothing to complain about", got.stdout)
        self.assertEqual(self.unitrace("validate", "missing").returncode, 1)
        self.assertEqual(self.unitrace("validate").returncode, 2)


class Info(Case):
    def test_a_foreign_trace(self):
        events = [*GOOD, {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "app"}},
                  {"ph": "i", "name": "t", "pid": 1, "tid": 2, "ts": 5},
                  {"ph": "C", "name": "c", "pid": 7, "ts": 5, "args": {"v": 1}}]
        (self.dir / "a.json").write_text(json.dumps({"traceEvents": events, "extra": 1}))
        info, = json.loads(self.unitrace("info", "--json", "a.json").stdout)
        self.assertEqual((info["format"], info["dialect"]), ("chrome", "chrome"))
        self.assertEqual((info["events"]["span"], info["events"]["instant"]), (3, 1))
        self.assertEqual(info["tracks"], {"threads": 2, "lanes": 0, "async": 0, "counters": 1})
        self.assertEqual([(p["pid"], p["name"], p["threads"]) for p in info["processes"]][0],
                         (1, "app", 2))
        self.assertEqual((info["first_ns"], info["last_ns"]), (0, 105000))
        self.assertIn("extra", info["metadata"])
        text = self.unitrace("info", "a.json").stdout.decode()
        for line in ("format    chrome", "process   app (1)", "tracks    3 (2 threads, 1 counter)"):
            self.assertIn(line, text)

    def test_a_directory_of_sessions_and_traces(self):
        probe = program("launch_probe")
        if not probe.exists():
            self.skipTest(f"{probe} is not built")
        for _ in range(2):
            self.unitrace("--keep-session", "--spool-dir", "spools", "--quiet", "-o",
                          "run.json", "--overwrite", probe)
        (self.dir / "spools" / "a.json").write_text(json.dumps(GOOD))
        got = self.unitrace("info", "--json", "spools")
        self.assertEqual(got.returncode, 0, got.stderr)
        infos = json.loads(got.stdout)
        self.assertEqual(sorted(i["format"] for i in infos), ["chrome", "spool", "spool"])


if __name__ == "__main__":
    main()
