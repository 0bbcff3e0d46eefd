"""unitrace devlog against a second implementation of its rules, on logs made at random; and logs that
nobody should write but somebody will."""
import gzip
import json
import random
import subprocess

from common import PATIENCE, UNITRACE, Case, main, skip
from devlog_reference import (OLD_RULES, OLD_SETUPS, rearranged_old, random_old, random_zones,
                              stats_old, stats_zones)
from devlog_support import FIRST, OLD_ROWS, ZONES, old_log, zone_log, zone_rows

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

SEEDS = range(60)
QUICK = "--no-artifacts", "--no-plots", "--no-analysis-json"


class Devlog(Case):
    def run_devlog(self, log, *words, status=0):
        """Runs it on a text or bytes; stdout, stderr."""
        path = self.dir / "log.csv"
        path.write_bytes(log.encode() if isinstance(log, str) else log)
        done = subprocess.run([UNITRACE, "devlog", path, "-o", self.dir / "out", *words],
                              capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def text(self, name):
        return (self.dir / "out" / name).read_bytes().decode()


class Random(Devlog):
    def test_logs_of_timer_numbers(self):
        for seed in SEEDS:
            rng = random.Random(seed)
            rows, setup = random_old(rng), rng.choice([None, *OLD_SETUPS])
            with self.subTest(seed=seed, setup=setup):
                out, _ = self.run_devlog(old_log(rows), *QUICK, *(["-s", setup] if setup else []))
                self.assertEqual(out, stats_old(rows, setup))
                self.assertEqual(self.text("device_rearranged_timestamps.csv"),
                                 rearranged_old(rows, 1000))

    def test_logs_of_zones(self):
        for seed in SEEDS:
            rows = random_zones(random.Random(seed))
            with self.subTest(seed=seed):
                self.assertEqual(self.run_devlog(zone_log(rows), *QUICK)[0], stats_zones(rows))

    def test_the_files_are_valid_whatever_the_log(self):
        for seed in range(12):
            rng = random.Random(seed)
            log = old_log(random_old(rng)) if seed % 2 else zone_log(random_zones(rng))
            with self.subTest(seed=seed):
                self.run_devlog(log, "--no-print-stats")
                for name in ("device_chrome_tracing.json", "device_analysis_data.json"):
                    json.loads(self.text(name))
                subprocess.run([UNITRACE, "info", self.dir / "out/device_trace.utr"], check=True,
                               capture_output=True, timeout=PATIENCE)


class Matmul(Devlog):
    """The setups for tt-metal's matrix products: what kernels wait for, between markers of their own."""
    ROWS = [row for row in OLD_ROWS if row[4] != 5] + [
        (0, 1, 0, "NCRISC", number, 1130 + number) for number in (6, 7, 10, 16, 20, 24, 29, 34, 39)] + [
        (0, 1, 0, "BRISC", 5, 1200)]

    def test_each_measures_its_pairs(self):
        for setup, found in (
                ("test_matmul_multi_core_multi_dram", {"Compute~": 64}),
                ("test_matmul_multi_core_multi_dram_in0_mcast",
                 {"NCRISC start sender -> BRISC kernel end": 160,
                  "NCRISC start reciever -> BRISC kernel end": 163}),
                ("test_matmul_multi_core_multi_dram_in1_mcast",
                 {"NCRISC start sender -> BRISC kernel end": 150,
                  "NCRISC start reciever -> BRISC kernel end": 154}),
                ("test_matmul_multi_core_multi_dram_in0_mcast_in1_mcast",
                 {"NC_in0_s_in1_r -> B_end": 146, "NC_in0_s_in1_s -> B_end": 141,
                  "NC_in0_r_in1_r -> B_end": 136, "NC_in0_r_in1_s -> B_end": 131})):
            with self.subTest(setup):
                out, _ = self.run_devlog(old_log(self.ROWS), *QUICK, "-s", setup)
                titles = [line.strip("= ") for line in out.splitlines() if line.startswith("====")]
                self.assertEqual(titles[:len(found)], list(found))
                self.assertEqual(titles[len(found):], [rule[0] for rule in OLD_RULES
                                                       if "TRISC" not in rule[0]])
                for name, cycles in found.items():
                    self.assertIn(f"= {name} ===================\n    Duration [cycles] = {cycles:>10}\n",
                                  out)


class Odd(Devlog):
    """The same results, however the log is written."""
    OLD, NEW = old_log(), zone_log()

    def want(self, log):
        return self.run_devlog(log, *QUICK)[0]

    def test_line_ends_blanks_and_quotes(self):
        for log in (self.OLD, self.NEW):
            want = self.want(log)
            for name, odd in (
                    ("CRLF", log.replace("\n", "\r\n")), ("no last line end", log[:-1]),
                    ("empty lines", log.replace("\n", "\n\n")), ("tabs", log.replace(", ", ",\t")),
                    ("blanks at the end", log.replace("\n", "  \n")),
                    ("wide", log.replace(",", " ,   ")),
                    ("quotes", log.replace("NCRISC,", '"NCRISC",')),
                    ("upper case", log.replace("core_x", "CORE_X").replace("timer_id", "Timer_ID")),
                    ("twice the first lines", log + log[:log.index("\n", log.index("core_x")) + 1]),
                    ("packed", gzip.compress(log.encode()))):
                with self.subTest(name, zones=log is self.NEW):
                    out, err = self.run_devlog(odd, *QUICK)
                    self.assertEqual(out, want)
                    self.assertRegex(err, r"^unitrace: results are in .*\n(unitrace: .* were replaced\n)?$")

    def test_columns_in_any_order_with_others_among_them(self):
        want, names = self.want(self.NEW), ZONES.split(", ")
        rng = random.Random(7)
        for _ in range(20):
            order = rng.sample(range(15), 15)
            at = rng.randint(0, 15)
            lines = [[names[i] for i in order]] + [[str(row[i]) for i in order] for row in zone_rows()]
            for number, line in enumerate(lines):
                line.insert(at, "colour" if not number else str(number))
            log = FIRST.replace("grayskull", "wormhole_b0") + "".join(",".join(line) + "\n"
                                                                      for line in lines)
            with self.subTest(order=order, at=at):
                self.assertEqual(self.run_devlog(log, *QUICK)[0], want)

    def test_what_the_first_line_does_not_tell(self):
        want = self.want(self.OLD)
        for first, said in (("", "no line about the chip: taken as grayskull at 1200 MHz"),
                            ("ARCH: grayskull\n", "does not tell its frequency: taken as 1200 MHz"),
                            ("ARCH: grayskull, CHIP_FREQ[MHz]: fast\n", "taken as 1200 MHz")):
            for header in (True, False):
                with self.subTest(first, header=header):
                    log = old_log(first=first, header=header)
                    out, err = self.run_devlog(log, *QUICK)
                    self.assertEqual(out, want)
                    self.assertIn(said, err)
                    out, err = self.run_devlog(log, *QUICK, "--arch", "grayskull", "--frequency", "1000")
                    self.assertRegex(err, r"^unitrace: results are in .*\n(unitrace: .* were replaced\n)?$")
        self.run_devlog(old_log(first="ARCH: grayskull\n"), *QUICK, "--frequency", "250")
        self.assertIn("Clock Frequency [MHz],250\r\n", self.text("device_rearranged_timestamps.csv"))

    def test_a_log_that_was_cut_loses_only_its_last_line(self):
        last = self.NEW.rstrip("\n").rindex("\n")
        want = self.want(self.NEW[:last + 1])
        for cut in (last + 2, last + 5, last + 9, last + 25):
            with self.subTest(self.NEW[last + 1:cut]):
                out, err = self.run_devlog(self.NEW[:cut], *QUICK)
                self.assertEqual(out, want)
                self.assertIn(f"log.csv:{self.NEW.count(chr(10))}: the last line is cut", err)
        for first in (self.NEW[:last + 1], self.OLD):  # a lane that is nowhere else
            self.assertEqual(self.run_devlog(first + "0,7,7,ERISC,x,5000,1,1024", "--no-artifacts")[0],
                             self.want(first))
        _, err = self.run_devlog(gzip.compress(self.NEW.encode())[:-12], *QUICK)
        self.assertIn("the compressed log ends in the middle", err)

    def test_other_columns_in_the_middle_are_refused(self):
        _, err = self.run_devlog(self.OLD + FIRST + ZONES + "\n", status=1)
        self.assertIn("from here on there are other columns", err)
        self.assertFalse((self.dir / "out").exists())

    def test_numbers_at_their_ends(self):
        top = 2 ** 64 - 1
        rows = [(0, 0, 0, "BRISC", 1, 0), (0, 0, 0, "BRISC", 4, top), (0, 0, 0, "NCRISC", 2, top - 5),
                (0, 0, 0, "NCRISC", 3, top), (2 ** 31 - 1, -32768, 32767, "BRISC", 2 ** 62, 7)]
        out, _ = self.run_devlog(old_log(rows))
        self.assertIn("NCRISC kernel start -> NCRISC kernel end", out)
        self.assertIn("Duration [cycles] =          5\n", out)
        self.assertIn(f"0,0,0,,,{top},,{top - 5},{top},\r\n", self.text("device_rearranged_timestamps.csv"))

    def test_many_chips_and_many_kinds_of_riscs(self):
        rows = [(chip, 1, 1, f"RISC_{chip % 200}", number, 1000 * chip + number)
                for chip in range(300) for number in (1, 2, 3, 4)]
        self.run_devlog(old_log(rows), "--no-print-stats", "--no-artifacts", "--no-plots")
        self.assertEqual(self.text("device_rearranged_timestamps.csv").count("PCIe slot"), 300)
        rows = [(0, 1, 1, f"RISC_{n}", 1, n) for n in range(300)]
        _, err = self.run_devlog(old_log(rows), status=1)
        self.assertIn("more than 256 kinds of RISC", err)


if __name__ == "__main__":
    main()
