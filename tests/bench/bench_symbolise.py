#!/usr/bin/env python3
"""What names and lines cost: a million samples of a PyTorch program, in all of its libraries, become
a trace. The budget is absolute, since the work is: 3 s of CPU time, which busy neighbours do not
change much. Beside it, in the same run, the same file
with code that no file has, so that nothing is named: what is left is what names cost.

Samples are made up, but for the libraries: 20,000 places at functions of every library below
build/venv, the heaviest of all (libtorch_cpu) with half of them; stacks are 40 deep."""
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile

import harness
from harness import BUILD, UNITRACE

BUDGET, DEPTH = 3.0, 40
SAMPLES, PLACES, STACKS = harness.size(1_000_000, 1000), harness.size(20_000, 20), harness.size(50_000, 50)
THREAD, MODULE, PLACE, STACK, SAMPLE = 1, 3, 4, 5, 6
ANONYMOUS = 3


def rec(kind, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<II", kind, 8 + len(body)) + body


def code_of(path):
    """Offset and size of the largest loaded part that is code."""
    with open(path, "rb") as f:
        head = f.read(64)
        if head[:5] != b"\x7fELF\x02":
            return None
        at, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        f.seek(at)
        parts = [struct.unpack_from("<IIQQQQ", f.read(size)) for _ in range(count)]
    parts = [(p[2], p[5]) for p in parts if p[0] == 1 and p[1] & 1]
    return max(parts, key=lambda p: p[1]) if parts else None


def write(path, libraries, kind):
    random.seed(4711)
    header = struct.pack("<8sIIIIQiIQQQqq40s32s64s256s1024s", b"utcpu\r\n\x1a", 1, 0, 4711, 1, 0, -1, 0,
                         10**9, 2 * 10**12, 10**6, 0, 0, b"", b"cpu-clock", b"host", b"python",
                         b"python train.py")
    header = header[:12] + struct.pack("<I", len(header)) + header[16:]
    assert len(header) % 8 == 0
    out = [header, rec(THREAD, struct.pack("<IIQ", 4711, 0, 10**9) + b"python\0")]
    heavy = max(range(len(libraries)), key=lambda i: libraries[i][1][1])
    for i, (name, _) in enumerate(libraries):
        out.append(rec(MODULE, struct.pack("<II20sI", i + 1, kind, b"", 0) +
                       os.fsencode(name) + b"\0"))
    for i in range(PLACES):
        m = heavy if i % 2 else random.randrange(len(libraries))
        at, size = libraries[m][1]
        out.append(rec(PLACE, struct.pack("<IIQ", i + 1, m + 1, at + random.randrange(size))))
    for i in range(STACKS):
        caller = 0 if i % DEPTH == 0 else i
        out.append(rec(STACK, struct.pack("<IIII", i + 1, caller, random.randrange(PLACES) + 1, 0)))
    for i in range(SAMPLES):
        out.append(rec(SAMPLE, struct.pack("<QIIII", 10**9 + i * 10**6, 4711,
                                           random.randrange(STACKS) + 1, 10**6, 0)))
    path.write_bytes(b"".join(out))


def measure(path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([UNITRACE, "export", "-o", path.with_suffix(".utr"), "--overwrite", path],
                   check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def find_libraries():
    """(path, code) of PyTorch's libraries; of this interpreter's, which are few, at the small size."""
    if harness.TINY:
        words = (line.split() for line in pathlib.Path("/proc/self/maps").read_text().splitlines())
        found = {pathlib.Path(w[5]) for w in words if len(w) == 6 and ".so" in w[5]}
    else:
        found = {p.resolve() for p in (BUILD / "venv").rglob("*.so*")}
        if not any("libtorch_cpu" in p.name for p in found):
            harness.skip("PyTorch is not in build/venv (tools/setup.sh test)")
    return [(p, c) for p in sorted(found) if (c := code_of(p)) and c[1] > 4096]


def main():
    harness.need()
    libraries = find_libraries()
    with tempfile.TemporaryDirectory() as folder:
        named, nameless = pathlib.Path(folder, "4711-1.cpu"), pathlib.Path(folder, "4712-1.cpu")
        write(named, libraries, 0)
        write(nameless, libraries, ANONYMOUS)
        measure(named)  # files are in the cache of the machine
        with_names, without = min(measure(named) for _ in range(harness.size(3, 1))), measure(nameless)
    print(f"{SAMPLES} samples, {PLACES} places in {len(libraries)} libraries: {with_names:.2f} s, "
          f"{without:.2f} s of it without names; budget {BUDGET} s")
    return harness.verdict(with_names > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
