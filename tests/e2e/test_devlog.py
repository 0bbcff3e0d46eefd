"""unitrace devlog: every file of the original byte for byte, small logs with results computed by
hand, all layouts, what is wrong with a log, and the dashboard."""
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tarfile
import unittest

from common import PATIENCE, UNITRACE, Case, main, skip
from devlog_support import (DATA, FIRST, GOLDEN, OLD_ROWS, SIX, ZONES, Page, drawn_bars, old_log,
                            page_bars, summed, zone_log, zone_rows)

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

HAS_PAGE = b"as one file" in subprocess.run([UNITRACE, "--version"], capture_output=True).stdout

EXACT = ("device_stats.txt", "device_rearranged_timestamps.csv", "device_chrome_tracing.json",
         "device_analysis_data.json", "profile_log_device.csv")


class Devlog(Case):
    def run_devlog(self, log, *words, status=0):
        """Runs it on a text or a path; stdout, stderr."""
        if isinstance(log, str):
            (self.dir / "log.csv").write_text(log)
            log = self.dir / "log.csv"
        done = subprocess.run([UNITRACE, "devlog", log, "-o", self.dir / "out", *words],
                              capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def text(self, name):
        return (self.dir / "out" / name).read_bytes().decode()

    def analysis(self):
        return json.loads(self.text("device_analysis_data.json"))["data"]


class Golden(Devlog):
    def test_every_file_of_the_original_is_the_same(self):
        if not GOLDEN.is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        for case in sorted(GOLDEN.iterdir()):
            with self.subTest(case.name):
                out, _ = self.run_devlog(case / "profile_log_device.csv", "--no-artifacts")
                for name in EXACT:
                    if (case / name).exists():
                        self.assertTrue((case / name).read_bytes() ==
                                        (self.dir / "out" / name).read_bytes(), name)
                stats = case / "device_stats.txt"
                self.assertEqual(out, stats.read_text() if stats.exists()
                                 else "wormhole_b0 stat print is not supported\n")
                self.assertEqual(stats.exists(), (self.dir / "out/device_stats.txt").exists())
                for page in ("device_perf.html", "Chip_0_Cores_timeline.html") if HAS_PAGE else ():
                    self.assertEqual(page_bars(Page(self.dir / "out" / page)),
                                     summed(drawn_bars(case / "Chip_0_Cores_timeline.js")), page)

    def test_a_log_of_today_gives_what_the_original_gives(self):
        folder = DATA / "modern_device_synthetic" / "art"
        if not folder.is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        self.run_devlog(folder / ".logs" / "profile_log_device.csv", "--no-print-stats")
        want = folder / "output" / "device"
        self.assertEqual((want / "device_stats.txt").read_text(), self.text("device_stats.txt"))
        got = json.loads(self.text("device_analysis_data.json"))
        golden = json.loads((want / "device_analysis_data.json").read_text())
        for data in (got, golden):
            del data["setup"]["deviceInputLog"]
        self.assertTrue(got == golden)

    def test_other_layouts_are_read(self):
        if not (DATA / "formats").is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        for path in sorted((DATA / "formats").iterdir()):
            self.run_devlog(path, "--no-print-stats")


class OldLogs(Devlog):
    def test_statistics_are_those_computed_by_hand(self):
        out, err = self.run_devlog(old_log())
        self.assertEqual(err, f"unitrace: results are in {self.dir / 'out'}\n")
        self.assertEqual(out, self.text("device_stats.txt"))
        blocks = dict(re.findall(r"=+ (.*) =+\n((?:.*\[cycles\].*\n)+)", out))
        numbers = {name: re.findall(r"(\w+) \[cycles\] = +([\d,]+)", text)
                   for name, text in blocks.items()}
        # kernels of BRISC: 200, 301 on core (1, 0), 222 on (0, 2); medians 250.5 and 222
        self.assertEqual(numbers["BRISC kernel start -> BRISC kernel end"],
                         [("Count", "3"), ("Average", "241"), ("Max", "301"), ("Median", "236"),
                          ("Min", "200")])
        self.assertEqual(numbers["NCRISC kernel start -> NCRISC kernel end"],
                         [("Duration", "100")])
        self.assertEqual(numbers["T0 -> ANY CORE ANY RISC FW end"], [("Duration", "4,500")])
        # launches: 500 (NCRISC ends last) and 500 on (1, 0), 434 on (0, 2)
        self.assertEqual(numbers["ANY RISC FW start -> ANY RISC FW end"][:3],
                         [("Count", "3"), ("Average", "478"), ("Max", "500")])
        self.assertIn("250\u00b150", out)
        self.assertNotIn("TRISC0", out)

    def test_timestamps_are_arranged_by_core(self):
        self.run_devlog(old_log(), "--no-print-stats")
        lines = self.text("device_rearranged_timestamps.csv").split("\r\n")
        self.assertEqual(lines[0], "Clock Frequency [MHz],1000")
        self.assertEqual(lines[1], "PCIe slot,0")
        self.assertEqual(lines[3], "1,0,1000 5000,1100 5100,1300 5401,1400 5500,1050,1120,1220,1500")
        self.assertEqual(lines[4], "0,2,1010,1111,1333,1444,,,,")
        self.assertEqual(lines[5:], [""])

    def test_order_of_rows_does_not_matter(self):
        self.run_devlog(old_log(), "--no-print-stats")
        stats, csv = self.text("device_stats.txt"), self.text("device_rearranged_timestamps.csv")
        self.run_devlog(old_log(OLD_ROWS[::-1]), "--no-print-stats")
        self.assertEqual(stats, self.text("device_stats.txt"))
        self.assertEqual(csv, self.text("device_rearranged_timestamps.csv"))

    def test_first_lines_may_be_missing(self):
        self.run_devlog(old_log(), "--no-print-stats")
        want = self.text("device_stats.txt")
        for log in (old_log(first="", header=False), old_log(first=""), old_log(header=False),
                    old_log(first="Chip clock is at 1.2 GHz\n").replace("\n", "\r\n"),
                    "\n" + old_log() + "\n\n"):
            _, err = self.run_devlog(log, "--no-print-stats")
            self.assertEqual(want, self.text("device_stats.txt"))
            self.assertEqual("no line about the chip" in err, log.startswith(("0", "PCI")))
        self.run_devlog(old_log(first=""), "--no-print-stats", "--arch", "grayskull",
                        "--frequency", "777")
        self.assertIn("[MHz],777\r\n", self.text("device_rearranged_timestamps.csv"))

    def test_a_second_chip_inherits_a_smaller_t0(self):
        rows = OLD_ROWS + [(3, 0, 0, "BRISC", 1, 5000), (3, 0, 0, "BRISC", 4, 5700)]
        out, _ = self.run_devlog(old_log(rows))
        self.assertEqual(out.count("=== T0 -> BRISC FW start ==="), 2)
        self.assertIn("    Duration [cycles] =      4,000\n", out)
        chips = self.analysis()["devices"]
        self.assertEqual(list(chips), ["0", "3"])
        self.assertEqual(chips["3"]["metadata"]["global_min"],
                         {"core": "(1, 0)", "risc": "BRISC", "ts": 1000})
        self.assertEqual((self.dir / "out/Chip_3_Cores_timeline.html").exists(), HAS_PAGE)

    def test_a_log_that_claims_thousands_of_chips_does_not_fill_the_disk(self):
        got = self.run_devlog(old_log([(chip, 1, 1, "BRISC", n, 1000 + n * 10)
                                       for chip in range(1000) for n in (1, 2, 3, 4)]),
                              "--no-print-stats")
        if not HAS_PAGE:
            self.skipTest("built without the viewer")
        pages = list((self.dir / "out").glob("Chip_*_Cores_timeline.html"))
        self.assertEqual(len(pages), 256)
        self.assertIn("1000 chips: only the first 256 get a page of their own", got[1])
        self.assertEqual(len({lane[0] for lane, _ in Page(self.dir / "out/device_perf.html").lanes()}),
                         1000)

    def test_a_build_without_the_viewer_says_so_and_writes_the_rest(self):
        _, err = self.run_devlog(old_log(), "--no-print-stats")
        self.assertEqual((self.dir / "out/device_perf.html").exists(), HAS_PAGE)
        self.assertEqual(err.count("device_perf.html is left out: built without"), int(not HAS_PAGE))
        self.assertTrue((self.dir / "out/device_trace.utr").exists())

    @unittest.skipUnless(HAS_PAGE, "built without the viewer")
    def test_the_page_of_several_chips_begins_with_their_first_markers(self):
        self.run_devlog(old_log([(chip, 1, 1, "BRISC", n, 1000 + chip * 10 ** 6 + n * 10)
                                 for chip in (0, 1) for n in (1, 2, 3, 4)]), "--no-print-stats")
        want = [(0, 30, "FW", "firmware", {"cycles": 30}), (10, 10, "KERNEL", "kernel", {"cycles": 10})]
        for page, chips in (("device_perf", (0, 1)), ("Chip_1_Cores_timeline", (1,))):
            lanes = dict(Page(self.dir / f"out/{page}.html").lanes())
            self.assertEqual(set(lanes), {(chip, (1, 1), "BRISC") for chip in chips})
            for rows in lanes.values():
                first = rows[0][0]
                self.assertEqual([(row[0] - first, *row[1:]) for row in rows], want)
        lanes = dict(Page(self.dir / "out/device_perf.html").lanes())
        self.assertEqual(*(lanes[chip, (1, 1), "BRISC"][0][0] for chip in (0, 1)))

    def test_other_architectures_have_statistics_when_asked(self):
        log = old_log(first="ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n")
        out, _ = self.run_devlog(log)
        self.assertEqual(out, "wormhole_b0 stat print is not supported\n")
        self.assertFalse((self.dir / "out/device_stats.txt").exists())
        out, _ = self.run_devlog(log, "--any-arch")
        self.assertIn("BRISC kernel start", out)
        self.assertNotIn("DRAM", out)

    def test_a_setup_puts_its_rules_first(self):
        out, _ = self.run_devlog(old_log(OLD_ROWS + [(0, 1, 0, "BRISC", 5, 1190)]), "-s",
                                 "test_full_buffer")
        self.assertTrue(out.startswith("\n=================== Marker Repeat ==="))
        self.assertIn("Duration [cycles] =         40\n", out)
        _, err = self.run_devlog(old_log(), "-s", "no_such", status=1)
        self.assertIn("Setup no_such not available", err)

    def test_launches_are_kernels(self):
        out, _ = self.run_devlog(old_log(), "--no-print-stats", "--kernels")
        self.assertIn("launch", out)
        rows = [line.split(",") for line in self.text("device_kernels.csv").splitlines()]
        self.assertEqual(rows[1], ["0", "1", "", "", "1000", "2", "500", "233", "233", "", "0;2",
                                   "222"])
        self.assertEqual(rows[2][1:], ["2", "", "", "5000", "1", "500", "301", "301", "3767", "1;0",
                                       "301"])


class ZoneLogs(Devlog):
    def test_ops_are_measured(self):
        out, err = self.run_devlog(zone_log())
        self.assertEqual(err, f"unitrace: results are in {self.dir / 'out'}\n")
        summary = {name: value["stats"]
                   for name, value in self.analysis()["devices"]["0"]["cores"]["DEVICE"]["analysis"].items()}
        # cores start 10 cycles apart, kernels take 100 to 1000 of their core's time
        self.assertEqual(summary["device_kernel_duration"],
                         {"Average": 910.0, "Count": 2, "Max": 910, "Median": 910.0, "Min": 910,
                          "Range": 0, "Sum": 1820})
        self.assertEqual(summary["device_fw_duration"]["Max"], 1110)
        self.assertEqual(summary["device_kernel_duration_per_core"]["Count"], 4)
        self.assertEqual(summary["device_kernel_first_to_last_start"]["Max"], 30)
        self.assertEqual(summary["op2op"], {"Average": 9100.0, "Count": 2, "Max": 9100,
                                            "Median": 9100.0, "Min": 9100, "Range": 0, "Sum": 18200})
        self.assertIn("       Count          =          2\n", out)
        tensix = self.analysis()["devices"]["0"]["cores"]["DEVICE"]["riscs"]["TENSIX"]
        self.assertEqual(len(tensix["ops"]), 2)
        self.assertEqual(len(tensix["events"]["perf_counter_data"]), 4)

    def layouts(self):
        """The same rows as every layout has them: name, header, fields of a row."""
        six = SIX.split(", ")
        for name, header, at in (
                ("E2", "stat value, Run ID, zone name, zone phase, source line, source file",
                 (6, 7, 10, 11, 12, 13)),
                ("E3", "stat value, run ID, run host ID, zone name, zone phase, source line, "
                 "source file", (6, 7, 7, 10, 11, 12, 13)),
                ("E4", "data, run ID, run host ID, zone name, type, source line, source file",
                 (6, 7, 7, 10, 11, 12, 13)),
                ("E4b", "data, run ID, run host ID, zone name, type, source line, source file, "
                 "meta data", (6, 7, 7, 10, 11, 12, 13, 14)),
                ("E5", "data, run host ID,  zone name, type, source line, source file, meta data",
                 (6, 7, 10, 11, 12, 13, 14)),
                ("E6", ", ".join(ZONES.split(", ")[6:]), tuple(range(6, 15)))):
            yield name, ", ".join(six) + ", " + header, (0, 1, 2, 3, 4, 5, *at)

    def test_every_layout_gives_the_same_statistics_with_or_without_header(self):
        self.run_devlog(zone_log(), "--no-print-stats")
        want = self.text("device_stats.txt")
        old = {"ZONE_START": "begin", "ZONE_END": "end"}
        for name, header, at in self.layouts():
            rows = []
            for row in zone_rows():
                cells = [str(row[i]) for i in at]
                if "zone phase" in header:
                    cells = [old.get(cell, cell) for cell in cells]
                rows.append(", ".join(cells) + "\n")
            for with_header in (True, False):
                with self.subTest(name, header=with_header):
                    self.run_devlog("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n" +
                                    (header + "\n" if with_header else "") + "".join(rows),
                                    "--no-print-stats")
                    self.assertEqual(want, self.text("device_stats.txt"))

    def test_columns_are_found_by_name(self):
        self.run_devlog(zone_log(), "--no-print-stats")
        want = self.text("device_stats.txt")
        names = ZONES.split(", ")
        for order in ([0, 1, 2, 3, 4, 6, 5, *range(7, 15)], [10, 11, *range(10), 12, 13, 14]):
            text = ", ".join(names[i] for i in order) + "\n" + "".join(
                ",".join(str(row[i]) for i in order) + "\n" for row in zone_rows())
            self.run_devlog("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n" + text, "--no-print-stats")
            self.assertEqual(want, self.text("device_stats.txt"))

    def test_the_timeline_holds_every_zone(self):
        trace = self.dir / "t.json"
        self.run_devlog(zone_log(), "--no-print-stats", "-t", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        spans = [e for e in events if e["ph"] == "X"]
        self.assertEqual(len(spans), 3 * 2 * 2 * 2)
        mine = [e for e in spans if e["name"] == "MINE"]
        self.assertEqual({(e["dur"], e["cat"], e["args"]["op"]) for e in mine},
                         {(0.1, "user", 1024), (0.1, "user", 2048)})
        self.assertEqual(sum(e["ph"] == "i" for e in events), 8)
        self.assertEqual(trace.read_text(), self.text("device_chrome_tracing.json"))
        names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertIn("(2, 1) NCRISC", names)

    def test_chips_are_brought_together_by_their_ops(self):
        rows = [*zone_rows(0), *zone_rows(1, shift=5_000_000)]
        trace = self.dir / "t.json"

        def starts(*words):
            _, err = self.run_devlog(zone_log(rows), "--no-print-stats", "-t", trace, *words)
            events = json.loads(trace.read_text())["traceEvents"]
            return err, [min(e["ts"] for e in events if e["ph"] == "X" and e["pid"] == chip)
                         for chip in (0, 1)]
        err, (first, second) = starts()
        self.assertEqual(first, second)
        self.assertIn("by 2 common ops; half of them agree to 0 cycles", err)
        _, (first, second) = starts("--align", "none")
        self.assertEqual(second - first, 5000)
        err, (first, second) = starts("--align", "start")
        self.assertEqual(first, second)
        self.assertIn("first markers", err)

    def test_cores_that_dispatch_are_apart(self):
        def row(risc, ts, kind, meta="", zone="CQ-DISPATCH"):
            return (0, 9, 9, risc, 5, ts, 0, 0, "", "", zone, kind, 1, "d.cc", meta)
        rows = [*zone_rows(),
                row("BRISC", 100, "ZONE_START"),
                row("BRISC", 110, "TS_DATA", '{"workers_runtime_id":7}'),
                row("BRISC", 120, "TS_DATA", '{"dispatch_command_type":"CQ_DISPATCH_CMD_WRITE"}'),
                row("BRISC", 200, "ZONE_END"),
                row("NCRISC", 130, "ZONE_START", zone="CQ-PREFETCH"),
                row("NCRISC", 140, "TS_DATA", '{"dispatch_command_type":"CQ_DISPATCH_CMD_SEND_GO_SIGNAL"}'),
                row("NCRISC", 190, "ZONE_END", zone="CQ-PREFETCH")]
        self.run_devlog(zone_log(rows), "--no-print-stats")
        summary = self.analysis()["devices"]["0"]["cores"]["DEVICE"]["analysis"]
        self.assertEqual(summary["dispatch_total_cq_cmd_op_time"]["stats"]["Sum"], 100)
        self.assertEqual(summary["dispatch_go_send_wait_time"]["stats"]["Sum"], 60)

    def test_two_logs_are_compared(self):
        slow = [(*row[:5], row[5] * 2, *row[6:]) for row in zone_rows()]
        (self.dir / "slow.csv").write_text(zone_log(slow))
        out, _ = self.run_devlog(zone_log(), "--compare", self.dir / "slow.csv")
        self.assertRegex(out, r"device_kernel_duration +2 +2 +910\.0 +1820\.0 +\+100\.0 %")
        self.assertFalse((self.dir / "out").exists())
        _, err = self.run_devlog(old_log(), "--compare", self.dir / "slow.csv", status=1)
        self.assertIn("one has zones", err)


class Files(Devlog):
    def test_the_tarball_holds_all_other_files(self):
        self.run_devlog(old_log(), "--no-print-stats")
        folder = self.dir / "out"
        self.assertEqual((folder / "device_perf_results.tar").read_bytes(),
                         (folder / "device_perf_results.tgz").read_bytes())
        with tarfile.open(folder / "device_perf_results.tgz", "r:gz") as tar:
            names = tar.getnames()
            self.assertEqual(set(names), {"./" + p.name for p in folder.iterdir()
                                          if p.suffix not in (".tgz", ".tar")})
            for name in names:
                self.assertEqual(tar.extractfile(name).read(), (folder / name).read_bytes())

    def test_parts_can_be_left_out(self):
        self.run_devlog(old_log(), "--no-print-stats")
        self.run_devlog(old_log(), "--no-print-stats", "--no-plots", "--no-artifacts",
                        "--no-analysis-json", "--no-webapp")
        self.assertEqual(sorted(p.name for p in (self.dir / "out").iterdir()), [
            "device_chrome_tracing.json", "device_kernels.csv", "device_rearranged_timestamps.csv",
            "device_stats.txt", "device_trace.utr", "profile_log_device.csv"])

    def test_packed_logs_and_standard_input_are_read(self):
        (self.dir / "log.gz").write_bytes(gzip.compress(old_log().encode()))
        want, _ = self.run_devlog(old_log())
        self.assertEqual(self.run_devlog(self.dir / "log.gz")[0], want)
        done = subprocess.run([UNITRACE, "devlog", "-d", "-", "-o", self.dir / "out"],
                              input=old_log().encode(), capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.stdout.decode(), want)

    def test_old_options_work(self):
        (self.dir / "logs").mkdir()
        (self.dir / "logs/profile_log_device.csv").write_text(old_log())
        for words in ([UNITRACE, "devlog"], [UNITRACE.parent / "process_device_log.py"]):
            shutil.rmtree(self.dir / "output", ignore_errors=True)
            subprocess.run([*words, "--no-print-stats", "--no-webapp"], cwd=self.dir, check=True,
                           timeout=PATIENCE)
            self.assertTrue((self.dir / "output/device/device_stats.txt").exists())


    def test_a_log_below_the_home_of_tt_metal_is_found(self):
        home = self.dir / "home"
        for folder, output in (("generated/profiler/.logs", self.dir / "output/device"),
                               ("tt_metal/tools/profiler/logs",
                                home / "tt_metal/tools/profiler/output/device")):
            (home / folder).mkdir(parents=True)
            (home / folder / "profile_log_device.csv").write_text(old_log())
            done = subprocess.run([UNITRACE, "devlog", "--no-print-stats"], cwd=self.dir, timeout=PATIENCE,
                                  env={**os.environ, "TT_METAL_HOME": str(home)},
                                  capture_output=True, check=True)
            self.assertIn(f"reading {home / folder}/profile_log_device.csv", done.stderr.decode())
            self.assertTrue((output / "device_stats.txt").exists())
        done = subprocess.run([UNITRACE, "devlog"], cwd=self.dir, timeout=PATIENCE, capture_output=True,
                              env={**os.environ, "TT_METAL_HOME": "elsewhere"}, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"neither here nor below $TT_METAL_HOME", done.stderr)


class Doubts(Devlog):
    def test_missing_markers_are_reported(self):
        rows = [row for row in OLD_ROWS if row[3:] != ("NCRISC", 4, 1500)]
        _, err = self.run_devlog(old_log(rows), "--no-print-stats")
        self.assertIn("1 starts without an end, 0 ends without a start, on 1 RISCs, most on chip 0 "
                      "core (1, 0) NCRISC", err)

    def test_a_wrapped_counter_is_reported(self):
        high = 5 << 32
        rows = [(0, 0, 0, "BRISC", 1, high - 100), (0, 0, 0, "BRISC", 4, high - (1 << 32) + 50)]
        _, err = self.run_devlog(old_log(rows), "--no-print-stats")
        self.assertRegex(err, r"log\.csv:4: the time goes back by about 2\^32 cycles")

    def test_firmware_that_starts_twice_does_not_abort(self):
        rows = [*zone_rows(ops=1)]
        rows.insert(1, (*rows[0][:5], rows[0][5] + 1, *rows[0][6:]))
        _, err = self.run_devlog(zone_log(rows), "--no-print-stats")
        self.assertIn("firmware starts 1 times", err)
        self.assertIn("device_kernel_duration", self.text("device_stats.txt"))

    def test_bad_logs_are_refused_with_the_line_and_nothing_is_written(self):
        good = "0, 0, 0, BRISC, 1, 100\n"
        for log, line, why in (
                ("", None, "empty"),
                ("hello\n", 1, "not a device log"),
                ("{\"traceEvents\":[]}\n", 1, "not a device log"),
                (FIRST, None, "no names of columns"),
                (FIRST + SIX + "\n", 2, "no rows"),
                (FIRST + SIX.replace("timer_id", "x") + "\n" + good, 2, "no column 'timer_id'"),
                (FIRST + SIX + "\n" + good + "0, 0, 0, BRISC, 1\n", 4, "5 fields where 6"),
                (FIRST + SIX + "\n" + good + "0, 0, 0, BRISC, 1, 1e5\n", 4, "not a time in cycles: '1e5'"),
                (FIRST + SIX + "\n0, 0, 0, BRISC, 1, 18446744073709551616\n", 3, "not a time"),
                (FIRST + SIX + "\n0, 0, 0, BRISC, x, 1\n", 3, "not a timer number: 'x'"),
                (FIRST + SIX + "\n-1, 0, 0, BRISC, 1, 1\n", 3, "not a chip number"),
                (FIRST + SIX + "\n0, 99999, 0, BRISC, 1, 1\n", 3, "not a core's x"),
                (FIRST + SIX + "\n0, 0, 0, , 1, 1\n", 3, "no RISC"),
                (zone_log([next(zone_rows())[:9]]), 3, "9 fields where"),
                ("x" * (2 << 20), 1, "line of over 1 MiB")):
            with self.subTest(log[:80]):
                _, err = self.run_devlog(log, status=1)
                self.assertEqual(err.count("\n"), 1, err)
                self.assertIn(f"log.csv{':' + str(line) if line else ''}: ", err)
                self.assertIn(why, err)
                self.assertFalse((self.dir / "out").exists())

    def test_misuse_is_status_2(self):
        for words in (["a", "b"], ["a", "-d", "b"], ["a", "-t", "x.unknown"], ["a", "--align", "x"],
                      ["--port", "70000"], ["--frequency", "0", "a"], []):
            done = subprocess.run([UNITRACE, "devlog", *words], cwd=self.dir, capture_output=True,
                                  timeout=PATIENCE)
            self.assertEqual(done.returncode, 2, words)
        self.run_devlog(self.dir / "none.csv", status=1)


@unittest.skipUnless(HAS_PAGE, "built without the viewer")
class Dashboard(Devlog):
    def setUp(self):
        super().setUp()
        (self.dir / "log.csv").write_text(old_log())
        self.port, self.said = self.start(UNITRACE, "devlog", "log.csv", "-o", "out", "--no-print-stats",
                                          "--serve", "-p", "0")

    def start(self, *words):
        """The port that it listens on, and what it said before that."""
        server = subprocess.Popen(words, cwd=self.dir, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.server, said = server, ""
        for line in server.stderr:
            found = re.search(r"127\.0\.0\.1:(\d+)/", line)
            if found:
                return int(found[1]), said
            said += line
        return self.fail(said)

    def test_the_old_name_starts_it_and_says_where_results_are(self):
        first = self.said
        self.port, said = self.start(UNITRACE.parent / "process_device_log.py", "-d", "log.csv", "-o", "old",
                                     "--no-print-stats", "-p", "0")
        self.assertIn("results are in out", first)
        self.assertIn("results are in old", said)
        self.assertEqual(self.get("/device_stats.txt")[1], (self.dir / "old/device_stats.txt").read_bytes())

    def get(self, path, method="GET", host=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self.addCleanup(link.close)
        link.request(method, path, headers={"Host": host} if host else {})
        answer = link.getresponse()
        return answer, answer.read()

    def ask(self, method, status=200, **question):
        """A question of the page: what it is answered, or the sentence that says why not."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self.addCleanup(link.close)
        link.request("POST", f"/api/{method}", json.dumps(question), {"X-Unitrace": "1"})
        answer = link.getresponse()
        body = answer.read().decode()
        self.assertEqual(answer.status, status, body)
        return json.loads(body) if status == 200 else body

    def raw(self, data):
        got = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as link:
            try:
                link.sendall(data)
                link.shutdown(socket.SHUT_WR)
                while chunk := link.recv(65536):
                    got += chunk
            except OSError as e:  # it may hang up at once
                self.assertNotIsInstance(e, TimeoutError)
        return got

    def test_a_port_that_is_taken_is_reported_and_the_files_are_there(self):
        done = subprocess.run([UNITRACE, "devlog", "log.csv", "-o", "other", "--no-print-stats", "--serve",
                               "-p", str(self.port)], cwd=self.dir, capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"port {self.port}: Address already in use; --port chooses another one", done.stderr)
        self.assertTrue((self.dir / "other/device_perf.html").exists())

    def test_it_shows_refreshes_and_downloads(self):
        answer, body = self.get("/")
        self.assertEqual(answer.status, 200)
        self.assertIn(b'<script src="app.js">', body)
        info = self.ask("info")
        self.assertEqual(info["title"], "log.csv")
        self.assertIn("download", [link["href"] for link in info["links"]])
        self.assertEqual(info["can"]["again"], True)
        self.assertEqual({row for row in self.ask("sheet", tool="devlog", name="cores")["lanes"]["data"][0]}, {0})
        for name in ("device_perf.html", "device_stats.txt", "device_trace.utr"):
            self.assertEqual(self.get(f"/{name}")[1], (self.dir / "out" / name).read_bytes())
        answer, body = self.get("/download")
        self.assertRegex(answer.headers["Content-Disposition"],
                         r'attachment; filename="\d{4}(_\d\d){5}_device_perf_results\.tgz"')
        self.assertEqual(body, (self.dir / "out/device_perf_results.tgz").read_bytes())
        (self.dir / "log.csv").write_text(old_log(OLD_ROWS + [(4, 0, 0, "BRISC", 1, 5000)]))
        self.assertIsNone(self.ask("again"))
        self.assertEqual({row for row in self.ask("sheet", tool="devlog", name="cores")["lanes"]["data"][0]},
                         {0, 4})
        (self.dir / "log.csv").write_text("<broken>\n")
        self.assertIn("not a device log", self.ask("again", status=400))
        self.assertEqual(self.ask("info")["title"], "log.csv")  # what was there stays
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(PATIENCE), 0)

    def test_bad_requests_are_refused_and_it_lives_on(self):
        for path in ("/nothing", "/../log.csv", "/%2e%2e/log.csv", "/..%2flog.csv", "//etc/passwd"):
            self.assertEqual(self.get(path)[0].status, 404, path)
        self.assertEqual(self.get("/", host="evil.example")[0].status, 403)
        self.assertEqual(self.get("/", method="POST")[0].status, 403)  # without our header
        self.assertEqual(self.get("/", method="HEAD")[1], b"")
        for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / \r\n\r\n",
                     b"GET %zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\0" * 100,
                     b"GET / HTTP/1.1\r\n\r\n", b"GET /" + b"x" * 20000):
            got = self.raw(data)  # a status that says no, or nothing at all
            self.assertTrue(not got or got[9:10] in (b"4", b"5"), (data[:40], got[:40]))
        self.assertEqual(self.raw(b""), b"")
        silent = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(10)]
        self.assertEqual(self.get("/")[0].status, 200)
        for link in silent:
            link.close()
        self.assertEqual(self.get("/")[0].status, 200)


if __name__ == "__main__":
    main()
