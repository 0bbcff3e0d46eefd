"""`unitrace ranks` on files of torch.profiler whose clocks are apart: their collective operations bring them together."""
import gzip
import json

import common
from common import SOURCE

INPUTS = SOURCE / "tests/golden/inputs/h200"


class TorchClocks(common.Case):
    def put(self, name, change):
        """The two files of a training, the second one changed; what `ranks` says about them."""
        for rank in (0, 1):
            trace = json.loads(gzip.decompress((INPUTS / f"train.{rank}.json.gz").read_bytes()))
            if rank:
                change(trace)
            (self.dir / f"{name}.{rank}.json").write_text(json.dumps(trace))
        done = self.unitrace("ranks", "--json", *sorted(self.dir.glob(f"{name}.*.json")))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr.decode()

    @staticmethod
    def shift(trace, by):
        for event in trace["traceEvents"]:
            if isinstance(event.get("ts"), (int, float)):
                event["ts"] += by

    def test_a_clock_that_is_apart_changes_nothing(self):
        plain, _ = self.put("plain", lambda trace: None)
        clock = next(c for c in plain["clocks"] if c["by"] == "evidence")
        self.assertLess(clock["error_ns"], 10_000_000)
        for apart in (50_000, -50_000, 200_000):  # us
            with self.subTest(apart=apart):
                moved, said = self.put("moved", lambda trace, by=apart: self.shift(trace, by))
                self.assertEqual(moved["verdict"], plain["verdict"])
                self.assertRegex(said, r"2 clocks are brought together to within [0-9.]+ ms")
                for before, after in zip(plain["ranks"], moved["ranks"]):
                    self.assertAlmostEqual(after["wait_ns"], before["wait_ns"], delta=2000)  # ts are doubles
                wall = next(c for c in moved["clocks"] if c["by"] == "evidence")["apart_ns"] - clock["apart_ns"]
                self.assertAlmostEqual(wall, 1000 * apart, delta=2000)

    def test_counts_that_differ_prove_nothing(self):
        def without_first(trace):
            kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel" and "AllReduce" in e["name"]]
            trace["traceEvents"].remove(min(kernels, key=lambda e: e["ts"]))
        _, said = self.put("fewer", without_first)
        self.assertIn("placed by their wall times alone", said)


if __name__ == "__main__":
    common.main()
