"""unitrace view: who may ask, what is refused, every question answered, numbers as stats has them."""
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

from common import BUILD, SOURCE, UNITRACE, Case, environment, need, skip
from test_all_readers import SHAPES

need()
if b"built without" in subprocess.run([UNITRACE, "view", "--no-browser", "/dev/null"],
                                      capture_output=True, timeout=60).stderr:
    skip("built without libmicrohttpd or the page")
BUNDLER = SOURCE / "build/page/node_modules"  # of tools/setup.sh, whatever the build folder
MODULES = SOURCE / "build/node/node_modules"


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
        self.take_address(self.server.stderr.readline())
        if enter:
            self.enter()
            self.wait_until_read()

    def take_address(self, line):
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32}) ", line)
        self.assertTrue(found, line)
        self.port, self.token = int(found[1]), found[2]
        self.address = found[0].strip()

    def page(self):
        """The stream that a page keeps open as long as it is there."""
        link = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        link.sendall(f"GET /api/live HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\n\r\n"
                     .encode())
        self.assertTrue(link.recv(1))
        return link

    def enter(self):
        answer, _ = self.get(f"/?token={self.token}")
        self.assertEqual(answer.status, 303)
        self.assertEqual(answer.headers["Location"], "/")
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def wait_until_read(self):
        end = time.monotonic() + 60
        while self.post("info", "{}")[0].status == 503:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def request(self, method, path, body=None, **headers):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
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

    def browse(self, script, *words):
        """Runs a script of this folder that drives a browser."""
        if not shutil.which("node"):
            self.skipTest("node is not installed (tools/setup.sh test)")
        done = subprocess.run(["node", SOURCE / "tests/e2e" / script, MODULES, self.dir, *words],
                              capture_output=True, text=True, timeout=300)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def raw(self, data, wait=60):
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


class WhoMayAsk(View):
    def setUp(self):
        super().setUp()
        self.save(trace())
        self.start("run.json", enter=False)

    def test_a_token_works_once(self):
        self.assertEqual(self.get("/")[0].status, 401)
        self.assertEqual(self.get("/app.js")[0].status, 401)
        self.assertEqual(self.post("info", "{}")[0].status, 401)
        self.assertEqual(self.get("/?token=" + "0" * 32)[0].status, 401)
        self.assertEqual(self.get("/?token=")[0].status, 401)
        answer, _ = self.get(f"/?token={self.token}")
        self.assertEqual(answer.status, 303)
        given = answer.headers["Set-Cookie"]
        self.assertRegex(given, r"^unitrace_\d+=[0-9a-f]{32}; HttpOnly; SameSite=Strict; Path=/$")
        self.assertNotIn(self.token, given)
        self.assertEqual(self.get(f"/?token={self.token}")[0].status, 401)
        self.cookie = given.split(";")[0]
        self.assertEqual(self.get("/")[0].status, 200)
        self.assertEqual(self.get(f"/?token={self.token}")[0].status, 303)  # somebody known: no harm
        name = self.cookie.split("=")[0]
        for wrong in (f"{name}={'0' * 32}", f"{name}=", self.cookie[:-1], self.cookie + "0", "x=y"):
            self.assertEqual(self.get("/", Cookie=wrong)[0].status, 401, wrong)

    def test_hosts_and_origins_from_elsewhere_are_refused(self):
        self.enter()
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80",
                     "localhost:80@evil.example", "0.0.0.0", ""):
            status = self.raw(f"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {self.cookie}\r\n"
                              "Connection: close\r\n\r\n".encode())[9:12]
            self.assertIn(status, (b"403", b"400"), host)
        self.assertIn(self.raw(f"GET / HTTP/1.1\r\nCookie: {self.cookie}\r\n\r\n".encode())[9:12],
                      (b"403", b"400"))
        here = f"127.0.0.1:{self.port}"
        for origin in ("http://evil.example", "null", "https://" + here, f"http://{here}.evil.example",
                       "http://localhost:1", "file://"):
            self.assertEqual(self.post("info", "{}", Origin=origin)[0].status, 403, origin)
        for host in (here, f"localhost:{self.port}", "localhost:9999", "[::1]:80"):
            self.assertIn(self.post("info", "{}", Host=host, Origin="http://" + host)[0].status,
                          (200, 503), host)

    def test_other_methods_and_marks_are_refused(self):
        self.enter()
        for mark in (None, "0", "yes"):
            self.assertEqual(self.request("POST", "/api/info", "{}", X_Unitrace=mark)[0].status, 403)
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            self.assertEqual(self.request(method, "/", X_Unitrace="1")[0].status, 405, method)

    def test_nothing_outside_is_served(self):
        self.enter()
        self.wait_until_read()
        for path in ("/../run.json", "/%2e%2e/run.json", "/..%2frun.json", "//etc/passwd", "/etc/passwd",
                     "/app.js/../run.json", "/run.json", "/app.js%00.html", "/%00", "/./", "/api/info",
                     "/api/../app.js", "/app.js/", "/APP.JS"):
            self.assertEqual(self.get(path)[0].status, 404, path)

    def test_the_page_is_allowed_nothing_from_elsewhere(self):
        self.enter()
        self.wait_until_read()
        for path, kind in (("/", "text/html"), ("/app.js", "text/javascript"), ("/app.css", "text/css")):
            answer, body = self.get(path)
            self.assertEqual(answer.status, 200)
            self.assertIn(kind, answer.headers["Content-Type"])
            self.assertTrue(answer.headers["Content-Security-Policy"].startswith("default-src 'self';"))
            self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
            self.assertTrue(body)
        self.assertEqual(self.request("HEAD", "/")[1], b"")

    def test_huge_requests_are_refused(self):
        self.enter()
        self.wait_until_read()
        try:
            self.assertEqual(self.post("info", "x" * (3 << 20))[0].status, 413)
        except ConnectionError:
            pass  # cut off before we had said it all
        head = f"POST /api/info HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\nX-Unitrace: 1\r\n"
        chunked = head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        got = self.raw(chunked.encode() + b"10000\r\n" + b"x" * 65536 + b"\r\n" +
                       (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 40 + b"0\r\n\r\n")
        self.assertTrue(not got or b"413" in got[:16], got[:80])
        for data in (b"GET /" + b"x" * 200000, head.encode() + b"X-Long: " + b"y" * 200000,
                     head.encode() + b"".join(b"X-%d: y\r\n" % i for i in range(20000))):
            got = self.raw(data)
            self.assertTrue(not got or got[9:10] in (b"4", b"5"), got[:80])
        for body in ("[" * 100000, '{"scope":' * 600, "\0" * 1000, "{", "", "null", '{"t0":"x"}',
                     '{"lanes":[[1]]}', '{"lanes":[1]}', '{"scope":{"ranges":[[5,9],[1,2]]}}', '{"t0":1e999}',
                     '{"lanes":' + json.dumps([[0, 0]] * 100000) + "}"):
            self.assertEqual(self.post("window", body)[0].status, 400, body[:40])
        self.assertEqual(self.post("info", "{}")[0].status, 200)

    def test_slow_requests_are_cut_off_and_others_go_on(self):
        self.enter()
        self.wait_until_read()
        began = time.monotonic()
        ends = []

        def crawl(data):
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as link:
                try:
                    for byte in data:
                        link.sendall(bytes([byte]))
                        time.sleep(0.25)
                except ConnectionError:
                    pass
                ends.append(time.monotonic() - began)

        head = f"POST /api/info HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\nX-Unitrace: 1\r\n"
        crawlers = [threading.Thread(target=crawl, args=(data,)) for data in
                    [b"GET / HTTP/1.1\r\nX-Slow: " + b"y" * 1000] * 8 + [b"\r\n" * 500] * 2]
        quick = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        quick.sendall((head + "Content-Length: 1000\r\n\r\n").encode())
        for c in crawlers:
            c.start()
        while any(c.is_alive() for c in crawlers):
            asked = time.monotonic()
            self.assertEqual(self.post("info", "{}")[0].status, 200)
            self.assertLess(time.monotonic() - asked, 10)
            time.sleep(0.5)
        self.assertLess(max(ends), 60)
        self.assertEqual(len(ends), 10)
        self.assertEqual(quick.recv(100)[:0], b"")  # closed, or told so
        quick.close()

    def test_a_port_that_is_taken_is_told(self):
        done = subprocess.run([UNITRACE, "view", "--no-browser", "-p", str(self.port), "run.json"],
                              cwd=self.dir, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"port {self.port}: Address already in use", done.stderr)

    def test_ctrl_c_ends_it(self):
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(30), 0)


class Answers(View):
    def test_every_question_has_an_answer(self):
        self.save(trace())
        self.start("run.json")
        info = self.ask("info")
        self.assertEqual(info["files"], ["run.json"])
        self.assertEqual(info["ranks"], 0)
        places = self.ask("places")
        self.assertEqual([p["name"] for p in places if p["kind"] == "process"], ["train.py"] * 2)
        self.assertEqual({p["kind"] for p in places}, {"process", "thread", "counter"})
        self.assertEqual(sum(lane["count"] for p in places for lane in p["lanes"]
                             if lane["kind"] in ("spans", "overlap", "async")), info["slices"])
        names = self.ask("types", first=0)["names"]
        self.assertIn("step", names)
        self.assertEqual(self.ask("types", first=1 << 40)["names"], [])
        lanes = [[p["track"], i] for p in places for i in range(len(p["lanes"]))] + [[999, 0], [0, 99]]
        window = self.ask("window", t0=0, t1=info["span"], pixels=500, lanes=lanes)
        magic, count, items, values = struct.unpack_from("<IIII", window)
        self.assertEqual((magic, count), (0x31575455, len(lanes)))
        self.assertEqual(len(window), 40 + items * 21 + (count + 1) * 8 + values * 12)
        self.assertEqual(values, 1000)
        flows = self.ask("flows", t0=0, t1=info["span"], limit=7)
        self.assertEqual(len(flows["from"]["t"]), 7)
        self.assertGreater(flows["more"], 0)
        found = self.ask("search", query='"step"', limit=3, scope={})
        self.assertEqual((found["count"], len(found["list"])), (1200, 3))
        first = self.ask("find", query='"step"', **{"from": None}, by=1, scope={})
        self.assertEqual(first["nth"], 1)
        last = self.ask("find", query='"step"', **{"from": first["id"]}, by=-1, scope={})
        self.assertEqual(last["nth"], 1200)
        detail = self.ask("detail", id=first["id"])
        self.assertEqual((detail["name"], detail["nth"], detail["ofName"]), ("step", 1, 1200))
        self.assertEqual(dict(detail["args"])["s"], "x<b>")
        self.assertIsNone(self.ask("detail", id=1 << 50))
        there = self.ask("at", track=detail["track"], lane=detail["lane"], t=detail["t"] + 1, slack=0)
        self.assertEqual(there["id"], first["id"])
        for along in ("name", "track"):
            self.assertIsInstance(self.ask("step", id=first["id"], by=1, along=along), int)
        self.ask("step", id=first["id"], by=-1, along="flow")
        self.assertTrue(self.ask("aggregate", scope={"ranges": [[0, 10 ** 6]]})["slices"]["rows"])
        self.assertEqual(self.ask("list", scope={}, limit=5)["rows"], 5)
        spread = self.ask("distribution", scope={}, name="step", self=False, log=False, bins=10,
                          group="track")
        self.assertEqual(sum(sum(g["counts"]) for g in spread["groups"]), 1200)
        for kind in ("top-down", "bottom-up", "time-order", "callers", "callees"):
            self.assertEqual(self.ask("tree", scope={}, kind=kind, name="deep", nodes=9)["parent"][0], -1)
        self.assertIn("slice", self.ask("words"))
        self.assertEqual(self.post("nothing", "{}")[0].status, 404)
        for query in ("dur:>x", "rank:a", "/(/"):
            answer, body = self.post("search", json.dumps({"query": query, "limit": 1, "scope": {}}))
            self.assertEqual(answer.status, 400)
            self.assertIn(b" is no ", body)

    def test_numbers_are_those_of_stats_and_query(self):
        """Also where spans overlap, call themselves or are async."""
        self.save(trace(overlap=True))
        self.start("run.json")
        span = self.ask("info")["span"]
        for from_, to in ((0, span + 1), (span // 4, span // 2), (span // 3, span // 3 + 50000)):
            told = json.loads(self.unitrace("stats", "--json", "--from", f"{from_}ns", "--to", f"{to}ns",
                                            "--clip", "-n", "1000", "run.json").stdout)
            area = self.ask("aggregate", scope={"ranges": [[from_, to]]})
            rows = {r["name"]: r for r in self.rows(area["slices"])}
            for want in told["spans"]:
                got = rows[want["name"]]
                self.assertEqual(got["self"] is None, want["share"] is None)  # a dash, not a zero
                self.assertEqual((got["count"], got["total"], got["self"] or 0, got["min"], got["max"]),
                                 (want["count"], want["total_ns"], want["self_ns"], want["min_ns"],
                                  want["max_ns"]), (want, from_, to))
                self.assertEqual(int(got["mean"]), want["mean_ns"])
            self.assertEqual(set(rows) - {"mark"}, {s["name"] for s in told["spans"]})
            counters = self.rows(area["counters"])
            self.assertAlmostEqual(min(c["min"] for c in counters), told["counters"][0]["min"])
            self.assertAlmostEqual(max(c["max"] for c in counters), told["counters"][0]["max"])
        told = json.loads(self.unitrace("stats", "--json", "-n", "1000", "run.json").stdout)
        for want in told["spans"]:
            got = self.ask("distribution", scope={}, name=want["name"], self=False, log=True, bins=5,
                           group="none")
            self.assertEqual((got["count"], got["p50"], got["p90"], got["p99"]),
                             (want["count"], want["p50_ns"], want["p90_ns"], want["p99_ns"]))
        sql = "select name, count(*) n, sum(dur) d from slice where dur > 0 group by 1 order by 1"
        told = json.loads(self.unitrace("query", "--json", "run.json", sql).stdout)
        told = told if isinstance(told, list) else told["rows"]
        table = self.rows(self.ask("sql", text=sql))
        self.assertEqual(table, told)
        for bad in ("selec", "select * from nowhere", "attach 'x' as y", "create table main.t(a)",
                    "pragma journal_mode=off"):
            self.post("sql", json.dumps({"text": bad}))
        self.assertEqual(self.rows(self.ask("sql", text=sql)), told)
        self.assertFalse([p for p in self.dir.iterdir() if p.name not in ("run.json",)])

    def test_devices_are_busy_as_stats_says(self):
        """What lies over a device's work is none, and a device is not called like its program."""
        self.save(torch_trace())
        self.start("run.json")
        told = json.loads(self.unitrace("stats", "--device", "--json", "run.json").stdout)["devices"]
        area = self.ask("aggregate", scope={})
        devices = {r["name"]: r for r in self.rows(area["devices"])}
        self.assertEqual({d["device"]: d["busy_ns"] for d in told},
                         {name: d["busy"] for name, d in devices.items()})
        self.assertEqual(set(devices), {"GPU 0", "GPU 1"})
        queues = {r["name"]: r["busy"] for r in self.rows(area["threads"]) if r["name"].startswith("GPU 0")}
        self.assertEqual(sum(queues.values()) - devices["GPU 0"]["busy"], devices["GPU 0"]["overlap"])
        findings = self.ask("findings", scope={})
        self.assertRegex(findings[0]["say"], r"^GPU [01] is idle ")
        self.assertTrue(findings[-1]["say"].startswith("train.py(3): step takes the most time"), findings)
        only = self.ask("findings", scope={"query": "cat:Trace"})  # asked for, it is told
        self.assertTrue(only[-1]["say"].startswith("PyTorch Profiler (0) takes"), only)
        names = [e["args"]["name"] for e in json.loads(
            self.unitrace("export", "-f", "chrome", "-o", "-", "run.json").stdout)["traceEvents"]
            if e["name"] == "process_name"]
        self.assertEqual(names, ["python3"] * 4)

    def test_hostile_names_are_only_text(self):
        names = ["<script>alert(1)</script>", "</script><!--", "a\0b", "\u202egnp.exe", "\x1b[2J\r\n",
                 "x" * (1 << 20), "'; drop table slice; --", "\\\"", "é\ud800", "%s%n", ""]
        events = []
        for i, name in enumerate(names):
            events.append({"ph": "X", "pid": 1, "tid": 1, "ts": i * 10, "dur": 5, "name": name, "cat": name[:50],
                           "args": {name[:50]: name[:50]}})
            events.append({"ph": "M", "pid": 1, "tid": i + 2, "name": "thread_name", "args": {"name": name}})
            events.append({"ph": "X", "pid": 1, "tid": i + 2, "ts": i * 10, "dur": 5, "name": name})
        text = json.dumps(events).encode().replace(b"%s%n", b"%s%n\xff\xfe\xc0\x80")
        (self.dir / "bad <b>&.json").write_bytes(text)
        self.start("bad <b>&.json")
        info = self.ask("info")
        self.assertEqual(info["title"], "bad <b>&.json")
        self.ask("places")
        got = self.ask("types", first=0)["names"]
        self.assertIn("<script>alert(1)</script>", got)
        self.assertIn("a\0b", got)
        self.assertIn("x" * (1 << 20), got)
        for name in ("<script>alert(1)</script>", "a\0b", "'; drop table slice; --"):
            tree = self.ask("tree", scope={}, kind="callers", name=name, nodes=10)
            self.assertEqual(tree["name"][0], name)
            spread = self.ask("distribution", scope={}, name=name, self=False, log=True, bins=3,
                              group="argument", argument=name)
            self.assertEqual(spread["count"], 2)
        area = self.ask("aggregate", scope={})
        self.assertGreaterEqual(area["slices"]["rows"], 10)
        self.ask("list", scope={}, limit=1000)
        self.ask("words")
        for found in self.ask("search", query="", limit=100, scope={})["list"]:
            self.ask("detail", id=found["id"])

    def test_hostile_names_are_inert_in_a_browser(self):
        names = ["<img src=x onerror='window.hacked=1'>", "\"><script>window.hacked=1</script>", "a\0b",
                 "\u202egnp.exe", "\x1b[2J\r\n\x07", "x" * (1 << 20), "\u2066isolated", "é\ud800", "%s%n", "",
                 "__proto__", "constructor"]
        events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": names[0]}}]
        for i, name in enumerate(names):
            events.append({"ph": "M", "pid": 1, "tid": i, "name": "thread_name", "args": {"name": name}})
            events.append({"ph": "X", "pid": 1, "tid": i, "ts": i * 10, "dur": 5, "name": name,
                           "cat": name[:50], "args": {name[:50]: name[:5000]}})
        text = json.dumps(events).encode().replace(b"%s%n", b"%s%n\xff\xfe\xc0\x80")
        (self.dir / "<b onclick=x>.json").write_bytes(text)
        self.start("<b onclick=x>.json", enter=False)
        self.browse("view_hostile.js", self.address)

    def test_notes_lie_beside_the_trace(self):
        self.save(trace())
        kept = self.dir / "run.json.notes.json"
        self.start("run.json")
        self.assertEqual(self.ask("notes"), [])
        self.assertFalse(kept.exists())
        note = {"id": "n1", "t0": 5, "t1": 9.5, "text": "slow <b>\u202e\0\n"}
        self.assertEqual(self.ask("note", note=note, gone=False), [note])
        self.assertEqual(json.loads(kept.read_text()), [note])
        changed = {**note, "text": "fast"}
        self.assertEqual(self.ask("note", note=changed, gone=False), [changed])
        self.server.send_signal(signal.SIGINT)
        self.server.wait(30)
        self.cookie = None
        self.start("run.json")
        self.assertEqual(self.ask("notes"), [changed])
        self.assertEqual(self.ask("note", note=changed, gone=True), [])
        kept.write_text("my own file")
        self.assertEqual(self.post("note", json.dumps({"note": note, "gone": False}))[0].status, 400)
        self.assertEqual(kept.read_text(), "my own file")

    def test_traces_of_one_clock_are_shown_together(self):
        day = 1.7e15  # us since 1970
        for rank in (0, 1):
            self.save([{"ph": "M", "pid": rank, "name": "process_name", "args": {"name": f"rank{rank}"}},
                       {"ph": "X", "pid": rank, "tid": 1, "ts": day + rank * 1000, "dur": 10,
                        "name": f"work {rank}"}], f"r{rank}.json")
        self.start("r0.json", "r1.json")
        info = self.ask("info")
        self.assertEqual(info["title"], "r0.json and 1 more")
        self.assertEqual(info["span"], 1010000)
        self.assertEqual(info["start"], str(1700000000 * 10 ** 9))
        found = self.ask("search", query="work", limit=9, scope={})["list"]
        self.assertEqual([(f["name"], f["t"]) for f in found], [("work 0", 0), ("work 1", 1000000)])
        self.assertEqual(self.rows(self.ask("sql", text="select count(*) n from slice")), [{"n": 2}])

    def test_what_stats_calls_a_device_is_one_here(self):
        self.save([{"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "cuda:0"}},
                   {"ph": "X", "pid": 1, "tid": 1, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 2, "dur": 1,
                    "args": {"correlation": 5}},
                   {"ph": "X", "pid": 7, "tid": 7, "cat": "kernel", "name": "k", "ts": 4, "dur": 2,
                    "args": {"correlation": 5, "stream": 7}}], "named.json")
        told = subprocess.run([UNITRACE, "stats", "--device", "named.json"], cwd=self.dir, capture_output=True, text=True,
                              check=True).stdout
        self.start("named.json")
        kinds = {p["name"]: p["kind"] for p in self.ask("places") if p["kind"] in ("process", "device")}
        self.assertTrue(told.startswith("cuda:0: "), told)
        self.assertEqual(kinds, {"cuda:0": "device", "pid 1": "process"})
        self.assertEqual(self.rows(self.ask("sql", text="select kind, api, device from process where pid = 7")),
                         [{"kind": "device", "api": "cuda", "device": 0}])

    def test_how_much_a_thread_ran_stands_below_it(self):
        facts = {8: {"cpu_ns": 300, "waiting_ns": 500, "ready_ns": 200}, 9: {"cpu_ns": 400}, 10: {}}
        events = [{"ph": "M", "pid": 7, "tid": tid, "name": "thread_name", "args": {"name": "worker", **told}}
                  for tid, told in facts.items()]
        events += [{"ph": "X", "pid": 7, "tid": tid, "name": "task", "ts": 0, "dur": 1} for tid in facts]
        events += [{"ph": "C", "pid": 7, "tid": 7, "name": name, "ts": 0, "args": {"value": 5}}
                   for name in ("free memory", "CPU usage: worker (9)", "CPU usage: worker (8)",
                                "CPU usage: all threads", "CPU usage: gone (77)")]
        self.save(events, "threads.json")
        self.start("threads.json")
        below = [(p["name"], p.get("tid"), p.get("cpu")) for p in self.ask("places") if p["kind"] != "process"]
        self.assertEqual(below, [("worker", 8, 0.3), ("CPU usage: worker (8)", None, None),
                                 ("worker", 9, 0.4), ("CPU usage: worker (9)", None, None),
                                 ("worker", 10, None), ("free memory", None, None),
                                 ("CPU usage: all threads", None, None), ("CPU usage: gone (77)", None, None)])

    def test_messages_between_traces_are_arrows(self):
        day = 1.7e15
        for rank, kind in ((0, "s"), (1, "f")):
            self.save([{"ph": "X", "pid": rank, "tid": 1, "ts": day + rank * 50, "dur": 10,
                        "name": "receive" if rank else "send"},
                       {"ph": kind, "bp": "e", "pid": rank, "tid": 1, "ts": day + rank * 50 + 1, "name": "m",
                        "cat": "m", "id": "0x1230000000077", "id2": {"global": "0x1230000000077"}},
                       {"ph": kind, "bp": "e", "pid": rank, "tid": 1, "ts": day + rank * 50 + 2, "name": "m",
                        "cat": "m", "id": "0x88"}], f"m{rank}.json")
        self.start("m0.json", "m1.json")
        flows = self.ask("flows", t0=0, t1=1e6, limit=9)
        self.assertEqual((flows["from"]["t"], flows["to"]["t"]), ([5000], [50000]))
        sent = self.ask("search", query="send", limit=1, scope={})["list"][0]
        self.assertEqual([r["name"] for r in self.ask("detail", id=sent["id"])["after"]], ["receive"])

    def test_the_page_tells_how_far_reading_is(self):
        os.mkfifo(self.dir / "slow.json")
        self.start("slow.json", enter=False)
        self.enter()
        answer, body = self.get("/")
        self.assertEqual(answer.status, 200)
        self.assertIn(b"Reading slow.json", body)
        self.assertIn(b'http-equiv="refresh"', body)
        self.assertEqual(self.post("info", "{}")[0].status, 503)
        with open(self.dir / "slow.json", "w") as pipe:
            json.dump(trace(), pipe)
        self.wait_until_read()
        self.assertIn(b"app.js", self.get("/")[1])

    def test_what_is_no_trace_ends_it(self):
        (self.dir / "no.json").write_text("no trace at all\n")
        done = subprocess.run([UNITRACE, "view", "--no-browser", "-p", "0", "no.json"], cwd=self.dir,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no.json", done.stderr)

    def test_once_ends_with_the_last_page(self):
        self.save(trace())
        self.start("--once", "run.json")
        pages = []
        for _ in range(2):
            page = socket.create_connection(("127.0.0.1", self.port), timeout=30)
            page.sendall(f"GET /api/live HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\n\r\n"
                         .encode())
            self.assertIn(b"text/event-stream", page.recv(4096))
            pages.append(page)
        pages.pop().close()
        time.sleep(6)
        self.assertIsNone(self.server.poll())
        pages.pop().close()
        self.assertEqual(self.server.wait(30), 0)

    def test_other_names(self):
        self.save(trace())
        for words in (("open",), ("help", "open")):
            done = self.unitrace(*words, *(["--help"] if words == ("open",) else []))
            self.assertIn(b"usage: unitrace view", done.stdout)
        done = subprocess.run([BUILD / "bin/uniview", "--help"], capture_output=True, timeout=60)
        self.assertIn(b"usage: unitrace view", done.stdout)


class Compare(View):
    def runs(self):
        """Two runs: the second has other lengths, a name that is new, and lacks one."""
        self.save(trace(5), "before.json")
        after = [e for e in trace(6) if e["name"] != "deep"]
        after.append({"ph": "X", "pid": 100, "tid": 1, "ts": 20000, "dur": 7, "name": "<b>new</b>"})
        self.save(after, "after.json")

    def test_two_runs_differ_as_diff_says(self):
        self.runs()
        self.start("--compare", "before.json", "after.json")
        self.assertEqual(self.ask("info")["before"], "before.json")
        self.assertNotIn("before", self.ask("before/info"))
        self.assertEqual(self.post("before/before/info", "{}")[0].status, 404)
        done = self.unitrace("diff", "--json", "before.json", "after.json")
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual({r["state"] for r in rows}, {"both", "new", "vanished"})
        for side, where in (("before", "before/"), ("after", "")):
            got = {r["name"]: r for r in self.rows(self.ask(where + "aggregate", scope={})["slices"])
                   if r["self"] is not None}
            for row in rows:
                if not row.get(side):
                    self.assertNotIn(row["name"], got)
                    continue
                said = got.pop(row["name"])
                for key in ("count", "total", "self", "mean", "min", "max"):
                    want = row[side]["count" if key == "count" else key + "_ns"]
                    self.assertAlmostEqual(said[key], want, delta=1, msg=f"{row['name']} {key}")
                spread = self.ask(where + "distribution", scope={}, name=row["name"], bins=9, log=True)
                for key in ("p50", "p90", "p99"):
                    self.assertEqual(spread[key], row[side][key + "_ns"], row["name"])
            self.assertEqual(set(got), set())

    def test_a_run_that_cannot_be_read_is_told(self):
        self.save(trace())
        done = self.unitrace("view", "--no-browser", "--compare", "nowhere.json", "run.json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(b"nowhere.json", done.stderr)

    def test_both_are_in_a_page(self):
        self.runs()
        done = self.unitrace("view", "--save", "both.html", "--compare", "before.json", "after.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.dir / "both.html").read_text()
        self.assertIn('id="trace"', text)
        self.assertIn('id="before"', text)


class OneFile(View):
    def test_a_page_holds_its_trace(self):
        path = self.save(trace())
        for words in (("export", path, "-o", "a.html"), ("view", "--save", "b.html", path)):
            done = self.unitrace(*words)
            if b"built without the viewer's page" in done.stderr:
                self.skipTest("built without the viewer's page")
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("a.html", "b.html"):
            text = (self.dir / name).read_text()
            self.assertIn("default-src 'none'", text)
            self.assertEqual(text.lower().count("<script"), text.lower().count("</script>"))
            self.assertNotRegex(text, r'(src|href)="(http|//)')

    def say_the_same(self, events, name):
        """The engine inside a page, asked everything that the server is asked about the trace."""
        if not (BUNDLER / "@esbuild").is_dir() or not shutil.which("node"):
            self.skipTest("node or esbuild is not there (tools/setup.sh test)")
        path = self.save(events)
        self.assertEqual(self.unitrace("view", "--save", "run.html", path).returncode, 0)
        self.start("run.json", enter=False)
        time.sleep(1)
        done = subprocess.run(["node", SOURCE / "tests/e2e/view_engine.mjs", BUNDLER, self.dir / "run.html",
                               self.address, SOURCE / "web"], env=environment(VIEW_NAME=name),
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stdout, "equal\n", done.stderr[-3000:])

    def test_server_and_page_say_the_same(self):
        self.say_the_same(trace(), "step")

    def test_server_and_page_say_the_same_where_spans_overlap(self):
        self.say_the_same(trace(overlap=True), "deep")

    def test_server_and_page_say_the_same_of_devices(self):
        self.say_the_same(torch_trace(), "step")

    def test_server_and_page_say_the_same_of_every_odd_shape(self):
        """All shapes of test_all_readers in one trace, a process of its own for each."""
        events = [{**e, "pid": 100 * i + e["pid"]}
                  for i, (shape, _) in enumerate(SHAPES.values()) for e in shape]
        self.say_the_same(events, "o")

    def test_in_a_browser_without_a_complaint(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed (tools/setup.sh test)")
        path = self.save(trace())
        if self.unitrace("view", "--save", "run.html", path).returncode:
            self.skipTest("built without the viewer's page")
        self.start("run.json", enter=False)
        self.browse("view_page.js", self.address, f"file://{self.dir}/run.html")


class Complaints(View):
    """What people who use other viewers complain about in public."""

    def aggregate(self, t0, t1, tracks=None):
        scope = {"ranges": [[t0, t1]], **({"tracks": tracks} if tracks else {})}
        return {r["name"]: r for r in self.rows(self.ask("aggregate", scope=scope)["slices"])}

    def test_control_characters_in_names_do_not_break_the_file(self):
        """Raw, as some profilers write them, which is no JSON."""
        names = ["bell\x07", "tab\there", "esc\x1b[31m", "del\x7f"]
        events = ",".join('{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":5,"name":"%s"}' % (i * 10, name)
                          for i, name in enumerate(names))
        (self.dir / "run.json").write_text(f"[{events}]")
        self.start("run.json")
        self.assertEqual(set(self.ask("types", first=0)["names"]) - {""}, set(names))
        self.assertEqual(set(self.aggregate(0, 10**9)), set(names))

    def test_spans_that_overlap_by_a_hair_are_all_there(self):
        """with_stack of torch.profiler: an inner one ends a few ns behind the outer one."""
        events = []
        for i in range(500):
            events += [{"ph": "X", "pid": 1, "tid": 1, "ts": i * 10, "dur": 8, "name": "outer"},
                       {"ph": "X", "pid": 1, "tid": 1, "ts": i * 10 + 1, "dur": 7.005, "name": "inner"}]
        self.save(events)
        self.start("run.json")
        info, places = self.ask("info"), self.ask("places")
        self.assertEqual(info["slices"], 1000)
        self.assertEqual(sum(lane["count"] for p in places for lane in p["lanes"]), 1000)
        got = self.aggregate(0, info["span"])
        self.assertEqual([(got[n]["count"], got[n]["total"]) for n in ("outer", "inner")],
                         [(500, 4_000_000), (500, 3_502_500)])
        self.assertEqual(got["outer"]["self"], 500 * 1000)
        self.assertEqual(self.ask("search", query="inner", limit=1, scope={})["count"], 500)

    def test_an_area_has_average_least_and_greatest(self):
        self.save(trace(overlap=True))
        self.start("run.json")
        for t0, t1 in ((1_000_000, 3_000_000), (2_345_678, 2_399_999)):
            done = self.unitrace("stats", "--json", "--clip", "--from", f"{t0}ns", "--to", f"{t1}ns",
                                 "run.json")
            want = {r["name"]: r for r in json.loads(done.stdout)["spans"]}
            got = self.aggregate(t0, t1)
            self.assertEqual(set(want) - set(got), set())
            for name, row in want.items():
                for key in ("count", "total", "mean", "min", "max"):
                    self.assertAlmostEqual(got[name][key], row["count" if key == "count" else key + "_ns"],
                                           delta=1, msg=f"{name} {key}")
                if got[name]["self"] is not None:
                    self.assertEqual(got[name]["self"], row["self_ns"], name)
                    self.assertAlmostEqual(got[name]["share"] * 100, row["share"], places=3, msg=name)

    @unittest.skipUnless(os.environ.get("UNITRACE_LONG") == "1", "300 MB; UNITRACE_LONG=1")
    def test_a_large_step_of_torch_opens(self):
        """One step with stacks: depth, arguments and names by the hundred thousand."""
        path, count = self.dir / "run.json", 0
        with path.open("w") as out:
            out.write('{"traceEvents":[')
            while out.tell() < 300_000_000:
                t = count * 3
                out.write("".join(
                    '%s{"ph":"X","cat":"python_function","pid":1,"tid":%d,"ts":%.3f,"dur":%.3f,'
                    '"name":"torch/nn/modules/module.py(%d): _call_impl","args":{"Python id":%d,'
                    '"Python parent id":%d,"Python module id":0}}'
                    % ("," if count or k else "", 1 + k % 2, t + k * .01, 2.9 - k * .02, 1000 + (count + k) % 997,
                       count + k, count + k - 1) for k in range(40)))
                count += 40
            out.write("]}")
        self.start("run.json", enter=False)
        self.enter()
        began = time.monotonic()
        self.wait_until_read()
        self.assertLess(time.monotonic() - began, 60)
        info = self.ask("info")
        self.assertEqual(info["slices"], count)
        self.ask("window", t0=0, t1=info["span"], pixels=1400, lanes=[[0, i] for i in range(20)])
        self.assertEqual(sum(r["count"] for r in self.aggregate(0, info["span"]).values()), count)


if __name__ == "__main__":
    unittest.main()
