"""What `unitrace analyze` costs: slices and megabytes a second, memory a slice, and that twice the
input takes twice the time; against cat, which only copies, and against a check of the JSON alone.

BENCH_ANALYZE_SLICES slices (200,000 by default; 1,000,000 is the size of the budget), twice and
four times as many, of both dialects; the sizes take turns, so that who else uses the machine slows
all of them. Rates are per second of CPU time, which is "per core", and do not depend on how many
cores there are or who else uses them, much; "two" is by the clock, with two threads, beside the
time that one thread took by the clock in the same round. It says something only on a machine that
has two cores to spare.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import harness
from harness import UNITRACE

SLICES = harness.size(200_000, 200, "BENCH_ANALYZE_SLICES")
ROUNDS = harness.size(3, 1)
RANKS, JOBS = 2, 5
MHZ = 560.0
KERNELS = ["convolution", "add", "relu", "addmm_MatMul", "bmm-BMM", "layer_norm", "softmax_exp",
           "mul", "mean", "gelu", "max_pool2d_with_indices", "view-VirtualReshape-LxRelayout"]


def flex_job(f, count, rank, start, seed):
    """Copy in, preparation, kernel, copy out, over and over, as pairs of B and E; where it ends."""
    rng = random.Random(seed)
    zero, t, power, text = 1.475e12 - 1000 - 555 * rank, start, 10 ** 6 * (1 + seed), []
    f.write("[\n")
    for n in range(count // 4):
        name = f"{KERNELS[n % 12]}_{n % 40}"
        steps = 3 + rng.random(), 8 + 4 * rng.random(), 20 + 60 * rng.random(), 2 + rng.random()
        at = [t]
        for d in steps:
            at.append(at[-1] + d)
        power += int(steps[2] * 1280)
        attr = ",".join(f'"TS{i + 1}":"{int((x - zero) * MHZ) & 0xffffffff:#x}"'
                        for i, x in enumerate(at))
        charge = f'"Power":"{power & 0xffffffff:#x}",'
        for i, (end, first, tid) in enumerate((
                ("_in DmaI", '"Bytes":"65536",', 9000000000000000001),
                (" Cmpt Prep", charge, 15514734831341844875),
                (" Cmpt Exec", charge, 2009867741857745393),
                ("_out DmaO", '"Bytes":"32768",', 9000000000000000001))):
            head = f'{{"attr":{{{first}{attr}}},"name":"{name}{end}","ph":"'
            tail = f'","pid":{rank},"tid":{tid},"ts":'
            text.append(f"{head}B{tail}{at[i]:.3f}}},\n{head}E{tail}{at[i + 1]:.3f}}}")
        t = at[-1] + 5 * rng.random()
        if len(text) >= 4096:
            f.write(",\n".join(text) + ",\n")
            text = []
    text.append(f'{{"name":"AIU Roundtrip","ph":"X","pid":{rank},"tid":7,"ts":{start:.3f},'
                f'"dur":{t - start:.3f}}}')
    f.write(",\n".join(text) + "\n]\n")
    return t


def make_flex(cwd, slices):
    files = []
    for rank in range(RANKS):
        t = 1.475e12 + 37.0 * rank
        for job in range(JOBS):
            files.append(cwd / f"f-rank_{rank}-of_{RANKS}-job-{job + 1}.json")
            with open(files[-1], "w") as f:
                t = 500 + flex_job(f, slices // RANKS // JOBS, rank, t, rank * JOBS + job)
    return files


def make_torch(cwd, slices):
    """One file: a launch, a copy and a kernel on the device, the flow between them."""
    path, rng, t = cwd / "t.pt.trace.json", random.Random(1), 5000.0
    with open(path, "w") as f:
        f.write('{"deviceProperties":[{"id":0,"name":"AIU"}],"distributedInfo":{"rank":0},'
                '"traceEvents":[\n')
        for n in range(slices // 3):
            d = 20 + 60 * rng.random()
            f.write(f'{{"ph":"X","cat":"privateuse1_runtime","name":"aiuLaunchControlBlocks",'
                    f'"pid":4711,"tid":4711,"ts":{t:.3f},"dur":4.5,"args":{{"correlation":{n},'
                    f'"num_cbs":1}}}},\n'
                    f'{{"ph":"s","id":{n},"pid":4711,"tid":4711,"ts":{t:.3f},"cat":"ac2g",'
                    f'"name":"ac2g"}},\n'
                    f'{{"ph":"X","cat":"gpu_memcpy","name":"Memcpy (HtoD)","pid":0,"tid":100,'
                    f'"ts":{t + 5:.3f},"dur":3.25,"args":{{"device":0,"context":0,'
                    f'"correlation":{n},"bytes":65536,"memory bandwidth (GB/s)":20.1}}}},\n'
                    f'{{"ph":"X","cat":"kernel","name":"{KERNELS[n % 12]}_{n % 40}","pid":0,'
                    f'"tid":1,"ts":{t + 9:.3f},"dur":{d:.3f},"args":{{"queued":0,"device":0,'
                    f'"stream":1,"context":0,"correlation":{n}}}}},\n'
                    f'{{"ph":"f","id":{n},"pid":0,"tid":1,"ts":{t + 9:.3f},"cat":"ac2g",'
                    f'"name":"ac2g","bp":"e"}}{"," if n + 1 < slices // 3 else ""}\n')
            t += d + 15
        f.write("]}\n")
    return [path]


def run(*command, **options):
    """Seconds of CPU time, seconds, and the peak of memory in bytes."""
    start = time.monotonic()
    child = subprocess.Popen([str(c) for c in command], **options)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command[0]} ended with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss * 1024)


def least(runs, what=0):
    return min(runs, key=lambda r: r[what])


class Size:
    """One input, and what was measured with it."""

    def __init__(self, cwd, make, slices):
        cwd.mkdir()
        self.slices, self.files, self.out = slices, make(cwd, slices), cwd / "out.json"
        self.megabytes = sum(p.stat().st_size for p in self.files) / 1e6
        self.copied, self.checked, self.one, self.two = [], [], [], []
        self.written = 0

    def measure(self):
        words = [UNITRACE, "analyze", "-D", "0", "-i", ",".join(map(str, self.files)), "--freq",
                 f"{MHZ}:800", "-o", self.out, "--threads"]
        with open(self.out, "w") as f:
            self.copied.append(run("cat", *self.files, stdout=f))
        self.checked.append(run(UNITRACE, "validate", *self.files, stdout=subprocess.DEVNULL))
        self.one.append(run(*words, "1"))
        self.two.append(run(*words, "2"))
        self.written = self.out.stat().st_size / 1e6
        self.out.unlink()

    def show(self):
        one, two = least(self.one), least(self.two, 1)
        print(f"  {self.slices:9,} slices {self.megabytes:6.0f} MB in {self.written:6.0f} MB out   "
              f"{self.slices / one[0] / 1000:5.0f} k slices/s  "
              f"{self.megabytes / one[0]:4.0f} MB/s  "
              f"{one[2] / self.slices:4.0f} B a slice   "
              f"{one[0] / max(least(self.copied)[0], 0.01):5.1f} x cat  "
              f"{one[0] / max(least(self.checked)[0], 0.01):4.1f} x a check   "
              f"two: {self.slices / two[1] / 1000:5.0f} k/s {two[2] / self.slices:4.0f} B, "
              f"{two[1] / least(self.one, 1)[1]:.2f} x the time of one", flush=True)


def main():
    harness.need()
    cwd = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-bench-", dir=os.environ.get("BENCH_DIR")))
    try:
        for dialect, make in (("flex", make_flex), ("torch", make_torch)):
            sizes = [Size(cwd / f"{dialect}-{n}", make, n * SLICES) for n in (1, 2, 4)]
            for _ in range(ROUNDS):
                for size in sizes:
                    size.measure()
            print(f"{dialect}:")
            for size in sizes:
                size.show()
            times = [least(size.one)[0] for size in sizes]
            print(f"  twice the slices take {times[1] / times[0]:.2f} and "
                  f"{times[2] / times[1]:.2f} x the time", flush=True)
            for n in (1, 2, 4):
                shutil.rmtree(cwd / f"{dialect}-{n}")
        print("budget: >= 400 k slices/s per core, >= 700 k with two, <= 600 B a slice; linear")
    finally:
        shutil.rmtree(cwd)


if __name__ == "__main__":
    main()
