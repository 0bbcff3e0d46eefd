"""The viewer's tab Hotspots in a headless Chromium, over HTTP and in one file: every number is the one that
`unitrace hotspots --json` tells, of everything, of a stretch of time and of one thread; callers, callees,
lines and instructions of a function; the same samples below the timeline. Skipped without the page, node,
Chromium or playwright-core."""
# ci: labels slow browser
import csv
import io
import json
import re
import subprocess

from common import PATIENCE, SOURCE, UNITRACE, main, need, program
from view_support import ViewCase, unitrace

need("burn")
BURN = program("burn")
BYS = ("function", "own", "module", "line", "thread", "task", "process")


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Hotspots(ViewCase):
    """One recording, looked at by a page over HTTP and by a page of one file."""

    script = "view_hotspots.js"

    def setUp(self):
        super().setUp()
        unitrace("hotspots", "--quiet", "-o", "run.utr", BURN, "shares", "300", "task", "pack", "200", "threads", "2", "150",
                 cwd=self.dir)
        unitrace("view", "--save", "run.html", "run.utr", cwd=self.dir)
        whole = self.told()
        self.assertGreater(sum(r["samples"] for r in whole), 100)
        window = json.loads(unitrace("query", "--format", "json", "run.utr", "select min(ts) a, max(ts) b from sample",
                                     cwd=self.dir))[0]
        first = json.loads(unitrace("query", "--format", "json", "run.utr",
                                    "select start_ts from trace_bounds", cwd=self.dir))[0]["start_ts"]
        self.area = (int(window["a"] - first), int((window["a"] + window["b"]) / 2 - first))
        self.words = ["burn_half", *self.area, "worker 1"]

    def told(self, *options):
        return json.loads(unitrace("hotspots", "--json", *options, "run.utr", cwd=self.dir))

    def check_rows(self, text, told):
        def key(r):
            return (r["name"], int(r["self_ns"]), int(r["total_ns"]), int(r["samples"]))
        self.assertEqual(sorted(map(key, rows(text))), sorted(map(key, told)))

    def check_tree(self, text, told):
        """Rows that are open at first: all of them are told, and the heaviest is there."""
        seen = {(r["name"], int(r["total_ns"])) for r in rows(text)}
        told = {(r["name"], r["total_ns"]) for r in told}
        self.assertLessEqual(seen, told)
        self.assertIn(max(told, key=lambda r: r[1]), seen)

    def check_page(self, seen):
        self.assertEqual(seen["console"], [])
        for by in BYS:
            with self.subTest(by=by):
                self.check_rows(seen["by"][by], self.told("--by", by))
        first = unitrace("hotspots", "run.utr", cwd=self.dir).splitlines()[0]
        self.assertIn(re.split(r",? ?(most of it )?called from", first)[0].split(" takes ")[0], seen["verdict"])
        self.check_tree(seen["Top-down"], self.told("--tree", "--percent", "0"))
        self.check_tree(seen["Bottom-up"], self.told("--bottom-up", "--percent", "0"))
        self.check_rows(seen["thread"]["functions"], self.told("--thread", "worker 1"))
        narrow = self.told("--from", f"{self.area[0]}ns", "--to", f"{self.area[1]}ns")
        self.check_rows(seen["narrow"]["functions"], narrow)
        self.assertLess(sum(r["samples"] for r in narrow), sum(r["samples"] for r in self.told()))
        self.assertIn(f"{sum(r['samples'] for r in narrow)} samples", seen["drawer"][0]["say"].replace("\u202f", ""))

    def check_stack(self, seen):
        names = {r["name"] for r in self.told()}
        self.assertLessEqual(set(seen["stack"]), names)
        self.assertTrue({"_start", "__clone3", "start_thread"} & set(seen["stack"]), seen["stack"])

    def check_function(self, seen):
        half = {r["name"]: r for r in self.told()}["burn_half"]
        self.assertIn("burn_half", seen["around"])
        self.assertTrue(seen["callers"][0]["say"].startswith("burn_half"))
        self.assertTrue(any(b["say"].startswith("main ") for b in seen["callers"]))
        told = {r["name"] for r in self.told("--callees", "burn_half", "--percent", "0")} - {"burn_half"}
        seen_names = {b["say"].rsplit(":", 1)[0].rsplit(" ", 2)[0] for b in seen["callees"]}
        self.assertTrue(seen_names - {"burn_half"} <= told | {"burn_half"}, (seen_names, told))
        lines = [r for r in rows(seen["source"]) if r["self_ns"]]
        self.assertEqual(sum(int(r["self_ns"]) for r in lines),
                         sum(r["self_ns"] for r in self.told("--annotate", "burn_half")))
        self.assertLessEqual(abs(sum(int(r["self_ns"]) for r in lines) - half["self_ns"]), half["self_ns"] // 10)

    def check_assembly(self, seen):
        shown = subprocess.run([UNITRACE, "hotspots", "--json", "--annotate", "burn_half", "--show", "assembly", "run.utr"],
                               cwd=self.dir, capture_output=True, text=True, check=False)
        if shown.returncode:  # no capstone
            return
        told = [(r["address"], r["self_ns"]) for r in json.loads(shown.stdout) if r["self_ns"]]
        self.assertEqual([(r["address"], int(r["self_ns"])) for r in rows(seen["assembly"]) if r["self_ns"]], told)

    def test_numbers_are_those_of_the_command_line(self):
        served, saved = self.serve_and_look(["run.utr"], self.dir / "run.html")
        for seen in (served, saved):
            self.check_page(seen)
            self.check_function(seen)
            self.check_stack(seen)
            self.check_assembly(seen)

    def test_a_server_for_others_reads_no_files(self):
        """What a trace names is read for the one who runs unitrace view, not for anybody on the network."""
        words = [UNITRACE, "view", "run.utr", "--socket-fd", "3", "--no-browser"]
        code = ("import os, socket, subprocess, sys, json\n"
                "s = socket.socket(socket.AF_UNIX); s.bind('sock'); s.listen(4)\n"
                "os.dup2(s.fileno(), 3)\n"
                "for more in ([], ['--show-code']):\n"
                "    p = subprocess.Popen(sys.argv[1:] + more, pass_fds=(3,), stdin=subprocess.PIPE,\n"
                "                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
                "    ask = json.dumps({'scope': {}, 'name': 'burn_half', 'module': os.environ['MODULE'], 'kind': 'source'})\n"
                "    for i in range(100):\n"
                "        c = socket.socket(socket.AF_UNIX); c.connect('sock'); c.settimeout(20)\n"
                "        c.sendall(f'POST /api/annotate HTTP/1.0\\r\\nHost: localhost\\r\\nX-Unitrace: 1\\r\\n'\n"
                "                  f'Content-Type: application/json\\r\\nContent-Length: {len(ask)}\\r\\n\\r\\n{ask}'.encode())\n"
                "        got = b''.join(iter(lambda: c.recv(65536), b'')); c.close()\n"
                "        if b'rows' in got: break\n"
                "    print(json.dumps(got.split(b'\\r\\n\\r\\n', 1)[1].decode()))\n"
                "    p.stdin.close(); p.wait()\n")
        module = {r["name"]: r for r in self.told()}["burn_half"]["module"]
        run = subprocess.run(["python3", "-c", code, *words], cwd=self.dir, capture_output=True, text=True, timeout=PATIENCE,
                             check=False, env={"PATH": "/usr/bin:/bin", "MODULE": module})
        self.assertEqual(run.returncode, 0, run.stderr)
        closed, open_ = [json.loads(json.loads(line)) for line in run.stdout.splitlines()]
        self.assertTrue(closed["rows"])
        self.assertFalse([r for r in closed["rows"] if r["text"]])
        self.assertTrue([r for r in open_["rows"] if r["text"]])


class TwoRuns(ViewCase):
    script = "view_hotspots_two.js"

    def test_the_flame_graph_is_coloured_by_what_changed(self):
        """Shares and changes are those of the command line; what grew is red, what shrank is green."""
        inputs = SOURCE / "tests/golden/inputs/profiles"
        before, after = inputs / "app.json", inputs / "later.json"
        unitrace("view", "--compare", before, after, "--save", "two.html", cwd=self.dir)
        seen, = self.look((self.dir / "two.html").as_uri())
        self.assertEqual(seen["errors"], [])
        boxes = {}
        for box in seen["boxes"]:
            name, share, change = re.match(r"(.*?) ([\d.]+) %: .*samples, ([+\-\u2212]?[\d.]+) % since before", box["say"]).groups()
            boxes.setdefault(name, []).append((float(share), float(change.replace("\u2212", "-")), box["rgb"]))
        told = {r["name"]: r for r in json.loads(unitrace("hotspots", "--diff", before, "--json", after, cwd=self.dir))}
        for name in ("void std::sort<int*>(int*, int*)", "clear_page_erms"):  # in one place each, and leaves
            (share, change, (red, green, *_)), = boxes[name]
            self.assertAlmostEqual(share, told[name]["share_after"], delta=0.06)
            self.assertAlmostEqual(change, told[name]["change_points"], delta=0.06)
            self.assertEqual(red > green, change > 0, (name, red, green))


if __name__ == "__main__":
    main()
