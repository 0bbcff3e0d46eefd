"""unitrace ops: the reports of the original byte for byte, small logs with results computed by hand,
ops that are broken or missing, the other files, and the dashboard."""
import csv
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile

from common import PATIENCE, SOURCE, UNITRACE, Case, main, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

DATA = pathlib.Path(os.environ.get("UNITRACE_SHARED", SOURCE.parent / "shared")) / "data" / "ttmetal"
HOST = ("Name, Start timer count [ns], Stop timer count [ns], Delta timer count [ns]")
OPS = (HOST + ", Global Call Count, Call Count, Stack Size, Inputs, Outputs, Math Fidelity, "
       "Parallelization Strategy, Preferred Name, Meta Data, Type")
LOG = """ARCH: grayskull, CHIP_FREQ[MHz]: 1000
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]
0, 0, 0, BRISC, 1, 1000
0, 0, 0, BRISC, 2, 1100
0, 0, 0, BRISC, 3, 1900
0, 0, 0, BRISC, 4, 2000
0, 1, 0, BRISC, 1, 1001
0, 1, 0, BRISC, 2, 1102
0, 1, 0, BRISC, 3, 2100
0, 1, 0, BRISC, 4, 2200
"""
PERF = ("GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE ARCH,"
        "OP NAME,CORE COUNT,DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
        "DEVICE KERNEL DURATION [ns],DEVICE KERNEL START CYCLE,DEVICE KERNEL END CYCLE,"
        "OP TO OP LATENCY [ns]\n")


def op_row(name, call, nth=1, depth=1, kind="tt_dnn_device", inputs="", preferred="", meta=""):
    return (f"{name}, {call * 1000}, {call * 1000 + 70}, 70, {call}, {nth}, {depth}, {inputs}, , "
            f"HiFi4, MULTI_CORE, {preferred}, {meta}, {kind}\n")


class Ops(Case):
    def run_ops(self, *words, status=0):
        done = subprocess.run([UNITRACE, "ops", *words], capture_output=True, timeout=PATIENCE,
                              cwd=self.dir)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def op(self, name, *rows, title=OPS):
        folder = self.dir / "logs" / "ops" / name
        folder.mkdir(parents=True)
        (folder / "profile_log_host.csv").write_text(title + "\n" + "".join(rows))

    def device_log(self, name, nth=1, text=LOG):
        folder = self.dir / "logs" / "ops_device" / name / str(nth)
        folder.mkdir(parents=True)
        (folder / "profile_log_device.csv").write_text(text)

    def rows(self, name="profile_log_ops.csv", folder="output/ops"):
        with open(self.dir / folder / name, newline="") as f:
            return list(csv.DictReader(f))


class Golden(Ops):
    def compare(self, out, want):
        self.assertTrue((self.dir / out).read_bytes() == want.read_bytes(), out)

    def test_folders_of_the_seed_give_the_report_of_the_original(self):
        folder = DATA / "seed_ops_synthetic"
        if not folder.is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        self.run_ops("-i", folder / "logs/ops", "-o", "out")
        self.compare("out/profile_log_ops.csv", folder / "output/profile_log_ops.csv")

    def test_logs_of_today_give_the_report_of_the_original(self):
        folder = DATA / "modern_ops_synthetic" / "art"
        if not folder.is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        self.run_ops(folder, "-o", "out")
        self.compare("out/ops_perf_results.csv", folder / "reports/ops_perf_results.csv")

    def test_a_device_log_alone_gives_the_report_of_the_original(self):
        folder = DATA / "modern_device_synthetic" / "art"
        if not folder.is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        self.run_ops(folder, "-o", "out")
        self.compare("out/ops_perf_results.csv", folder / "reports/ops_perf_results.csv")
        self.compare("out/per_core_op_to_op_times.csv", folder / "reports/per_core_op_to_op_times.csv")

    def test_a_real_report_is_the_same_in_every_cell(self):
        """The zones of the host are not among the public files: they are made from the report."""
        folder = DATA / "modern" / "qwen_full_attention_ops"
        if not folder.is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        shutil.copytree(folder / ".logs", self.dir / ".logs")
        os.chmod(self.dir / ".logs", 0o755)
        child = "TT_DNN_DEVICE_OP_TT_HOST_FUNC [ns]"
        with open(folder / "ops_perf_results.csv", newline="") as f:
            want = list(csv.reader(f))
        with open(self.dir / ".logs/tracy_ops_times.csv", "w") as f:
            f.write("name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,"
                    "special_parent_text\n")
            for row in (dict(zip(want[0], values)) for values in want[1:]):
                if row["HOST DURATION [ns]"]:
                    op = row["GLOBAL CALL COUNT"]
                    f.write(f'TT_DNN_DEVICE_OP,a.hpp,1,,"id:{op}",{row["HOST START TS"]},'
                            f'{row["HOST DURATION [ns]"]},1,{"id:" + op if row[child] else ""}\n')
        self.run_ops(self.dir)
        with open(self.dir / "reports/ops_perf_results.csv", newline="") as f:
            got = list(csv.reader(f))
        self.assertEqual(got[0], want[0])
        self.assertEqual(len(got), len(want))
        for mine, theirs in zip(got, want):
            self.assertEqual(mine, theirs)


class Folders(Ops):
    def test_device_times_are_joined_by_op_and_call(self):
        self.op("tt::tt_metal::Matmul", op_row("tt::tt_metal::Matmul", 2), op_row("tt::tt_metal::Matmul", 1, 2))
        self.device_log("tt::tt_metal::Matmul", 2)
        _, err = self.run_ops()
        first, second = self.rows()
        self.assertEqual((first["OP CODE"], first["GLOBAL CALL COUNT"]), (" Matmul", "1"))
        self.assertEqual([first[k] for k in ("CORE COUNT", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE",
                                             "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]",
                                             "DEVICE BRISC KERNEL DURATION [ns]",
                                             "DEVICE NCRISC KERNEL DURATION [ns]")],
                         ["2", "1000", "2200", "1200", "1000", "1000", "-"])
        self.assertEqual(second["DEVICE FW DURATION [ns]"], "-")
        self.assertIn("1 ops that ran on a device have no device times", err)
        self.assertNotIn("PROBLEM", first)

    def test_names_depths_and_tensors(self):
        self.op("a", op_row("tt::tt_metal::12Conv", 1, depth=2, inputs="1_2_3_4|TILE|BF16|HOST--5_6_7_8|R|F|L1"))
        self.op("b", op_row("zone", 2, kind="custom_zone", preferred="tt::tt_metal::x::Y"))
        self.op("unknown_op", op_row("never", 3))
        self.run_ops()
        conv, zone = self.rows()
        self.assertEqual(conv["OP CODE"], "  Conv")
        self.assertEqual([conv[f"INPUT_{i}_X"] for i in range(3)], ["4", "-", "8"])
        self.assertEqual(conv["INPUT_2_DATA TYPE"], "F")
        self.assertEqual(zone["OP CODE"], " zone_x::Y")
        self.assertNotIn("INPUT_3_X", zone)

    def test_calls_of_the_api(self):
        self.op("a", op_row("a", 1))
        folder = self.dir / "logs/ops/a/1"
        folder.mkdir()
        (folder / "profile_log_host.csv").write_text(HOST + "\nB, 0, 5, 5\nA, 5, 7, 2\nB, 7, 9, 2\n")
        self.op("b", op_row("b", 2))
        self.run_ops()
        a, b = self.rows()
        self.assertEqual(list(a)[-4:], ["A Count", "A Average [ns]", "B Count", "B Average [ns]"])
        self.assertEqual(list(a.values())[-4:], ["1", "2", "2", "3"])
        self.assertEqual(list(b.values())[-4:], ["0"] * 4)

    def test_bad_ops_have_a_row_with_the_reason(self):
        self.op("good", op_row("good", 1))
        self.op("log", op_row("log", 2))
        self.device_log("log", text="nothing that anybody can read\n")
        self.op("columns", "x, 1\n", title="Who, What")
        self.op("count", op_row("count", 3).replace(" 3, 1, 1,", " three, 1, 1,"))
        (self.dir / "logs/ops/empty").mkdir()
        _, err = self.run_ops()
        rows = {row["OP CODE"].strip(): row for row in self.rows()}
        self.assertEqual(set(rows), {"good", "log", "columns", "count"})
        self.assertEqual(rows["good"]["PROBLEM"], "")
        self.assertIn("profile_log_device.csv", rows["log"]["PROBLEM"])
        self.assertIn("no column 'Name', 'Start timer count [ns]'", rows["columns"]["PROBLEM"])
        self.assertIn("no Global Call Count", rows["count"]["PROBLEM"])
        self.assertIn("3 of 4 rows are not whole", err)
        self.assertIn("empty", err)

    def test_columns_in_another_order_or_missing_and_other_line_ends(self):
        self.op("a", "tt_dnn_cpu, 2, 7, a, 5, 9, 4, 1\r\n\r\n", title="Type, Call Count, Global Call Count, Name, "
                "Start timer count [ns], Stop timer count [ns], Delta timer count [ns], Stack Size\r")
        self.op("b", op_row("b", 7), op_row("b", 7, 2))
        self.run_ops()
        a, *b = self.rows()
        self.assertEqual([a[k] for k in ("OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "HOST START TS", "HOST END TS",
                                         "HOST DURATION [ns]", "CALL DEPTH", "ATTRIBUTES", "MATH FIDELITY")],
                         [" a", "tt_dnn_cpu", "7", "5", "9", "4", "1", "-", "-"])
        self.assertIn("no column 'Inputs', 'Outputs'", a["PROBLEM"])
        self.assertEqual([(r["GLOBAL CALL COUNT"], r["PROBLEM"]) for r in b], [("7", ""), ("7", "")])

    def test_names_of_the_report_and_what_is_in_the_tarball(self):
        self.op("a", op_row("a", 1))
        out, _ = self.run_ops("-n", "mine", "-o", "there")
        self.assertEqual(out, "there/profile_log_ops_mine.csv\n")
        with tarfile.open(self.dir / "there/profile_log_ops_mine.tgz") as tar:
            self.assertEqual(tar.getnames(), ["./a/profile_log_host.csv"])
        out, _ = self.run_ops("logs/ops", "--date", "--no-tarball", "-o", "dated")
        self.assertRegex(out, r"^dated/\d{4}_\d\d_\d\d_\d\d_\d\d\.csv\n$")
        self.assertEqual(sorted(p.suffix for p in (self.dir / "dated").iterdir()), [".csv", ".html", ".json"])

    def test_long_names_are_in_the_tarball(self):
        name = "tt::tt_metal::" + "Long" * 40
        self.op(name, op_row(name, 1))
        _, err = self.run_ops()
        self.assertNotIn("not in the tarball", err)
        with tarfile.open(self.dir / "output/ops/profile_log_ops.tgz") as tar:
            entry, = tar.getmembers()
            self.assertEqual(entry.name, f"./{name}/profile_log_host.csv")
            self.assertEqual(tar.extractfile(entry).read(),
                             (self.dir / "logs/ops" / name / "profile_log_host.csv").read_bytes())

    def test_the_same_rows_as_json(self):
        self.op("a", op_row("a", 1, meta="</script>"))
        self.run_ops()
        rows = json.loads((self.dir / "output/ops/profile_log_ops.json").read_text())
        self.assertEqual(rows[0]["GLOBAL CALL COUNT"], 1)
        self.assertEqual(rows[0]["ATTRIBUTES"], "</script>")
        self.assertNotIn("CORE COUNT", rows[0])

    def test_logs_below_the_home_of_tt_metal_are_found(self):
        """As process_ops_logs.py in the profiler's folder, from anywhere."""
        self.op("add", op_row("add", 1))
        profiler = self.dir / "home/tt_metal/tools/profiler"
        profiler.mkdir(parents=True)
        shutil.move(self.dir / "logs", profiler / "logs")
        env = {**os.environ, "TT_METAL_HOME": str(self.dir / "home")}
        done = subprocess.run([UNITRACE.parent / "process_ops_logs.py"], cwd=self.dir, timeout=PATIENCE,
                              env=env, capture_output=True, check=True)
        self.assertIn(f"reading {profiler}/logs/ops", done.stderr.decode())
        self.assertTrue((profiler / "output/ops/profile_log_ops.csv").exists())
        subprocess.run([UNITRACE, "ops", "-o", "mine"], cwd=self.dir, timeout=PATIENCE, env=env,
                       capture_output=True, check=True)
        self.assertTrue((self.dir / "mine/profile_log_ops.csv").exists())

    def test_what_is_not_there_is_reported(self):
        _, err = self.run_ops("nowhere", status=1)
        self.assertIn("nowhere: No such file or directory", err)
        (self.dir / "empty").mkdir()
        _, err = self.run_ops("-i", "empty", status=1)
        self.assertIn("no ops in it", err)
        self.assertFalse((self.dir / "output").exists())
        self.run_ops("empty", "empty", status=2)
        self.run_ops("--format", "1999", status=2)

    def test_the_dashboard_shows_the_report(self):
        self.op("a", op_row("a", 1))
        with subprocess.Popen([UNITRACE, "ops", "--webapp", "-p", "0"], cwd=self.dir, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
            try:
                port = int(re.search(r"127\.0\.0\.1:(\d+)", server.stderr.readline() +
                                     server.stderr.readline())[1])
                for path, part in (("/", b"app.js"), ("/app.js", b""), ("/csv", b"OP CODE"), ("/json", b"OP CODE"),
                                   ("/download", b"\x1f\x8b")):
                    link = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
                    link.request("GET", path)
                    answer = link.getresponse()
                    self.assertEqual(answer.status, 200, path)
                    self.assertIn(part, answer.read())
            finally:
                server.send_signal(signal.SIGINT)
            self.assertEqual(server.wait(PATIENCE), 0)


class Today(Ops):
    def logs(self, messages, perf="", times=""):
        folder = self.dir / ".logs"
        folder.mkdir(exist_ok=True)
        (folder / "tracy_ops_data.csv").write_text("MessageName;total_ns\n" + messages)
        if perf:
            (folder / "cpp_device_perf_report.csv").write_text(PERF + perf)
        if times:
            (folder / "tracy_ops_times.csv").write_text(times)

    def report(self):
        return self.rows("ops_perf_results.csv", "reports")

    def test_an_op_that_the_device_lost_does_not_end_the_report(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1024 ->\n{"op_code":"A","op_type":"tt_dnn_device",'
                  '"device_id":0}`;10\n`TT_DNN_DEVICE_OP: "A", 7, 0, true, 2048`;20\n'
                  '`TT_DNN_DEVICE_OP: "B", 8, 0, true, 3072`;30\n',
                  "1024,,,0,arch,,4,100,0,100,90,5,95,0\n9999,,,0,arch,Lost,4,100,0,100,90,5,95,\n")
        _, err = self.run_ops(".")
        first, second, third, lost = self.report()
        self.assertEqual((first["OP CODE"], first["CORE COUNT"], first["PROBLEM"]), ("A", "4", ""))
        self.assertIn("does not have this op", second["PROBLEM"])
        self.assertEqual(second["PROGRAM CACHE HIT"], "True")
        self.assertEqual(third["OP CODE"], "B")
        self.assertIn("no message tells about its program", third["PROBLEM"])
        self.assertEqual((lost["OP CODE"], lost["GLOBAL CALL COUNT"]), ("Lost", "9999"))
        self.assertIn("no message of the host", lost["PROBLEM"])
        self.assertIn("2 ops that ran on a device have no device times", err)

    def test_broken_json_is_reported_and_the_rest_is_kept(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1024 ->\n{"op_code":"A","attributes":{"x":`;10\n'
                  "`TT_SIGNPOST: here, there\nand more`;5\n")
        self.run_ops(".")
        post, op = self.report()
        self.assertEqual((post["OP CODE"], post["OP TYPE"], post["ATTRIBUTES"], post["HOST START TS"]),
                         ("here; there", "signpost", "and more", "5"))
        self.assertEqual(op["OP CODE"], "A")
        self.assertIn("JSON", op["PROBLEM"])

    def test_values_look_as_python_prints_them(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1 ->\n{"op_code":"A","attributes":'
                  '{"a": [1, 2.5, null, true], "it\'s": "\\u00e9, \\"x\\""}}`;10\n')
        self.run_ops(".")
        value = {"a": [1, 2.5, None, True], "it's": "\u00e9, \"x\""}
        self.assertEqual(self.report()[0]["ATTRIBUTES"], str(value).replace(",", ";"))

    def test_a_replay_without_device_times_has_its_row(self):
        self.logs("`TT_METAL_TRACE_BEGIN: 0, 5`;1\n"
                  '`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1024 ->\n{"op_code":"A"}`;2\n'
                  "`TT_METAL_TRACE_END: 0, 5`;3\n`TT_METAL_TRACE_REPLAY: 0, 5`;4\n"
                  "`TT_METAL_TRACE_REPLAY: 0, 5`;5\n",
                  "1024,5,1,0,arch,,4,100,0,100,90,5,95,\n")
        self.run_ops(".")
        captured, first, second = self.report()
        self.assertEqual((captured["METAL TRACE ID"], captured["PROBLEM"]), ("", ""))
        self.assertEqual((first["METAL TRACE REPLAY SESSION ID"], first["OP TO OP LATENCY [ns]"],
                          first["PROBLEM"]), ("1", "0", ""))
        self.assertEqual(second["METAL TRACE REPLAY SESSION ID"], "2")
        self.assertNotEqual(second["PROBLEM"], "")

    def test_device_times_from_a_log_of_zones(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 3, false, 1027 ->\n{"op_code":"A"}`;10\n')
        rows = [(1, "BRISC-FW", "START", 1000), (1, "BRISC-KERNEL", "START", 1010),
                (1, "BRISC-KERNEL", "END", 1110), (1, "BRISC-FW", "END", 1200)]
        (self.dir / ".logs/profile_log_device.csv").write_text(
            "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500, Max Compute Cores: 64\n"
            "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
            "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n" +
            "".join(f"3,{x},1,BRISC,5,{t},0,1027,,,{zone},ZONE_{phase},1,a.cc,\n" for x, zone, phase, t in rows))
        self.run_ops(".")
        row, = self.report()
        self.assertEqual([row[k] for k in ("DEVICE ARCH", "CORE COUNT", "AVAILABLE WORKER CORE COUNT",
                                           "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]",
                                           "DEVICE FW START CYCLE", "OP TO OP LATENCY [ns]")],
                         ["wormhole_b0", "1", "64", "400", "200", "1000", "0"])
        self.assertNotIn("PROBLEM", row)

    def zones(self, *rows, columns=True, counters=5):
        """A device log of (x, RISC, zone, type, time, op, meta data)."""
        trace = ", trace id, trace id counter" if columns else ""
        (self.dir / ".logs").mkdir(exist_ok=True)
        (self.dir / ".logs/profile_log_device.csv").write_text(
            "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
            "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
            f"run host ID{trace}, zone name, type, source line, source file, meta data\n" +
            "".join(f"0,{x},1,{risc},{counters if 'counter type' in meta else 5},{t},0,{op},{',,' if columns else ''}{zone},{kind},1,a.cc,{meta}\n"
                    for x, risc, zone, kind, t, op, meta in rows))

    def run_of(self, op, start, x=1):
        return [(x, "BRISC", "BRISC-FW", "ZONE_START", start, op, ""),
                (x, "BRISC", "BRISC-KERNEL", "ZONE_START", start + 10, op, ""),
                (x, "BRISC", "BRISC-KERNEL", "ZONE_END", start + 90, op, ""),
                (x, "BRISC", "BRISC-FW", "ZONE_END", start + 100, op, "")]

    def test_devices_alone_with_times_per_core(self):
        self.zones(*self.run_of(1024, 1000), *self.run_of(1024, 1005, 2), *self.run_of(2048, 5000),
                   *self.run_of(2048, 5005, 2), *self.run_of(3072, 9000, 2))
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1024 ->\n{"op_code":"A"}`;10\n')
        self.run_ops(".", "--device-only", "-n", "x")
        rows = self.rows("ops_perf_results_x.csv", "reports/x")
        self.assertEqual([r["GLOBAL CALL COUNT"] for r in rows], ["1024", "2048", "3072"])
        self.assertNotIn("OP CODE", rows[0])
        cores = (self.dir / "reports/x/per_core_op_to_op_times_x.csv").read_text()
        self.assertEqual(cores.splitlines(),
                         ["device ID,op2op ID,1; 1 [ns],2; 1 [ns]", f"0,1024 -> 2048,{3920 - 1500},{3920 - 1500}",
                          f"0,2048 -> 3072,,{9010 - 5095 - 1500}"])
        self.run_ops(".")
        self.assertFalse((self.dir / "reports/per_core_op_to_op_times.csv").exists())

    def test_only_some_analyses(self):
        self.zones(*self.run_of(1024, 1000))
        self.run_ops(".", "-a", "device_kernel_duration", "-a", "device_fw_duration")
        row, = self.report()
        self.assertEqual([row[k] for k in ("DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]")],
                         ["100", "80"])
        self.assertNotIn("DEVICE BRISC KERNEL DURATION [ns]", row)
        _, err = self.run_ops(".", "-a", "nonsense", status=1)
        self.assertIn("no such analysis; there are ", err)
        self.assertIn("op2op", err)

    def test_markers_instead_of_the_report_if_asked_for(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1024 ->\n{"op_code":"A"}`;10\n',
                  "1024,,,0,arch,,4,100,0,100,77,5,95,0\n")
        self.zones(*self.run_of(1024, 1000))
        self.run_ops(".")
        self.assertEqual(self.report()[0]["DEVICE KERNEL DURATION [ns]"], "77")
        self.run_ops(".", "--force-legacy-device-logs")
        self.assertEqual(self.report()[0]["DEVICE KERNEL DURATION [ns]"], "80")
        (self.dir / ".logs/profile_log_device.csv").unlink()
        _, err = self.run_ops(".", "--force-legacy-device-logs", status=1)
        self.assertIn("there is no profile_log_device.csv", err)

    def test_what_the_dispatching_cores_did_for_an_op(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 7 ->\n{"op_code":"A"}`;10\n')
        self.zones(*self.run_of(7, 1000),
                   (9, "BRISC", "CQ-DISPATCH", "ZONE_START", 100, 0, ""),
                   (9, "BRISC", "CQ-DISPATCH", "TS_DATA", 110, 0, '{"workers_runtime_id":7}'),
                   (9, "BRISC", "CQ-DISPATCH", "TS_DATA", 120, 0,
                    '{"dispatch_command_type":"CQ_DISPATCH_CMD_WRITE"}'),
                   (9, "BRISC", "CQ-DISPATCH", "ZONE_END", 200, 0, ""),
                   (9, "NCRISC", "CQ-PREFETCH", "ZONE_START", 130, 0, ""),
                   (9, "NCRISC", "CQ-PREFETCH", "TS_DATA", 140, 0,
                    '{"dispatch_command_type":"CQ_DISPATCH_CMD_SEND_GO_SIGNAL"}'),
                   (9, "NCRISC", "CQ-PREFETCH", "ZONE_END", 190, 0, ""))
        self.run_ops(".")
        row, = self.report()
        self.assertEqual([row[k] for k in ("DISPATCH TOTAL CQ CMD OP TIME [ns]", "DISPATCH GO SEND WAIT TIME [ns]",
                                           "CORE COUNT")], ["100", "60", "1"])

    def test_replays_in_a_log_that_knows_no_traces(self):
        self.logs("`TT_METAL_TRACE_BEGIN: 0, 5`;1\n"
                  '`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1024 ->\n{"op_code":"A"}`;2\n'
                  "`TT_METAL_TRACE_END: 0, 5`;3\n`TT_METAL_TRACE_REPLAY: 0, 5`;4\n"
                  "`TT_METAL_TRACE_REPLAY: 0, 5`;5\n")
        self.zones(*self.run_of(1024, 1000), *self.run_of(1024, 3000), columns=False)
        self.run_ops(".")
        rows = self.report()
        self.assertEqual([(r["METAL TRACE REPLAY SESSION ID"], r["DEVICE FW START CYCLE"]) for r in rows],
                         [("", ""), ("1", "1000"), ("2", "3000")])
        self.assertEqual(rows[2]["OP TO OP LATENCY [ns]"], str(3010 - 1090))

    def test_rows_are_in_the_order_in_which_ops_began(self):
        """A message comes while the op is going on, or at its end."""
        self.logs('`TT_DNN_DEVICE_OP: "B", 8, 0, 1, 2 ->\n{"op_code":"B"}`;30\n`TT_SIGNPOST: s`;25\n'
                  '`TT_DNN_DEVICE_OP: "A", 7, 0, 0, 1 ->\n{"op_code":"A"}`;40\n'
                  '`TT_DNN_DEVICE_OP: "B", 8, 0, 1, 3`;50\n', times="name,zone_text,ns_since_start,exec_time_ns,"
                  'special_parent_text\nTT_DNN_X,"id:2",28,5,\nTT_DNN_X,"id:1",3,90,\nTT_DNN_X,"id:3",45,1,\n')
        self.run_ops(".")
        rows = self.report()
        self.assertEqual([r["OP CODE"] for r in rows], ["A", "s", "B", "B"])
        self.assertEqual(rows[3]["PROGRAM CACHE HIT"], "True")

    def test_counters_of_the_device_have_columns(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1 ->\n{"op_code":"A"}`;10\n',
                  times='name,zone_text,ns_since_start,exec_time_ns,special_parent_text\nchild,,5,7,"id:1"\n')
        (self.dir / ".logs/cpp_device_perf_report.csv").write_text(
            "GLOBAL CALL COUNT,DEVICE ID,FPU Util Max (%),SFPU Util Min (%),NOC UTIL (%),Unpack Instrn Issue Rate "
            "T0 Avg,unknown\n1,0,12.5,,3.5,0.25,x\n")
        self.run_ops(".")
        row, = self.report()
        self.assertEqual(list(row)[-3:], ["FPU Util Max (%)", "Unpack Instrn Issue Rate T0 Avg",
                                          "child_TT_HOST_FUNC [ns]"])
        self.assertEqual([row[k] for k in list(row)[-3:]], ["12.5", "0.25", "7"])
        self.assertEqual((row["NOC UTIL (%)"], row["OP TO OP LATENCY [ns]"]), ("3.5", "0"))

    def test_counters_in_the_log_of_the_device(self):
        def count(x, unit, value, t):
            return (x, "BRISC", "", "TS_DATA", t, 7, f'{{"counter type":"{unit}";"ref cnt":1000;"value":{value}}}')
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 7 ->\n{"op_code":"A"}`;10\n')
        self.zones(*self.run_of(7, 1000), *self.run_of(7, 1000, 2), count(1, "FPU_COUNTER", 250, 1095),
                   count(2, "FPU_COUNTER", 500, 1095), count(1, "2", 10, 1096), count(1, "OTHER", 1, 1097), counters=9090)
        self.run_ops(".")
        row, = self.report()
        self.assertEqual(list(row)[-7:-1], ["SFPU Util Median (%)", "SFPU Util Max (%)", "Avg SFPU util on full grid (%)",
                                            "FPU Util Min (%)", "FPU Util Median (%)", "FPU Util Max (%)"])
        self.assertEqual([float(v) for v in list(row.values())[-7:]],
                         [1, 1, 10 / 64 / 80 * 100, 25, 37.5, 50, 750 / 64 / 80 * 100])

    def test_a_later_op_may_tell_its_own_tensors(self):
        def tensor(x):
            return ('{"shape":{"W":"1","Z":"1","Y":"1","X":"%s"},"layout":"TILE","dtype":"BF16","storage_type":"HOST"}' % x)
        self.logs(f'`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1 ->\n{{"op_code":"A","attributes":{{"axis":1}},"program_cache_hit":'
                  f'false,"input_tensors":[{tensor(32)},{tensor(33)}],"output_tensors":[{tensor(34)}]}}`;1\n'
                  f'`TT_DNN_DEVICE_OP: "A", 7, 0, true, 2 ->\n{{"input_tensors":[{tensor(64)}]}}`;2\n'
                  '`TT_DNN_DEVICE_OP: "A", 7, 0, true, 3`;3\n')
        self.run_ops(".")
        rows = self.report()
        self.assertEqual([[r[f"{t}_X_PAD[LOGICAL]"] for t in ("INPUT_0", "INPUT_1", "OUTPUT_0")] for r in rows],
                         [["32", "33", "34"], ["64", "", "34"], ["32", "33", "34"]])
        self.assertEqual([(r["OP CODE"], r["ATTRIBUTES"], r["PROGRAM CACHE HIT"]) for r in rows],
                         [("A", "{'axis': 1}", "False"), ("A", "{'axis': 1}", "True"), ("A", "{'axis': 1}", "True")])
        self.assertNotIn("PROBLEM", rows[1])

    def test_the_log_gives_the_sub_device_of_what_the_report_has(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 7 ->\n{"op_code":"A"}`;10\n`TT_DNN_DEVICE_OP: "A", 7, 0, true, 8`;20\n',
                  "7,,,0,arch,,4,100,0,100,90,5,95,0\n8,,,0,arch,,4,100,0,100,90,5,95,0\n")
        self.zones(*self.run_of(7, 1000), (1, "BRISC", "BRISC-FW", "ZONE_START", 2000, 8,
                                           '{"sub_device_id":3;"sub_device_manager_id":1}'))
        self.run_ops(".")
        self.assertEqual([r["SUB DEVICE ID"] for r in self.report()], ["", "3"])

    def test_runs_that_the_host_did_not_tell_of(self):
        """A replay without its message, and an op that the device has twice."""
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1024 ->\n{"op_code":"A"}`;10\n'
                  '`TT_DNN_DEVICE_OP: "B", 8, 0, false, 2048 ->\n{"op_code":"B"}`;20\n',
                  "1024,5,1,0,arch,,4,100,0,100,90,5,95,\n2048,,,0,arch,,4,100,0,100,90,5,95,\n"
                  "2048,,,0,arch,,4,100,0,100,91,5,95,\n")
        self.run_ops(".")
        rows = self.report()
        self.assertEqual([(r["OP CODE"], r["METAL TRACE REPLAY SESSION ID"], r["DEVICE KERNEL DURATION [ns]"])
                          for r in rows],
                         [("A", "", ""), ("A", "1", "90"), ("B", "", "90"), ("B", "", "91")])
        self.assertEqual([r["PROBLEM"] for r in rows],
                         ["", "", "", "the device's report has this op more than once"])

    def test_a_kernel_of_no_length_has_no_utilisation(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1 ->\n{"op_code":"A","performance_model":'
                  '{"compute_ns":5},"input_tensors":[{"storage_type":{"device_id":0,"memory_config":'
                  '{"buffer_type":"l1","memory_layout":"interleaved"}}}]}`;10\n',
                  "1,,,0,arch,,4,100,0,100,0,5,5,\n")
        self.run_ops(".")
        row, = self.report()
        self.assertEqual((row["PM FPU UTIL (%)"], row["INPUT_0_MEMORY"]), ("0.0", "DEV_0_L1_INTERLEAVED"))

    def test_other_tools_have_written_the_files_anew(self):
        """Line ends, a byte order mark, columns in another order, whole numbers with a point."""
        self.logs("")
        (self.dir / ".logs/tracy_ops_data.csv").write_bytes(
            b'\xef\xbb\xbftotal_ns;MessageName\r\n10;`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1 ->\r\n{"op_code":"A"}`\r\n')
        (self.dir / ".logs/cpp_device_perf_report.csv").write_bytes(
            b"\xef\xbb\xbfDEVICE ID,DEVICE KERNEL DURATION [ns],GLOBAL CALL COUNT,CORE COUNT\r\n0,90.0,1.0,4.0\r\n")
        self.run_ops(".")
        row, = self.report()
        self.assertEqual([row[k] for k in ("OP CODE", "DEVICE KERNEL DURATION [ns]", "CORE COUNT")], ["A", "90", "4"])
        self.assertNotIn("PROBLEM", row)

    def test_a_file_that_cannot_be_read_is_missing(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1 ->\n{"op_code":"A"}`;10\n')
        (self.dir / ".logs/tracy_ops_times.csv").mkdir()
        (self.dir / ".logs/cpp_device_perf_report.csv").write_bytes(b"\x1f\x8b\x08 no gzip")
        _, err = self.run_ops(".")
        self.assertEqual(self.report()[0]["OP CODE"], "A")
        self.assertEqual(err.count("the report does without it"), 2, err)

    def test_what_viewers_look_for_lies_beside_the_report(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1 ->\n{"op_code":"A"}`;10\n')
        (self.dir / ".logs/tracy_profile_log_host.tracy").write_bytes(bytes(range(256)) * 1000)
        (self.dir / "npe_viz/sub").mkdir(parents=True)
        (self.dir / "npe_viz/sub/a.npeviz").write_text("x")
        for words in ((".",), (".logs/",), (".logs/tracy_ops_data.csv",)):
            with self.subTest(words):
                shutil.rmtree(self.dir / "reports", ignore_errors=True)
                self.run_ops(*words)
                self.assertEqual((self.dir / "reports/tracy_profile_log_host.tracy").read_bytes(),
                                 bytes(range(256)) * 1000)
                self.assertEqual((self.dir / "reports/npe_viz/sub/a.npeviz").read_text(), "x")
                self.assertFalse((self.dir / "reports/profile_log_device.csv").exists())

    def test_one_folder_as_todays_script_has_it(self):
        self.logs('`TT_DNN_DEVICE_OP: "A", 7, 0, false, 1 ->\n{"op_code":"A"}`;10\n')
        out, _ = self.run_ops("-o", ".", "-n", "x", "--date")
        self.assertRegex(out, r"reports/x/\d{4}(_\d\d){5}/ops_perf_results_x_\d{4}(_\d\d){5}\.csv\n$")


if __name__ == "__main__":
    main()
