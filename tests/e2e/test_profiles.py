#!/usr/bin/env python3
"""Profiles out and in: what we write is what other tools read, what they write is what we read."""
# ci: labels slow browser real
import collections
import csv
import gzip
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

import firefox_support
from common import BUILD, SOURCE, UNITRACE, Case, main, need, program

need("burn")
INPUTS = SOURCE / "tests/golden/inputs/profiles"
MODULES = SOURCE / "build/node/node_modules"
ORACLES = SOURCE / "build/oracles/node_modules"


def folded(text):
    """{stack: weight}"""
    stacks = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        stacks[stack] += int(weight)
    return stacks


def selves(stacks):
    """{function: ns in itself}"""
    found = collections.Counter()
    for stack, weight in stacks.items():
        found[stack.rsplit(";", 1)[-1]] += weight
    return found


class Profiles(Case):
    def ask(self, *words, **more):
        got = self.unitrace(*words, **more)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got.stdout.decode()

    def folded(self, path):
        return folded(self.ask("hotspots", "--folded", path))

    def export(self, name, source=INPUTS / "app.json"):
        self.ask("export", "--overwrite", "-o", name, source)
        return self.dir / name


class Out(Profiles):
    def setUp(self):
        super().setUp()
        self.expected = self.folded(INPUTS / "app.json")
        self.assertEqual(sum(self.expected.values()), 78_000_000)

    def test_all_our_formats_keep_samples(self):
        for name in ("a.utr", "a.json.gz", "a.pftrace", "a.pb.gz", "a.folded"):
            path = self.export(name)
            with self.subTest(name):
                self.assertEqual(self.folded(path), self.expected)

    def test_folded_stacks_are_lines(self):
        text = self.export("a.folded").read_text()
        self.assertEqual(folded(text), self.expected)
        self.assertTrue(all(re.fullmatch(r"\S.* \d+", line) for line in text.splitlines()))

    def test_protoc_reads_pprof(self):
        if not shutil.which("protoc"):
            self.skipTest("no protoc")
        packed = self.export("a.pb.gz")
        got = subprocess.run(["protoc", "--decode=test.Profile", f"-I{SOURCE / 'tests/report'}", "pprof_min.proto"],
                             input=gzip.decompress(packed.read_bytes()), capture_output=True, check=True)
        text = got.stdout.decode()
        self.assertNotRegex(text, r"(?m)^\s*\d+[:\s{]")  # a field that nobody knows
        strings = [s.encode().decode("unicode_escape") for s in re.findall(r'string_table: "(.*)"', text)]
        types = [tuple(strings[int(n)] for n in re.findall(r"(?:type|unit): (\d+)", block))
                 for block in re.findall(r"\nsample_type \{(.*?)\n\}", "\n" + text, re.S)]
        self.assertEqual(types, [("samples", "count"), ("cpu", "nanoseconds")])
        values = [tuple(map(int, re.findall(r"value: (\d+)", block)))
                  for block in re.findall(r"\nsample \{(.*?)\n\}", text, re.S)]
        self.assertEqual([sum(v) for v in zip(*values)], [78, 78_000_000])
        self.assertIn("/home/me/work.cpp", strings)

    def test_go_reads_pprof(self):
        go = shutil.which("go")
        if not go:
            self.skipTest("no Go")
        got = subprocess.run([go, "tool", "pprof", "-raw", self.export("a.pb.gz")], capture_output=True,
                             env={**os.environ, "HOME": str(self.dir)}, check=False)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertIn("samples/count cpu/nanoseconds", got.stdout.decode())

    def test_speedscope_reads_its_own(self):
        """By its schema, as far as it tells."""
        profile = json.loads(self.export("a.speedscope.json").read_text())
        self.assertEqual(profile["$schema"], "https://www.speedscope.app/file-format-schema.json")
        frames, found = profile["shared"]["frames"], collections.Counter()
        for thread in profile["profiles"]:
            self.assertEqual((thread["type"], thread["unit"]), ("sampled", "nanoseconds"))
            self.assertEqual(len(thread["samples"]), len(thread["weights"]))
            self.assertEqual(thread["endValue"], sum(thread["weights"]))
            for stack, weight in zip(thread["samples"], thread["weights"]):
                found[";".join(frames[n]["name"] for n in stack)] += weight
        ours = {stack.replace("[app]", "/home/me/app"): w for stack, w in self.expected.items()}
        self.assertEqual(found, ours)

    def test_speedscope_in_a_browser(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        self.export("a.speedscope.json")
        got = subprocess.run(["node", SOURCE / "tests/e2e/speedscope.js", MODULES, ORACLES, "a.speedscope.json", "out.json"],
                             cwd=self.dir, capture_output=True, check=False)
        if got.returncode == 77:
            self.skipTest((got.stdout + got.stderr).decode().strip() + " (tools/setup.sh test)")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        result = json.loads((self.dir / "out.json").read_text())
        self.assertEqual([line for line in result["console"] if line.startswith("error")], [])
        found = collections.Counter()
        for thread in result["profile"]["profiles"]:
            self.assertEqual(thread["unit"], "nanoseconds")
            found += self.opened(thread["events"], [f["name"] for f in result["profile"]["shared"]["frames"]])
        ours = selves(self.expected)
        ours["/home/me/app"] = ours.pop("[app]")
        self.assertEqual(found, ours)

    def opened(self, events, names):
        """{function: time in itself} of what opens and closes."""
        found, stack, last = collections.Counter(), [], 0
        for e in events:
            if stack:
                found[names[stack[-1]]] += e["at"] - last
            last = e["at"]
            if e["type"] == "O":
                stack.append(e["frame"])
            else:
                self.assertEqual(stack.pop(), e["frame"])
        return +found

    def test_the_firefox_profiler_finds_the_same(self):
        if why := firefox_support.missing():
            self.skipTest(why)
        ask = firefox_support.Profiler(self, tempfile.mkdtemp(dir=self.dir), self.export("a.firefox.json"))
        threads = json.loads(ask("thread", "list", "--json"))["threads"]
        self.assertEqual({t["name"] for t in threads}, {"GeckoMain", "worker"})
        found = collections.Counter()
        for thread in threads:
            ask("thread", "select", thread["threadHandle"])
            got = json.loads(ask("thread", "functions", "--json", "--include-idle"))
            for f in got["functions"]:
                found[f["name"]] += f["selfSamples"]
        ours = selves(self.expected)
        for name, ns in ours.items():
            self.assertAlmostEqual(found[name.replace("[app]", "/home/me/app")], ns / 1e6, 3, msg=name)


def can_record(folder):
    """Is there a perf, and may it?"""
    if not shutil.which("perf"):
        return "no perf"
    got = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-o", folder / "try.data", "true"],
                         capture_output=True, check=False)
    return "" if got.returncode == 0 else "perf may not record here"


class Perf(Profiles):
    def setUp(self):
        super().setUp()
        why = can_record(self.dir)
        if why:
            self.skipTest(why)

    def record(self, name, *options):
        got = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", *options, "-o", self.dir / name,
                              program("burn"), "shares", "300", "threads", "2", "50"], capture_output=True, check=False)
        self.assertEqual(got.returncode, 0, got.stderr)
        return self.dir / name

    def perf_shares(self, path, by):
        got = subprocess.run(["perf", "report", "-i", path, "--stdio", "--no-children", "--no-inline", "-g", "none", "-s",
                              by, "--percent-limit", "0"], capture_output=True, text=True, check=False)
        shares = collections.Counter()
        for line in got.stdout.splitlines():
            found = re.match(r"\s+([\d.]+)%\s+(?:\[[.k]\] )?(\S+)", line)
            if found:
                shares[found[2].replace("[kernel.kallsyms]", "[kernel]")] += float(found[1])
        return shares

    def our_shares(self, path, by):
        rows = csv.DictReader(io.StringIO(self.ask("hotspots", "--csv", "--by", by, path)))
        shares = collections.Counter()
        for row in rows:
            shares[row["name"].rsplit("/", 1)[-1] if by == "module" else row["name"]] += float(row["self_share"])
        return shares

    def test_shares_are_those_of_perf_report(self):
        for name, options in (("chains.data", ["-g"]), ("stacks.data", ["--call-graph", "dwarf,4096"]),
                              ("plain.data", []), ("packed.data", ["-g", "-z"])):
            path = self.record(name, *options)
            with self.subTest(name):
                theirs, ours = self.perf_shares(path, "dso"), self.our_shares(path, "module")
                for module, share in theirs.items():
                    self.assertAlmostEqual(ours[module], share, delta=0.02, msg=module)
                theirs, ours = self.perf_shares(path, "sym"), self.our_shares(path, "function")
                for function in ("burn_half", "burn_third", "burn_rest", "burn_worker"):
                    self.assertGreater(theirs[function], 5)
                    # what is inlined is a function of its own with us
                    self.assertAlmostEqual(ours[function], theirs[function], delta=3, msg=function)

    def test_stacks_are_unwound_from_copies(self):
        path = self.record("stacks.data", "--call-graph", "dwarf,4096")
        stacks = self.folded(path)
        whole = sum(w for s, w in stacks.items() if re.search(r"main;(\w+;)*burn_half", s))
        self.assertGreater(whole, 0.95 * sum(w for s, w in stacks.items() if "burn_half" in s))

    def test_perf_script_says_the_same(self):
        path = self.record("chains.data", "-g")
        text = subprocess.run(["perf", "script", "-i", path], capture_output=True, check=True).stdout
        (self.dir / "chains.txt").write_bytes(text)
        ours, theirs = self.our_shares(path, "module"), self.our_shares(self.dir / "chains.txt", "module")
        for module in ("burn", "[kernel]"):
            self.assertAlmostEqual(ours[module], theirs[module], delta=0.02)

    def test_a_pipe_is_read(self):
        got = subprocess.run(f"perf record -q -e cpu-clock -o - {program('burn')} shares 100 2>/dev/null | tail -c +1 > pipe.data",
                             shell=True, cwd=self.dir, check=False)
        self.assertEqual(got.returncode, 0)
        self.assertIn("burn_half", self.ask("hotspots", self.dir / "pipe.data"))


class Lines(Profiles):
    """Separate debug info, servers of it, annotated functions."""
    PROGRAM = "\n".join([
        "#include <stdint.h>",
        "volatile uint64_t sink;",
        "static inline __attribute__((always_inline)) void inner(void)",
        "{",
        "\tsink = sink * 6364136223846793005u + 1;",
        "}",
        "__attribute__((noinline)) void outer(uint64_t n)",
        "{",
        "\twhile (n--)",
        "\t\tinner();",
        "}",
        "int main(void)",
        "{",
        "\touter(150000000);",
        "\treturn 0;",
        "}", ""])

    def setUp(self):
        super().setUp()
        if not shutil.which("cc") or not shutil.which("objcopy"):
            self.skipTest("no C compiler")
        (self.dir / "app.c").write_text(self.PROGRAM)
        self.run_here("cc", "-g", "-O2", "-Wl,--build-id", "-o", "app", "app.c")

    def run_here(self, *words):
        subprocess.run(words, cwd=self.dir, check=True, capture_output=True)

    def sample(self, *options, env=None):
        got = self.unitrace("hotspots", "-o", "run.utr", "--overwrite", *options, "./app", env=env)
        if b"perf_event_open" in got.stderr or b"no samples" in got.stderr:
            self.skipTest("no samples on this machine")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(self.ask("hotspots", "--by", "line", "--json", "run.utr"))

    def lines(self, rows):
        return {row["name"]: row.get("line") for row in rows if row["name"] in ("inner", "outer")}

    def test_inlined_functions_have_lines(self):
        self.assertEqual(self.lines(self.sample())["inner"], 5)
        text = self.ask("hotspots", "--annotate", "outer", "run.utr")
        self.assertRegex(text, r"(?m)%\s+10\s+inner\(\);$")
        got = self.unitrace("hotspots", "--annotate", "outer", "--show", "assembly", "run.utr")
        if b"capstone" in got.stderr:
            self.skipTest("no capstone")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        shares = [float(s) for s in re.findall(r"(?m)^\s*\S+ \w+\s+([\d.]+)%.*\b(?:i?mul|mov|add|sub|jmp|j\w+)", got.stdout.decode())]
        self.assertGreater(sum(shares), 80)

    def test_debug_info_is_found_by_build_id(self):
        note = subprocess.run(["readelf", "-n", self.dir / "app"], capture_output=True, text=True, check=True).stdout
        build_id = re.search(r"Build ID: (\w+)", note)[1]
        folder = self.dir / "debug/.build-id" / build_id[:2]
        folder.mkdir(parents=True)
        self.run_here("objcopy", "--only-keep-debug", "app", folder / f"{build_id[2:]}.debug")
        self.run_here("strip", "app")
        self.assertEqual(self.lines(self.sample()), {})
        self.assertEqual(self.lines(self.sample("--debug-dir", "debug"))["inner"], 5)

    def test_servers_are_asked_only_if_that_is_wanted(self):
        self.run_here("objcopy", "--only-keep-debug", "app", "app.debug")
        self.run_here("strip", "app")
        debug, asked = (self.dir / "app.debug").read_bytes(), []

        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                found = self.path.endswith("/debuginfo") and pathlib.Path(self.path).parts[1] == "buildid"
                self.send_response(200 if found else 404)
                self.send_header("Content-Length", str(len(debug) if found else 0))
                self.end_headers()
                if found:
                    self.wfile.write(debug)

            def log_message(self, *words):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        env = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}", "DEBUGINFOD_CACHE_PATH": str(self.dir / "cache"),
               "HOME": str(self.dir), "no_proxy": "*"}
        self.assertEqual(self.lines(self.sample(env=env)), {})
        self.assertEqual(asked, [])
        got = self.unitrace("hotspots", "--debuginfod", INPUTS / "app.json")
        if b"not installed" in got.stderr:
            self.skipTest("no client of debuginfod")
        self.assertEqual(self.lines(self.sample("--debuginfod", env=env))["inner"], 5)
        self.assertTrue(asked)


if __name__ == "__main__":
    main()
