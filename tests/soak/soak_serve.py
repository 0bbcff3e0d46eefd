#!/usr/bin/env python3
"""An hour of everything that people do with `unitrace serve`, with a thousand results in its folder:
nothing may grow.

    soak_serve.py [--seconds N] [--seed N] [--results N] [--users N]

Users ask for the tree, look at results (windows, tables, searches), listen to what happens and hang
up, guess passphrases, upload and delete, start runs and wait for them; with a pause after each, so
that other things can be measured beside it. Where wrk is installed, it asks for the tree and for a
window as fast as it can for 5 seconds of each minute. Every 10 s memory, threads and descriptors
are looked at. One line a minute, a verdict, 0 or 1.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from serve_client import BUILD, Client, Server  # noqa: E402

STEPS = BUILD / "tests/programs/steps"
PROJECTS = 10
EVERY = 10  # s between samples
PAUSE = 0.15  # s at most after each thing that a user does
FEWEST = 9  # samples that a verdict takes
PASSPHRASE = "correct horse battery"
# What is room for: an answer that is being made is not a leak. Threads and descriptors are few, and whose
# connection is open when we look is chance.
ROOM = {"RssAnon KiB": 2048, "VmRSS KiB": 4096, "threads": 2, "descriptors": 4, "children": 2}


def trace(rnd, count=300):
    return json.dumps([{"ph": "X", "pid": 1, "tid": 1 + i % 3, "ts": 10 * i, "dur": rnd.randrange(1, 9), "name": f"step {i % 17}",
                        "cat": "op"} for i in range(count)])


def fill(data, count, rnd):
    """Results as runs leave them, in projects."""
    for i in range(count):
        folder = data / f"p{i % PROJECTS}" / f"r{i:04}"
        folder.mkdir(parents=True)
        (folder.parent / "project.json").write_text("{}")
        (folder / "run.json").write_text(trace(rnd))
        (folder / "result.json").write_text(json.dumps({"kind": "run", "made": 1700000000 + i, "analysis": "Hotspots",
                                                        "program": "python train.py --layers 6"}))
        (folder / "state.json").write_text('{"state":"ready","seconds":3.5,"status":0}')


class User(threading.Thread):
    """One who does things at random until the time is over."""

    def __init__(self, soak, number):
        super().__init__(daemon=True)
        self.soak, self.random = soak, random.Random(soak.seed * 100 + number)
        self.client = soak.server.client()
        self.number = number

    def run(self):
        things = [(30, self.tree), (40, self.window), (8, self.search), (8, self.listen), (3, self.guess), (4, self.upload),
                  (1, self.start_run), (4, self.look_at_pages)]
        while not self.soak.over():
            do, = self.random.choices([t for _, t in things], [w for w, _ in things])
            try:
                do()
                self.soak.count(do.__name__)
            except Exception:  # whatever it is, it is the verdict
                self.soak.fail(f"{do.__name__}: {traceback.format_exc()}")
                return
            time.sleep(self.random.uniform(0, PAUSE))

    def any_result(self):
        i = self.random.randrange(self.soak.results)
        # most people look at the same few; now and then somebody opens another, which ends a viewer
        if self.random.random() < 0.97:
            i %= 8
        return f"p{i % PROJECTS}", f"r{i:04}"

    def tree(self):
        assert len(self.client.ask("GET", "/projects")) >= PROJECTS

    def window(self):
        project, result = self.any_result()
        info = self.client.view(project, result, "info")
        places = self.client.view(project, result, "places")
        lanes = [[p["track"], i] for p in places for i in range(len(p["lanes"]))]
        for _ in range(4):
            t0 = self.random.uniform(0, info["span"] / 2)
            self.client.view(project, result, "window", t0=t0, t1=t0 + info["span"] / 3, pixels=1400, lanes=lanes)

    def search(self):
        project, result = self.any_result()
        assert self.client.view(project, result, "search", query="step 3", scope={}, limit=100)["count"]
        self.client.view(project, result, "aggregate", scope={})

    def listen(self):
        """Hears something, or nothing, and hangs up in the middle."""
        link = socket.create_connection(("127.0.0.1", self.soak.server.port), timeout=60)
        link.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost:{self.soak.server.port}\r\n"
                     f"Cookie: {self.soak.server.cookie}\r\n\r\n".encode())
        assert b"200" in link.recv(4096)
        time.sleep(self.random.uniform(0, 0.5))
        link.close()

    def guess(self):
        stranger = Client(self.soak.server.port)
        answer, _ = stranger.send("POST", "/login", {"passphrase": f"wrong {self.random.random()}"})
        assert answer.status in (403, 429), answer.status
        answer, _ = stranger.send("GET", "/projects")
        assert answer.status == 401
        stranger.close()

    def upload(self):
        project = f"p{self.random.randrange(PROJECTS)}"
        name = self.client.ask("POST", f"/projects/{project}/results?file=up.json", trace(self.random, 3000).encode())["result"]
        self.client.view(project, name, "info")
        self.drop(project, name)
        if self.random.random() < 0.3:
            self.client.ask("DELETE", "/trash")

    def drop(self, project, name):
        self.client.ask("DELETE", f"/projects/{project}/results/{name}")

    def start_run(self):
        project = f"p{self.random.randrange(PROJECTS)}"
        name = self.client.ask("POST", f"/projects/{project}/runs", {"application": str(STEPS), "parameters": "many 500 sleep 300",
                                                                     "analysis": "itt"})["result"]
        while (got := self.client.ask("GET", f"/projects/{project}/results/{name}"))["state"] not in ("ready", "failed"):
            time.sleep(0.1)
        assert got["state"] == "ready", got
        while (info := self.client.view(project, name, "info"))["live"] or "read" in info:  # of what is read so far it would tell
            time.sleep(0.05)
        assert self.client.view(project, name, "aggregate", scope={})["slices"]["rows"]
        self.client.ask("GET", f"/projects/{project}/results/{name}/log")
        self.drop(project, name)

    def look_at_pages(self):
        self.client.ask("GET", "/analyses")
        self.client.ask("POST", "/command", {"application": "x", "analysis": "gpu-hotspots"})
        project, result = self.any_result()
        self.client.ask("PATCH", f"/projects/{project}/results/{result}", {"notes": f"seen by {self.number}"})
        self.client.ask("GET", f"/projects/{project}/results/{result}/download")


class Soak:
    def __init__(self, told):
        self.seed, self.results, self.seconds = told.seed, told.results, told.seconds
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="ut_soak_serve_"))
        fill(self.top / "data", self.results, random.Random(self.seed))
        self.server = Server(self.top / "data")
        self.server.enter()
        self.set_passphrase()
        self.done, self.lock, self.trouble = collections.Counter(), threading.Lock(), []
        self.samples = collections.defaultdict(list)
        self.users = [User(self, n) for n in range(told.users)]
        self.start = time.monotonic()

    def set_passphrase(self):
        answer, _ = self.server.client().send("PUT", "/passphrase", {"passphrase": PASSPHRASE})
        self.server.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def count(self, what, times=1):
        with self.lock:
            self.done[what] += times

    def fail(self, text):
        with self.lock:
            self.trouble.append(text)

    def passed(self):
        return time.monotonic() - self.start

    def over(self):
        return bool(self.trouble) or self.passed() >= self.seconds

    def burst(self):
        """As fast as it can, for five seconds, from two connections."""
        if not shutil.which("wrk"):
            return
        script = self.top / "ask.lua"
        script.write_text("local n = 0\nrequest = function()\n  n = n + 1\n  if n % 4 == 0 then return wrk.format('GET', '/api/v1/projects') end\n"
                          "  return wrk.format('POST', '/api/v1/projects/p1/results/r0001/view/window', nil, "
                          "'{\"t0\":0,\"t1\":3000000,\"pixels\":1400,\"lanes\":[[0,0]]}')\nend\n")
        self.server.client().view("p1", "r0001", "info")  # it is there
        got = subprocess.run(["wrk", "-t1", "-c2", "-d5", "-s", script, "-H", f"Cookie: {self.server.cookie}", "-H", "X-Unitrace: 1",
                              "-H", "Content-Type: application/json", f"http://localhost:{self.server.port}"],
                             capture_output=True, text=True, check=True)
        words = got.stdout.split()
        self.count("wrk requests", int(words[words.index("requests") - 1]))
        if "Non-2xx" in got.stdout:
            self.fail(got.stdout)

    def watch(self):
        minutes = looks = 0
        while not self.over():
            if self.passed() >= EVERY * looks:
                looks += 1
                for what, value in self.server.sample().items():
                    self.samples[what].append(value)
            if self.passed() >= 60 * minutes:
                print(f"minute {minutes}: {self.line()}", flush=True)
                minutes += 1
                self.burst()
            time.sleep(0.5)

    def line(self):
        now = ", ".join(f"{what} {values[-1]}" for what, values in self.samples.items())
        return f"{sum(self.done.values())} things done; {now}"

    def growth(self):
        """(what, at first, at last, is it too much): the second third against the last."""
        for what, values in self.samples.items():
            third = len(values) // 3
            first, last = statistics.median(values[third:2 * third] or values), statistics.median(values[-third:] or values)
            yield what, first, last, third >= FEWEST // 3 and last > first + ROOM[what]

    def run(self):
        for user in self.users:
            user.start()
        self.watch()
        for user in self.users:
            user.join(120)
        if self.server.process.poll() is not None:
            self.fail(f"the server has ended: {self.server.said()[-2000:]}")
        print(self.line())
        print("  " + ", ".join(f"{what} {n}" for what, n in sorted(self.done.items())))
        print(f"  {self.server.cpu():.0f} s of CPU time of the server")
        for what, first, last, too_much in self.growth():
            print(f"  {what}: {first:g} -> {last:g}, at most {max(self.samples[what])}{'  GROWS' if too_much else ''}")
            if too_much:
                self.fail(f"{what} grows")
        return self.trouble

    def close(self):
        if self.server.process.poll() is None:
            self.server.close()
        shutil.rmtree(self.top, ignore_errors=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=float(os.environ.get("SOAK_SECONDS", 3600)))
    options.add_argument("--seed", type=int, default=int(os.environ.get("SOAK_SEED", time.time() % 1e6)))
    options.add_argument("--results", type=int, default=1000)
    options.add_argument("--users", type=int, default=4)
    told = options.parse_args()
    print(f"soak of serve: {told.seconds:g} s, {told.results} results, {told.users} users, seed {told.seed}", flush=True)
    soak = Soak(told)
    try:
        trouble = soak.run()
    finally:
        soak.close()
    for text in trouble:
        print(f"FAILED (--seed {told.seed}): {text}")
    if not trouble:
        print("PASSED: nothing failed, nothing grows")
    return bool(trouble)


if __name__ == "__main__":
    sys.exit(main())
