#!/usr/bin/env python3
"""Record the spools of inputs/saved/ with the test programs of a build, and take out of them what
belongs to the machine: boot id, host, paths. Run it by hand when the wire format has changed so
that older spools cannot be read any more; every time in the expected tables changes with it.

    record_spools.py [NAME ...]
"""
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", HERE.parents[1] / "build")).resolve()
PROGRAMS, BACKENDS = BUILD / "tests/programs", BUILD / "lib/unitrace/backends"
CUPTI = PROGRAMS / "libfake_cupti.so"
EVERYTHING = ("--chrome-kernel-logging", "--chrome-call-logging", "--call-logging")
CASES = {
    "cuda": (EVERYTHING, (PROGRAMS / "fake_cuda", BACKENDS / "cuda.so", CUPTI, 4)),
    "cuda_alone": (("--chrome-device-logging",), (PROGRAMS / "fake_cuda", BACKENDS / "cuda.so", CUPTI, 2)),
    "opencl": (EVERYTHING, (PROGRAMS / "opencl_work", "simple", 3)),
    "null": (EVERYTHING, (PROGRAMS / "null_device", BACKENDS / "null.so", 3)),
    "ccl": (("-r",), (PROGRAMS / "launch_probe", *("task", "oneCCL", "allreduce") * 3, "task", "oneCCL", "bcast")),
    "itt": (("--itt-groups", "sync,heap,stitch"), (PROGRAMS / "every_call",)),
}
# struct ut_spool_header: where its texts lie, and what they become
TEXTS = {"boot_id": (120, 40, b"0" * 36), "host": (416, 256, b"box")}
COMMAND = (672, 2048)


def clean(spool, name):
    place = str(BUILD).encode()
    data = bytearray(spool.replace(place, b"/made/up".ljust(len(place), b"_")))
    for offset, size, text in (*TEXTS.values(), (*COMMAND, f"./{name}".encode())):
        data[offset:offset + size] = text.ljust(size, b"\0")
    return bytes(data)


def record(name):
    options, words = CASES[name]
    env = {**os.environ, "UNITRACE_CUPTI": str(CUPTI)}
    with tempfile.TemporaryDirectory() as tmp:
        done = subprocess.run([BUILD / "bin/unitrace", "--quiet", "--no-summary", "--keep-session", "--spool-dir",
                               tmp, "-o", f"{tmp}/x.json", *options, "--", *map(str, words)],
                              env=env, cwd=tmp, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        spools = sorted(pathlib.Path(tmp).glob("*.session/*.spool"))
        if done.returncode or len(spools) != 1:
            sys.exit(f"{name}: status {done.returncode}, spools {spools}")
        packed = gzip.compress(clean(spools[0].read_bytes(), name), 9, mtime=0)
        out = HERE / "inputs/saved" / f"{name}-{spools[0].name}.gz"
        out.parent.mkdir(parents=True, exist_ok=True)
        for old in out.parent.glob(f"{name}-*.spool.gz"):
            old.unlink()
        out.write_bytes(packed)
        print(f"{out.name}: {len(packed)} bytes")


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        record(case)
