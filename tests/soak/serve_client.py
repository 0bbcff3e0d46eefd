"""A server of `unitrace serve` for what measures it: started, entered, asked, looked at from outside."""
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
UNITRACE = BUILD / "bin/unitrace"


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:200]!r}")
        self.status = status


class Client:
    """One connection that is kept, as a page's are. For one thread."""

    def __init__(self, port, cookie=None):
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.cookie = cookie

    def send(self, method, path, body=None, also=()):
        headers = {"X-Unitrace": "1", **dict(also), **({"Cookie": self.cookie} if self.cookie else {})}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        elif body is not None:
            headers["Content-Type"] = "application/octet-stream"
        for again in (True, False):
            try:
                self.link.request(method, f"/api/v1{path}", body, headers)
                answer = self.link.getresponse()
                return answer, answer.read()
            except (ConnectionError, http.client.HTTPException):
                self.link.close()  # it had been quiet for too long
                if not again:
                    raise
        return None

    def ask(self, method, path, body=None):
        answer, got = self.send(method, path, body)
        if answer.status >= 300:
            raise Refused(answer.status, got)
        return json.loads(got) if got and answer.headers.get("Content-Type", "").startswith("application/json") else got

    def view(self, project, result, method, **question):
        """A question of the viewer; while it starts, it is asked again."""
        for _ in range(2400):
            try:
                return self.ask("POST", f"/projects/{project}/results/{result}/view/{method}", question)
            except Refused as e:
                if e.status != 503:
                    raise
            time.sleep(0.05)
        raise TimeoutError(f"{project}/{result}")

    def close(self):
        self.link.close()


class Server:
    def __init__(self, data, *options, env=None):
        self.log = open(pathlib.Path(data).parent / "server.log", "w+b")
        self.process = subprocess.Popen([UNITRACE, "serve", "--web-port=0", "--data-directory", data, "--enable-server-profiling", *options],
                                        stderr=self.log, env=env)
        while not (found := re.search(r"http://[^:/ ]+:(\d+)\S*one-time-token=(\w+)", self.said())):
            if self.process.poll() is not None:
                if "built without" in self.said():
                    print(f"SKIP: {self.said().strip()}")
                    sys.exit(77)
                raise RuntimeError(self.said())
            time.sleep(0.02)
        self.address, self.port = found[0], int(found[1])
        self.once, self.cookie = found[2], None

    def said(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def enter(self):
        answer, body = Client(self.port).send("POST", "/login", {"token": self.once})
        if answer.status != 204:
            raise Refused(answer.status, body)
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]
        return self.cookie

    def client(self):
        return Client(self.port, self.cookie)

    def sample(self):
        """What must not grow: private memory in KiB, threads, descriptors; and how many children there are."""
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        status = (folder / "status").read_text()
        children = "".join(p.read_text() for p in folder.glob("task/*/children")).split()
        return {"RssAnon KiB": int(re.search(r"^RssAnon:\s+(\d+)", status, re.M)[1]),
                "VmRSS KiB": int(re.search(r"^VmRSS:\s+(\d+)", status, re.M)[1]),
                "threads": int(re.search(r"^Threads:\s+(\d+)", status, re.M)[1]),
                "descriptors": len(os.listdir(folder / "fd")), "children": len(children)}

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()
