"""Tests of view: traces to look at, and a server to ask about them."""
import http.client
import json
import random
import re
import shutil
import socket
import subprocess

from browser_support import MODULES, with_browser
from common import PATIENCE, SOURCE, UNITRACE, Case, environment, need, skip, wait_for

need()
if b"built without" in subprocess.run([UNITRACE, "view", "--no-browser", "/dev/null"],
                                      capture_output=True, timeout=PATIENCE).stderr:
    skip("built without libmicrohttpd or the page")


def trace(seed=5, overlap=False):
    """Nested spans of six threads with arguments, arrows, counters and marks; whole ns."""
    rnd = random.Random(seed)
    events = []

    def span(pid, tid, start, length, name, cat, **args):
        events.append({"ph": "X", "pid": pid, "tid": tid, "ts": start / 1000, "dur": length / 1000,
                       "name": name, "cat": cat, "args": args})

    for pid in (100, 200):
        events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": "train.py"}})
        for tid in (1, 2, 3):
            events.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name",
                           "args": {"name": f"worker {tid}"}})
            t = 1_000_000
            for i in range(200):
                length = rnd.randrange(20000, 120000)
                span(pid, tid, t, length, "step", "op", i=i % 20, s="x<b>")
                at = t
                for k in range(rnd.randrange(5)):
                    inner = rnd.randrange(1, length // 6)
                    span(pid, tid, at, inner, f"inner {k}", "cpu_op")
                    if k == 1:
                        span(pid, tid, at, inner // 2, "deep", "x", a=[1, 2], b=None, c=1.5)
                        if overlap:  # recursion, and one that outlasts it
                            span(pid, tid, at, inner // 3, "deep", "x")
                            span(pid, tid, at + inner // 4, inner, "late", "x")
                    at += inner
                if i % 10 == 0:
                    flow = {"pid": pid, "id": f"{pid}.{tid}.{i}", "name": "f", "cat": "f"}
                    events.append({"ph": "s", "tid": tid, "ts": t / 1000, **flow})
                    events.append({"ph": "f", "bp": "e", "tid": tid % 3 + 1, "ts": (t + 9000) / 1000,
                                   **flow})
                t += length + rnd.randrange(10000)
        for i in range(300):
            events.append({"ph": "C", "pid": pid, "ts": 1000 + i * 50, "name": "mem",
                           "args": {"value": rnd.random() * 1000}})
        for i in range(30):
            events.append({"ph": "i", "pid": pid, "tid": 1, "ts": 5000 + i * 100, "name": "mark",
                           "s": "t"})
        if overlap:
            for i in range(30):
                ident = {"pid": pid, "tid": 1, "id": i, "name": "req", "cat": "a"}
                events.append({"ph": "b", "ts": 1000 + i * 300, **ident})
                events.append({"ph": "e", "ts": 1900 + i * 310, **ident})
    return events


def torch_trace():
    """As torch.profiler writes it: devices named after the program, annotations over their work."""
    events = []

    def span(pid, tid, start, length, name, cat, **args):
        events.append({"ph": "X", "pid": pid, "tid": tid, "ts": start, "dur": length, "name": name,
                       "cat": cat, "args": args})

    for pid, label in ((700, "CPU"), (0, "GPU 0"), (1, "GPU 1"), (2, "GPU 2")):
        events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": "python3"}})
        events.append({"ph": "M", "pid": pid, "name": "process_labels", "args": {"labels": label}})
    span("Spans", "PyTorch Profiler", 0, 20000, "PyTorch Profiler (0)", "Trace")
    span(-1, 0, 0, 15000, "Buffer Flush", "overhead")
    span(700, 700, 100, 9000, "train.py(3): step", "python_function")
    for device in (0, 1):
        span(device, 7, 900, 6000, "step", "gpu_user_annotation")
        span(device, 7, 950, 4000, "forward", "gpu_user_annotation")  # and kernels inside
        span(device, 7, 9000, 3000, "Stream Wait Event", "cuda_sync")
        span(device, 8, 13000, 500, "barrier", "sync", correlation=100 * device + 60)
        for i in range(8):
            number = 100 * device + i
            span(700, 700, 200 + 100 * i + 20 * device, 10, "cudaLaunchKernel", "cuda_runtime", correlation=number)
            span(device, 7 + i % 2, 1000 + 400 * i, 500 - 40 * i, f"gemm {i % 3}", "kernel",
                 correlation=number, **{"est. achieved occupancy %": 97})
        span(device, 7, 8000, 25, "Memcpy HtoD", "gpu_memcpy", correlation=100 * device + 50, bytes=64)
        span(device, 7, 8050, 5, "Memset", "gpu_memset", correlation=100 * device + 51, bytes=64)
    span(2, 7, 900, 600, "step", "gpu_user_annotation")  # a device that did nothing
    return events


class View(Case):
    def setUp(self):
        super().setUp()
        self.cookie = None

    def save(self, events, name="run.json"):
        path = self.dir / name
        path.write_text(json.dumps(events))
        return path

    def start(self, *words, enter=True):
        self.server = subprocess.Popen([UNITRACE, "view", "--no-browser", "-p", "0", *words],
                                       cwd=self.dir, env=environment(), stderr=subprocess.PIPE,
                                       text=True)
        self.addCleanup(self.server.stderr.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        self.take_address(self.server.stderr)
        if enter:
            self.enter()
            self.wait_until_read()

    def take_address(self, said):
        """Among what the server says: warnings about a file that it reads may come first."""
        lines, found = [], None
        while not found:
            lines.append(said.readline())
            self.assertTrue(lines[-1], lines)
            found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32}) ", lines[-1])
        self.port, self.token = int(found[1]), found[2]
        self.address = found[0].strip()

    def page(self):
        """The stream that a page keeps open as long as it is there."""
        link = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        link.sendall(f"GET /api/live HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\n\r\n"
                     .encode())
        self.assertTrue(link.recv(1))
        return link

    def enter(self):
        answer, _ = self.get(f"/?token={self.token}")
        self.assertEqual(answer.status, 303)
        self.assertEqual(answer.headers["Location"], "/")
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def wait_until(self, holds):
        """What is said about the trace: nothing before there is something to see."""
        def seen():
            answer, body = self.post("info", "{}")
            return answer.status != 503 and holds(json.loads(body))

        wait_for(seen, "answer about the trace")

    def wait_until_shown(self):
        self.wait_until(lambda info: True)

    def wait_until_read(self):
        """All of it, of what does not grow."""
        self.wait_until(lambda info: info["live"] or "read" not in info)

    def request(self, method, path, body=None, **headers):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        if self.cookie:
            headers.setdefault("Cookie", self.cookie)
        link.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items() if v})
        answer = link.getresponse()
        body = answer.read()
        link.close()  # the server has 64 for all
        return answer, body

    def get(self, path, **headers):
        return self.request("GET", path, **headers)

    def post(self, method, body, **headers):
        headers.setdefault("X_Unitrace", "1")
        return self.request("POST", f"/api/{method}", body, **headers)

    def ask(self, method, /, **question):
        answer, body = self.post(method, json.dumps(question))
        self.assertEqual(answer.status, 200, body[:300])
        return body if method == "window" else json.loads(body)

    def browse(self, script, *words, name=""):
        """Runs a script of this folder that drives a browser; name is a slice of the trace."""
        if not shutil.which("node"):
            self.skipTest("node is not installed (tools/setup.sh test)")
        done = subprocess.run(["node", SOURCE / "tests/e2e" / script, MODULES, self.dir, *words],
                              env=with_browser(VIEW_NAME=name), capture_output=True, text=True, timeout=4 * PATIENCE)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def raw(self, data, wait=PATIENCE):
        """What comes back; b"" if the connection is dropped without a word."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as link:
            got = b""
            try:
                link.sendall(data)
                while chunk := link.recv(65536):
                    got += chunk
            except ConnectionError:
                pass
            return got

    def rows(self, table):
        keys = [c["key"] for c in table["columns"]]
        self.assertTrue(all(len(column) == table["rows"] for column in table["data"]))
        return [dict(zip(keys, row)) for row in zip(*table["data"])]
