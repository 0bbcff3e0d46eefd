"""unitrace metrics: every command line of the document, what the charts say as PDF, PNG, SVG and as
a page, and the browser of kernels: what it shows, to whom, and after a restart with other metrics."""
import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import unittest
import urllib.parse
import zlib

from common import BUILD, PATIENCE, SOURCE, UNITRACE, Case, main, skip

sys.path.insert(0, str(SOURCE / "tests/gen"))
import metrics_gen  # noqa: E402

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

KERNEL = metrics_gen.KERNELS[0]
SET = ("XVE_STALL[%],XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION[%],"
       "XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION[%],XVE_INST_EXECUTED_SEND_ALL_UTILIZATION[%],"
       "XVE_INST_EXECUTED_CONTROL_ALL_UTILIZATION[%],XVE_INST_EXECUTED_XMX_ALL_UTILIZATION[%]")
BYTES = "L3_BYTE_READ[bytes],L3_BYTE_WRITE[bytes]"
SHARED = os.environ.get("UNITRACE_SHARED", SOURCE.parent / "shared")
ABLE = subprocess.run([UNITRACE, "--version"], capture_output=True, text=True).stdout
HAS_PAGE = "as one file" in ABLE
HAS_SERVER = "in a browser" in ABLE
HAS_CAIRO = "PDF" in ABLE


def generate(path, layout, *options):
    subprocess.run([sys.executable, SOURCE / "tests/gen/metrics_gen.py", layout, path, *options], check=True)


def column(path, title, kernel=None, instance=None):
    """Values of a column, the way a spreadsheet would find them."""
    import csv
    with open(path, newline="") as f:
        rows = [r for r in csv.reader((line for line in f if line.strip() and not line.startswith("=")),
                                      skipinitialspace=True)]
    at = rows[0].index(title)
    return [float(r[at]) for r in rows[1:] if (kernel is None or r[0] == kernel) and
            (instance is None or r[1] == str(instance))]


def sheets(page):
    """What tools have put into a one-file page, by name."""
    found = {}
    for match in re.finditer(r'<script([^>]*class="sheet"[^>]*)>([^<]*)</script>', page):
        name = re.search(r'data-name="([^"]*)"', match[1])[1]
        found[name] = json.loads(zlib.decompress(base64.b64decode(match[2])))
    return found


class Charts(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()

    def setUp(self):
        super().setUp()
        generate(self.dir / "perfmetrics.12345.csv", "time", "--samples", "30", "--instances", "3")

    def run_metrics(self, *args, status=0, name="analyzeperfmetrics"):
        done = subprocess.run([BUILD / "bin" / name, *args], cwd=self.dir, capture_output=True,
                              text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def text(self, name):
        if not shutil.which("pdftotext"):
            self.skipTest("pdftotext is not installed (poppler-utils)")
        return subprocess.run(["pdftotext", "-layout", self.dir / name, "-"], check=True, text=True,
                              capture_output=True).stdout

    def pages(self, name):
        out = subprocess.run(["pdfinfo", self.dir / name], check=True, text=True, capture_output=True)
        return int(re.search(r"Pages:\s+(\d+)", out.stdout)[1])

    def test_listing_goes_to_the_screen_or_to_a_file(self):
        for name in ("analyzeperfmetrics", "analyzeperfmetrics.py"):
            listed = self.run_metrics("-l", "perfmetrics.12345.csv", name=name).stdout
        self.assertIn("Device 0\n    Metric\n        GlobalInstanceId\n        GpuTime[ns]\n", listed)
        self.assertIn(f'    Kernel, Number of Instances\n        "{KERNEL}", 3\n', listed)
        self.run_metrics("-l", "-o", "contents.txt", "perfmetrics.12345.csv")
        self.assertEqual((self.dir / "contents.txt").read_text(), listed)

    def test_the_command_lines_of_the_document_make_their_charts(self):
        if not HAS_CAIRO:
            self.skipTest("built without cairo")
        one = ["-m", SET, "-y", "Utilization and Stall (%)"]
        (self.dir / "myconfig.txt").write_text(
            f'-d 0 -k "{KERNEL}" -i 2 -m "{SET}" -y "Utilization and Stall (%)" -m "{BYTES}" '
            '-y "L3 Cache Read/Write (bytes)"\n')
        lines = {
            1: ["-d", "0", "-k", KERNEL, "-i", "2", *one, "-t", "Utilization and Stall"],
            2: ["-d", "0", "-k", KERNEL, "-i", "0", *one, "-t", "Utilization and Stall"],
            3: ["-d", "0", "-i", "0", *one, "-t", "Utilization and Stall"],
            4: ["-d", "0", "-k", KERNEL, "-i", "2", *one, "-m", BYTES, "-y", "L3 Cache Read/Write (bytes)"],
            5: ["-f", "myconfig.txt"],
            6: ["-f", "myconfig.txt", "-b", BYTES],
            7: ["-f", "config/pvc/ComputeBasic.txt"],  # comes with unitrace
        }
        for n, options in lines.items():
            self.run_metrics(*options, "-o", f"perfchart{n}.pdf", "perfmetrics.12345.csv")
        said = {n: self.text(f"perfchart{n}.pdf") for n in lines}
        for n, pages in ((1, 1), (2, 1), (3, 5)):  # all instances of all kernels: a page for each kernel
            self.assertEqual(self.pages(f"perfchart{n}.pdf"), pages)
            self.assertIn("Utilization and Stall", said[n])
            for metric in SET.split(","):
                self.assertIn(metric, said[n])
        self.assertIn(f"{KERNEL}, instance 2", said[1])
        self.assertIn(f"{KERNEL}, 3 instances", said[2])
        self.assertEqual(said[3].count("3 instances"), 5)
        self.assertNotIn("all kernels", said[3])
        self.assertEqual([self.pages(f"perfchart{n}.pdf") for n in (4, 5, 6)], [2, 2, 3])
        self.assertEqual(self.pages("perfchart7.pdf") % 5, 0)
        self.assertIn("L3 cache (bytes)", said[7])
        self.assertEqual(said[4], said[5])
        self.assertIn("Throughput (GB/s)", said[6])
        self.assertIn("L3_BYTE_READ[bytes]", said[6])

    def test_option_files_of_the_original_work_as_they_are(self):
        folder = SHARED and os.path.join(SHARED, "data/unitrace/metrics_config")
        if not os.path.isdir(folder):
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        done = 0
        for root, _, names in os.walk(folder):
            for name in names:
                text = pathlib.Path(root, name).read_text()
                metrics = sorted(set(",".join(re.findall(r'-[mb] "([^"]*)"', text)).split(",")))
                titles = ["GpuTime[ns]"] + [m.strip() for m in metrics]
                (self.dir / "own.csv").write_text(
                    "\n=== Device #0 Metrics ===\n\n" + ", ".join(["Kernel", "GlobalInstanceId"] + titles) +
                    "\n" + "".join(f'"k", 1, {", ".join(str(7 * i + k) for k in range(1, len(titles) + 1))}\n'
                                   for i in range(20)))
                self.run_metrics("-f", os.path.join(root, name), "-o", "own.svg", "own.csv")
                svg = (self.dir / "own.svg").read_text()
                self.assertEqual(svg.count('class="page"'), len(re.findall(r"-[mb] ", text)))
                done += 1
        self.assertGreater(done, 4)

    def test_pictures_are_of_their_format(self):
        options = ["-k", KERNEL, "-m", SET, "perfmetrics.12345.csv", "-o"]
        self.run_metrics(*options, "c.svg")
        self.assertTrue((self.dir / "c.svg").read_bytes().startswith(b"<?xml"))
        if not HAS_CAIRO:
            self.skipTest("built without cairo")
        self.run_metrics(*options, "c.png")
        self.run_metrics(*options, "c.pdf")
        self.assertTrue((self.dir / "c.png").read_bytes().startswith(b"\x89PNG"))
        self.assertTrue((self.dir / "c.pdf").read_bytes().startswith(b"%PDF"))

    def test_a_page_holds_the_numbers_of_the_file(self):
        if not HAS_PAGE:
            self.skipTest("built without the viewer's page")
        self.run_metrics("-k", KERNEL, "-i", "2", "-m", SET, "-b", BYTES, "-o", "c.html",
                         "perfmetrics.12345.csv")
        charts = sheets((self.dir / "c.html").read_text())["charts"]["charts"]
        self.assertEqual(len(charts), 2)
        path = self.dir / "perfmetrics.12345.csv"
        self.assertEqual([s["name"] for s in charts[0]["series"]], SET.split(","))
        for series in charts[0]["series"]:
            self.assertEqual(series["y"], column(path, series["name"], KERNEL, 6))
        time = column(path, "GpuTime[ns]", KERNEL, 6)
        for series in charts[1]["series"]:
            wanted = [v / t for v, t in zip(column(path, series["name"], KERNEL, 6), time)]
            for a, b in zip(series["y"], wanted):
                self.assertAlmostEqual(a, b, places=9)

    def test_many_samples_keep_their_extremes(self):
        generate(self.dir / "many.csv", "time", "--samples", "20000", "--instances", "1")
        self.run_metrics("-k", KERNEL, "-m", "XVE_STALL[%]", "-o", "many.svg", "many.csv")
        svg = (self.dir / "many.svg").read_text()
        self.assertLess(len(svg), 60000)
        values = column(self.dir / "many.csv", "XVE_STALL[%]", KERNEL)
        band = re.search(r'<path d="M([^"]*)Z"', svg)[1]
        heights = [float(p.split()[1]) for p in band.split("L")]
        levels = [float(y) for y in re.findall(r'<path d="M[\d.]+ ([\d.]+)L[\d.]+ [\d.]+" fill="none" '
                                               r'stroke="#e1e6eb"', svg)]
        zero, hundred = max(levels), min(levels)  # the axis goes from 0 to 100
        share = lambda y: (zero - y) / (zero - hundred) * 100
        self.assertAlmostEqual(share(min(heights)), max(values), delta=0.1)
        self.assertAlmostEqual(share(max(heights)), min(values), delta=0.1)

    def test_without_a_kernel_an_instance_is_that_of_each(self):
        listed = self.run_metrics("-l", "perfmetrics.12345.csv").stdout
        kernels = re.findall(r'^        "(.*)", 3$', listed, re.M)
        self.run_metrics("-i", "2", "-m", SET, "-o", "second.svg", "perfmetrics.12345.csv")
        svg = (self.dir / "second.svg").read_text()
        self.assertIn(f"instance 2 of each of {len(kernels)} kernels on device 0", svg)
        done = self.run_metrics("-i", "4", "-m", SET, "-o", "none.svg", "perfmetrics.12345.csv", status=1)
        self.assertIn("No kernel has an instance 4", done.stderr)

    def test_instances_with_one_sample_each_have_bars_with_names(self):
        generate(self.dir / "query.csv", "query", "--instances", "2")
        self.run_metrics("-i", "0", "-k", KERNEL, "-m", BYTES, "-o", "bars.svg", "query.csv")
        svg = (self.dir / "bars.svg").read_text()
        name = re.sub(r"\[SIMD.*", "", KERNEL).replace("<", "&lt;").replace(">", "&gt;")
        for n in (1, 2):
            self.assertIn(f">{name} #{n}<", svg)

    def stalls(self, *kernels):
        dump = self.dir / "dump"
        dump.mkdir()
        shutil.copy(SOURCE / "tests/fuzz/corpus/stall/reduce.asm", dump / "OCL_asm1_simd32_entry_0001.asm")
        titles = [s + "[Events]" for s in metrics_gen.STALLS]
        rows = "".join(f'"{kernel}", {16 * i:8x}, 3, 0, 1, 2, 0, {40 if i == 9 else 1}, 0, 0, 0\n'
                       for kernel in kernels for i in range(20))
        return titles, rows

    def test_a_kernel_without_code_does_not_hide_the_others(self):
        titles, rows = self.stalls("gone", "reduce", "lost")
        (self.dir / "stalls.csv").write_text(
            "\n=== Device #0 Metrics ===\n\n      Kernel, IP[Address], " + ", ".join(titles) + "\n" + rows)
        # the long names of the original's options
        done = self.run_metrics("--shaderdump", "dump", "--report", "r.txt", "--numtopstalls", "2", "--output",
                                "all.svg", "stalls.csv")
        report = (self.dir / "r.txt").read_text()
        self.assertTrue(report.startswith("Not found .asm file for gone\nKernel: reduce\n"), report[:200])
        self.assertIn("Report of Top 2 Stalls", report)
        self.assertTrue(report.endswith("=\n\nNot found .asm file for lost\n"), report[-200:])
        self.assertIn("Not found .asm file for gone", done.stderr)
        self.run_metrics("-k", "lost", "-s", "dump", "-o", "one.svg", "stalls.csv", status=1)

    def test_the_document_carries_the_report(self):
        if not HAS_CAIRO:
            self.skipTest("built without cairo")
        titles, rows = self.stalls("reduce")
        (self.dir / "stalls.csv").write_text(
            "\n=== Device #0 Metrics ===\n\n      Kernel, IP[Address], " + ", ".join(titles) + "\n" + rows)
        self.run_metrics("-s", "dump", "-r", "r.txt", "-o", "chart", "stalls.csv")  # a name without an end is PDF
        said, report = self.text("chart"), (self.dir / "r.txt").read_text()
        self.assertGreater(self.pages("chart"), 1)
        for line in report.splitlines():
            if line.startswith("  /* ["):
                self.assertIn(line.split("*/")[0].strip(), said)
        self.assertIn("Assembly with instruction addresses: dump/OCL_asm1_simd32_entry_0001.asm.ip", said)

    def test_stalls_are_drawn_and_reported(self):
        titles, rows = self.stalls("reduce")
        (self.dir / "stallmetrics.56789.csv").write_text(
            "\n=== Device #0 Metrics ===\n\n      Kernel, IP[Address], " + ", ".join(titles) + "\n" + rows)
        done = self.run_metrics("-k", "reduce", "-s", "./dump", "-o", "stallchart.svg",
                                "./stallmetrics.56789.csv")
        self.assertIn("Kernel: reduce\n", done.stdout)
        self.assertIn("is stalled", done.stdout)
        done2 = self.run_metrics("-k", "reduce", "-s", "./dump", "-o", "stallchart.svg", "-r",
                                 "stallreport.txt", "./stallmetrics.56789.csv")
        self.assertEqual((self.dir / "stallreport.txt").read_text(), done.stdout)
        self.assertEqual(done2.stdout, "")
        svg = (self.dir / "stallchart.svg").read_text()
        self.assertIn("<title>0x00000090, SbidStall: 40</title>", svg)
        self.assertIn(">InstrFetchStall</text>", svg)
        missing = self.run_metrics("-k", "reduce", "-s", "nowhere", "-o", "c.svg",
                                   "./stallmetrics.56789.csv", status=1)
        self.assertIn("nowhere", missing.stderr)

    def test_folders_of_results_are_read_without_banner(self):
        generate(self.dir / "metrics_1.csv", "time", "--no-banner")
        self.run_metrics("-d", "1", "-m", SET, "-o", "c.svg", "metrics_1.csv")
        self.run_metrics("-d", "0", "-m", SET, "-o", "c.svg", "metrics_1.csv", status=1)

    def test_a_folder_of_results_is_an_input(self):
        for process, device in (("app.7", 0), ("app.7", 1), ("app.9", 1)):
            folder = self.dir / "rd[1]" / process / "metrics"
            folder.mkdir(parents=True, exist_ok=True)
            generate(folder / f"metrics_{device}.csv", "time", "--no-banner")
        listed = self.run_metrics("-l", "--result-dir", "rd[1]").stdout
        self.assertEqual(re.findall(r"^(?:rd.*|Device \d)$", listed, re.M),
                         ["rd[1]/app.7/metrics/metrics_0.csv", "Device 0", "rd[1]/app.7/metrics/metrics_1.csv",
                          "Device 1", "rd[1]/app.9/metrics/metrics_1.csv", "Device 1"])
        self.run_metrics("-m", SET, "-o", "c.svg", "rd[1]")
        self.run_metrics("-d", "1", "-m", SET, "-o", "c.svg", "rd[1]/app.9")
        self.assertIn("several processes", self.run_metrics("-d", "1", "-m", SET, "-o", "c.svg", "rd[1]", status=2).stderr)
        self.assertIn("Device 4", self.run_metrics("-d", "4", "-m", SET, "-o", "c.svg", "rd[1]", status=1).stderr)
        self.assertIn("no metrics_N.csv", self.run_metrics("-l", ".", status=1).stderr)

    def test_a_file_that_goes_on_half_way_is_read_to_there(self):
        text = (self.dir / "perfmetrics.12345.csv").read_text()
        (self.dir / "cut.csv").write_text(text[:len(text) // 2 - 3])
        done = self.run_metrics("-l", "cut.csv")
        self.assertIn("the last line is cut off", done.stderr)


class Browser(Case):
    def setUp(self):
        super().setUp()
        if not HAS_SERVER:
            self.skipTest("built without the server or the page")
        self.path = self.dir / "perf.metrics.1092768.csv"
        generate(self.path, "time", "--samples", "25")
        self.server = None
        self.link = "/" + urllib.parse.quote(f'"{KERNEL}"', safe="") + "/6"

    def tearDown(self):
        if self.server:
            self.server.send_signal(signal.SIGINT)
            self.server.communicate(timeout=PATIENCE)
        super().tearDown()

    def start(self, *options, port="0", command=("metrics", "-q")):
        self.server = subprocess.Popen([UNITRACE, *command, "--port", str(port), *options], cwd=self.dir,
                                       stderr=subprocess.PIPE, text=True)
        said = []
        for line in self.server.stderr:
            said.append(line)
            found = re.search(r"metrics: (https?)://[^:]*:(\d+)/", line)
            if found:
                self.scheme, self.port = found[1], int(found[2])
                return
        self.fail("".join(said))

    def stop(self):
        self.server.send_signal(signal.SIGINT)
        self.server.communicate(timeout=PATIENCE)
        self.assertEqual(self.server.returncode, 0)
        self.server = None

    def ask(self, method, path, body=None, **headers):
        if self.scheme == "https":
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            link = http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE, context=context)
        else:
            link = http.client.HTTPConnection("localhost", self.port, timeout=PATIENCE)
        try:
            link.request(method, path, body, headers)
            answer = link.getresponse()
            return answer, answer.read()
        finally:
            link.close()

    def sheet(self, name="charts"):
        answer, body = self.ask("POST", self.link + "/api/sheet",
                                json.dumps({"tool": "charts", "name": name}), **{"X-Unitrace": "1"})
        self.assertEqual(answer.status, 200, body)
        return json.loads(body)

    def test_a_link_shows_its_instance_and_after_a_restart_other_metrics(self):
        self.start("-m", SET, "-y", "Stall and Utilizations", "-t", "Stall and Utilizations", self.path)
        answer, _ = self.ask("GET", self.link)
        self.assertEqual((answer.status, answer.getheader("Location")), (303, "6/"))
        answer, body = self.ask("GET", self.link + "/")
        self.assertEqual(answer.status, 200)
        self.assertIn(b'<script src="app.js">', body)
        self.assertEqual(self.ask("GET", self.link + "/app.js")[0].status, 200)
        chart = self.sheet()["charts"][0]
        self.assertEqual(chart["title"], "Stall and Utilizations")
        self.assertIn(KERNEL, chart["subtitle"])
        self.assertEqual(chart["series"][0]["y"], column(self.path, "XVE_STALL[%]", KERNEL, 6))
        port = self.port
        self.stop()
        self.start("-m", BYTES, "-y", "Bytes", "-t", "L3 Traffic", self.path, port=port)
        self.assertEqual(self.port, port)
        self.assertEqual(self.ask("GET", self.link + "/")[0].status, 200)
        chart = self.sheet()["charts"][0]
        self.assertEqual((chart["title"], chart["y"]["title"]), ("L3 Traffic", "Bytes"))
        self.assertEqual([s["name"] for s in chart["series"]], BYTES.split(","))

    def test_without_metrics_all_of_them_are_shown(self):
        self.start(self.path)
        units = [c["y"].get("title") for c in self.sheet()["charts"]]
        self.assertEqual(units, ["cycles", "MHz", "bytes", "%", "messages", "events"])

    def test_the_first_page_lists_the_kernels(self):
        self.start(self.path)
        self.link = ""
        listed = self.sheet("kernels")
        self.assertEqual(listed["table"]["data"][0], metrics_gen.KERNELS)
        self.assertEqual(listed["table"]["data"][2], [2] * 5)
        for link in listed["links"]:
            self.assertEqual(self.ask("GET", link)[0].status, 200)

    def test_only_this_machine_is_answered_and_nothing_else_is_served(self):
        self.start("-m", SET, self.path)
        for path in ("/x", "/etc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/a/b/",
                     "/%22x%22/99999999999999999999999", "/%00/1", "/x/999/", "//", "/1/", "/api/live/../.."):
            answer, body = self.ask("GET", path)
            self.assertIn(answer.status, (303, 400, 404), path)
            self.assertNotIn(b"root:", body)
        self.assertEqual(self.ask("GET", self.link + "/", Host="evil.example")[0].status, 403)
        self.assertEqual(self.ask("GET", self.link + "/", Origin="http://evil.example")[0].status, 403)
        self.assertIn(self.ask("PUT", self.link + "/", b"x")[0].status, (403, 405))
        self.assertIn(self.ask("POST", self.link + "/api/info", b"{}")[0].status, (400, 403))
        self.assertEqual(self.ask("GET", "/" + "x" * 200000 + "/1/")[0].status // 100, 4)
        self.assertEqual(self.ask("GET", self.link + "/")[0].status, 200)  # still there

    def test_names_of_any_bytes_are_shown(self):
        name = 'op/"<script>alert(1)</script>" 100% ü,#?&'
        text = self.path.read_text().replace(metrics_gen.quoted(KERNEL), metrics_gen.quoted(name))
        self.path.write_text(text)
        self.start("-m", SET, self.path)
        self.link = "/" + urllib.parse.quote(f'"{name}"', safe="") + "/1"
        self.assertIn(name, self.sheet()["charts"][0]["subtitle"])

    def test_tls_with_a_certificate_of_its_own_or_a_given_one(self):
        if not shutil.which("openssl"):
            self.skipTest("openssl is not installed")
        self.start("-m", SET, self.path, command=("metrics", "-p"))
        self.assertEqual(self.scheme, "https")
        self.assertEqual(self.ask("GET", self.link + "/")[0].status, 200)
        self.assertEqual(len(self.sheet()["charts"]), 1)
        self.stop()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-keyout", "k.pem", "-out", "c.pem"], cwd=self.dir, check=True,
                       capture_output=True)
        self.start("-c", "c.pem", "-e", "k.pem", "-m", SET, self.path, command=("metrics", "-p"))
        self.assertEqual(self.ask("GET", self.link + "/")[0].status, 200)

    def test_stalls_are_served_with_their_report(self):
        generate(self.path, "stall")
        self.start("-t", "XVE Stall Statistics and Report", self.path)
        chart = self.sheet()["charts"][0]
        self.assertEqual(chart["title"], "XVE Stall Statistics and Report")
        self.assertEqual(chart["subtitle"], KERNEL.split("[")[0])
        self.assertTrue(chart["stacked"])

    def test_the_viewer_of_a_timeline_serves_them_beside_it(self):
        trace = [{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": KERNEL,
                  "args": {"metrics": "https://localhost:8000" + self.link}}]
        (self.dir / "app.json").write_text(json.dumps({"traceEvents": trace}))
        (self.dir / "config.txt").write_text(f'-m "{BYTES}" -y Bytes')
        plain = json.dumps(trace).replace("https:", "http:")
        (self.dir / "plain.json").write_text(plain)
        uniview = [BUILD / "bin/uniview", "--no-browser", "--metrics-port", "0"]
        self.server = subprocess.Popen([*uniview, "-t", "plain.json", "-m", self.path, "-f", "config.txt"],
                                       cwd=self.dir, stderr=subprocess.PIPE, text=True)
        said = self.server.stderr.readline() + self.server.stderr.readline()
        found = re.search(r"metrics: (http)://127.0.0.1:(\d+)/", said)
        self.assertTrue(found, said)
        self.assertRegex(said, r"view: http://127.0.0.1:\d+/\?token=")
        self.scheme, self.port = found[1], int(found[2])
        self.assertEqual(self.sheet()["charts"][0]["y"]["title"], "Bytes")
        self.stop()
        if not shutil.which("openssl"):
            self.skipTest("openssl is not installed")
        self.server = subprocess.Popen([*uniview, "-t", "app.json", "-m", self.path], cwd=self.dir,
                                       stderr=subprocess.PIPE, text=True)
        said = self.server.stderr.readline() + self.server.stderr.readline()  # and the viewer is there
        self.assertIn("metrics: https://localhost:", said)
        self.stop()
        done = subprocess.run([*uniview, "-t", "app.json", "-m", "none.csv"], cwd=self.dir, timeout=PATIENCE,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)

    def test_a_file_that_is_not_there_is_reported_at_once(self):
        done = subprocess.run([UNITRACE, "metrics", "-q", "none.csv"], cwd=self.dir, capture_output=True,
                              text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("File none.csv does not exist or cannot be opened", done.stderr)


if __name__ == "__main__":
    main()
