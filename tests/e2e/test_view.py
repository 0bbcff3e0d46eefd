"""unitrace view: who may ask, what is refused, when it begins and ends."""
# ci: labels slow
import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

from common import BUILD, PATIENCE, UNITRACE, wait_for
from view_server import View, trace


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
        self.assertEqual(self.request("HEAD", f"/?token={self.token}")[0].status, 401)  # what looks at links
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
                     '{"self":1}', '{"log":null}', '{"gone":"true"}', '{"lanes":' + json.dumps([[0, 0]] * 100000) + "}"):
            self.assertEqual(self.post("window", body)[0].status, 400, body[:40])
        self.assertEqual(self.post("info", "{}")[0].status, 200)

    def test_slow_requests_are_cut_off_and_others_go_on(self):
        self.enter()
        self.wait_until_read()
        cut = []

        def crawl(data):
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as link:
                try:
                    for byte in data:
                        link.sendall(bytes([byte]))
                        time.sleep(0.25)  # what is tested: never quiet, never done
                except ConnectionError:
                    cut.append(link)

        head = f"POST /api/info HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\nX-Unitrace: 1\r\n"
        crawlers = [threading.Thread(target=crawl, args=(data,)) for data in
                    [b"GET / HTTP/1.1\r\nX-Slow: " + b"y" * 1000] * 8 + [b"\r\n" * 500] * 2]
        quick = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        quick.sendall((head + "Content-Length: 1000\r\n\r\n").encode())
        for c in crawlers:
            c.start()
        for _ in range(5):
            self.assertEqual(self.post("info", "{}")[0].status, 200)
        self.assertEqual([c.is_alive() for c in crawlers], [True] * 10)  # all of them are at it still
        wait_for(lambda: not any(c.is_alive() for c in crawlers), "end of slow requests")
        self.assertEqual(len(cut), 10)
        self.assertEqual(self.post("info", "{}")[0].status, 200)
        self.assertEqual(quick.recv(100)[:0], b"")  # closed, or told so
        quick.close()

    def test_a_port_that_is_taken_is_reported(self):
        done = subprocess.run([UNITRACE, "view", "--no-browser", "-p", str(self.port), "run.json"],
                              cwd=self.dir, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"port {self.port}: Address already in use", done.stderr)

    def test_ctrl_c_ends_it(self):
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(PATIENCE), 0)


class Life(View):
    def test_the_page_gives_how_far_reading_is(self):
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
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no.json", done.stderr)

    def test_once_ends_with_the_last_page(self):
        self.save(trace())
        self.start("--once", "run.json")
        pages = []
        for _ in range(2):
            page = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            page.sendall(f"GET /api/live HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\n\r\n"
                         .encode())
            self.assertIn(b"text/event-stream", page.recv(4096))
            pages.append(page)
        pages.pop().close()
        time.sleep(4)  # longer than it would wait for a page that is loaded again, 3 s: that it does not end takes time
        self.assertIsNone(self.server.poll())
        pages.pop().close()
        self.assertEqual(self.server.wait(PATIENCE), 0)

    def test_other_names(self):
        self.save(trace())
        for words in (("open",), ("help", "open")):
            done = self.unitrace(*words, *(["--help"] if words == ("open",) else []))
            self.assertIn(b"usage: unitrace view", done.stdout)
        done = subprocess.run([BUILD / "bin/uniview", "--help"], capture_output=True, timeout=PATIENCE)
        self.assertIn(b"usage: unitrace view", done.stdout)


if __name__ == "__main__":
    unittest.main()
