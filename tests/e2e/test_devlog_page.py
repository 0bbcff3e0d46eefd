"""The page of unitrace devlog in a headless Chromium: bars and cells counted against the rows of the
log and the CSV files beside the page, used by mouse and keyboard, in both dialects of logs, wide and
narrow, and nothing asked of any network. Skipped without node, Chromium or playwright-core."""
# ci: labels slow browser
import collections
import csv
import re
import subprocess

from common import PATIENCE, UNITRACE, Case, main, skip
from view_support import look
from devlog_support import OLD_ROWS, Page, old_log, zone_log, zone_rows

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")
if b"as one file" not in subprocess.run([UNITRACE, "--version"], capture_output=True).stdout:
    skip("built without the viewer")

HOSTILE = "</script><img src=x onerror=alert(1)>"


def open_pages(folder, *pages, how="all"):
    """What devlog_page.js saw, per page."""
    return look("devlog_page.js", folder / "seen.json", how, *pages)


def uneven(above):
    """One op on four cores, one of which takes longer than 1000 cycles by this share."""
    for x in range(4):
        long = 1000 if x else round(1000 * (1 + above))
        for timer, cycles, part, kind in ((1, 0, "FW", "START"), (2, 10, "KERNEL", "START"),
                                          (2, 10 + long, "KERNEL", "END"), (1, 20 + long, "FW", "END")):
            yield (0, x, 1, "BRISC", timer, 5000 + cycles, 0, 1024, "", "", f"BRISC-{part}", f"ZONE_{kind}",
                   7, "k.cc", "")


def many():
    """64 cores, two RISCs each: more rows than fit on a screen."""
    return zone_rows(ops=2, cores=[(x, y) for y in range(8) for x in range(8)])


class Pages(Case):
    def make(self, name, log, *words):
        (self.dir / f"{name}.csv").write_text(log)
        subprocess.run([UNITRACE, "devlog", f"{name}.csv", "-o", name, "--no-print-stats",
                        "--no-artifacts", "--no-analysis-json", *words], check=True, timeout=PATIENCE,
                       capture_output=True, cwd=self.dir)
        return self.dir / name / "device_perf.html"

    def serve(self, log):
        """The address of a dashboard that lives as long as the test."""
        server = subprocess.Popen([UNITRACE, "devlog", log, "-o", "served", "--no-print-stats",
                                   "--serve", "-p", "0"], cwd=self.dir, stderr=subprocess.PIPE,
                                  text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))

    def kernels(self, name):
        with open(self.dir / name / "device_kernels.csv", newline="") as file:
            return list(csv.DictReader(file))

    def check_all(self, page, seen):
        """What holds for every page: quiet, told apart, named, readable."""
        self.assertEqual(seen["outside"] + seen["console"], [])
        self.assertEqual(seen["elements"], 0)
        self.assertTrue(seen["title"].startswith(f"{page.parent.name}.csv"), seen["title"])
        self.assertRegex(seen["bar"], r"MHz, \d+ chips?, .*log of \d{4}-\d\d-\d\d \d\d:\d\d UTC")
        self.assertEqual(seen["tab"], "Cores")
        self.assertLess(*seen["tops"])  # the verdict, with what to do about it, before the map
        self.assertGreaterEqual(len(seen["verdict"]["text"]), 40)
        self.assertLess(seen["zoomed"], 0.9)
        self.assertLessEqual(seen["small"]["wide"], 420)
        self.assertGreaterEqual(seen["small"]["font"], 10)
        self.assertEqual(seen["small"]["cut"], 0)
        self.assertEqual(seen.get("axe", []), [])
        for cell in seen["cells"]:
            self.assertRegex(cell["label"], r"^core \(\d+, \d+\): ")
            self.assertIn(cell["tone"], ("unmeasured", *(f"q{i}" for i in range(6))))

    def check_cores(self, name, seen, mhz):
        """Cells by op: those of the longest kernel as device_kernels.csv has it."""
        for row in self.kernels(name):
            op = row.get("op") or row["launch"]
            mine = [cells for text, cells in seen["byOp"].items() if re.match(rf"(op|launch) {op},", text)]
            x, y = row["slowest core"].split(";")
            longest = int(row["slowest core [cycles]"]) * 1000 / mhz
            found = [cell for cells in mine for cell in cells if cell["at"] == f"{x},{y}"]
            self.assertTrue(found, op)
            self.assertTrue(any(f"): {longest:.0f}\u202fns" in cell["label"] or longest >= 1000
                                for cell in found), (row, found))
            for cells in mine:
                self.assertEqual(sum(cell["tone"] != "unmeasured" for cell in cells), int(row["cores"]))

    def test_a_log_of_timer_numbers(self):
        page = self.make("old", old_log())
        seen = open_pages(self.dir, page)[str(page)]
        self.check_all(page, seen)
        self.assertEqual({cell["at"] for cell in seen["cells"]}, {f"{row[1]},{row[2]}" for row in OLD_ROWS})
        self.check_cores("old", seen, 1000)
        # every firmware and kernel of the log is a bar, as long as its markers are apart
        want = collections.Counter()
        for x, y, risc in {row[1:4] for row in OLD_ROWS}:
            lane = [row[4:] for row in sorted(OLD_ROWS, key=lambda r: r[5]) if row[1:4] == (x, y, risc)]
            for name, first, last in (("FW", 1, 4), ("KERNEL", 2, 3)):
                starts = [t for timer, t in lane if timer == first]
                ends = [t for timer, t in lane if timer == last]
                want.update((name, f"({x}, {y}) {risc}", end - start)
                            for start, end in zip(starts, ends, strict=True))
        want.update([("Kernel start->5", "(1, 0) BRISC", 50), ("5->Kernel End", "(1, 0) BRISC", 150)])
        got = collections.Counter((name, track.split(" / ")[-1], length)
                                  for name, track, _, length, _ in seen["bars"] if name != "marker 5")
        self.assertEqual(got, want)
        # firmware, kernels and the user's own have a colour each
        for colour in ("c9", "c0", "c3"):
            self.assertGreater(seen["colours"][colour], 20, seen["colours"])
        self.assertEqual(seen["colours"]["c1"], 0)
        self.assertEqual([name for name, _ in seen["shownTables"]][:2], ["Duration Stats Table", "By zone"])

    def test_a_log_of_zones(self):
        page = self.make("zones", zone_log())
        seen = open_pages(self.dir, page)[str(page)]
        self.check_all(page, seen)
        self.check_cores("zones", seen, 1000)
        self.assertEqual(len(seen["cells"]), 2)
        bars = collections.Counter(name for name, *_ in seen["bars"])
        self.assertEqual(bars, {"BRISC-FW": 4, "NCRISC-FW": 4, "BRISC-KERNEL": 4, "NCRISC-KERNEL": 4,
                                "MINE": 8, "NOTE": 8, "op 1024": 1, "op 2048": 1})
        self.assertIn("MINE", seen["byMeasure"])
        self.assertEqual({cell["text"] for cell in seen["byMeasure"]["MINE"]}, {"200"})
        # a click: the rows of that core are the area; a slice in the timeline: its core is chosen here
        last = seen["cells"][-1]["at"].replace(",", ", ")
        self.assertEqual(seen["clicked"]["area"], [f"({last}) BRISC", f"({last}) NCRISC"])
        self.assertEqual([c["at"] for c in seen["clicked"]["cells"] if c["selected"] == "true"],
                         [seen["cells"][-1]["at"]])
        self.assertEqual(seen["typed"]["at"], seen["cells"][1]["at"])
        self.assertEqual([c["at"] for c in seen["typed"]["cells"] if c["selected"] == "true"],
                         [seen["cells"][1]["at"]])
        x, y = re.match(r"\((\d+), (\d+)\)", seen["chosen"]).groups()
        self.assertEqual(seen["chosenCells"], [f"{x},{y}"])
        self.assertEqual(len(seen["legend"]), 6)
        self.assertTrue(all("ns" in text or "µs" in text for text in seen["legend"]), seen["legend"])
        self.assertRegex(seen["grid"], r"^Kernel time of 2 cores; the greatest: core \(\d+, \d+\): ")
        # names stand whole in bars that have room for them
        self.assertIn("BRISC-FW", seen["labels"])
        self.assertIn("core (1, 1)", "".join(seen["heads"]))
        self.assertEqual(seen["tables"]["ops"]["rows"], len(self.kernels("zones")))
        self.assertIn("log of ", seen["summary"])

    def test_colours_and_words_tell_2_from_100_percent(self):
        pages = {above: self.make(f"by{above}", zone_log(list(uneven(above / 100)))) for above in (2, 100)}
        seen = open_pages(self.dir, *pages.values(), how="look")
        little, much = (seen[str(pages[above])] for above in (2, 100))
        self.assertEqual(little["verdict"]["tone"].split(), ["verdict"])
        self.assertEqual(much["verdict"]["tone"].split(), ["verdict", "bad"])
        self.assertIn("Core (0, 1) holds up the others", much["verdict"]["text"])
        self.assertIn("Split the work", much["verdict"]["text"])

        def slowest(page):
            return next(cell["tone"] for cell in page["cells"] if cell["at"] == "0,1")
        self.assertEqual(slowest(much), "q5")
        self.assertEqual({cell["tone"] for cell in little["cells"]}, {"q2"})

    def test_several_chips_hostile_names_and_many_rows(self):
        chips = self.make("chips", zone_log([*zone_rows(0), *zone_rows(1, shift=777)]))
        hostile = self.make("hostile", zone_log(zone_rows()).replace("MINE", HOSTILE))
        rows = self.make("many", zone_log(many()))
        seen = open_pages(self.dir, chips, hostile, rows, how="use")
        for page in (chips, hostile, rows):
            self.check_all(page, seen[str(page)])
        self.assertEqual([o for o in seen[str(chips)]["options"][0]], [["0", "0"], ["1", "1"]])
        self.assertIn(HOSTILE, {bar[0] for bar in seen[str(hostile)]["bars"]})
        self.assertIn(HOSTILE.replace("<", "<"), "".join(seen[str(hostile)]["byMeasure"]))
        self.assertEqual(len(seen[str(rows)]["cells"]), 64)
        scrolls = seen[str(rows)]["scrolls"]
        self.assertGreater(scrolls["at"], 100)
        self.assertEqual(scrolls["at"], scrolls["most"])
        self.assertNotEqual(scrolls["heads"], seen[str(rows)]["heads"])
        self.assertIn("core (7, 7)", "".join(scrolls["heads"]))

    def test_of_too_many_bars_the_longest_are_there_and_the_tables_count_all(self):
        page = Page(self.make("long", zone_log(zone_rows(ops=100)), "--page-bars", "200"))
        self.assertIn("were left out to keep this page small", page.info["left"])
        self.assertLess(sum(map(len, page.rows)), 1300)
        self.assertEqual(sum(row["count"] for row in page.table("zones", "zones")), 1200)
        self.assertEqual(len(page.table("ops", "ops")), 100)

    def test_the_dashboard(self):
        (self.dir / "old.csv").write_text(old_log())
        address = self.serve("old.csv")
        seen = open_pages(self.dir, address)[address]
        self.assertEqual(seen["outside"] + seen["console"], [])
        self.assertRegex(seen["download"]["name"], r"^\d{4}(_\d\d){5}_device_perf_results.tgz$")
        self.assertEqual(seen["download"]["bytes"],
                         (self.dir / "served/device_perf_results.tgz").stat().st_size)
        self.assertIn("Statistics (text)", seen["links"])
        self.assertEqual(len(seen["cells"]), 2)


if __name__ == "__main__":
    main()
