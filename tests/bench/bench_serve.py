#!/usr/bin/env python3
"""Eight people look at a program while it is recorded, through one `unitrace serve`: nothing of the recording is lost.

    bench_serve.py [SECONDS] [RATE]      20 s of 200,000 tasks a second

Six are threads here that do what a page does: they listen to what grows, and ask for a window of all lanes and for a
table whenever it has. Two are pages in a real Chromium, where Node and playwright-core are (else all eight are threads).
The program says how many tasks it had, and all of them are in the result. The budget is a ratio taken in one run: the
program has at least 0.9 of the tasks that it has when nobody looks. On two cores that is a matter of what the lookers
leave; what is recorded is complete in any case.
"""
import http.client
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "soak"))
import harness  # noqa: E402
from harness import BUILD, PROGRAMS  # noqa: E402
from serve_client import Server  # noqa: E402

SECONDS, RATE = harness.size(20, 1), harness.size(200_000, 1000)
USERS, PAGES = harness.size(8, 2), harness.size(2, 1)
BUDGET = 0.9
MODULES = BUILD / "node/node_modules"


class Looker(threading.Thread):
    """What a page that follows a recording asks, as fast as it is told of something new."""

    def __init__(self, server, name):
        super().__init__(daemon=True)
        self.server, self.name_of, self.client = server, name, server.client()
        self.windows, self.trouble = [], ""

    def run(self):
        try:
            self.follow()
        except Exception as e:  # told at the end
            self.trouble = repr(e)

    def follow(self):
        link = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        link.request("GET", f"/api/v1/projects/p/results/{self.name_of}/view/live", headers={"Cookie": self.server.cookie})
        stream = link.getresponse()
        while line := stream.readline():
            if line.startswith(b"data:") and not self.look():
                break
        link.close()

    def look(self):
        info = self.client.view("p", self.name_of, "info")
        places = self.client.view("p", self.name_of, "places")
        lanes = [[p["track"], i] for p in places for i in range(len(p["lanes"]))]
        began = time.perf_counter()
        self.client.view("p", self.name_of, "window", t0=0, t1=max(1, info["span"]), pixels=1400, lanes=lanes)
        self.windows.append((time.perf_counter() - began) * 1000)
        self.client.view("p", self.name_of, "aggregate", scope={})
        return info["live"]


def wait_for(client, name, states):
    while (got := client.ask("GET", f"/projects/p/results/{name}"))["state"] not in states:
        time.sleep(0.05)
    return got


def start_pages(server, name, folder):
    if not (MODULES / "playwright-core").exists() or not shutil.which("node"):
        harness.left_out("pages in Chromium", "node or playwright-core is not installed: tools/setup.sh test")
        return None
    key, _, value = server.cookie.partition("=")
    values = {"origin": f"http://localhost:{server.port}", "path": f"/r/p/{name}/", "cookie": {"name": key, "value": value}, "pages": PAGES}
    return subprocess.Popen(["node", HERE / "serve_watch.js", MODULES, folder, json.dumps(values)], stdout=subprocess.PIPE, text=True)


def record(server, users, folder, seconds=SECONDS, rate=RATE):
    """A run that so many look at: tasks that it says it had, slices in the result, and what lookers saw."""
    client = server.client()
    name = client.ask("POST", "/projects/p/runs", {"application": str(PROGRAMS / "live_rate"), "parameters": f"{rate} {seconds}",
                                                   "analysis": "itt"})["result"]
    wait_for(client, name, ("running",))
    pages = start_pages(server, name, folder) if users else None
    lookers = [Looker(server, name) for _ in range(users - PAGES if pages else users)]
    for looker in lookers:
        looker.start()
    got = wait_for(client, name, ("ready", "failed"))
    assert got["state"] == "ready", got
    seen = json.loads(pages.communicate(timeout=300)[0] or "[]") if pages else []
    if pages and pages.returncode:
        sys.exit(f"serve_watch.js ended with {pages.returncode}")
    for looker in lookers:
        looker.join(120)
        assert not looker.trouble, looker.trouble
    while (info := client.view("p", name, "info"))["live"] or "read" in info:
        time.sleep(0.05)
    assert info["losses"] == [], info["losses"]
    table = client.view("p", name, "aggregate", scope={})["slices"]
    counted = dict(zip(table["data"][0], table["data"][1]))
    said = int(re.search(r"(\d+) tasks", client.ask("GET", f"/projects/p/results/{name}/output")["text"])[1])
    return said, sum(n for task, n in counted.items() if task.startswith("task ")), lookers, seen, info["slices"]


def main():
    harness.need("live_rate")
    failed, told = False, (float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS, int(sys.argv[2]) if len(sys.argv) > 2 else RATE)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "data").mkdir()
        server = Server(pathlib.Path(folder) / "data")
        try:
            server.enter()
            server.client().ask("POST", "/projects", {"name": "p"})
            alone, found, _, _, _ = record(server, 0, folder, *told)
            wrong = alone != found
            print(f"nobody looks: {alone} tasks in {told[0]:g} s, {found} in the result", flush=True)
            said, found, lookers, pages, slices = record(server, USERS, folder, *told)
            failed |= said < BUDGET * alone
            wrong |= said != found or any(p["slices"] != slices for p in pages)
            failed |= not all(p["grown"] for p in pages)
            windows = sorted(ms for looker in lookers for ms in looker.windows)
            failed |= not all(looker.windows for looker in lookers)
            print(f"{USERS} look: {said} tasks ({said / alone:.3f} x), {found} in the result, {said - found} lost; {len(windows)} windows of "
                  f"{len(lookers)} lookers, median {statistics.median(windows or [0]):.0f} ms, at most {max(windows, default=0):.0f}; "
                  f"pages in Chromium: {[p['grown'] for p in pages]} times something new")
        finally:
            server.close()
    sys.exit(1 if wrong else harness.verdict(failed))


if __name__ == "__main__":
    main()
