"""A server of `unitrace serve` for tests: started, asked, and held to what it says about itself."""
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import time
import urllib.parse

from common import PATIENCE, SOURCE, UNITRACE, Case, environment, need, program, skip, wait_for

need()
if b"built without" in subprocess.run([UNITRACE, "serve", "--web-port", "0", "--data-directory", "/proc/none"],
                                      capture_output=True, timeout=PATIENCE).stderr:
    skip("built without libmicrohttpd or the page")
DESCRIPTION = json.loads((SOURCE / "share/site/openapi.json").read_text())
API = "/api/v1"
STEPS = program("steps")


class Answer:
    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]


def wrong(schema, value, where=""):
    """What is wrong with a value, by the part of JSON Schema that the description uses; None: nothing."""
    if "$ref" in schema:
        schema = DESCRIPTION["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    for part in schema.get("allOf", ()):
        if found := wrong(part, value, where):
            return found
    kinds = schema.get("type")
    if kinds:
        names = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
        kinds = kinds if isinstance(kinds, list) else [kinds]
        fits = any(isinstance(value, names[k]) if k in names else
                   isinstance(value, (int, float) if k == "number" else int) and not isinstance(value, bool)
                   for k in kinds)
        if not fits:
            return f"{where}: {value!r} is none of {kinds}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where}: {value!r} is none of {schema['enum']}"
    if isinstance(value, dict):
        if missing := set(schema.get("required", ())) - set(value):
            return f"{where}: without {missing}"
        for key, one in value.items():
            if found := wrong(schema.get("properties", {}).get(key, {}), one, f"{where}.{key}"):
                return found
    if isinstance(value, list) and "items" in schema:
        for i, one in enumerate(value):
            if found := wrong(schema["items"], one, f"{where}[{i}]"):
                return found
    return None


def described(method, path):
    """The operation of the description that a request is, or None."""
    for pattern, operations in DESCRIPTION["paths"].items():
        regex = re.sub(r"\\\{method\\\}$", ".+", re.sub(r"\\\{(?!method)\w+\\\}", "[^/]+", re.escape(pattern)))
        if re.fullmatch(regex, path) and method.lower() in operations:
            return operations[method.lower()]
    return None


class Server(Case):
    """A test with a server. Answers of the interface are checked against its description."""
    scheme = "http"

    def setUp(self):
        super().setUp()
        self.data = self.dir / "data"
        self.cookie = self.token = None
        self.server = None

    def start(self, *options, enter=True, data=None, env=None, name=UNITRACE):
        words = [] if name != UNITRACE else ["serve"]
        self.log_file = open(self.dir / "server.log", "ab+")
        self.addCleanup(self.log_file.close)
        before = os.fstat(self.log_file.fileno()).st_size
        self.server = subprocess.Popen([name, *words, "--web-port=0", "--data-directory", data or self.data, *options],
                                       cwd=self.dir, env=env or environment(), stderr=self.log_file)
        self.addCleanup(self.end)

        def address():
            self.assertIsNone(self.server.poll(), self.said(before))
            return re.search(r"serve: (https?)://([^:/ ]+):(\d+)(\S*)", self.said(before))

        found = wait_for(address, "address of the server")
        self.scheme, self.host, self.port = found[1], found[2], int(found[3])
        self.address = found[0].removeprefix("serve: ")
        once = re.search(r"one-time-token=(\w+)", found[4])
        self.once = once[1] if once else None
        if enter and self.once:
            self.enter()

    def said(self, start=0):
        with open(self.dir / "server.log", "rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    def end(self, how=signal.SIGTERM):
        if self.server and self.server.poll() is None:
            self.server.send_signal(how)
            self.server.wait(PATIENCE)

    def enter(self):
        got = self.call("POST", "/login", {"token": self.once}, know=False)
        self.assertEqual(got.status, 204, got.body)
        self.cookie = got.headers["Set-Cookie"].split(";")[0]

    def connect(self):
        if self.scheme == "http":
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=context)

    def send(self, method, path, body=None, headers=None, host=None):
        link = self.connect()
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            link.putheader("Host", host or f"localhost:{self.port}")
            for key, value in (headers or {}).items():
                if value is not None:
                    link.putheader(key, value)
            if body is not None:
                link.putheader("Content-Length", str(len(body)))
            link.endheaders(body)
            response = link.getresponse()
            return Answer(response, response.read())
        finally:
            link.close()

    def call(self, method, path, body=None, know=True, headers=None, check=True):
        """A request to the interface; its answer is what the description says."""
        own = {"X-Unitrace": "1"} if method != "GET" else {}
        if know and self.token:
            own = {"Authorization": f"Bearer {self.token}"}
        elif know and self.cookie:
            own["Cookie"] = self.cookie
        data = body
        if body is not None and not isinstance(body, bytes):
            own["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        elif body is not None:
            own["Content-Type"] = "application/octet-stream"
        got = self.send(method, API + path, data, {**own, **(headers or {})})
        if check:
            self.hold(method, path, got)
        return got

    def hold(self, method, path, got):
        operation = described(method, API + urllib.parse.unquote(path.partition("?")[0]))
        self.assertIsNotNone(operation, f"{method} {path} is not described")
        answer = operation["responses"].get(str(got.status))
        self.assertIsNotNone(answer, f"{method} {path}: {got.status} is not described: {got.body[:300]}")
        content = answer.get("content")
        if not content:
            self.assertEqual(got.body, b"")
            return
        kind = got.headers["Content-Type"].partition(";")[0]
        if got.status == 503:  # the viewer's own words
            return
        self.assertIn(kind, content, f"{method} {path}")
        schema = content[kind].get("schema")
        if kind == "application/json" and schema:
            self.assertIsNone(wrong(schema, got.json), f"{method} {path}")

    def get(self, path, **more):
        got = self.call("GET", path, **more)
        self.assertEqual(got.status, 200, got.body)
        return got.json

    def do(self, method, path, body=None, status=None):
        got = self.call(method, path, body)
        self.assertIn(got.status, (status,) if status else (200, 204), got.body)
        return got.json if got.body else None

    def until(self, test, what, patience=PATIENCE):
        """Asks until the answer is good, and gives it."""
        end = time.monotonic() + patience
        while not (good := test(got := what())):
            self.assertLess(time.monotonic(), end, got)
            time.sleep(0.05)
        return got if good is True else good

    def ask(self, project, result, method, **question):
        """A question of the viewer, once the trace has been read."""
        path = f"/projects/{project}/results/{result}/view/{method}"
        got = self.until(lambda a: a.status != 503, lambda: self.call("POST", path, question))
        self.assertEqual(got.status, 200, got.body)
        return got.json if got.headers["Content-Type"] == "application/json" else got.body

    def result(self, project, result):
        return self.get(f"/projects/{project}/results/{result}")

    def wait_for(self, project, result, states=("ready", "failed")):
        return self.until(lambda r: r["state"] in states, lambda: self.result(project, result))

    def project(self, name="p"):
        self.do("POST", "/projects", {"name": name}, 204)
        return name


class RunServer(Server):
    """A test that starts programs and follows them, in the project p."""

    def setUp(self):
        super().setUp()
        self.start("--enable-server-profiling")
        self.project()

    def run_it(self, application=STEPS, status=200, **more):
        """The name of the result; what was answered, where it is refused."""
        got = self.do("POST", "/projects/p/runs", {"application": str(application), "analysis": "itt", **more}, status)
        return got["result"] if status == 200 else got

    def control(self, result, do, status=204, **more):
        self.do("POST", f"/projects/p/results/{result}/control", {"do": do, **more}, status)

    def path(self, result):
        return self.data / "p" / result

    def output(self, result):
        return self.get(f"/projects/p/results/{result}/output")["text"]

    def names(self, result):
        """How often each name was recorded. Of all: while a viewer still reads files, it shows those it has."""
        self.until(lambda i: not i["live"] and "read" not in i, lambda: self.ask("p", result, "info"))
        table = self.ask("p", result, "aggregate", scope={})["slices"]
        return dict(zip(table["data"][0], table["data"][1]))

    def gate(self, last="gone on", status="$1"):
        """A file that a program waits for, and the program: it goes on when the test says so."""
        path = self.dir / f"gate{len(list(self.dir.glob('gate*')))}"
        script = self.dir / f"{path.name}.sh"
        script.write_text(f"#!/bin/bash\n{STEPS} task before\necho waiting\n"
                          f"while [ ! -e {path} ]; do sleep 0.05; done\n{STEPS} task after\necho {last}\nexit {status}\n")
        return path, script
