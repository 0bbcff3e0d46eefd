#!/usr/bin/env python3
"""How long the viewer's server takes: windows of a screen for 8 clients, searches, tables.

    bench_view.py [ROWS] [CLIENTS]      10 million rows, 8 clients
    BENCH_VIEW_FILES=16 bench_view.py 62500000
                                        as many files, copies of one of ROWS; BENCH_DIR says where

Budgets: a window in 20 ms at p99 with 8 clients; the first window a second after the command; a
search over 100 million rows within a second. A window is a screen of 1,400 pixels and 64 lanes,
anywhere, from everything to a hundred thousandth of it. Clients are threads of another process on
the same cores. They ask as pages do that somebody moves, no more than once a frame, and then again
without a pause. The floor is what as many bytes take, in the same run, from a thread that only
sends them: view_clients.c.
"""
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import harness
from harness import BUILD, PROGRAMS, UNITRACE

FILES = harness.size(1, 1, "BENCH_VIEW_FILES")
REQUESTS = harness.size(1200, 10)
FRAME = 1000 / 60
BUDGET = {"window": 20, "first": 1000, "search": 1000 / 100_000_000}  # ms; of a search, per row


class Client:
    def __init__(self, port, cookie):
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.headers = {"Cookie": cookie, "X-Unitrace": "1"}

    def ask(self, method, **question):
        self.link.close()  # the server has given it up where others kept it waiting for long
        self.link.connect()
        began = time.perf_counter()
        self.link.request("POST", f"/api/{method}", json.dumps(question), self.headers)
        answer = self.link.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(body[:200])
        return took * 1000, body


class Server:
    """unitrace view, and how to reach it."""

    def __init__(self, paths):
        self.began = time.perf_counter()
        self.process = subprocess.Popen([UNITRACE, "view", "--no-browser", "-p", "0", *paths],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r":(\d+)/\?token=(\w+)", line)
        if not found:
            if "built without" in line:
                harness.skip(line.strip())
            sys.exit(f"bench_view: no address in {line!r}")
        self.port = int(found[1])
        link = http.client.HTTPConnection("127.0.0.1", self.port)
        link.request("GET", f"/?token={found[2]}")
        self.cookie = link.getresponse().headers["Set-Cookie"].split(";")[0]
        self.client = Client(self.port, self.cookie)

    def info(self):
        while True:
            try:
                return json.loads(self.client.ask("info")[1])
            except RuntimeError:
                time.sleep(0.005)

    def lanes(self):
        return [[p["track"], i] for p in json.loads(self.client.ask("places")[1]) for i in range(len(p["lanes"]))]

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return tuple(sum(int(n) for n in re.findall(rf"^{what}: +(\d+)", text, re.M)) // 1024
                     for what in ("Rss", "Anonymous"))


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def windows(span, lanes):
    """Zooms and moves as a person does."""
    rnd, out = random.Random(1), []
    for _ in range(REQUESTS):
        width = span * 10 ** -rnd.uniform(0, 5)
        t0 = rnd.uniform(0, span - width)
        first = rnd.randrange(max(1, len(lanes) - 64))
        out.append(json.dumps({"t0": t0, "t1": t0 + width, "pixels": 1400, "lanes": lanes[first:first + 64]}))
    return out


def clients(who, questions, sizes, count, pace):
    """(ms, bytes) of each."""
    lines = "".join(f"{size} {question}\n" for size, question in zip(sizes, questions))
    run = subprocess.run([PROGRAMS / "view_clients", *who, str(count), str(pace)], input=lines,
                         stdout=subprocess.PIPE, text=True, check=True)
    return [(float(ms), int(size)) for ms, size in (line.split() for line in run.stdout.splitlines())]


def tell_windows(server, questions, count, pace, what):
    before = server.cpu()
    seen = clients([str(server.port), server.cookie], questions, [0] * len(questions), count, pace)
    cpu = (server.cpu() - before) * 1000 / len(seen)
    floor = clients(["floor", "0"], questions, [size for _, size in seen], count, pace)
    ms, least = [[m for m, _ in some] for some in (seen, floor)]
    slow = quantile(ms, 0.99)
    print(f"{what:24} p50 {quantile(ms, 0.5):6.1f} ms, p99 {slow:6.1f} ms ({slow / BUDGET['window']:.2f} of the budget), "
          f"{cpu:.2f} ms of the server's CPU time, {sum(s for _, s in seen) / len(seen) / 1e6:.2f} MB; "
          f"floor p50 {quantile(least, 0.5):.1f} ms, p99 {quantile(least, 0.99):.1f} ms", flush=True)


def tell_questions(server, info):
    span, rows = info["span"], info["slices"]
    for what, method, question in (
            ("search for a name", "search", {"query": "function 7", "limit": 1000, "scope": {}}),
            ("search for a length", "search", {"query": "dur:>1us", "limit": 1000, "scope": {}}),
            ("search for rare lengths", "search", {"query": "dur:>1ms", "limit": 1000, "scope": {}}),
            ("search for self time", "search", {"query": "self:>700", "limit": 1000, "scope": {}}),
            ("area of 1 %", "aggregate", {"scope": {"ranges": [[span / 2, span * 0.51]]}}),
            ("area of all", "aggregate", {"scope": {}})):
        before, times = server.cpu(), []
        for _ in range(3):
            times.append(server.client.ask(method, **question)[0])
        took = quantile(times, 0.5)
        budget = f" ({took / (BUDGET['search'] * rows):.2f} of the budget)" if method == "search" else ""
        print(f"{what:24} {took:6.0f} ms{budget}, {(server.cpu() - before) / 3 * 1000:.0f} ms of CPU time", flush=True)


def while_busy(server, questions, count):
    """Windows of pages while somebody else asks for a table of everything, again and again."""
    other = subprocess.Popen([sys.executable, "-B", __file__, "--ask", str(server.port), server.cookie])
    try:
        tell_windows(server, questions, count, FRAME, "  beside a table of all")
    finally:
        other.terminate()
        other.wait()


def measure(paths, count):
    server = Server(paths)
    try:
        info, lanes = server.info(), server.lanes()
        server.client.ask("window", t0=0, t1=info["span"], pixels=1400, lanes=lanes[:64])
        first = (time.perf_counter() - server.began) * 1000
        print(f"{info['slices']:,} slices in {len(paths)} files, {len(lanes)} lanes: first window {first:.0f} ms after "
              f"the command ({first / BUDGET['first']:.2f} of the budget); load {os.getloadavg()[0]:.1f}, "
              f"{os.cpu_count()} cores, shared with the clients", flush=True)
        questions = windows(info["span"], lanes)
        tell_windows(server, questions, 1, 0, "windows, 1 client")
        tell_windows(server, questions, count, FRAME, f"{count} clients, once a frame")
        tell_windows(server, questions, count, 0, f"{count} without a pause")
        while_busy(server, questions, count)
        tell_questions(server, info)
        print("memory: {0} MiB with pages of the file, {1} MiB of its own".format(*server.memory()))
    finally:
        server.process.terminate()
        server.process.wait()


def main():
    if sys.argv[1:2] == ["--ask"]:
        client = Client(int(sys.argv[2]), sys.argv[3])
        while True:
            client.ask("aggregate", scope={})
    harness.need("view_trace", "view_clients")
    rows = sys.argv[1] if len(sys.argv) > 1 else str(harness.size(10_000_000, 1000))
    count = int(sys.argv[2]) if len(sys.argv) > 2 else harness.size(8, 2)
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", BUILD)) as folder:
        paths = [os.path.join(folder, f"rank.{i}.utr") for i in range(FILES)]
        subprocess.run([PROGRAMS / "view_trace", paths[0], rows], check=True)
        for path in paths[1:]:
            shutil.copyfile(paths[0], path)
        measure(paths, count)


if __name__ == "__main__":
    main()
