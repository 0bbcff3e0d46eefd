"""What the end-to-end tests share: run a program with and without unitrace, read its timelines.

A Trace is checked when it is read: valid JSON (no NaN, no bad UTF-8), the spans of a thread nest,
overlapping spans and arrows come in pairs, every event has what its kind needs.
"""
import atexit
import collections
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
SOURCE = pathlib.Path(__file__).resolve().parents[2]
UNITRACE = BUILD / "bin" / "unitrace"
COLLECTOR = BUILD / "lib" / "libunitrace.so"
PROGRAMS = BUILD / "tests" / "programs"
LANES = 1 << 30  # thread numbers from here on are rows of ours, not threads
PATIENCE = 150 * float(os.environ.get("UNITRACE_PATIENCE") or 1)  # seconds; only a hang takes that long

UNWANTED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID",
            "LD_PRELOAD", "INTEL_LIBITTNOTIFY64", "INTEL_JIT_PROFILER64", "PTI_ENABLE_COLLECTION",
            "UT_SESSION", "INTEL_ITTNOTIFY_GROUPS")


# What recordings leave for later commands stays out of the user's home.
STATE = tempfile.mkdtemp(prefix="ut_state_")
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
os.environ["XDG_STATE_HOME"] = STATE


def terminal(columns=80):
    """Both ends of a terminal that somebody sits in front of: it has a size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    return ours, theirs


def program(name):
    return PROGRAMS / name


def skip(why):
    """The whole file is skipped, aloud."""
    print(f"SKIP: {why}")
    sys.exit(77)


def kernel_samples():
    """Does the kernel let us? perf_event_open() in a child that is asked to do nothing else."""
    code = ("import ctypes, sys; libc = ctypes.CDLL(None, use_errno=True);"
            "attr = (ctypes.c_char * 128)();"
            "ctypes.memmove(attr, (1).to_bytes(4, 'little') + (128).to_bytes(4, 'little'), 8);"
            "attr[40] = 0x61;"  # disabled, exclude_kernel, exclude_hv
            "sys.exit(libc.syscall(298, attr, 0, -1, -1, 0) < 0)")
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def find_venv(*modules, env=None):
    """(python, None): the interpreter of tools/setup.sh, if it has these modules; otherwise (None, why not)."""
    code = ("import sys; from importlib.util import find_spec\n"  # of a.b it imports a, which must be there
            "print(*(m for m in sys.argv[1:] if not find_spec(m.partition('.')[0]) or not find_spec(m)))")
    for build in (BUILD, SOURCE / "build"):
        python = build / "venv/bin/python"
        if not python.exists():
            continue
        got = subprocess.run([python, "-c", code, *modules], stdout=subprocess.PIPE, text=True, env=env, check=True)
        missing = got.stdout.strip()
        return (None, f"build/venv has no {missing} (tools/setup.sh test)") if missing else (python, None)
    return None, "there is no build/venv (tools/setup.sh test)"


def need_venv(*modules, env=None):
    """The interpreter of tools/setup.sh with these modules, or the whole file is skipped."""
    python, why = find_venv(*modules, env=env)
    return python or skip(why)


def need_kernel_samples():
    if not kernel_samples():
        skip("not here: the kernel refuses perf_event_open()")


def need(*programs):
    for path in (UNITRACE, COLLECTOR, *map(program, programs)):
        if not path.exists():
            skip(f"{path} is not built")


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in UNWANTED}
    env.update(more)
    return env


def _refuse(word):
    raise ValueError(f"{word} is not JSON")


def _pairs_once(pairs):
    keys = [k for k, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError(f"key twice in {pairs}")
    return dict(pairs)


def to_ns(us):
    """The file counts in microseconds with three decimals."""
    return round(us * 1000)


class Span:
    def __init__(self, event, begin, end):
        self.event, self.begin, self.end = event, begin, end
        self.name, self.cat = event["name"], event.get("cat")
        self.args, self.tid = event.get("args", {}), event["tid"]
        self.ns = end - begin

    @property
    def unfinished(self):
        return self.args.get("unfinished", False)

    def __repr__(self):
        return f"{self.name}@{self.tid} {self.ns} ns {self.args}"


class Trace:
    """One timeline, checked."""

    def __init__(self, path, duplicate_keys=False):
        self.path = pathlib.Path(path)
        text = self.path.read_bytes().decode("utf-8")  # raises when it is not
        data = json.loads(text, parse_constant=_refuse,
                          object_pairs_hook=None if duplicate_keys else _pairs_once)
        self.events = data["traceEvents"]
        self.other = data["otherData"]
        self.processes = self.other["processes"]
        self.losses = collections.Counter()
        for process in self.processes:
            self.losses.update(process.get("losses", {}))
        self._read()
        self._check_nesting()
        self._check_pairs()

    def _read(self):
        self.spans, self.instants, self.counters, self.meta = [], [], [], []
        self.asyncs, self.flows = [], []
        for e in self.events:
            kind = e["ph"]
            assert isinstance(e["pid"], int) and isinstance(e["tid"], int), e
            assert isinstance(e["name"], str), e
            if kind == "M":
                self.meta.append(e)
                continue
            assert e["ts"] >= 0, e
            if kind == "X":
                assert e["dur"] >= 0, e
                begin = to_ns(e["ts"])
                self.spans.append(Span(e, begin, begin + to_ns(e["dur"])))
            elif kind == "i":
                assert e["s"] in "gpt", e
                self.instants.append(e)
            elif kind == "C":
                assert all(isinstance(v, (int, float)) for v in e["args"].values()), e
                self.counters.append(e)
            elif kind in "be":
                self.asyncs.append(e)
            elif kind in "sf":
                self.flows.append(e)
            else:
                raise AssertionError(f"unknown kind: {e}")

    def _check_nesting(self):
        """Spans of one row: each inside the one around it. The file's order breaks ties."""
        rows = collections.defaultdict(list)
        for s in self.spans:
            rows[s.event["pid"], s.tid].append(s)
        for row in rows.values():
            row.sort(key=lambda s: (s.begin, -s.end))  # stable
            stack = []
            for s in row:
                while stack and stack[-1].end <= s.begin:
                    stack.pop()
                assert not stack or s.end <= stack[-1].end, f"{s} crosses {stack[-1]}"
                stack.append(s)

    def _check_pairs(self):
        open_ones = {}
        self.overlapped = []
        for e in self.asyncs:
            key = (e["pid"], e["cat"], e["id2"]["local"])
            if e["ph"] == "b":
                assert key not in open_ones, f"begins twice: {e}"
                open_ones[key] = e
            else:
                begin = open_ones.pop(key)
                assert begin["name"] == e["name"] and begin["ts"] <= e["ts"], (begin, e)
                self.overlapped.append(Span(begin, to_ns(begin["ts"]), to_ns(e["ts"])))
        assert not open_ones, f"without end: {open_ones}"
        outs = {e["id"]: e for e in self.flows if e["ph"] == "s"}
        ins = {e["id"]: e for e in self.flows if e["ph"] == "f"}
        # of a message between processes the other end may be in another file
        single = {e["id"] for e in self.flows if "global" in e.get("id2", {})}
        assert outs.keys() ^ ins.keys() <= single, f"arrows with one end: {outs.keys() ^ ins.keys()}"
        assert len(outs) + len(ins) == len(self.flows), "an arrow's number is used twice"
        self.arrows = [(outs[i], ins[i]) for i in outs if i in ins]

    # What the tests ask for.

    @property
    def pid(self):
        return self.processes[0]["pid"]

    @property
    def process_name(self):
        return self.processes[0]["name"]

    def names(self):
        return [s.name for s in self.spans if s.cat != "control"]

    def pauses(self):
        """When recording was off, in order; the first lasts from the start to the first resume."""
        return sorted((s for s in self.spans if s.cat == "control"), key=lambda s: s.begin)

    def named(self, name):
        return [s for s in self.spans if s.name == name]

    def one(self, name):
        found = self.named(name)
        assert len(found) == 1, f"{len(found)} spans called {name!r} in {sorted(set(self.names()))}"
        return found[0]

    def over(self, name):
        found = [s for s in self.overlapped if s.name == name]
        assert len(found) == 1, f"{len(found)} overlapping spans called {name!r}: {self.overlapped}"
        return found[0]

    def numbered(self, prefix):
        """The numbers behind prefix in the names of spans, in order of time."""
        found = [(s.begin, int(s.name[len(prefix):])) for s in self.spans
                 if s.name.startswith(prefix) and s.name[len(prefix):].isdigit()]
        return [n for _, n in sorted(found)]

    def instant(self, name):
        found = [e for e in self.instants if e["name"] == name]
        assert len(found) == 1, f"{len(found)} instants called {name!r}: {self.instants}"
        return found[0]

    def values(self, name):
        """The values of a counter, in order of time."""
        found = [e for e in self.counters if e["name"] == name]
        return [next(iter(e["args"].values())) for e in sorted(found, key=lambda e: e["ts"])]

    def thread_names(self):
        return {e["tid"]: e["args"].get("name") for e in self.meta if e["name"] == "thread_name"}

    def row_of(self, name):
        """The name of the row that a span lies on."""
        return self.thread_names()[self.one(name).tid]


class Case(unittest.TestCase):
    """A test in a folder of its own, which is removed afterwards."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ut_e2e_"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def start(self, *words, env=None, **options):
        options.setdefault("cwd", self.dir)
        return subprocess.Popen([str(w) for w in words], env=env or environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run_words(self, *words, env=None, **options):
        options.setdefault("cwd", self.dir)
        return subprocess.run([str(w) for w in words], env=env or environment(),
                              capture_output=True, timeout=PATIENCE, **options)

    def unitrace(self, *words, **options):
        return self.run_words(UNITRACE, *words, **options)

    def timelines(self, where=None):
        return sorted((where or self.dir).glob("*.json"))

    def traces(self, where=None):
        return [Trace(p) for p in self.timelines(where)]

    def trace(self):
        paths = self.timelines()
        self.assertEqual(len(paths), 1, sorted(p.name for p in self.dir.iterdir()))
        return Trace(paths[0])

    def record(self, *words, rc=0, **options):
        """Runs unitrace, expects one timeline and gives it."""
        got = self.unitrace(*words, **options)
        self.assertEqual(got.returncode, rc, got.stderr.decode(errors="replace")[-2000:])
        return self.trace()

    def traces_by_name(self, where=None):
        """Timelines, keyed by what the file is called before the process id."""
        found = {}
        for path in self.timelines(where):
            match = re.fullmatch(r"(.+?)\.(\d+)(?:\.(\d+))?(?:-\d+)?\.json", path.name)
            self.assertTrue(match, path.name)
            trace = Trace(path)
            self.assertEqual(trace.pid, int(match[2]), path.name)
            self.assertEqual(trace.process_name, match[1], path.name)
            found.setdefault(match[1], []).append(trace)
        return found

    def assertClean(self):
        """Nothing but timelines is left."""
        left = [p.name for p in self.dir.iterdir() if not p.name.endswith(".json")]
        self.assertEqual(left, [])

    def assertSameAsBare(self, got, bare):
        """Same status, same output; on stderr ours may follow."""
        self.assertEqual(got.returncode, bare.returncode, got.stderr)
        self.assertEqual(got.stdout, bare.stdout)
        self.assertEqual(got.stderr[:len(bare.stderr)], bare.stderr)
        ours = got.stderr[len(bare.stderr):].decode()
        self.assertTrue(not ours or ours.startswith(("[INFO]", "[WARNING]", "unitrace: ")), ours)


def read_until(stream, text):
    """Reads until the program has said text."""
    seen = b""
    while text not in seen:
        got = os.read(stream.fileno(), 4096)
        if not got:
            raise AssertionError(f"ended before it said {text!r}: {seen!r}")
        seen += got
    return seen


def wait_for(condition, what, limit=PATIENCE):
    """Polls condition() until it returns something true, and returns that."""
    end = time.monotonic() + limit
    while True:
        late = time.monotonic() >= end  # asked once more afterwards: this process may have slept
        got = condition()
        if got:
            return got
        if late:
            raise AssertionError(f"no {what} within {limit:g} s")
        time.sleep(0.01)


def cpu_seconds(pid):
    """The CPU time of a process, all of its threads, by the clock that clock_getcpuclockid() gives."""
    return time.clock_gettime((~pid << 3) | 2)


def wait_for_cpu(pid, seconds):
    """Until a process has run for so long from now on: what is sampled then exists on any machine."""
    end = cpu_seconds(pid) + seconds
    wait_for(lambda: cpu_seconds(pid) >= end, f"{seconds} s of CPU time of process {pid}")


def thread_names(pid):
    """Those of a process that runs, now."""
    found = []
    for comm in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
        try:
            found.append(comm.read_text().rstrip("\n"))
        except OSError:  # it has just ended
            pass
    return found


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has just gone
        return None


def children_of(pid):
    """Of all its threads; those come and go, so the children are asked."""
    return sorted(int(p.name) for p in pathlib.Path("/proc").glob("[0-9]*") if parent_of(p.name) == pid)


def is_root():
    return os.geteuid() == 0


def pythons():
    """{(3, 9): interpreter, ...}, one of each version that is here: this one, those that
    UNITRACE_PYTHONS names, those that can be called, those of pyenv."""
    places = [pathlib.Path(sys.executable)]
    places += [pathlib.Path(p) for p in os.environ.get("UNITRACE_PYTHONS", "").split(":") if p]
    for minor in range(9, 15):
        found = shutil.which(f"python3.{minor}")
        places += [pathlib.Path(found)] if found else []
    places += sorted(pathlib.Path("~/.pyenv/versions").expanduser().glob("3.*/bin/python3"))
    found = {}
    for path in places:
        got = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"],
                             capture_output=True, check=False)
        if got.returncode == 0 and (3, 9) <= (v := tuple(map(int, got.stdout.split()))) <= (3, 14):
            found.setdefault(v, path)
    return found


def without_core(*_):
    """For preexec_fn: a program that dies on purpose leaves no core."""
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_process(process):
    """Kills one process that a test has started, and waits for it."""
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


def main():
    result = unittest.main(exit=False, verbosity=2).result
    print(f"{result.testsRun} tests, {len(result.failures) + len(result.errors)} failed, "
          f"{len(result.skipped)} skipped")
    sys.exit(not result.wasSuccessful())
