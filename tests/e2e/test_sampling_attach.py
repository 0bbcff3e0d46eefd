#!/usr/bin/env python3
"""Attaching to a busy server and leaving it, again and again: nothing changes for it. It answers every
request, gets no signal, and has the threads, files, memory maps and limits that it had before.
UNITRACE_LONG: 1,000 times."""
# ci: labels slow long
import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import threading

from common import (PATIENCE, UNITRACE, Case, end_process, main, need_kernel_samples, read_until, skip, wait_for,
                    wait_for_cpu)

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")
need_kernel_samples()

TIMES = 1000 if os.environ.get("UNITRACE_LONG") else 12

# Sums lines of numbers, a thread for each client; tells which signals it got.
SERVER = textwrap.dedent("""
    import signal, socket, sys, threading

    got = []
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM}:
        signal.signal(number, lambda n, frame: got.append(n))

    def answer(client):
        for line in client.makefile("rb"):
            if line == b"signals\\n":
                client.sendall(repr(sorted(set(got))).encode() + b"\\n")
            else:
                client.sendall(b"%d\\n" % sum(int(n) * int(n) for n in line.split()))

    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()
    """)


class Client(threading.Thread):
    """Asks without a pause, and notes each answer that was wrong."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rwb")
        self.done = threading.Event()
        self.answered = 0
        self.wrong = []

    def ask(self, line):
        self.file.write(line + b"\n")
        self.file.flush()
        return self.file.readline()

    def stop(self):
        self.done.set()
        self.join(PATIENCE)

    def close(self):
        self.stop()
        self.file.close()
        self.socket.close()

    def run(self):
        while not self.done.is_set():
            numbers = range(self.answered % 100, self.answered % 100 + 200)
            got = self.ask(b" ".join(b"%d" % n for n in numbers))
            if got != b"%d\n" % sum(n * n for n in numbers):
                self.wrong.append(got)
            self.answered += 1


def read(pid, name):
    return pathlib.Path(f"/proc/{pid}/{name}").read_text()


def state(pid):
    """What somebody from outside could have changed. Files that are mapped: no heap, it may grow."""
    status = dict(line.split(":\t", 1) for line in read(pid, "status").splitlines() if ":\t" in line)
    keep = ("TracerPid", "Uid", "FDSize", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", "CapEff",
            "NoNewPrivs", "Seccomp", "Cpus_allowed", "Mems_allowed")
    tasks = sorted(os.listdir(f"/proc/{pid}/task"))
    return {
        **{key: status.get(key, "").strip() for key in keep},
        "files": sorted(os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")),
        "maps": sorted({line.split(None, 5)[5] for line in read(pid, "maps").splitlines() if line.count("/")}),
        "limits": read(pid, "limits"),
        "environ": read(pid, "environ"),
        "oom": read(pid, "oom_score_adj"),
        "names": [(t, read(pid, f"task/{t}/comm"), os.sched_getscheduler(int(t)), os.getpriority(os.PRIO_PROCESS, int(t)))
                  for t in tasks],
    }


class Server(Case):
    def setUp(self):
        super().setUp()
        (self.dir / "server.py").write_text(SERVER)
        self.server = subprocess.Popen([sys.executable, "-S", "-E", "server.py"], cwd=self.dir, stdout=subprocess.PIPE)
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(end_process, self.server)
        port = int(self.server.stdout.readline())
        self.clients = [Client(port) for _ in range(2)]
        for client in self.clients:
            self.addCleanup(client.close)
            client.start()
        self.wait_for_answers(20)

    def wait_for_answers(self, more):
        """So many to each client from now on."""
        before = [c.answered for c in self.clients]
        wait_for(lambda: all(c.answered >= b + more for c, b in zip(self.clients, before)), "answers of the server")

    def attach(self):
        got = self.unitrace("hotspots", "-p", self.server.pid, "--duration", "20ms", "-o", "run.utr", "--overwrite",
                            "--json", "--by", "thread")
        # a machine that is busy with others may not have run the server at all meanwhile
        if got.returncode and b"no samples" not in got.stderr:
            self.fail(got.stderr.decode())
        return got.returncode == 0

    def test_notices_nothing(self):
        before = state(self.server.pid)
        seen = 0
        for _ in range(TIMES):
            seen += self.attach()
            self.assertIsNone(self.server.poll())
            self.wait_for_answers(1)
        self.assertGreater(seen, 0)
        self.assertEqual(state(self.server.pid), before)
        for client in self.clients:
            client.stop()
            self.assertEqual(client.wrong, [])
        self.assertEqual(self.clients[0].ask(b"signals"), b"[]\n")
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(PATIENCE), -signal.SIGTERM)

    def test_is_left_when_we_are_killed(self):
        before = state(self.server.pid)
        for _ in range(3):
            ours = self.start(UNITRACE, "hotspots", "-p", self.server.pid, "-o", "two.utr", "--overwrite")
            read_until(ours.stderr, b"Ctrl-C")
            wait_for_cpu(self.server.pid, 0.05)  # samples are under way
            ours.kill()
            ours.communicate(timeout=PATIENCE)
        self.wait_for_answers(20)
        self.assertEqual(state(self.server.pid), before)
        self.assertEqual([c.wrong for c in self.clients], [[], []])


if __name__ == "__main__":
    main()
