"""The page of unitrace roofline in a headless Chromium: kernels are discs at their places, a row and a disc
choose each other, hostile names are text, and nothing is asked of any network. Skipped without the page,
node, Chromium or playwright-core."""
# ci: labels slow browser
import json
import math
import subprocess
import unittest

from common import PATIENCE, SOURCE, UNITRACE, Case, main, skip
from view_support import look

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

INPUTS = SOURCE / "tests/golden/inputs/roofline"
MARKUP = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


class Page(Case):
    def open(self, metrics):
        done = subprocess.run([UNITRACE, "roofline", metrics, "--device", INPUTS / "chip.csv", "--output", "roof.html",
                               "--json"], cwd=self.dir, capture_output=True, text=True, timeout=PATIENCE)
        if "no page" in done.stderr:
            raise unittest.SkipTest("built without the page (tools/setup.sh test)")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), look("roofline_page.js", self.dir / "seen.json", self.dir / "roof.html")

    def test_kernels_stand_where_the_table_says(self):
        kernels, seen = self.open(INPUTS / "run.metrics.12.csv")
        first = seen["first"]
        self.assertEqual((seen["console"], seen["outside"]), ([], []))
        self.assertEqual(first["tab"], "Roofline")
        self.assertIn("50.0 % of the time bound by DRAM", first["verdict"])
        self.assertEqual(len(first["rows"]), len(kernels))
        drawn = [(k, level) for level in ("dram", "l2", "l1", "shared") for k in kernels
                 if k["rate_gflops"] and k["rate_gflops"] > 1 and (k["intensity"] or {}).get(level)]
        self.assertEqual(len(first["discs"]), len(drawn))
        self.check_places(first["discs"], drawn)
        self.assertTrue(any("16 TFLOP/s" in t for t in first["texts"]))
        self.assertEqual([r["selected"] for r in seen["picked"]["rows"]], [False, False, True, False])
        self.assertEqual(seen["picked"]["levels"], ["DRAM", "L2", "L1", "shared"])
        chosen = [r["cells"][0] for r in seen["clicked"]["rows"] if r["selected"]]
        self.assertEqual(len(chosen), 1)
        self.assertTrue(chosen[0].startswith("saxpy"))
        self.assertEqual(seen["narrow"]["width"], 420)
        self.assertEqual((first["covered"], seen["narrow"]["covered"]), ([], []))

    def check_places(self, discs, drawn):
        """Places are straight lines over the logarithms of the numbers; areas over the times."""
        for axis, value in (("x", lambda k, level: k["intensity"][level]), ("y", lambda k, level: k["rate_gflops"])):
            points = [(math.log(value(k, level)), d[axis]) for d, (k, level) in zip(discs, drawn)]
            (a, pa), (b, pb) = min(points), max(points)
            for v, p in points:
                self.assertAlmostEqual(p, pa + (pb - pa) * (v - a) / (b - a), delta=0.6)
        heavy = max(range(len(discs)), key=lambda i: drawn[i][0]["share"])
        for d, (k, _) in zip(discs, drawn):
            self.assertAlmostEqual(d["r"] ** 2 / discs[heavy]["r"] ** 2, k["share"] / drawn[heavy][0]["share"], delta=0.05)

    def test_hostile_names_are_text(self):
        text = (INPUTS / "run.metrics.12.csv").read_text().replace("nvjet_hsh_128x256", MARKUP)
        (self.dir / "hostile.csv").write_text(text)
        _, seen = self.open(self.dir / "hostile.csv")
        self.assertEqual((seen["console"], seen["outside"]), ([], []))
        self.assertTrue(any(MARKUP in d["title"] for d in seen["first"]["discs"]))


if __name__ == "__main__":
    main()
