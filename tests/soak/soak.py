#!/usr/bin/env python3
"""make soak: records, pauses, forks, rotates, kills, exports, merges and queries for an hour, and
checks after each round that nothing was lost uncounted, left behind or has grown.

    soak.py [--seconds N] [--seed N]      (SOAK_SECONDS, SOAK_SEED; 3600 and the time of day)

One run lives all the time: a flight recorder in a named session. Its memory, descriptors and disk
are taken in every round; what grows shows there. One line a minute, a verdict, 0 or 1.
"""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from common import UNITRACE, Trace, environment, need, program  # noqa: E402

need("soak_worker")
WORKER = program("soak_worker")
NAME = f"soak{os.getpid()}"
KEEP = "4M"  # of the flight recorder
PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 150 * float(os.environ.get("UNITRACE_PATIENCE") or 1)
FORMATS = ("x.json", "x.json.gz", "x.pftrace", "x.utr", "x.db")
READABLE = FORMATS[:4]  # a database is for others to read
FEWEST = 9  # samples that a verdict about growth needs


class Trouble(Exception):
    pass


def expect(true, *what):
    if not true:
        raise Trouble(" ".join(str(w) for w in what))


class Run:
    """A launcher and the worker in it, which is told what to do."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.errors = tempfile.TemporaryFile()
        self.launcher = subprocess.Popen(
            [str(UNITRACE), *map(str, options), str(WORKER)], cwd=folder, env=environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.recorded = self.tell("tasks 0")
        children = pathlib.Path(f"/proc/{self.launcher.pid}/task/{self.launcher.pid}/children")
        self.pid = int(children.read_text().split()[0])

    def tell(self, text):
        self.send(text)
        self.recorded = int(self.launcher.stdout.readline() or -1)
        expect(self.recorded >= 0, "the worker has gone:", self.said())
        return self.recorded

    def send(self, text):
        self.launcher.stdin.write(f"{text}\n".encode())
        self.launcher.stdin.flush()

    def end(self):
        """Its standard input ends, so does the worker; the status of the launcher."""
        try:
            self.launcher.stdin.close()
        except BrokenPipeError:
            pass
        for line in self.launcher.stdout:
            if line.endswith(b"\n"):
                self.recorded = int(line)
        self.launcher.stdout.close()
        return self.launcher.wait(PATIENCE)

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-1000:]


def unitrace(folder, *words, status=0):
    got = subprocess.run([str(UNITRACE), *map(str, words)], cwd=folder, env=environment(),
                         capture_output=True, timeout=PATIENCE)
    expect(got.returncode == status, words, "ended with", got.returncode,
           got.stderr.decode(errors="replace")[-1000:])
    return got.stdout.decode()


def count_in(folder, *paths):
    """The tasks in traces, as SQL finds them."""
    text = unitrace(folder, "query", "--json", *paths, "select count(*) as tasks from slice "
                    "where name like 'task %'")
    return json.loads(text)[0]["tasks"]


def count_recorded(folder):
    """The tasks in all timelines, each of which is checked, and what they say was overwritten."""
    tasks, lost = 0, collections.Counter()
    for path in folder.glob("*.json"):
        trace = Trace(path)
        tasks += sum(s.name.startswith("task ") and not s.unfinished for s in trace.spans)
        lost.update(trace.losses)
    return tasks, lost


class Soak:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="ut_soak_"))
        self.tasks = self.kills = self.rounds = 0
        self.samples = collections.defaultdict(list)
        (self.top / "server").mkdir()
        self.server = Run(self.top / "server", "--keep-last", KEEP, "--session", NAME, "-o",
                          "flight.json")
        self.server.tell("tasks 5000000")  # many times what it keeps: from now on it goes round

    # What a round may be.

    def record(self, folder):
        pauses = self.random.random() < 0.5  # a program's pauses count with this option only
        run = Run(folder, *["--start-paused"] * pauses)
        if pauses:
            run.tell("paused 1000")
        for _ in range(self.random.randrange(2, 8)):
            run.tell(f"{self.random.choice(('tasks', 'fork', 'paused')[:2 + pauses])} "
                     f"{self.random.randrange(1, 20000)}")
        expect(run.end() == 0, "status of a run that was left alone", run.said())
        self.check_all(folder, run)

    def check_all(self, folder, run):
        found, lost = count_recorded(folder)
        self.tasks += found
        expect(found == run.recorded, found, "tasks found,", run.recorded, "recorded", dict(lost))

    def kill_program(self, folder):
        run = Run(folder, "-o", "killed.json")
        sig = self.random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV))
        run.send("run")
        time.sleep(self.random.uniform(0, 0.2))
        os.kill(run.pid, sig)
        expect(run.end() == -sig, "status of a killed program", run.said())
        self.check_killed(folder, run)

    def check_killed(self, folder, run):
        """What it said was recorded is there; it may have been about to say a thousand more."""
        found, lost = count_recorded(folder)
        self.tasks += found
        self.kills += 1
        expect(run.recorded <= found <= run.recorded + 2000, found, "tasks found,", run.recorded,
               "recorded before the kill", dict(lost))

    def kill_launcher(self, folder):
        run = Run(folder)
        run.tell(f"tasks {self.random.randrange(1, 20000)}")
        run.launcher.kill()
        run.tell(f"tasks {self.random.randrange(1, 20000)}")  # the program has not noticed
        run.end()
        self.reap_orphans()
        sessions = list(folder.glob("*.session"))
        expect(len(sessions) == 1, "recordings left by a killed launcher:", sessions)
        unitrace(folder, "export", "-o", "rescued.json", sessions[0])
        shutil.rmtree(sessions[0])
        self.kills += 1
        self.check_all(folder, run)

    def kill_launcher_late(self, folder):
        """While it writes: the results are whole, or the recording is there."""
        run = Run(folder, "-o", "late.json")
        run.tell(f"tasks {self.random.randrange(1, 50000)}")
        run.launcher.stdin.close()
        time.sleep(self.random.uniform(0, 0.15))
        run.launcher.kill()
        run.end()
        self.reap_orphans()
        sessions = list(folder.glob("*.session"))
        if not list(folder.glob("late.json")):
            expect(len(sessions) == 1, "neither results nor a recording", list(folder.iterdir()))
            unitrace(folder, "export", "-o", "late.json", sessions[0])
        for left in (*sessions, *folder.glob(".*.tmp")):  # nobody else can remove them
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        self.kills += 1
        self.check_all(folder, run)

    def reap_orphans(self):
        """Programs without a launcher are children of ours, and end as their input has."""
        for pid in self.children():
            os.waitpid(pid, 0)

    def named(self, folder):
        name = f"{NAME}-{self.rounds}"
        run = Run(folder, "--session", name, "--start-paused")
        run.tell("tasks 1000")
        unitrace(folder, "--resume", name)
        run.tell("tasks 2000")
        unitrace(folder, "--pause", name)
        run.tell("tasks 4000")
        unitrace(folder, "--resume", name)
        run.tell("tasks 8000")
        unitrace(folder, "--stop", name)
        run.tell("tasks 16000")
        expect(run.end() == 0, run.said())
        run.recorded = 10000
        self.check_all(folder, run)

    def rotate(self, folder):
        run = Run(folder, "--keep-last", "1M")
        for _ in range(3):
            run.tell(f"tasks {self.random.randrange(20000, 60000)}")
        expect(run.end() == 0, run.said())
        found, lost = count_recorded(folder)
        self.tasks += run.recorded
        expect(found <= run.recorded, found, "of", run.recorded)
        expect(found == run.recorded or lost["overwritten"], run.recorded - found,
               "overwritten and not counted")

    def export(self, folder):
        run = Run(folder, "-o", "first.json")
        run.tell(f"tasks {self.random.randrange(1, 5000)}")
        expect(run.end() == 0, run.said())
        for path in FORMATS:
            unitrace(folder, "export", "-o", path, "first.json")
        for path in READABLE:
            unitrace(folder, "validate", path)
            unitrace(folder, "stats", path)
            expect(count_in(folder, path) == run.recorded, "rows of", path)
        unitrace(folder, "merge", "-o", "merged.json", "x.json", "x.utr")
        unitrace(folder, "validate", "merged.json")
        expect(count_in(folder, "merged.json") == 2 * run.recorded, "rows of two merged")
        unitrace(folder, "filter", "-o", "some.json", "--name", "task 1", "x.utr")
        unitrace(folder, "diff", "x.json", "x.pftrace")
        self.tasks += run.recorded

    # Around the rounds.

    def round(self):
        folder = self.top / "round"
        folder.mkdir()
        kind = self.random.choice((self.record, self.kill_program, self.kill_launcher,
                                   self.kill_launcher_late, self.named, self.rotate, self.export))
        try:
            kind(folder)
        except Trouble as e:
            raise Trouble(f"round {self.rounds}, {kind.__name__}: {e}") from e
        self.use_server()
        self.check_left(folder)
        shutil.rmtree(folder)
        self.rounds += 1

    def use_server(self):
        unitrace(self.top, "--pause", NAME)
        self.server.tell("tasks 1000")
        unitrace(self.top, "--resume", NAME)
        self.server.tell("tasks 20000")
        self.server.tell("fork 100")
        for who, pid in (("launcher", self.server.launcher.pid), ("program", self.server.pid)):
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            self.samples[f"{who} RssAnon KiB"].append(
                int(re.search(r"^RssAnon:\s+(\d+)", status, re.M)[1]))
            self.samples[f"{who} descriptors"].append(len(os.listdir(f"/proc/{pid}/fd")))
        files = [p for p in (self.top / "server").rglob("*") if p.is_file()]
        mine = [p for p in files if p.name.startswith(f"{self.server.pid}-")]
        expect(len(mine) == 1, "recordings of the server:", mine)
        self.samples["recording KiB"].append(mine[0].stat().st_blocks // 2)

    def check_left(self, folder):
        left = [p.name for p in folder.iterdir()
                if p.name.startswith(".") or p.suffix in (".session", ".tmp")]
        expect(not left, "left behind:", left)
        shared = [p.name for p in pathlib.Path("/dev/shm").glob(f"unitrace.*.{NAME}-*")]
        expect(not shared, "sessions left behind:", shared)
        expect(not self.children(), "processes left behind:", self.children())

    def children(self):
        """Ours, and those whose parents have ended; without the server's."""
        path = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
        return {int(p) for p in path.read_text().split()} - {self.server.launcher.pid}

    def growth(self):
        """(what, at first, at last, is it too much) of everything that must not grow."""
        for what, values in self.samples.items():
            third = len(values) // 3
            # a descriptor may be open for a moment; one that leaks is there whenever we look
            usual = min if what.endswith("descriptors") else statistics.median
            first = usual(values[third:2 * third] or values)
            last = usual(values[-third:] or values)
            room = 0 if what.endswith("descriptors") else max(128, first * 0.02)
            yield what, first, last, third >= FEWEST // 3 and last > first + room

    def finish(self):
        expect(self.server.end() == 0, "status of the flight recorder", self.server.said())
        found, lost = count_recorded(self.top / "server")
        expect(0 < found <= self.server.recorded, "tasks in flight:", found)
        expect(lost["overwritten"], "overwritten, and not counted")
        left = [p.name for p in (self.top / "server").iterdir() if p.suffix != ".json"]
        expect(not left, "left behind by the flight recorder:", left)
        shared = list(pathlib.Path("/dev/shm").glob(f"unitrace.*.{NAME}*"))
        expect(not shared, "sessions left behind:", shared)

    def line(self):
        now = ", ".join(f"{what} {values[-1]}" for what, values in self.samples.items() if values)
        return f"{self.rounds} rounds, {self.tasks} tasks, {self.kills} kills; {now}"

    def close(self):
        if self.server.launcher.poll() is None:
            self.server.end()  # it takes the name of its session with it
        shutil.rmtree(self.top, ignore_errors=True)


def soak(seconds, seed):
    start = time.monotonic()
    minutes = 1
    run = Soak(seed)
    try:
        while time.monotonic() - start < seconds:
            run.round()
            if time.monotonic() - start >= 60 * minutes:
                print(f"minute {minutes}: {run.line()}", flush=True)
                minutes = int((time.monotonic() - start) // 60) + 1
        run.finish()
        print(run.line())
        grown = []
        for what, first, last, too_much in run.growth():
            print(f"  {what}: {first:g} -> {last:g}{'  GROWS' if too_much else ''}")
            grown += [what] if too_much else []
        expect(not grown, "grows:", ", ".join(grown))
    finally:
        run.close()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float,
                         default=float(os.environ.get("SOAK_SECONDS", 3600)))
    options.add_argument("--seed", type=int,
                         default=int(os.environ.get("SOAK_SEED", time.time() % 1e6)))
    told = options.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    print(f"soak: {told.seconds:g} s, seed {told.seed}", flush=True)
    try:
        soak(told.seconds, told.seed)
    except (Trouble, OSError, ValueError, AssertionError, subprocess.TimeoutExpired) as e:
        print(f"FAILED (--seed {told.seed}): {e}")
        return 1
    print("PASSED: nothing lost uncounted, nothing left behind, nothing grows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
