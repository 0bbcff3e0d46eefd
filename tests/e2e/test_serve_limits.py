"""unitrace serve: what a client may not use up: one-time tokens, guesses, connections, memory and disk."""
# ci: labels slow
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import threading
import unittest

import common
from common import UNITRACE
from serve_support import API, STEPS, Server

TRACE = json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "name": "step", "cat": "op"}]).encode()
PHRASE = "correct horse"


class Limits(Server):
    def link(self, source=None):
        link = socket.create_connection(("127.0.0.1", self.port), timeout=common.PATIENCE,
                                        source_address=(source, 0) if source else None)
        self.addCleanup(link.close)
        return link

    def raw(self, head, body=b"", source=None):
        """The status that the bytes of a request are answered with; 0: the connection was closed."""
        link = self.link(source)
        try:
            link.sendall("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)
            got = b""
            while b"\r\n" not in got and (some := link.recv(4096)):
                got += some
        except ConnectionError:
            got = b""
        link.close()
        return int(got.split()[1]) if got else 0

    def tree(self):
        return {p["name"]: sorted(r["name"] for r in p["results"]) for p in self.get("/projects")}

    def set_passphrase(self):
        got = self.call("PUT", "/passphrase", {"passphrase": PHRASE})
        self.assertEqual(got.status, 204)
        self.cookie = got.headers["Set-Cookie"].split(";")[0]

    def guess(self, phrase, source=None):
        body = json.dumps({"passphrase": phrase}).encode()
        return self.raw([f"POST {API}/login HTTP/1.1", f"Host: localhost:{self.port}", "X-Unitrace: 1",
                         "Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close"], body, source)


class Heads(Limits):
    def test_a_request_that_can_be_read_in_two_ways_is_refused(self):
        self.start()
        host = f"Host: localhost:{self.port}"
        own = [host, "X-Unitrace: 1", f"Cookie: {self.cookie}", "Content-Type: application/json"]
        login = f"POST {API}/projects HTTP/1.1"
        chunked = b"c\r\n{\"name\":\"x\"}\r\n0\r\n\r\n"
        for head, body in (
                ([login, *own, "Content-Length: 12", "Transfer-Encoding: chunked"], chunked),
                ([login, *own, "Transfer-Encoding: chunked", "Content-Length: 12"], chunked),
                ([login, *own, "Content-Length: 12", "Content-Length: 12"], b'{"name":"x"}'),
                ([login, *own, "Content-Length: 12", "content-length: 5"], b'{"name":"x"}'),
                ([login, *own, "Content-Length: 12, 12"], b'{"name":"x"}'),
                ([login, *own, "Content-Length: +12"], b'{"name":"x"}'),
                ([login, *own, "Content-Length: 0x0c"], b'{"name":"x"}'),
                ([login, *own, "Content-Length : 12"], b'{"name":"x"}'),
                ([login, *own, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], chunked),
                ([login, *own, "Transfer-Encoding: gzip, chunked"], chunked),
                ([login, *own, "Transfer-Encoding: xchunked"], chunked),
                ([login, *own, "Transfer-Encoding: identity", "Content-Length: 12"], b'{"name":"x"}'),
                ([login, *own, host, "Content-Length: 12"], b'{"name":"x"}'),
                ([login, "Host: evil.example", *own, "Content-Length: 12"], b'{"name":"x"}'),
                ([login, *own, "Origin: http://localhost", "Origin: http://evil.example", "Content-Length: 12"], b'{"name":"x"}'),
                ([f"GET {API}/projects HTTP/1.1", host, host, f"Cookie: {self.cookie}"], b""),
                ([f"GET {API}/projects HTTP/1.1", host, f"Cookie: {self.cookie}", "X y: 1"], b"")):
            self.assertEqual(self.raw(head, body), 400, head)
        self.assertEqual(self.tree(), {})
        self.assertEqual(self.raw([login, *own, "Transfer-Encoding: chunked", "Connection: close"], chunked), 204)
        self.assertEqual(self.tree(), {"x": []})

    def test_head_does_not_use_a_token_up(self):
        self.start(enter=False)
        head = [f"HEAD /?one-time-token={self.once} HTTP/1.1", f"Host: localhost:{self.port}", "Connection: close"]
        for _ in range(2):
            self.assertEqual(self.raw(head), 200)
        self.assertEqual(self.raw([f"HEAD {API}/login HTTP/1.1", *head[1:]]), 405)
        self.enter()  # it still works

    def test_a_body_without_a_length_is_bounded(self):
        self.start(enter=False)
        link = self.link()
        link.sendall(f"POST {API}/login HTTP/1.1\r\nHost: localhost\r\nX-Unitrace: 1\r\nContent-Type: application/json\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n".encode())
        chunk, sent = b"10000\r\n" + b"a" * 65536 + b"\r\n", 0
        with self.assertRaises(OSError):
            while sent < 64 << 20:
                link.sendall(chunk)
                sent += 65536
        self.assertLess(sent, 16 << 20)
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as status:
            peak = int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])
        self.assertLess(peak, 256 << 10)
        self.assertEqual(self.raw([f"POST {API}/login HTTP/1.1", "Host: localhost", "X-Unitrace: 1", "Content-Length: 70000"]), 413)
        self.enter()


class Tokens(Limits):
    def new_token(self, name):
        got = self.unitrace("serve", "--data-directory", self.data, "--new-token", name)
        self.assertEqual(got.returncode, 0, got.stderr)
        return got.stdout.decode().strip()

    def known(self, token):
        return self.call("GET", "/projects", know=False, headers={"Authorization": f"Bearer {token}"}).status == 200

    def test_one_that_is_made_beside_a_server_works_and_stays(self):
        self.start()
        first = self.new_token("first")
        self.assertTrue(self.known(first))
        made = self.do("POST", "/tokens", {"name": "second"})["token"]  # writes the file
        third = self.new_token("third")
        self.set_passphrase()
        self.assertEqual(sorted(t["name"] for t in self.get("/tokens")), ["first", "second", "third"])
        self.do("DELETE", "/tokens/first")
        self.assertEqual([self.known(t) for t in (first, made, third)], [False, True, True])
        self.end()
        self.start(enter=False)
        self.assertEqual([self.known(t) for t in (first, made, third)], [False, True, True])

    def test_many_at_once_lose_none(self):
        self.start()
        tokens = {}

        def make(n):
            if n % 2:
                tokens[n] = self.new_token(f"t{n}")
            else:
                tokens[n] = self.do("POST", "/tokens", {"name": f"t{n}"})["token"]

        threads = [threading.Thread(target=make, args=(n,)) for n in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual({n: self.known(t) for n, t in tokens.items()}, dict.fromkeys(range(12), True))

    def test_a_second_server_that_forgets_all_is_believed(self):
        self.start()
        self.assertTrue(self.get("/server")["known"])
        first, port = self.server, self.port
        self.start("--reset-passphrase", enter=False)
        self.port = port
        self.assertFalse(self.get("/server")["known"])
        first.terminate()
        first.wait()

    def test_a_file_that_cannot_be_read_lets_nobody_in(self):
        self.start()
        file = self.data / ".unitrace/access.json"
        kept = file.read_text()
        file.write_text(kept[:-20])
        self.assertEqual(self.call("GET", "/projects").status, 401)
        self.assertEqual(self.call("POST", "/login", {"passphrase": "wrong phrase"}, check=False).status, 500)
        file.write_text(kept)
        self.assertEqual(self.call("GET", "/projects").status, 200)


class Guesses(Limits):
    def test_addresses_of_this_machine_are_one_user(self):
        self.start()
        self.set_passphrase()
        statuses = [self.guess(f"wrong {i}", f"127.1.{i}.1") for i in range(12)]
        self.assertIn(429, statuses)
        self.assertEqual(statuses[:5], [403] * 5)
        self.assertLess(statuses.count(403), 10)

    def test_sessions_and_tokens_are_never_kept_out(self):
        self.start()
        self.set_passphrase()
        token = self.do("POST", "/tokens", {"name": "script"})["token"]
        while self.guess("wrong") != 429:
            pass
        self.assertEqual(self.call("GET", "/projects").status, 200)
        self.assertEqual(self.call("GET", "/projects", know=False, headers={"Authorization": f"Bearer {token}"}).status, 200)
        # whoever is in may change the passphrase, and log in again
        self.assertEqual(self.call("POST", "/login", {"passphrase": PHRASE}).status, 204)
        got = self.call("PUT", "/passphrase", {"passphrase": "another one", "old": PHRASE})
        self.assertEqual(got.status, 204)
        self.cookie = got.headers["Set-Cookie"].split(";")[0]
        # a session that guesses is slowed down like anybody else
        statuses = [self.call("PUT", "/passphrase", {"passphrase": "yet another", "old": f"no {i}"}).status for i in range(12)]
        self.assertIn(429, statuses)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to be another user as well")
    def test_another_user_of_this_machine_does_not_keep_the_owner_out(self):
        self.start()
        self.set_passphrase()
        body = json.dumps({"passphrase": "wrong"})
        request = (f"POST {API}/login HTTP/1.1\r\nHost: localhost\r\nX-Unitrace: 1\r\nContent-Type: application/json\r\n"
                   f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}")
        script = ("import encodings.idna, os, socket\nos.setuid(65534)\nwhile True:\n"
                  f" s = socket.create_connection(('127.0.0.1', {self.port}))\n s.sendall({request!r}.encode())\n"
                  " print(s.recv(99).split()[1].decode(), flush=True)\n s.close()\n")
        attacker = subprocess.Popen(["python3", "-c", script], stdout=subprocess.PIPE, text=True)
        self.addCleanup(attacker.stdout.close)
        self.addCleanup(attacker.wait)
        self.addCleanup(attacker.kill)
        while (line := attacker.stdout.readline()) != "429\n":
            self.assertTrue(line)
        threading.Thread(target=attacker.stdout.read, daemon=True).start()
        self.assertEqual(self.guess(PHRASE), 204)

    def test_the_server_ends_while_guesses_wait(self):
        self.start()
        self.set_passphrase()
        threads = [threading.Thread(target=self.guess, args=(f"wrong {i}",)) for i in range(20)]
        for t in threads:
            t.start()
        self.end()  # within its patience
        self.assertEqual(self.server.returncode, 0)
        for t in threads:
            t.join()


class Crowd(Limits):
    def test_a_thousand_slow_connections_keep_nobody_out(self):
        self.start()
        events = self.link()
        events.sendall(f"GET {API}/events HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\n\r\n".encode())
        self.assertIn(b" 200 ", events.recv(4096))
        slow = []
        for i in range(1000):
            slow.append(self.link(f"127.{1 + i % 200}.0.1" if i % 2 else None))
            slow[-1].sendall((b"GET / HTTP/1.1\r\nHost: loc", f"POST {API}/login HTTP/1.1\r\nHost: localhost\r\n"
                              "X-Unitrace: 1\r\nContent-Length: 100\r\n\r\n".encode())[i % 2])
        for _ in range(20):
            self.assertEqual(self.get("/projects"), [])  # each by a connection of its own
        # some were closed to make room, and none of a user
        closed = 0
        for link in slow:
            link.setblocking(False)
            try:
                closed += link.recv(1) == b""
            except BlockingIOError:
                pass
            except ConnectionError:
                closed += 1
        self.assertGreater(closed, 700)
        self.project("a")
        events.settimeout(common.PATIENCE)
        text = b""
        while b"changed" not in text:
            some = events.recv(4096)
            self.assertTrue(some)
            text += some

    def test_who_does_not_say_what_he_wants_is_not_waited_for(self):
        self.start(enter=False)
        link = self.link()
        link.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        self.assertEqual(link.recv(100), b"")  # in its time, which is shorter than our patience


class Folders(Limits):
    def test_a_new_data_directory_is_for_its_owner_alone(self):
        old = os.umask(0)
        try:
            self.start(data=self.dir / "above/data")
        finally:
            os.umask(old)
        self.assertEqual(stat.S_IMODE((self.dir / "above/data").stat().st_mode), 0o700)
        self.end()
        shutil.rmtree(self.dir / "above")
        self.unitrace("serve", "--data-directory", self.dir / "above/data", "--new-token", "x")
        self.assertEqual(stat.S_IMODE((self.dir / "above/data").stat().st_mode), 0o700)

    def test_one_that_others_can_write_to_is_warned_of(self):
        self.data.mkdir()
        self.start()
        self.assertNotIn("others can write", self.said())
        self.end()
        self.data.chmod(0o777)
        self.start()
        self.assertIn("others can write", self.said())
        self.assertEqual(stat.S_IMODE(self.data.stat().st_mode), 0o777)  # which is not ours to change


class Quota(Limits):
    def fill(self, size, name="big"):
        file = self.data / "p" / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(os.urandom(size))
        return file

    def announce(self, size):
        """The answer to the head of an upload of so many bytes."""
        link = self.link()
        link.sendall(f"POST {API}/projects/p/results?file=b.json HTTP/1.1\r\nHost: localhost\r\nX-Unitrace: 1\r\nCookie: {self.cookie}\r\n"
                     f"Content-Type: application/octet-stream\r\nContent-Length: {size}\r\n\r\n".encode())
        text = b""
        while some := link.recv(4096):
            text += some
        return int(text.split()[1]), text.decode()

    def test_uploads_end_where_the_quota_does(self):
        self.start("--data-quota", "1MiB")
        self.project("p")
        self.assertEqual(self.get("/server")["dataQuota"], 1 << 20)
        self.do("POST", "/projects/p/results?file=a.json", TRACE)
        status, text = self.announce(1 << 20)
        self.assertEqual((status, "quota of 1.00 MiB" in text), (413, True), text)
        link = self.link()  # its size is not told before
        link.sendall(f"POST {API}/projects/p/results?file=c HTTP/1.1\r\nHost: localhost\r\nX-Unitrace: 1\r\nCookie: {self.cookie}\r\n"
                     "Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        link.sendall(b"120000\r\n" + b"a" * 0x120000 + b"\r\n0\r\n\r\n")
        self.assertIn(b" 413 ", link.recv(4096))
        big = self.fill(1 << 20)
        for path, body in (("/projects/p/results?file=d.json", TRACE), ("/projects/p/results", {"path": str(big)})):
            got = self.call("POST", path, body)
            self.assertEqual(got.status, 507)
            self.assertIn("the data directory is full", got.error)
            self.assertIn("--data-quota", got.error)
        self.assertEqual(self.tree(), {"p": ["a"]})
        self.until(lambda n: n >= 1 << 20, lambda: self.get("/server")["dataBytes"])
        big.unlink()
        self.do("POST", "/projects/p/results?file=e.json", TRACE)
        self.assertEqual(list((self.data / ".unitrace/incoming").iterdir()), [])

    def test_the_trash_counts(self):
        self.start("--data-quota", "1MiB")
        self.project("p")
        self.do("POST", "/projects/p/results?file=a.json", TRACE + b" " * (700 << 10))
        self.do("DELETE", "/projects/p/results/a")
        self.assertEqual(self.announce(700 << 10)[0], 413)
        self.do("DELETE", "/trash")
        self.do("POST", "/projects/p/results?file=b.json", TRACE + b" " * (700 << 10))

    def test_there_is_one_unless_told_otherwise(self):
        self.start()
        space = os.statvfs(self.data)
        self.assertEqual(self.get("/server")["dataQuota"], space.f_blocks * space.f_frsize // 2)
        self.end()
        self.start("--data-quota", "none")
        self.assertNotIn("dataQuota", self.get("/server"))
        for size in ("0", "-1", "x", ""):
            self.assertEqual(self.unitrace("serve", "--data-quota", size).returncode, 2, size)

    def test_runs_are_refused_and_those_under_way_pause(self):
        self.start("--enable-server-profiling", "--data-quota", "64MiB")
        self.project("p")
        plan = {"application": "python3", "arguments": ["-c", "import time; time.sleep(600)"], "analysis": "itt"}
        run = self.do("POST", "/projects/p/runs", plan)["result"]

        def state():
            return next(r["state"] for r in self.get("/projects")[0]["results"] if r["name"] == run)

        self.until(lambda s: s == "running", state)
        self.assertLess(self.get("/server")["dataBytes"], 64 << 20)
        big = self.fill(64 << 20)
        self.until(lambda s: s == "paused", state)
        self.assertIn(f"'{run}' in 'p' is paused", self.said())
        for path, body in ((f"/projects/p/results/{run}/control", {"do": "resume"}), ("/projects/p/runs", plan)):
            got = self.call("POST", path, body)
            self.assertEqual((got.status, "is full" in got.error), (507, True), got.body)
        big.unlink()
        self.do("POST", f"/projects/p/results/{run}/control", {"do": "resume"})
        self.until(lambda s: s == "running", state)
        self.do("POST", f"/projects/p/results/{run}/control", {"do": "cancel"})
        self.until(lambda s: s not in ("running", "paused", "writing"), state)


if __name__ == "__main__":
    common.main()
