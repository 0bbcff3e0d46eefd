"""The page of unitrace devlog in a headless Chromium: bars counted, named and measured, zoomed and
hovered over, and nothing asked of any network. Skipped without node, Chromium or playwright-core."""
import json
import re
import shutil
import subprocess
import unittest

from common import BUILD, SOURCE, UNITRACE, Case, main, skip
from devlog_support import old_log, page_data, zone_log, zone_rows

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")


def open_pages(folder, *pages):
    """What devlog_page.js saw, per page."""
    if not shutil.which("node"):
        raise unittest.SkipTest("node is not installed")
    out = folder / "seen.json"
    run = subprocess.run(["node", SOURCE / "tests/e2e/devlog_page.js", BUILD / "node/node_modules",
                          out, *map(str, pages)], capture_output=True, text=True, timeout=240)
    if run.returncode == 77:
        raise unittest.SkipTest(run.stderr.strip() + " (tools/setup.sh node)")
    assert run.returncode == 0, run.stderr
    return json.loads(out.read_text())


class Pages(Case):
    def make(self, name, log, *words):
        if isinstance(log, str):
            (self.dir / f"{name}.csv").write_text(log)
            log = self.dir / f"{name}.csv"
        subprocess.run([UNITRACE, "devlog", log, "-o", self.dir / name, "--no-print-stats",
                        "--no-artifacts", "--no-analysis-json", *words], check=True, timeout=60,
                       capture_output=True)
        return self.dir / name / "device_perf.html"

    def serve(self, log):
        """The address of a dashboard that lives as long as the test."""
        server = subprocess.Popen([UNITRACE, "devlog", log, "-o", "served", "--no-print-stats",
                                   "--serve", "-p", "0"], cwd=self.dir, stderr=subprocess.PIPE,
                                  text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return re.search(r"http://\S+", server.stderr.readline())[0]

    def check_use(self, seen):
        self.assertEqual(seen["outside"], [])
        self.assertEqual(seen["console"], [])
        self.assertLess(seen["zoomed"]["to"] - seen["zoomed"]["from"],
                        seen["before"]["to"] - seen["before"]["from"])
        self.assertEqual(seen["reset"]["to"], seen["before"]["to"])
        self.assertRegex(seen["hover"]["got"], f"^{re.escape(seen['hover']['want'])}"
                         f"( is the longest of [0-9,]+ within)?\n{seen['hover']['cycles']:,} cycles")
        self.assertGreaterEqual(seen["tables"], 2)

    def check_long(self, path, seen):
        """Of 4 lanes with 300 bars each: fewer are drawn, all are counted, the ends stay."""
        data = page_data(path)
        self.assertEqual(data["bars_all"], 1200)
        self.assertGreater(data["within"], 0)
        for lane in seen["lanes"]:
            self.assertLessEqual(len(lane["bars"]), 40)
            self.assertEqual(sum(bar["together"] for bar in lane["bars"]), 300)
            self.assertEqual({bar["label"] for bar in lane["bars"]}, {lane["risc"] + "-FW",
                                                                     lane["risc"] + "-KERNEL", "MINE"})
        self.assertEqual(sum(row[2] for row in data["by_zone"]), 1200)
        self.assertIn(" is the longest of ", seen["hover"]["got"])

    def test_small_logs_show_every_bar(self):
        pages = [self.make("old", old_log()), self.make("zones", zone_log()),
                 self.make("chips", zone_log([*zone_rows(0), *zone_rows(1, shift=777)])),
                 self.make("hostile", zone_log(zone_rows()).replace("MINE", "</script><img src=x>")),
                 self.make("long", zone_log(zone_rows(ops=100)), "--page-bars", "200")]
        dashboard = self.serve("old.csv")
        seen = open_pages(self.dir, *pages, dashboard)
        self.assertEqual(seen[dashboard]["frame"], "Device profile")
        self.assertEqual(seen[dashboard]["outside"] + seen[dashboard]["console"], [])
        self.assertRegex(seen[dashboard]["download"]["name"],
                         r"^\d{4}(_\d\d){5}_device_perf_results.tgz$")
        self.assertEqual(seen[dashboard]["download"]["bytes"],
                         (self.dir / "served/device_perf_results.tgz").stat().st_size)
        for page in pages:
            self.check_use(seen[str(page)])
        old = {(tuple(lane["core"]), lane["risc"]): [(b["start"], b["cycles"], b["label"])
                                                     for b in lane["bars"]]
               for lane in seen[str(pages[0])]["lanes"]}
        self.assertEqual(old[(0, 2), "BRISC"],
                         [(0, 10, "Start->Firmware Start"), (10, 101, "Firmware Start->Kernel start"),
                          (111, 222, "Kernel start->Kernel End"), (333, 111, "Kernel End->Firmware End")])
        self.assertEqual([b[2] for b in old[(1, 0), "BRISC"]][2:4], ["Kernel start->5", "5->Kernel End"])
        zones = seen[str(pages[1])]["lanes"]
        self.assertEqual([len(lane["bars"]) for lane in zones], [6] * 4)
        self.assertEqual([(b["label"], b["cycles"], b["depth"], b["op"]) for b in zones[0]["bars"][:3]],
                         [("BRISC-FW", 1100, 0, 1024), ("BRISC-KERNEL", 900, 1, 1024),
                          ("MINE", 100, 2, 1024)])
        chips = seen[str(pages[2])]["lanes"]
        self.assertEqual({lane["chip"] for lane in chips}, {0, 1})
        self.assertEqual({lane["bars"][0]["start"] for lane in chips if lane["risc"] == "BRISC"}, {0, 10})
        self.check_long(pages[4], seen[str(pages[4])])
        self.assertIn("</script><img src=x>",
                      {b["label"] for lane in seen[str(pages[3])]["lanes"] for b in lane["bars"]})


if __name__ == "__main__":
    main()
