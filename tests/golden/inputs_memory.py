"""Inputs of `memory`: what an exact recording of a C++ and a Python program holds, and what samples of
one hold. Sizes are round, so that shares can be worked out by hand."""
from make_inputs import ev, meta, our_about, put, trace, x

LIBC, STD, APP = "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libstdc++.so.6", "/home/me/app"
PYTHON, SCRIPT = "/usr/bin/python3.11", "/home/me/train.py"


class Stacks:
    """Frames by their stack: the names of functions from the outside, "FUNCTION @MODULE" or a line."""

    def __init__(self):
        self.frames, self.known = {}, {}

    def add(self, *functions):
        for i in range(1, len(functions) + 1):
            if functions[:i] in self.known:
                continue
            self.known[functions[:i]] = number = str(len(self.known) + 1)
            name, module = functions[i - 1].split(" @")
            frame = {"name": name, "category": module}
            if i > 1:
                frame["parent"] = self.known[functions[:i - 1]]
            if ".py:" in module:
                path, line = module.split(":")
                frame |= {"category": path, "file": path, "line": int(line)}
            else:
                frame["address"] = hex(0x1000 + 16 * int(number))
            self.frames[number] = frame
        return self.known[functions]


def sample(kind, pid, tid, ts, stack, weight, cat="malloc", **args):
    return {"pid": pid, "tid": tid, "ts": ts, "name": kind, "cat": cat, "sf": stack, "weight": weight,
            "args": args}


def exact():
    """The peak is 10,000 bytes: 6,000 of parse(), 3,000 of main(), 1,000 of a thread."""
    s = Stacks()
    start = (f"_start @{APP}", f"__libc_start_call_main @{LIBC}", f"main @{APP}")
    parse = s.add(*start, f"parse(char const*) @{APP}", f"std::vector<int>::_M_realloc_insert(int&&) @{APP}")
    text = s.add(*start, f"parse(char const*) @{APP}", f"std::string::_M_create @{STD}", f"operator new(unsigned long) @{STD}")
    xmalloc = s.add(*start, f"xmalloc @{APP}")
    thread = s.add(f"start_thread @{LIBC}", f"std::thread::_State_impl<work>::_M_run() @{APP}")
    samples = [
        sample("allocated bytes", 100, 100, 1001, parse, 5000, task="load", count=5, freed=4, life_ns=8000),
        sample("allocated bytes", 100, 100, 1002, text, 1000, task="load", count=10, freed=10, life_ns=1000),
        sample("allocated bytes", 100, 100, 1005, xmalloc, 3000, count=3),
        sample("allocated bytes", 100, 101, 1006, thread, 2000, count=2, freed=1, life_ns=500000),
        sample("peak bytes", 100, 100, 1007, parse, 5000, task="load", count=5),
        sample("peak bytes", 100, 100, 1007, text, 1000, task="load", count=10),
        sample("peak bytes", 100, 100, 1007, xmalloc, 3000, count=3),
        sample("peak bytes", 100, 101, 1007, thread, 1000, count=1),
        sample("never freed bytes", 100, 100, 1010, parse, 1000, task="load", count=1),
        sample("never freed bytes", 100, 100, 1010, xmalloc, 3000, count=3),
        sample("never freed bytes", 100, 101, 1010, thread, 1000, count=1),
    ]
    levels = [ev("C", "live memory", ts, 100, 100, args={"bytes": n}) for ts, n in
              ((1001, 5000), (1002, 6000), (1005, 9000), (1007, 10000), (1008, 6000), (1010, 5000))]
    rows = [meta("process_name", 100, 100, name="app"), meta("thread_name", 100, 100, name="main"),
            meta("thread_name", 100, 101, name="worker")]
    put("memory/exact.json", trace([x("load", 1000, 4, 100, 100, "app"), *levels, *rows], stackFrames=s.frames,
                                   samples=samples, **our_about({"pid": 100, "name": "app", "host": "box"})))


def sampled():
    """Python: 8 MiB of a tensor, exactly, and some 4 MiB of small objects to +-10 percent."""
    s = Stacks()
    outer = (f"main @{PYTHON}", f"<module> @{SCRIPT}:40", f"train @{SCRIPT}:31")
    tensor = s.add(*outer, "at::native::empty_cpu @/venv/libtorch_cpu.so", "c10::alloc_cpu(unsigned long) @/venv/libc10.so")
    small = s.add(*outer, f"load @{SCRIPT}:12", f"PyUnicode_New @{PYTHON}", f"PyObject_Malloc @{PYTHON}")
    plain = s.add(f"main @{PYTHON}", f"PyImport_Import @{PYTHON}")
    mega = 1 << 20
    samples = [
        sample("allocated bytes", 200, 200, 2001, tensor, 16 * mega, task="step", count=2, freed=2, life_ns=4e6),
        sample("allocated bytes", 200, 200, 2002, small, 4 * mega, "python", count=80000.5, variance=(mega / 4.9) ** 2),
        sample("allocated bytes", 200, 200, 2003, plain, mega, "python", count=1000, variance=1e9, freed=500, life_ns=1e9),
        sample("peak bytes", 200, 200, 2004, tensor, 8 * mega, task="step", count=1),
        sample("peak bytes", 200, 200, 2004, small, 4 * mega, "python", count=80000.5, variance=(mega / 4.9) ** 2),
        sample("never freed bytes", 200, 200, 2009, plain, mega // 2, "python", count=500, variance=1e9),
    ]
    rows = [meta("process_name", 200, 200, name="python"), meta("thread_name", 200, 200, name="main")]
    put("memory/sampled.json", trace([x("step", 2000, 5, 200, 200, "train"), *rows], stackFrames=s.frames,
                                     samples=samples, **our_about({"pid": 200, "name": "python", "host": "box"})))


def freed():
    s = Stacks()
    at = s.add(f"main @{APP}")
    put("memory/freed.json", trace([meta("process_name", 300, 300, name="tidy")], stackFrames=s.frames, samples=[
        sample("allocated bytes", 300, 300, 5, at, 64, count=1, freed=1, life_ns=100),
        sample("peak bytes", 300, 300, 5, at, 64, count=1)],
        **our_about({"pid": 300, "name": "tidy", "host": "box"})))


SETS = [exact, sampled, freed]
