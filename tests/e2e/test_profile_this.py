"""unitrace profile-this: two runs of a command, joined; a script stands in for tt-metal."""
import csv
import os
import subprocess

from common import UNITRACE, Case, environment, main, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

# What a build with the profiler leaves: host logs of either run, device logs of the first.
STAND_IN = """
set -e
echo "$TT_METAL_DEVICE_PROFILER ${TT_PCI_DMA_BUF_SIZE-none} $MINE" >> runs
[ "$TT_METAL_DEVICE_PROFILER" = 1 ] && to=$LOGS/$PLACE"_device" || to=$LOGS/$PLACE
mkdir -p $to/add/1
[ "$TT_METAL_DEVICE_PROFILER" = 1 ] && took=5000 || { took=70; echo $LOGS/$PLACE >> $LOGS/.locations.log; }
cat > $to/add/profile_log_host.csv <<END
Name, Start timer count [ns], Stop timer count [ns], Delta timer count [ns], Global Call Count, Call Count, Stack Size, Inputs, Outputs, Math Fidelity, Parallelization Strategy, Preferred Name, Meta Data, Type
add, 0, $took, $took, 1, 1, 1, , , , , , , tt_dnn_device
END
[ "$TT_METAL_DEVICE_PROFILER" = 1 ] || exit 0
cat > $to/add/1/profile_log_device.csv <<END
ARCH: grayskull, CHIP_FREQ[MHz]: 1000
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]
0, 0, 0, BRISC, 1, 100
0, 0, 0, BRISC, 4, 350
END
"""


class ProfileThis(Case):
    def profile(self, command, *words, status=0, **env):
        done = subprocess.run([UNITRACE, "profile-this", "-c", command, *words], cwd=self.dir,
                              capture_output=True, text=True, timeout=60, env=environment(**env))
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def stand_in(self, *words, place="ops", logs="logs", **env):
        (self.dir / "model.sh").write_text(STAND_IN)
        return self.profile("sh ./model.sh", *words, PLACE=place, LOGS=logs, MINE="kept", **env)

    def row(self, path):
        with open(self.dir / path, newline="") as f:
            return next(csv.DictReader(f))

    def test_host_times_of_one_run_and_device_times_of_the_other(self):
        out, _ = self.stand_in()
        self.assertEqual((self.dir / "runs").read_text(), "1 1048576 kept\n0 none kept\n")
        self.assertEqual(out, "Post processed logs/ops with results saved in "
                              "output/ops/default/profile_log_ops.csv\n")
        row = self.row("output/ops/default/profile_log_ops.csv")
        self.assertEqual((row["HOST DURATION [ns]"], row["DEVICE FW DURATION [ns]"]), ("70", "250"))

    def test_folders_that_the_command_has_named(self):
        out, _ = self.stand_in("-o", "out", "-n", "today", place="mine")
        self.assertIn("out/mine/profile_log_ops_today.csv", out)
        self.assertEqual(self.row("out/mine/profile_log_ops_today.csv")["HOST DURATION [ns]"], "70")

    def test_the_profiler_lies_below_tt_metal_home(self):
        home = self.dir / "home"
        logs = home / "tt_metal/tools/profiler/logs"
        out, _ = self.stand_in(logs=str(logs), TT_METAL_HOME=str(home))
        self.assertIn(f"{home}/tt_metal/tools/profiler/output/ops/default/profile_log_ops.csv", out)

    def test_a_command_that_fails_ends_it_with_its_status(self):
        _, err = self.profile("echo once >> runs; exit 7", status=7)
        self.assertEqual((self.dir / "runs").read_text(), "once\n")
        self.assertIn("status 7", err)
        self.profile("mkdir -p logs; [ $TT_METAL_DEVICE_PROFILER = 1 ]", status=1)
        self.profile("kill -TERM $$", status=128 + 15)
        self.assertFalse((self.dir / "output").exists())

    def test_a_build_without_the_profiler_is_told(self):
        _, err = self.profile("echo once >> runs", status=1)
        self.assertIn("ENABLE_PROFILER=1", err)
        self.assertEqual((self.dir / "runs").read_text(), "once\n")
        os.mkdir(self.dir / "logs")
        _, err = self.profile("true", status=1)
        self.assertIn("ENABLE_PROFILER=1", err)

    def test_misuse(self):
        self.profile("", status=2)
        self.profile("true", "more", status=2)


if __name__ == "__main__":
    main()
