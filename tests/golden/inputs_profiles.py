"""Inputs of `hotspots`: samples as a trace of ours has them, and as other tools write them."""
import json
import struct

from make_inputs import put

APP, LIBC, PYTHON = "/home/me/app", "/usr/lib/libc.so.6", "/usr/bin/python3.11"
TRAIN, TORCH = "/home/me/train.py", "/home/me/venv/lib/python3.11/site-packages/torch/nn.py"
KERNEL = "[kernel]"

# stacks from the outside: function, module, file, line; how many samples of 1 ms in each of two runs
STACKS = [
    ([("_start", APP), ("main", APP, "/home/me/main.c", 12), ("work(int, std::vector<int>&)", APP, "/home/me/work.cpp", 30),
      ("void std::sort<int*>(int*, int*)", APP, "/usr/include/c++/12/bits/stl_algo.h", 4861)], 40, 52),
    ([("_start", APP), ("main", APP, "/home/me/main.c", 12), ("work(int, std::vector<int>&)", APP, "/home/me/work.cpp", 31)], 10, 10),
    ([("_start", APP), ("main", APP, "/home/me/main.c", 14), ("fill", APP, "/home/me/main.c", 5),
      ("memset", LIBC), ("asm_exc_page_fault", KERNEL), ("clear_page_erms", KERNEL)], 20, 4),
    ([("_start", APP), ("main", APP, "/home/me/main.c", 14), ("fill", APP, "/home/me/main.c", 6)], 5, 5),
    ([("clone3", LIBC), (None, APP)], 3, 3),
]
PYTHONS = [
    ([("_start", PYTHON), ("<module>", TRAIN, TRAIN, 40), ("_PyEval_Vector", PYTHON), ("step", TRAIN, TRAIN, 22),
      ("_PyEval_Vector", PYTHON), ("forward", TORCH, TORCH, 300), ("at::native::mm", "/home/me/venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so")], 30, 30),
    ([("_start", PYTHON), ("<module>", TRAIN, TRAIN, 40), ("_PyEval_Vector", PYTHON), ("step", TRAIN, TRAIN, 23),
      ("dict_lookup", PYTHON)], 12, 12),
    ([("_start", PYTHON), ("<module>", TRAIN, TRAIN, 1), ("PyImport_ImportModuleLevelObject", PYTHON),
      ("_find_and_load", "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>", 1176), ("<module>", TORCH, TORCH, 9)], 8, 8),
]


def trace(stacks, run, tid, name):
    """Chrome JSON with spans and samples of two threads in turns."""
    frames, samples, known, at = {}, [], {}, 1000.0
    for stack, *counts in stacks:
        parent = None
        for function, module, *source in stack:
            key = (parent, function, module, *source)
            if key not in known:
                known[key] = str(len(known) + 1)
                frames[known[key]] = {"name": function or "0x1234", "category": module,
                                      **({"parent": parent} if parent else {}),
                                      **({"address": "0x1234"} if not function else {}),
                                      **({"file": source[0], "line": source[1]} if source else {})}
            parent = known[key]
        for _ in range(counts[run]):
            samples.append({"pid": tid, "tid": tid + len(samples) % 2, "ts": at, "name": "cpu-clock", "sf": parent, "weight": 1000000})
            at += 1000.0
    events = [{"ph": "M", "pid": tid, "tid": tid, "name": "process_name", "args": {"name": name}},
              {"ph": "M", "pid": tid, "tid": tid, "name": "thread_name", "args": {"name": "main"}},
              {"ph": "M", "pid": tid, "tid": tid + 1, "name": "thread_name", "args": {"name": "worker"}},
              {"ph": "X", "pid": tid, "tid": tid, "ts": 1000, "dur": 30000, "name": "step", "cat": "app"},
              {"ph": "X", "pid": tid, "tid": tid, "ts": 11000, "dur": 10000, "name": "sort", "cat": "app"}]
    return json.dumps({"traceEvents": events, "stackFrames": frames, "samples": samples}, indent=0) + "\n"


def folded():
    return "".join(";".join(f[0] or "[app]" for f in stack) + f" {count}\n" for stack, count, _ in STACKS)


def perf_script():
    at = 100.0
    for n, (stack, count, _) in enumerate(STACKS):
        for _ in range(min(count, 3)):
            at += 0.001
            yield f"app {77}/{77 + n % 2} [00{n % 2}] {at:.6f}:    1000000 cpu-clock:ppp: \n"
            for depth, (function, module, *_) in enumerate(reversed(stack)):
                yield f"\t{0x55d1a0001000 + 16 * depth:16x} {function or '[unknown]'}{'+0x1a' if function else ''} ({module})\n"
            yield "\n"


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof():
    """As Go writes them: two types of values, a location for each function, names behind all."""
    strings = ["", "samples", "count", "cpu", "nanoseconds", "thread", "worker"]

    def text(s):
        if s not in strings:
            strings.append(s)
        return strings.index(s)

    out = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    places, functions = {}, {}
    for stack, count, _ in STACKS:
        ids = []
        for function, module, *source in reversed(stack):
            key = (function, module, *source)
            ids.append(places.setdefault(key, len(places) + 1))
            functions.setdefault((function, *source[:1]), len(functions) + 1)
        out += field(2, field(1, b"".join(map(varint, ids))) + field(2, varint(count) + varint(count * 1000000)) +
                     field(3, field(1, 5) + field(2, 6)))
    for (function, _, *source), number in places.items():
        line = field(1, functions[(function, *source[:1])]) + (field(2, source[1]) if source else b"")
        out += field(4, field(1, number) + field(3, 4096 + number) + field(4, line))
    for (function, *source), number in functions.items():
        out += field(5, field(1, number) + field(2, text(function or "??")) + (field(4, text(source[0])) if source else b""))
    return out + b"".join(field(6, s.encode()) for s in strings)


def record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


def perf_data():
    """A map, a name and samples of one thread; files that are not there, so no names."""
    def tail(time):
        return struct.pack("<IIQQ", 77, 77, time, 100)

    data = record(1, struct.pack("<IIQQQ", 77, 77, 0x400000, 0x10000, 0) + b"/nowhere/app\0\0\0\0" + tail(5))
    data += record(3, struct.pack("<II", 77, 77) + b"app\0\0\0\0\0" + tail(6))
    for n, (stack, count, _) in enumerate(STACKS[:3]):
        chain = [2**64 - 512] + [0x400100 + 16 * i + n for i in range(len(stack))]
        for i in range(count):
            data += record(9, struct.pack(f"<QQIIQQQ{len(chain)}Q", 100, chain[1], 77, 77, 1000000 * (1 + 100 * n + i), 1000000,
                                          len(chain), *chain))
    attr = bytearray(112)
    struct.pack_into("<IIQQQ", attr, 0, 1, 112, 0, 1000000, 1 << 16 | 1 << 8 | 1 << 5 | 7)
    struct.pack_into("<Q", attr, 40, 1 << 18)
    head = struct.pack("<8sQQQQQQQQQQQQ", b"PERFILE2", 104, 128, 112, 128, 240, len(data), 0, 0, 0, 0, 0, 0)
    return head + struct.pack("<Q", 100) + bytes(attr) + struct.pack("<QQ", 104, 8) + data


def profiles():
    put("profiles/app.json", trace(STACKS, 0, 500, "app"))
    put("profiles/later.json", trace(STACKS, 1, 500, "app"))
    put("profiles/train.json", trace(PYTHONS, 0, 700, "python3.11"))
    put("profiles/app.folded", folded())
    put("profiles/app.perf", "".join(perf_script()))
    put("profiles/app.pb", pprof())
    put("profiles/perf.data", perf_data())
    put("profiles/none.json", '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"}]\n')
    put("profiles/main.c", "".join(f"line {n}\n" for n in range(1, 20)))


SETS = [profiles]
