#!/usr/bin/env python3
"""How long the viewer's server takes: windows of a screen with 8 clients, searches, tables.

    bench_view.py [ROWS] [CLIENTS]      10 million rows, 8 clients

Budgets: a window in 20 ms at p99 with 8 clients; the first answer a second after the command; a
search over 100 million rows within a second. Clients are processes of their own on the same cores,
so on a small machine they are measured against each other.
"""
import http.client
import json
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
REQUESTS = 150


class Client:
    def __init__(self, port, cookie):
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Cookie": cookie, "X-Unitrace": "1"}

    def ask(self, method, **question):
        began = time.perf_counter()
        self.link.request("POST", f"/api/{method}", json.dumps(question), self.headers)
        answer = self.link.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(body[:200])
        return took * 1000, body


def pan(job):
    """Zooms and moves as a person does; a screen of 1,400 pixels and 64 lanes."""
    port, cookie, span, lanes, seed = job
    client, rnd, times = Client(port, cookie), random.Random(seed), []
    for _ in range(REQUESTS):
        width = span * 10 ** -rnd.uniform(0, 5)
        t0 = rnd.uniform(0, span - width)
        first = rnd.randrange(max(1, len(lanes) - 64))
        times.append(client.ask("window", t0=t0, t1=t0 + width, pixels=1400,
                                lanes=lanes[first:first + 64])[0])
    return times


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def main():
    rows = sys.argv[1] if len(sys.argv) > 1 else "10000000"
    clients = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        path = os.path.join(folder, "run.utr")
        subprocess.run([BUILD / "tests/bench/view_trace", path, rows], check=True)
        began = time.perf_counter()
        with subprocess.Popen([BUILD / "bin/unitrace", "view", "--no-browser", "-p", "0", path],
                              stderr=subprocess.PIPE, text=True) as server:
            try:
                line = server.stderr.readline()
                found = re.search(r":(\d+)/\?token=(\w+)", line)
                if not found:
                    print(line.strip())
                    sys.exit(77)
                port = int(found[1])
                link = http.client.HTTPConnection("127.0.0.1", port)
                link.request("GET", f"/?token={found[2]}")
                cookie = link.getresponse().headers["Set-Cookie"].split(";")[0]
                client = Client(port, cookie)
                while True:
                    try:
                        info = json.loads(client.ask("info")[1])
                        break
                    except RuntimeError:
                        time.sleep(0.005)
                lanes = [[p["track"], i] for p in json.loads(client.ask("places")[1])
                         for i in range(len(p["lanes"]))]
                client.ask("window", t0=0, t1=info["span"], pixels=1400, lanes=lanes[:64])
                print(f"{info['slices']:,} slices: first window {time.perf_counter() - began:.2f} s after the command")
                alone = pan((port, cookie, info["span"], lanes, 0))
                print(f"1 client:  p50 {quantile(alone, 0.5):.1f} ms, p99 {quantile(alone, 0.99):.1f} ms")
                with multiprocessing.Pool(clients) as pool:
                    times = sum(pool.map(pan, [(port, cookie, info["span"], lanes, i) for i in range(clients)]), [])
                print(f"{clients} clients: p50 {quantile(times, 0.5):.1f} ms, p99 {quantile(times, 0.99):.1f} ms "
                      f"({os.cpu_count()} cores, shared with the clients)")
                for what, method, question in (
                        ("search", "search", {"query": "function 7", "limit": 1000, "scope": {}}),
                        ("search by time", "search", {"query": "dur:>1us", "limit": 1000, "scope": {}}),
                        ("area of 1 %", "aggregate", {"scope": {"ranges": [[info["span"] / 2, info["span"] * 0.51]]}}),
                        ("area of all", "aggregate", {"scope": {}})):
                    print(f"{what}: {client.ask(method, **question)[0]:.0f} ms")
                memory = re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{server.pid}/status").read_text())[1]
                print(f"memory: {int(memory) // 1024} MiB, with pages of the file")
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
