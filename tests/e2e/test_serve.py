"""unitrace serve: who may come in, projects and results as folders, files in and out, the viewer behind it."""
# ci: labels slow
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import stat
import struct
import subprocess
import tarfile
import threading
import unittest
import urllib.parse
import warnings
import zlib

import common
from common import BUILD, SOURCE, UNITRACE, is_root
from serve_support import API, DESCRIPTION, Server

TRACE = json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "name": "step", "cat": "op"},
                    {"ph": "X", "pid": 1, "tid": 1, "ts": 2, "dur": 2, "name": "inner", "cat": "op"}]).encode()


class Description(Server):
    def test_every_route_is_described_and_everything_described_is_there(self):
        source = (SOURCE / "src/app/site/routes.c").read_text()
        names = {"PROJECT": "/api/v1/projects/{project}", "RESULT": "/api/v1/projects/{project}/results/{result}"}
        routes = set()
        for method, path in re.findall(r"\{ (GET|POST|PUT|PATCH|DELETE),[^,]+,([^,]+),", source):
            path = re.sub(r"PROJECT|RESULT", lambda m: f'"{names[m[0]]}"', path)
            path = "".join(re.findall(r'"([^"]*)"', path))
            if path.startswith(API):
                routes.add((method.lower(), re.sub(r"/\*$", "/{method}", path)))
        described = {(m, path) for path, ops in DESCRIPTION["paths"].items() for m in ops}
        self.assertEqual(routes, described)
        for _, path in described:
            for operation in DESCRIPTION["paths"][path].values():
                inside = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"]
                self.assertEqual(re.findall(r"\{(\w+)\}", path), inside, path)
        self.start(enter=False)
        self.assertEqual(self.get("/openapi.json", check=False), DESCRIPTION)

    def test_references_lead_somewhere(self):
        text = json.dumps(DESCRIPTION)
        for name in re.findall(r'"#/components/schemas/(\w+)"', text):
            self.assertIn(name, DESCRIPTION["components"]["schemas"])


class Access(Server):
    def test_nobody_is_reported_anything_without_being_let_in(self):
        self.start(enter=False)
        self.assertEqual(self.get("/server"), {"known": False, "hasPassphrase": False, "needsPassphrase": False})
        for path, operations in DESCRIPTION["paths"].items():
            for method, operation in operations.items():
                if operation.get("security") == []:
                    continue
                got = self.call(method.upper(), path.removeprefix(API), {} if method != "get" else None, know=False)
                self.assertEqual((method, path, got.status), (method, path, 401))
        self.assertEqual(sorted(p.name for p in self.data.iterdir()), [".unitrace"])

    def test_the_same_browser_may_send_its_token_again(self):
        self.start(enter=False)
        ours, theirs = "a" * 32, "b" * 32
        self.assertEqual(self.call("POST", "/login", {"token": self.once, "browser": ours}).status, 204)
        for other in ({"browser": theirs}, {}, {"browser": ""}, {"browser": None}, {"browser": "a" * 31}):
            self.assertEqual(self.call("POST", "/login", {"token": self.once, **other}).status, 403, other)
        self.assertEqual(self.call("POST", "/login", {"token": "c" * 32, "browser": ours}).status, 403)
        got = self.call("POST", "/login", {"token": self.once, "browser": ours})  # it did not hear the first answer
        self.assertEqual(got.status, 204)
        self.assertIn("HttpOnly", got.headers["Set-Cookie"])

    def test_a_token_works_once_and_becomes_a_cookie(self):
        self.start(enter=False)
        self.assertEqual(self.call("POST", "/login", {"token": "0" * 32}).status, 403)
        got = self.call("POST", "/login", {"token": self.once})
        self.assertEqual(got.status, 204)
        cookie = got.headers["Set-Cookie"]
        self.assertRegex(cookie, r"^unitrace_serve_\d+=[0-9a-f]{32}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000$")
        self.assertEqual(self.call("POST", "/login", {"token": self.once}).status, 403)
        self.cookie = cookie.split(";")[0]
        self.assertTrue(self.get("/server")["known"])
        self.assertEqual(self.call("GET", "/projects", know=False, headers={"Cookie": self.cookie[:-1] + "x"}).status, 401)
        self.do("POST", "/logout")
        self.assertEqual(self.call("GET", "/projects").status, 401)

    def test_who_is_known_stays_so_after_a_restart_and_secrets_are_kept_as_digests(self):
        self.start()
        self.project("kept")
        self.end()
        text = (self.data / ".unitrace/access.json").read_text()
        self.assertNotIn(self.cookie.partition("=")[2], text)
        old = self.port
        self.start("--web-port", str(old), enter=False)
        self.assertEqual([p["name"] for p in self.get("/projects")], ["kept"])
        mode = stat.S_IMODE((self.data / ".unitrace/access.json").stat().st_mode)
        self.assertEqual(mode, 0o600)
        self.assertEqual(stat.S_IMODE((self.data / ".unitrace").stat().st_mode), 0o700)

    def test_a_passphrase_lets_in_and_wrong_ones_are_slowed_down(self):
        self.start()
        self.assertEqual(self.call("PUT", "/passphrase", {"passphrase": "short"}).status, 400)
        first = self.cookie
        got = self.call("PUT", "/passphrase", {"passphrase": "correct horse"})
        self.assertEqual(got.status, 204)
        self.assertEqual(self.call("GET", "/projects").status, 401)  # everybody comes again ...
        self.cookie = got.headers["Set-Cookie"].split(";")[0]
        self.assertNotEqual(self.cookie, first)
        self.assertEqual(self.call("GET", "/projects").status, 200)  # ... but whoever set it
        text = (self.data / ".unitrace/access.json").read_text()
        self.assertNotIn("correct horse", text)
        self.assertEqual(json.loads(text)["passphrase"]["by"], "PBKDF2-HMAC-SHA256")
        self.assertEqual(self.call("PUT", "/passphrase", {"passphrase": "another one"}).status, 400)
        self.assertEqual(self.call("PUT", "/passphrase", {"passphrase": "another one", "old": "no"}).status, 403)
        self.cookie = None
        self.assertEqual(self.call("POST", "/login", {"passphrase": "correct horse"}).status, 204)
        statuses = [self.call("POST", "/login", {"passphrase": f"wrong {i}"}).status for i in range(7)]
        self.assertEqual(statuses[:5], [403] * 5)
        self.assertIn(429, statuses)
        got = self.call("POST", "/login", {"passphrase": "correct horse"})
        if got.status == 429:  # not even the right one, for a while
            self.assertGreater(int(got.headers["Retry-After"]), 0)
        self.end()
        self.start("--reset-passphrase", enter=False)
        self.assertIsNotNone(self.once)
        self.assertFalse(self.get("/server")["hasPassphrase"])

    def test_scripts_have_tokens_of_their_own(self):
        self.start()
        made = self.do("POST", "/tokens", {"name": "nightly"})
        self.assertEqual(self.call("POST", "/tokens", {"name": "nightly"}).status, 409)
        self.assertEqual([t["name"] for t in self.get("/tokens")], ["nightly"])
        self.assertNotIn(made["token"], (self.data / ".unitrace/access.json").read_text())
        self.cookie, self.token = None, made["token"]
        self.project("from a script")  # no other header is needed
        self.token = made["token"][::-1]
        self.assertEqual(self.call("GET", "/projects").status, 401)
        self.token = made["token"]
        self.do("DELETE", "/tokens/nightly")
        self.assertEqual(self.call("GET", "/projects").status, 401)
        got = self.unitrace("serve", "--data-directory", self.data, "--new-token", "cli")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertRegex(got.stdout.decode(), r"^[0-9a-f]{32}\n$")

    def test_other_sites_are_kept_out(self):
        self.start()
        good = {"Cookie": self.cookie, "X-Unitrace": "1", "Content-Type": "application/json"}
        body = b'{"name":"x"}'
        path = f"{API}/projects"
        here = f"http://localhost:{self.port}"
        for headers, host in (({**good, "Origin": "http://evil.example"}, None), ({**good, "Origin": "null"}, None),
                              ({**good, "X-Unitrace": None}, None), ({**good, "X-Unitrace": "0"}, None),
                              (good, "evil.example"), (good, f"localhost.evil.example:{self.port}"), (good, "192.0.2.1")):
            self.assertEqual(self.send("POST", path, body, headers, host=host).status, 403, headers)
        self.assertEqual(self.send("POST", path, body, {**good, "Origin": here}).status, 204)
        self.assertEqual(self.send("TRACE", path, None, good).status, 405)
        self.assertEqual(self.send("GET", path, None, {**good, "Origin": "http://evil.example"}).status, 403)

    def test_the_page_may_load_nothing_from_elsewhere(self):
        self.start(enter=False)
        for path in ("/", "/configure", "/r/p/r/"):
            got = self.send("GET", path)
            self.assertEqual(got.status, 200)
            policy = got.headers["Content-Security-Policy"]
            self.assertIn("default-src 'self'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertEqual(got.headers["X-Content-Type-Options"], "nosniff")
        asset = re.search(rb'src="(/assets/[\w.-]+\.js)"', got.body)[1].decode()
        got = self.send("GET", asset)
        self.assertEqual((got.status, got.headers["Content-Encoding"]), (200, "gzip"))
        self.assertIn("immutable", got.headers["Cache-Control"])
        self.assertEqual(self.send("GET", "/assets/../etc/passwd").status, 404)


class Remote(Server):
    def start_remote(self, *options, **more):
        self.start("--allow-remote-access", *options, enter=False, **more)

    def test_other_machines_come_by_tls_only_and_set_a_passphrase_first(self):
        self.start_remote()
        self.assertEqual(self.scheme, "https")
        plain = http.client.HTTPConnection("127.0.0.1", self.port, timeout=common.PATIENCE)
        with self.assertRaises((http.client.HTTPException, OSError)):
            plain.request("GET", "/")
            plain.getresponse()
        plain.close()
        got = self.call("POST", "/login", {"token": self.once})
        cookie = got.headers["Set-Cookie"]
        self.assertRegex(cookie, r"^__Host-unitrace_serve_\d+=\w+; HttpOnly; SameSite=Strict; Path=/; Max-Age=\d+; Secure$")
        self.cookie = cookie.split(";")[0]
        self.assertTrue(self.get("/server")["needsPassphrase"])
        self.assertEqual(self.call("GET", "/projects").status, 403)
        got = self.call("PUT", "/passphrase", {"passphrase": "correct horse"})
        self.cookie = got.headers["Set-Cookie"].split(";")[0]
        self.assertEqual(self.get("/projects"), [])
        # a number is no name that somebody could point elsewhere; a name of somebody else's is
        good = {"Cookie": self.cookie}
        path = f"{API}/projects"
        self.assertEqual(self.send("GET", path, headers=good, host=f"192.0.2.7:{self.port}").status, 200)
        self.assertEqual(self.send("GET", path, headers=good, host=f"[2001:db8::1]:{self.port}").status, 200)
        self.assertEqual(self.send("GET", path, headers=good, host=socket.gethostname()).status, 200)
        self.assertEqual(self.send("GET", path, headers=good, host="evil.example").status, 403)
        self.assertEqual(self.send("GET", path, headers=good, host="192.0.2.7.evil.example").status, 403)

    def test_old_protocols_are_refused(self):
        self.start_remote()
        for version, fine in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                context.minimum_version = context.maximum_version = version
            link = socket.create_connection(("127.0.0.1", self.port), timeout=common.PATIENCE)
            try:
                context.wrap_socket(link).close()
                self.assertTrue(fine, version)
            except (ssl.SSLError, OSError):
                self.assertFalse(fine, version)
            finally:
                link.close()

    def certificate(self):
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def test_the_certificate_names_this_machine_and_is_kept(self):
        self.start_remote()
        first = self.certificate()
        key = self.data / ".unitrace/server.key"
        self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)
        pem = self.dir / "server.pem"
        pem.write_text(first)
        context = ssl.create_default_context(cafile=str(pem))
        for name in ("localhost", "127.0.0.1", socket.gethostname()):
            with socket.create_connection(("127.0.0.1", self.port), timeout=common.PATIENCE) as link:
                context.wrap_socket(link, server_hostname=name).close()
        digest = ":".join(re.findall("..", __import__("hashlib").sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest().upper()))
        self.assertIn(digest, self.said())
        self.end()
        self.start_remote()
        self.assertEqual(self.certificate(), first)
        self.end()
        (self.data / ".unitrace/server.crt").write_text("nonsense")
        self.start_remote()
        self.assertNotEqual(self.certificate(), first)

    def test_a_certificate_of_ones_own(self):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl is not installed")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", "k.pem", "-out", "c.pem", "-days", "90", "-subj", "/CN=mine"],
                       cwd=self.dir, check=True, capture_output=True)
        self.start_remote("--tls-cert", "c.pem", "--tls-key", "k.pem")
        self.assertEqual(self.certificate().strip(), (self.dir / "c.pem").read_text().strip())
        for words in (["--tls-cert", "c.pem"], ["--tls-cert", "k.pem", "--tls-key", "k.pem"]):
            got = self.unitrace("serve", "--web-port", "0", "--data-directory", self.data, *words)
            self.assertIn(got.returncode, (1, 2))

    def test_behind_a_proxy(self):
        self.start("--base-url", "https://tools.example:8443/unitrace/")
        self.assertIn("serve: https://tools.example:8443/unitrace/", self.said())

    def start(self, *options, **more):
        if "--base-url" not in options:
            return super().start(*options, **more)
        # the address that is printed is the proxy's: the port has to be known
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        super().start("--web-port", str(port), *options, enter=False)
        self.scheme, self.port = "http", port
        self.once = re.search(r"one-time-token=(\w+)", self.said())[1]
        self.enter()
        page = self.send("GET", "/unitrace/", host="tools.example:8443")
        self.assertEqual(page.status, 200)
        self.assertIn(b'src="/unitrace/assets/', page.body)
        self.assertIn(b'content="/unitrace/"', page.body)
        good = {"Cookie": self.cookie, "X-Unitrace": "1", "Content-Type": "application/json",
                "Origin": "https://tools.example:8443"}
        got = self.send("POST", f"/unitrace{API}/projects", b'{"name":"x"}', good, host="tools.example:8443")
        self.assertEqual(got.status, 204, got.body)
        self.assertEqual(self.send("GET", "/", host="other.example").status, 403)


class Projects(Server):
    def setUp(self):
        super().setUp()
        self.start()

    def tree(self):
        return {p["name"]: sorted(r["name"] for r in p["results"]) for p in self.get("/projects")}

    def add(self, project, name, text=TRACE):
        return self.do("POST", f"/projects/{project}/results?file={name}", text)["result"]

    def test_projects_and_results_are_folders(self):
        self.project("llm speed é")
        self.assertEqual(self.call("POST", "/projects", {"name": "llm speed é"}).status, 409)
        self.add("llm%20speed%20%C3%A9", "run.json")
        again = self.add("llm%20speed%20%C3%A9", "run.json")
        self.assertEqual(again, "run-2")
        self.assertEqual(self.tree(), {"llm speed é": ["run", "run-2"]})
        folder = self.data / "llm speed é/run"
        self.assertEqual((folder / "uploads/run.json").read_bytes(), TRACE)
        # by hand: a folder in a project is a result, one beside it is nobody's business
        (self.data / "llm speed é/by hand").mkdir()
        (self.data / "llm speed é/by hand/x.json").write_bytes(TRACE)
        (self.data / "something else/inside").mkdir(parents=True)
        self.assertEqual(self.tree(), {"llm speed é": ["by hand", "run", "run-2"]})
        self.assertEqual(self.ask("llm%20speed%20%C3%A9", "by%20hand", "info")["slices"], 2)
        self.project("something else")
        self.assertEqual(self.tree()["something else"], ["inside"])

    def test_another_folder_of_the_same_name_is_another_result(self):
        self.project("p")
        self.add("p", "run.json")
        self.assertEqual(self.ask("p", "run", "info")["slices"], 2)
        folder = self.data / "p/run"
        folder.rename(self.dir / "elsewhere")  # by hand, while it is looked at
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps(json.loads(TRACE)[:1]))
        self.assertEqual(self.ask("p", "run", "info")["slices"], 1)
        self.do("DELETE", "/projects/p/results/run")
        self.do("DELETE", "/trash")
        self.add("p", "run.json")
        self.assertEqual(self.ask("p", "run", "info")["slices"], 2)

    def test_rename_move_notes(self):
        self.project("a")
        self.project("b")
        self.add("a", "run.json")
        self.ask("a", "run", "info")  # somebody looks at it meanwhile
        self.do("PATCH", "/projects/a/results/run", {"name": "better", "notes": "faster <b>\n"}, 204)
        got = self.result("a", "better")
        self.assertEqual((got["notes"], got["hasNotes"]), ("faster <b>\n", True))
        self.do("PATCH", "/projects/a/results/better", {"project": "b"}, 204)
        self.assertEqual(self.tree(), {"a": [], "b": ["better"]})
        self.add("b", "other.json")
        self.assertEqual(self.call("PATCH", "/projects/b/results/other", {"name": "better"}).status, 409)
        self.assertEqual(self.call("PATCH", "/projects/b/results/other", {"notes": "x" * 70000}).status, 400)
        self.assertEqual(self.call("PATCH", "/projects/b/results/other", {}).status, 400)
        self.do("PATCH", "/projects/b", {"name": "c"}, 204)
        self.assertEqual(self.tree(), {"a": [], "c": ["better", "other"]})
        self.assertEqual(self.ask("c", "better", "info")["slices"], 2)

    def test_what_is_deleted_can_be_restored(self):
        self.project("a")
        self.add("a", "run.json")
        undo = self.do("DELETE", "/projects/a/results/run")["undo"]
        self.assertEqual(self.tree(), {"a": []})
        self.assertEqual([t["result"] for t in self.get("/trash")], ["run"])
        self.assertEqual(self.do("POST", f"/trash/{undo}"), {"project": "a", "result": "run"})
        self.assertEqual((self.data / "a/run/uploads/run.json").read_bytes(), TRACE)
        undo = self.do("DELETE", "/projects/a")["undo"]
        self.assertEqual(self.tree(), {})
        self.project("a")
        self.assertEqual(self.call("POST", f"/trash/{undo}").status, 409)  # something else is there by now
        self.do("DELETE", "/projects/a")
        self.assertEqual(self.do("POST", f"/trash/{undo}"), {"project": "a", "result": None})
        self.assertEqual(self.tree(), {"a": ["run"]})
        undo = self.do("DELETE", "/projects/a")["undo"]
        self.do("DELETE", "/trash", status=204)
        self.assertEqual(self.call("POST", f"/trash/{undo}").status, 404)
        self.assertEqual(self.call("POST", "/trash/..").status, 404)

    def test_files_come_and_go_byte_by_byte(self):
        self.project("a")
        large = TRACE + b" " * (3 << 20)
        self.add("a", "large.json", large)
        got = self.call("GET", "/projects/a/results/large/files/large.json")
        self.assertEqual(got.body, large)
        self.assertEqual(got.headers["Content-Type"], "application/octet-stream")
        self.assertIn('attachment; filename="large.json"', got.headers["Content-Disposition"])
        (self.data / "a/large/empty").touch()
        got = self.call("GET", "/projects/a/results/large/download")
        with tarfile.open(fileobj=io.BytesIO(got.body)) as tar:
            self.assertEqual(sorted(tar.getnames()), ["large/empty", "large/result.json", "large/uploads/large.json"])
            self.assertEqual(tar.extractfile("large/uploads/large.json").read(), large)
        names = {f["name"]: f["trace"] for f in self.result("a", "large")["files"]}
        self.assertEqual(names, {"large.json": True, "result.json": False, "empty": True})

    def test_an_import_by_path_stays_below_the_data_directory(self):
        self.project("a")
        outside = self.dir / "outside.json"
        outside.write_bytes(TRACE)
        got = self.call("POST", "/projects/a/results", {"path": str(outside)})
        self.assertEqual(got.status, 403)
        self.assertIn("--enable-server-profiling", got.error)
        (self.data / "inside.json").write_bytes(TRACE)
        self.do("POST", "/projects/a/results", {"path": str(self.data / "inside.json"), "result": "named"})
        (self.data / "link.json").symlink_to(outside)
        for path in (self.data / "link.json", self.data / "../outside.json", self.data / ".unitrace/access.json"):
            self.assertEqual(self.call("POST", "/projects/a/results", {"path": str(path)}).status, 403, path)
        self.assertEqual(self.call("POST", "/projects/a/results", {"path": "relative"}).status, 400)
        self.assertEqual(self.tree(), {"a": ["named"]})
        self.assertEqual(self.ask("a", "named", "info")["slices"], 2)

    def test_names_that_lead_elsewhere_lead_nowhere(self):
        self.project("a")
        self.add("a", "run.json")
        outside = self.dir / "outside"
        (outside / "r").mkdir(parents=True)
        (outside / "project.json").write_text("{}")
        (outside / "r/secret.json").write_bytes(TRACE)
        (self.data / "linked").symlink_to(outside)
        (self.data / "a/linked").symlink_to(outside / "r")
        (self.data / "a/run/linked.json").symlink_to(outside / "r/secret.json")
        os.mkfifo(self.data / "a/run/pipe.json")
        self.assertEqual(self.tree(), {"a": ["run"]})
        for path in ("/projects/linked/results/r", "/projects/a/results/linked", "/projects/a/results/run/files/linked.json",
                     "/projects/a/results/run/files/pipe.json", "/projects/a/results/run/files/..",
                     "/projects/a/results/run/files/.%2e", "/projects/a/results/..", "/projects/..", "/projects/.unitrace",
                     "/projects/a/results/run/files/..%2f..%2f.unitrace%2faccess.json",
                     "/projects/a%00b/results/run", "/projects/a/results/run/files/%2e%2e%2f%2e%2e%2f.unitrace%2faccess.json",
                     "/projects/a%2frun/results/x", "/projects//results/run"):
            got = self.send("GET", API + path, headers={"Cookie": self.cookie})
            self.assertIn(got.status, (404, 405), path)
        self.assertEqual(self.ask("a", "run", "info")["files"], ["run.json"])  # neither link nor pipe
        for name in ("..", ".", ".x", "a/b", "a\\b", "", " x", "x ", "-x", "a\nb", "a\0b", "x" * 121, "a\u202eb", "\ud800"):
            got = self.call("POST", "/projects", {"name": name})
            self.assertEqual(got.status, 400, name)
            self.assertEqual(self.call("PATCH", "/projects/a/results/run", {"name": name}).status, 400, name)
            self.assertEqual(self.call("PATCH", "/projects/a", {"name": name}).status, 400, name)
        for name in ("..%2fx", "%2e%2e", ".hidden", "a%0ab"):
            got = self.send("POST", f"{API}/projects/a/results?file={name}", TRACE,
                            {"Cookie": self.cookie, "X-Unitrace": "1", "Content-Type": "application/octet-stream"})
            self.assertIn(got.status, (200, 400), name)
        self.assertEqual(sorted(p.name for p in self.data.iterdir()), [".unitrace", "a", "linked"])
        # what is deleted is the link's folder entry at most, never what it leads to
        self.do("DELETE", "/projects/a/results/run")
        self.do("DELETE", "/trash", status=204)
        self.assertTrue((outside / "r/secret.json").exists())

    def head(self, method, path, headers):
        """What is said about a request before its body has come."""
        link = self.connect()
        link.putrequest(method, path)
        for key, value in headers.items():
            link.putheader(key, value)
        link.endheaders()
        status = link.getresponse().status
        link.close()
        return status

    def test_bodies_are_bounded_and_no_json_is_refused(self):
        good = {"Cookie": self.cookie, "X-Unitrace": "1", "Content-Type": "application/json"}
        self.assertEqual(self.head("POST", f"{API}/projects", {**good, "Content-Length": str(2 << 20)}), 413)
        for body in (b"", b"{", b"[]", b'"x"', b'{"name":1}', b'{"name":["x"]}', b"\xff\xfe", b'{"name":"x",}', b"[" * 100,
                     b'{"name":"a\\u0000b"}'):
            self.assertEqual(self.send("POST", f"{API}/projects", body, good).status in (400, 413), True, body)
        self.project("a")
        self.assertEqual(self.call("POST", "/projects/a/results?file=x.json", b"").status, 400)
        self.assertEqual(self.call("POST", "/projects/a/results", TRACE).status, 400)
        # an upload by nobody is not even read, and one that is larger than the disk neither
        upload = {"X-Unitrace": "1", "Content-Type": "application/octet-stream"}
        path = f"{API}/projects/a/results?file=x"
        self.assertEqual(self.head("POST", path, {**upload, "Content-Length": str(1 << 40)}), 401)
        self.assertEqual(self.head("POST", path, {**upload, "Cookie": self.cookie, "Content-Length": str(1 << 50)}), 413)
        # and one that breaks off leaves nothing
        link = socket.create_connection(("127.0.0.1", self.port), timeout=common.PATIENCE)
        link.sendall(f"POST {API}/projects/a/results?file=x HTTP/1.1\r\nHost: localhost\r\nX-Unitrace: 1\r\nCookie: {self.cookie}\r\n"
                     "Content-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\nabc".encode())
        link.close()
        self.assertEqual(self.tree(), {"a": []})
        self.until(lambda files: not files, lambda: list((self.data / ".unitrace/incoming").iterdir()))

    @staticmethod
    def bomb(head, block, times, tail):
        """A gzip file. Behind a full flush the packer has forgotten everything: a block is packed once."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
        packed += (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)) * times
        packed += packer.compress(tail) + packer.flush()
        crc = zlib.crc32(head)
        for _ in range(times):
            crc = zlib.crc32(block, crc)
        size = len(head) + len(block) * times + len(tail)
        return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + packed + struct.pack("<II", zlib.crc32(tail, crc), size)

    def test_small_files_that_become_large_end_their_viewer_at_most(self):
        self.project("a")
        for head, fill, tail in ((b"[", b" ", b"]"), (b'[{"ph":"X","name":"', b"a", b'"}]')):
            packed = self.bomb(head, fill * (1 << 20), 270, tail)
            self.assertLess(len(packed), 1 << 20)
            name = self.do("POST", "/projects/a/results?file=bomb.json.gz", packed)["result"]
            got = self.call("POST", f"/projects/a/results/{name}/view/info", {})
            self.assertEqual(got.status, 502, got.body)
            self.assertRegex(got.error, r"more than (256|64) MiB")
        self.add("a", "run.json")
        self.assertEqual(self.ask("a", "run", "info")["slices"], 2)
        # what is really large is bounded by the memory of the machine, and goes before all else
        # those that were refused are still ending
        viewer, = common.wait_for(lambda: len(found := common.children_of(self.server.pid)) == 1 and found, "one viewer alone")
        limits, pages = pathlib.Path(f"/proc/{viewer}/limits").read_text(), os.sysconf("SC_PHYS_PAGES")
        if int(pathlib.Path(f"/proc/{viewer}/statm").read_text().split()[5]) < pages:  # not with a sanitizer
            self.assertLess(int(re.search(r"Max data size +(\d+)", limits)[1]), pages * os.sysconf("SC_PAGESIZE"))
        self.assertGreaterEqual(int(pathlib.Path(f"/proc/{viewer}/oom_score_adj").read_text()), 500)
        os.kill(viewer, signal.SIGKILL)  # nobody asks for it any more, and it is not left as a zombie
        common.wait_for(lambda: not common.children_of(self.server.pid), "end of the viewer")

    def test_what_is_no_trace_is_said_so_and_others_go_on(self):
        self.project("a")
        for noise, why in (b"\xf1" + os.urandom(1000), "not a trace that we know"), (b"hello, world\n", "not a trace that we know"), \
                (b'{"a":1}', "no trace"), (b"\x1f\x8b\x08bad", "damaged gzip data"), (b"\0" * 100, "nothing but zero bytes"):
            got = self.call("POST", "/projects/a/results?file=noise.json", noise)
            self.assertEqual(got.status, 400, got.body)
            self.assertRegex(got.error, f"^noise.json: .*{why}")
            (self.data / "noise.json").write_bytes(noise)
            got = self.call("POST", "/projects/a/results", {"path": str(self.data / "noise.json")})
            self.assertEqual(got.status, 400, got.body)
        self.assertEqual(self.tree(), {"a": []})
        self.add("a", "run.json")
        (self.data / "a/noise").mkdir()
        (self.data / "a/noise/noise.json").write_bytes(b"\xf1" + os.urandom(1000))
        got = self.until(lambda a: a.status != 503,
                         lambda: self.call("POST", "/projects/a/results/noise/view/info", {}))
        self.assertEqual(got.status, 502)
        self.assertIn("noise.json", got.error)
        self.assertEqual(self.ask("a", "run", "info")["slices"], 2)
        (self.data / "a/nothing").mkdir()
        got = self.call("POST", "/projects/a/results/nothing/view/info", {})
        self.assertEqual((got.status, got.error), (404, "nothing was recorded here"))

    def test_the_viewer_answers_through_the_server_what_it_answers_alone(self):
        from view_server import trace
        text = json.dumps(trace()).encode()
        self.project("a")
        self.add("a", "run.json", text)
        self.add("a", "before.json", text.replace(b'"inner 1"', b'"inner one"'))
        info = self.ask("a", "run", "info")
        self.assertGreater(info["slices"], 1000)
        table = self.ask("a", "run", "aggregate", scope={})["slices"]
        (self.dir / "run.json").write_bytes(text)
        got = self.unitrace("query", "--format", "json", "run.json", "select name, count(*) n from slice group by name")
        names = dict(zip(table["data"][0], table["data"][1]))
        self.assertEqual(names, {r["name"]: r["n"] for r in json.loads(got.stdout)})
        window = self.ask("a", "run", "window", t0=0, t1=info["span"], pixels=1000, lanes=[[0, 0], [1, 0], [2, 0]])
        self.assertGreater(len(window), 1000)
        both = self.until(lambda a: a.status != 503, lambda: self.call("POST", "/compare/a/run/a/before/info", {}))
        self.assertEqual(both.status, 200, both.body)
        self.assertIn("before", both.json)
        self.assertEqual(self.call("POST", "/compare/a/run/a/before/before/info", {}).status, 200)
        for method in ("nonsense", "../server", "info%0d%0aX:%20y", "info%20HTTP"):
            got = self.send("POST", f"{API}/projects/a/results/run/view/{method}", b"{}",
                            {"Cookie": self.cookie, "X-Unitrace": "1"})
            self.assertEqual(got.status, 404, method)

    def test_viewers_end_with_the_server_however_it_ends(self):
        self.project("a")
        self.add("a", "run.json")
        self.ask("a", "run", "info")
        viewers = [p for p in common.children_of(self.server.pid)]
        self.assertEqual(len(viewers), 1)
        self.end(signal.SIGKILL)
        self.until(lambda alive: not alive, lambda: [p for p in viewers if pathlib.Path(f"/proc/{p}").exists() and
                                                    "Z" not in pathlib.Path(f"/proc/{p}/stat").read_text().split(")")[1][:3]])

    def test_a_stream_gives_what_changes(self):
        link = self.connect()
        link.request("GET", f"{API}/events", headers={"Cookie": self.cookie})
        stream = link.getresponse()
        self.assertEqual(stream.headers["Content-Type"], "text/event-stream")
        self.assertEqual(stream.readline(), b"retry: 1000\n")
        self.project("new")
        lines = b""
        while b"event: changed" not in lines:
            lines += stream.readline()
        self.end()
        rest = stream.read()
        self.assertIn(b"event: end", rest)
        link.close()


class Uploads(Server):
    """Files are imported under any name, and are never taken for files of ours."""
    OURS = ("result.json", "state.json", "log.jsonl", "verdict.json", "far.json", "project.json", "run_config.json",
            "supervisor", "uploads", "trace.json")
    STATE = json.dumps({"state": "running", "seconds": 7, "status": 9, "trouble": "made up", "kind": "run",
                        "verdict": "made up", "say": "made up", "program": "/bin/made up", "target": "made up",
                        "traceEvents": []}).encode()

    def setUp(self):
        super().setUp()
        self.start()
        self.call("POST", "/projects", {"name": "a"})

    def add(self, name, content):
        return self.do("POST", f"/projects/a/results?file={urllib.parse.quote(name)}", content)["result"]

    @unittest.skipUnless(is_root() and shutil.which("unshare"), "needs root and unshare, to mount")
    def test_a_project_may_lie_on_a_file_system_of_its_own(self):
        self.end()
        wrapper = self.dir / "serve_mounted"
        wrapper.write_text(f"""#!/bin/sh
exec unshare -m sh -c 'mount -t tmpfs none "$1" && echo "{{}}" >"$1/project.json" && shift && exec "$@"' sh '{self.data}/a' '{UNITRACE}' serve "$@"
""")
        wrapper.chmod(0o755)
        self.start(name=wrapper)
        result = self.add("x.json", TRACE)
        self.assertEqual(self.call("GET", f"/projects/a/results/{result}/files/x.json").body, TRACE)

    def test_a_name_of_ours_is_shown_and_kept(self):
        for name in self.OURS:
            with self.subTest(name):
                result = self.add(name, TRACE)
                got = self.get(f"/projects/a/results/{result}")
                self.assertEqual([(f["bytes"], f["trace"]) for f in got["files"] if f["name"] == name], [(len(TRACE), True)])
                self.assertEqual((got["asked"]["kind"], got["asked"]["file"], got["state"]), ("import", name, "ready"))
                self.assertEqual(self.call("GET", f"/projects/a/results/{result}/files/{name}").body, TRACE)
                info = self.call("POST", f"/projects/a/results/{result}/view/info", {})
                self.assertEqual(info.status, 200, info.body)
                tar = tarfile.open(fileobj=io.BytesIO(self.call("GET", f"/projects/a/results/{result}/download").body))
                self.assertEqual(tar.extractfile(f"{result}/uploads/{name}").read(), TRACE)
                self.assertEqual(json.load(tar.extractfile(f"{result}/result.json"))["kind"], "import")

    def test_what_a_file_says_about_its_result_is_not_believed(self):
        for name in (*self.OURS, "notes.txt", "output.txt", "output.more.txt"):
            with self.subTest(name):
                result = self.add(name, self.STATE)
                got = self.get(f"/projects/a/results/{result}")
                self.assertEqual((got["state"], got["trouble"], got["verdict"], got["say"], got["program"], got["target"],
                                  got["hasNotes"], got["notes"], got["far"]), ("ready", "", "", "", "", "", False, "", None))
                self.assertEqual(self.get(f"/projects/a/results/{result}/log")["text"], "")
                self.assertEqual(self.get(f"/projects/a/results/{result}/output")["text"], "")
                self.assertEqual(self.call("PATCH", f"/projects/a/results/{result}", {"notes": "mine"}).status, 204)
                self.assertEqual(self.call("GET", f"/projects/a/results/{result}/files/{name}").body, self.STATE)

    def test_names_that_lead_elsewhere_are_refused_or_cut(self):
        for name in ("", ".", "..", ".hidden", "-x", "a/", "../", "x\\y", "a\nb", "\u202eexe", " x", "x ", "n" * 121):
            got = self.call("POST", f"/projects/a/results?file={urllib.parse.quote(name)}", TRACE)
            self.assertEqual(got.status, 400, name)
        self.assertEqual(self.get("/projects")[0]["results"], [])
        for name in ("../../state.json", "/etc/state.json", "uploads/state.json"):
            result = self.add(name, TRACE)
            self.assertEqual((self.data / "a" / result / "uploads/state.json").read_bytes(), TRACE)
        self.assertEqual(sorted(p.name for p in (self.data / "a").iterdir() if p.is_file()), ["project.json"])

    def test_a_link_in_place_of_the_folder_is_not_followed(self):
        (self.dir / "outside").mkdir()
        (self.dir / "outside/x.json").write_bytes(TRACE)
        (self.data / "a/r").mkdir()
        (self.data / "a/r/uploads").symlink_to(self.dir / "outside")
        self.assertEqual(self.get("/projects/a/results/r")["files"], [])
        self.assertEqual(self.call("GET", "/projects/a/results/r/files/x.json").status, 404)
        self.assertEqual(self.call("POST", "/projects/a/results/r/view/info", {}).status, 404)

    def test_imports_of_older_versions_are_read(self):
        for result, state in ("old", b""), ("odd", self.STATE):
            folder = self.data / "a" / result
            folder.mkdir()
            (folder / "t.json").write_bytes(TRACE)
            (folder / "result.json").write_text('{"kind":"import","made":1,"file":"t.json"}')
            if state:
                (folder / "state.json").write_bytes(state)
            got = self.get(f"/projects/a/results/{result}")
            self.assertEqual((got["state"], got["trouble"]), ("ready", ""))
            self.assertIn({"name": "t.json", "bytes": len(TRACE), "trace": True}, got["files"])
            self.assertEqual(self.call("GET", f"/projects/a/results/{result}/files/t.json").body, TRACE)
            self.assertEqual(self.call("POST", f"/projects/a/results/{result}/view/info", {}).status, 200)
        self.add("new.json", TRACE)
        for after, before in ("new", "old"), ("old", "new"), ("new", "new"):
            got = self.call("POST", f"/compare/a/{after}/a/{before}/info", {})
            self.assertEqual(got.status, 200, got.body)


class Killed(Server):
    """Folders of sockets that a server leaves in /tmp when it is killed."""

    def folder(self, prefix="/tmp/unitrace-serve-"):
        links = pathlib.Path(f"/proc/{self.server.pid}/fd").iterdir()
        held = [pathlib.Path(os.readlink(link)).parent for link in links if os.readlink(link).startswith(prefix)]
        self.assertEqual(len(held), 1)
        return held[0]

    def test_the_next_start_removes_what_a_killed_server_left_and_nothing_else(self):
        self.start()
        left = self.folder()
        self.call("POST", "/projects", {"name": "p"})
        self.call("POST", "/projects/p/results?file=a.json", TRACE)
        self.assertEqual(self.call("POST", "/projects/p/results/a/view/info", {}).status, 200)
        self.assertGreater(len(list(left.iterdir())), 1)  # the lock, and a socket
        self.server.kill()
        self.server.wait()
        self.assertTrue(left.is_dir())
        self.start(data=self.dir / "second")
        self.assertFalse(left.exists())
        living, server = self.folder(), self.server
        # names of ours that are none of ours
        elsewhere = self.dir / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "lock").write_text("")
        link, bare, odd = (pathlib.Path(f"/tmp/unitrace-serve-test-{os.getpid()}-{n}") for n in ("link", "bare", "odd"))
        link.symlink_to(elsewhere)
        self.addCleanup(link.unlink)
        bare.mkdir()  # of one that has not locked it yet
        self.addCleanup(bare.rmdir)
        odd.mkdir()
        (odd / "lock").symlink_to(elsewhere / "lock")
        self.addCleanup(shutil.rmtree, odd)
        self.start(data=self.dir / "third")
        for path in (living / "lock", elsewhere / "lock", link, bare, odd / "lock"):
            self.assertTrue(os.path.lexists(path), path)
        third = self.folder()
        self.end()
        self.assertFalse(third.exists())
        self.assertIsNone(server.poll())
        server.terminate()
        server.wait()
        self.assertFalse(living.exists())


class Words(Server):
    def test_the_seeds_command_lines_work(self):
        for name, words in (("vtune-server", ["--allow-remote-access", "--enable-server-profiling"]),
                            ("vtune-backend", ["--allow-remote-access"])):
            self.start(*words, enter=False, name=BUILD / "bin" / name, data="./")
            self.assertEqual(self.scheme, "https")
            self.end()

    def test_misuse_is_reported(self):
        for words in (["nonsense"], ["--web-port", "70000"], ["--data-directory", ""], ["--base-url", "ftp://x"],
                      ["--tls-key", "x"], ["--base-url", "https://"]):
            got = self.unitrace("serve", "--web-port", "0", *words)
            self.assertIn(got.returncode, (1, 2), words)
            self.assertTrue(got.stderr.startswith(b"unitrace: "), got.stderr)
        (self.dir / "file").touch()
        got = self.unitrace("serve", "--web-port", "0", "--data-directory", self.dir / "file")
        self.assertEqual(got.returncode, 1)


class Crowd(Server):
    def test_slow_and_silent_clients_keep_nobody_out(self):
        self.start()
        idle = [socket.create_connection(("127.0.0.1", self.port), timeout=common.PATIENCE) for _ in range(40)]
        for i, link in enumerate(idle):
            link.sendall(b"GET / HTTP/1.1\r\nHost: loc"[:5 + i])
        self.assertEqual(self.get("/projects"), [])
        for link in idle:
            link.close()

    def test_many_at_a_time(self):
        self.start()
        self.project("a")
        troubles = []

        def work(n):
            try:
                for i in range(10):
                    self.do("POST", f"/projects/a/results?file=r{n}-{i}.json", TRACE)
                    self.get("/projects")
                    if i % 3 == 0:
                        self.do("DELETE", f"/projects/a/results/r{n}-{i}")
            except Exception as e:  # told by the main thread
                troubles.append(e)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(troubles, [])
        self.assertEqual(len(self.get("/projects")[0]["results"]), 8 * 6)
        self.assertEqual(len(self.get("/trash")), 8 * 4)


if __name__ == "__main__":
    common.main()
