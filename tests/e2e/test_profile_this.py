"""unitrace profile-this: two runs of a command, joined; a script stands in for tt-metal, a fake CUPTI
and PoCL for devices that we record ourselves."""
import csv
import json
import os
import subprocess

import common
from common import UNITRACE, environment, main, program, skip
from device_support import backend

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


WITH = "HOST DURATION WITH DEVICE PROFILING [ns]"

# What tt-metal's Python module does when it is asked to profile a zone, or does not.
MODULE = """
import os
class profiler:
    class OpType:
        custom_zone = 1
    @staticmethod
    def set_profiler_location(folder):
        assert not os.path.exists(folder)
        profiler.folder = folder
    @staticmethod
    def start_profiling(name, kind):
        profiler.name = name
    @staticmethod
    def stop_profiling(name):
        if not BUILT:
            return
        os.makedirs(os.path.join(profiler.folder, name))
        open(os.path.join(profiler.folder, name, "profile_log_host.csv"), "w").close()
"""


class Case(common.Case):
    def profile(self, command, *words, status=0, **env):
        done = subprocess.run([UNITRACE, "profile-this", "-c", command, *words], cwd=self.dir,
                              capture_output=True, text=True, timeout=common.PATIENCE, env=environment(**env))
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def row(self, path):
        return self.rows(path)[0]

    def rows(self, path):
        with open(self.dir / path, newline="") as f:
            return list(csv.DictReader(f))


class TtMetal(Case):
    def stand_in(self, *words, place="ops", logs="logs", **env):
        (self.dir / "model.sh").write_text(STAND_IN)
        return self.profile("sh ./model.sh", *words, PLACE=place, LOGS=logs, MINE="kept", **env)

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
        self.assertFalse([p for p in (self.dir / "output").rglob("*") if p.is_file()])

    def test_a_build_without_the_profiler_is_reported(self):
        _, err = self.profile("echo once >> runs", status=1)
        self.assertIn("ENABLE_PROFILER=1", err)
        self.assertEqual((self.dir / "runs").read_text(), "once\n")
        os.mkdir(self.dir / "logs")
        _, err = self.profile("true", status=1)
        self.assertIn("ENABLE_PROFILER=1", err)

    def test_the_build_is_asked_before_the_command_runs(self):
        (self.dir / "tt_lib.py").write_text("BUILT = False\n" + MODULE)
        env = {"TT_METAL_HOME": str(self.dir / "home"), "PYTHONPATH": str(self.dir)}
        _, err = self.profile("echo once >> runs", status=1, **env)
        self.assertIn("ENABLE_PROFILER=1", err)
        self.assertFalse((self.dir / "runs").exists())
        (self.dir / "tt_lib.py").write_text("BUILT = True\n" + MODULE)
        self.stand_in(logs="home/tt_metal/tools/profiler/logs", **env)
        self.assertEqual(len((self.dir / "runs").read_text().split("\n")), 3)
        (self.dir / "tt_lib.py").write_text("raise RuntimeError('no device')\n")
        _, err = self.profile("true", status=1, **{**env, "TT_METAL_HOME": "elsewhere"})
        self.assertIn("could not be tried (status 1)", err)

    def test_a_second_run_that_fails_or_differs_is_reported(self):
        _, err = self.profile("mkdir -p logs/ops; exit $((1 - TT_METAL_DEVICE_PROFILER))", status=1)
        self.assertIn("the second run failed with status 1", err)
        (self.dir / "model.sh").write_text(STAND_IN)
        _, err = self.profile(
            "sh ./model.sh && if [ $TT_METAL_DEVICE_PROFILER = 1 ]; then "
            "tail -n 1 logs/ops_device/add/profile_log_host.csv > more; "
            "cat more >> logs/ops_device/add/profile_log_host.csv; fi", PLACE="ops", LOGS="logs")
        self.assertIn("the two runs differ: 1 ops were not called equally often, as add: 2 times with "
                      "device profiling, 1 times without", err)

    def test_logs_of_an_earlier_run_are_reported(self):
        self.stand_in()
        os.utime(self.dir / "logs/ops/add/profile_log_host.csv", (1e9, 1e9))
        _, err = self.profile("true")
        self.assertIn("nothing in there is of this run", err)
        self.assertNotIn("nothing in there", self.stand_in()[1])

    def test_misuse(self):
        self.profile("", status=2)
        self.profile("true", "more", status=2)
        self.profile("true", "--tool", "strace", status=2)


class Cuda(Case):
    """Our own collector with a fake CUPTI: one task, inside it kernels."""
    FAKE = f"{program('fake_cuda')} {backend('cuda')} {program('libfake_cupti.so')}"

    def setUp(self):
        super().setUp()
        if not backend("cuda").exists():
            self.skipTest("the backend cuda is not built")

    def profile(self, command, *words, **more):
        return super().profile(command, *words, UNITRACE_CUPTI=str(program("libfake_cupti.so")), **more)

    def tasks(self, run, name="step"):
        """Lengths of the tasks that a run has recorded, ns, in order of time."""
        out = self.dir / "tasks.json"
        folder = self.dir / "output/ops/profile_log_ops.runs" / run
        subprocess.run([UNITRACE, "query", "--format", "json", "--output", out, "--overwrite",
                        *sorted(folder.iterdir()),
                        f"select dur from slice where name = '{name}' order by ts"], check=True,
                       capture_output=True, timeout=common.PATIENCE)
        return [str(row["dur"]) for row in json.loads(out.read_text())]

    def test_device_times_of_one_run_and_host_times_of_the_other(self):
        out, err = self.profile(f"{self.FAKE} 4; echo $MINE", MINE="kept")
        self.assertEqual(out, "init 1\nkept\n" * 2 + "Post processed output/ops/profile_log_ops.runs/"
                              "with_devices with results saved in output/ops/profile_log_ops.csv\n")
        row, = self.rows("output/ops/profile_log_ops.csv")
        self.assertEqual((row["OP CODE"], row["DEVICE KERNEL COUNT"], row["DEVICE COPY COUNT"]),
                         ("step", "7", "2"))
        self.assertEqual([row["HOST DURATION [ns]"]], self.tasks("host_only"))
        self.assertEqual([row[WITH]], self.tasks("with_devices"))
        self.assertEqual(int(row["HOST END TS"]) - int(row["HOST START TS"]),
                         int(row["HOST DURATION [ns]"]))
        self.assertNotIn("PROBLEM", row)
        self.assertIn("1 rows have host times of the run without device profiling", err)
        self.assertTrue((self.dir / "output/ops/profile_log_ops.html").exists())

    def test_processes_of_one_name_are_joined_in_their_order(self):
        self.profile(f"for n in 2 3 4; do {self.FAKE} $n; done")
        rows = self.rows("output/ops/profile_log_ops.csv")
        self.assertEqual(sorted(row["DEVICE KERNEL COUNT"] for row in rows), ["5", "6", "7"])
        self.assertEqual(sorted(row["HOST DURATION [ns]"] for row in rows),
                         sorted(self.tasks("host_only")))

    def test_runs_that_differ_lose_nothing(self):
        _, err = self.profile(f"for n in $(seq $((2 + TT_METAL_DEVICE_PROFILER))); do {self.FAKE} 1; done",
                              "-n", "odd")
        rows = self.rows("output/ops/profile_log_ops_odd.csv")
        alone = [row for row in rows if row["PROBLEM"]]
        self.assertEqual((len(rows), len(alone)), (3, 1))
        self.assertEqual(alone[0]["HOST DURATION [ns]"], alone[0][WITH])
        self.assertIn("the two runs differ: 1 marked calls happened only with device profiling, the "
                      "first is step, 0 only without", err)

    def test_a_second_run_that_fails_costs_only_its_host_times(self):
        _, err = self.profile(f"{self.FAKE} 1; exit $((4 - 4 * TT_METAL_DEVICE_PROFILER))", status=4)
        row, = self.rows("output/ops/profile_log_ops.csv")
        self.assertEqual(row["HOST DURATION [ns]"], row[WITH])
        self.assertIn("the second run failed with status 4", err)

    def test_a_first_run_that_fails_is_the_end_and_its_trace_is_kept(self):
        _, err = self.profile(f"{self.FAKE} 1; exit 3", status=3)
        self.assertIn("status 3; no report, what was recorded is in "
                      "output/ops/profile_log_ops.runs/with_devices", err)
        self.assertFalse((self.dir / "output/ops/profile_log_ops.csv").exists())
        self.assertEqual(len(self.tasks("with_devices")), 1)

    def test_a_command_that_uses_no_device_is_reported(self):
        _, err = self.profile(str(program("nvtx_marks")), status=1)
        self.assertIn("neither ops in there nor work of devices", err)
        self.assertEqual(len(self.tasks("host_only", "assemble")), 1)

    def test_tt_metal_is_left_alone_on_request(self):
        self.profile(f"{self.FAKE} 1; echo ${{TT_METAL_DEVICE_PROFILER-none}} >> runs", "--tool",
                     "unitrace")
        self.assertEqual((self.dir / "runs").read_text(), "none\nnone\n")


class OpenCl(Case):
    def test_tasks_of_several_threads_are_joined_by_their_number(self):
        if not backend("opencl").exists():
            self.skipTest("the backend opencl is not built")
        if subprocess.run([program("opencl_tasks"), "1"], capture_output=True).returncode == 77:
            self.skipTest("no OpenCL device")
        self.profile(f"{program('opencl_tasks')} 3 2", "-o", "out")
        rows = self.rows("out/profile_log_ops.csv")
        self.assertEqual(sorted(row["OP CODE"] for row in rows), ["load"] * 6 + ["step"] * 6)
        for row in rows:
            self.assertNotEqual(row["HOST DURATION [ns]"], row[WITH])
            self.assertEqual(row["DEVICE KERNEL COUNT"], "2" if row["OP CODE"] == "step" else "-")
            self.assertEqual(row["DEVICE COPY COUNT"], "1" if row["OP CODE"] == "load" else "-")

    def test_a_program_without_marks_has_a_row_per_command(self):
        if subprocess.run([program("opencl_work"), "gemm", "1"], capture_output=True).returncode == 77:
            self.skipTest("no OpenCL device")
        _, err = self.profile(f"{program('opencl_work')} gemm 2")
        rows = self.rows("output/ops/profile_log_ops.csv")
        self.assertEqual(sum(row["OP TYPE"] == "kernel" for row in rows), 4)
        self.assertIn("the command marks nothing", err)


if __name__ == "__main__":
    main()
