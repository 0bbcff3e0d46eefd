"""What merging costs: against cat, which only copies, and against a script that loads and dumps.

8 files of BENCH_MERGE_MB megabytes each (64 by default; 250 is the size of the budget). MB/s are
megabytes of input per second of CPU time of the whole command, which is "per core"; they do not
depend on how many cores there are or who else uses them, much. Memory is the peak of the process,
taken at two sizes. Then BENCH_MERGE_MANY small files (500).
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

FILES = harness.size(8, 2)
MANY = harness.size(500, 5, "BENCH_MERGE_MANY")
SIZE = harness.size(64, 1, "BENCH_MERGE_MB") * 1000 * 1000

NAMES = ["aten::convolution", "cudaLaunchKernel", "gemm_kernel[SIMD32 {8192; 1; 1} {128; 1; 1}]",
         "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
         "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>)"]

# What people write today: everything in memory, and once more as text.
SCRIPT = """
import json, sys
events = []
for name in sys.argv[2:]:
    events += json.load(open(name))["traceEvents"]
with open(sys.argv[1], "w") as f:
    f.write('{\\n"traceEvents": [\\n' + ",\\n".join(map(json.dumps, events)) + "\\n]\\n}\\n")
"""


BLOCK = harness.size(20_000, 100)  # events that are made; the rest repeats them


def events(rng):
    """Events as profilers write them, about 180 bytes each: the text before and behind "ts"."""
    for i in range(1, BLOCK + 1):
        pid = rng.randrange(4)
        if i % 5 == 0:
            yield (f'{{"ph":"{"sf"[i % 2]}","id":{i},"name":"ac2g","cat":"ac2g","pid":{pid},'
                   f'"tid":{pid},"ts":', '}')
            continue
        yield (f'{{"ph":"X","name":"{NAMES[i % 4]}","cat":"cpu_op","pid":{pid},"tid":{i % 7},'
               '"ts":', f',"dur":{rng.random() * 100:.3f},"args":{{"External id":{i},'
               f'"Input Dims":[[{i % 64},3,244,244],[5,3,3,3],[5]],"grid":[{i % 8192},1,1]}}}}')


def make_file(path, size, seed):
    """The same events over and over, later and later: writing them must not take longer than what
    is measured."""
    rng = random.Random(seed)
    block, ts, n = list(events(rng)), 1000.0, 0
    steps = [rng.random() * 20 for _ in block]
    with open(path, "w") as f:
        n += f.write(f'{{"schemaVersion":1,"baseTimeNanoseconds":{1700000000000000000 + seed},'
                     '"traceEvents":[\n{"ph":"M","name":"start","pid":0}')
        while n < size:
            lines = []
            for (before, behind), step in zip(block, steps):
                ts += step
                lines.append(f',\n{before}{ts:.3f}{behind}')
                n += len(lines[-1])
                if n >= size:
                    break
            f.write("".join(lines))
        f.write("\n]}\n")


def run(*command, **options):
    """Seconds of CPU time, seconds, and the peak of memory in MB."""
    start = time.monotonic()
    child = subprocess.Popen([str(c) for c in command], stderr=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command[0]} ended with {child.returncode}")
    wall = time.monotonic() - start
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def make_files(cwd, count, size):
    files = [cwd / f"rank{n}.json" for n in range(count)]
    for n, path in enumerate(files):
        # Not here: a child's peak starts from what its parent held.
        run(sys.executable, __file__, path, size, n)
    return files, sum(p.stat().st_size for p in files) / 1e6


def bench(cwd, size):
    files, megabytes = make_files(cwd, FILES, size)
    out = cwd / "all.json"
    with open(out, "w") as f:
        cat = run("cat", *files, stdout=f)
    out.unlink()
    ours = run(UNITRACE, "merge", "-o", out, *files)
    print(f"{FILES} files, {megabytes:.0f} MB")
    print(f"  merge {megabytes / ours[0]:7.0f} MB/s per core  {ours[1]:6.2f} s  "
          f"{ours[2]:6.0f} MB peak   {ours[0] / max(cat[0], 0.01):5.1f} x cat's CPU time")
    return files, out, megabytes, ours


def bench_script(files, out, megabytes, ours):
    script = run(sys.executable, "-c", SCRIPT, out, *files)
    print(f"  python {megabytes / script[0]:6.0f} MB/s per core  {script[1]:6.2f} s  "
          f"{script[2]:6.0f} MB peak   merge is {script[0] / ours[0]:.1f} x as fast")
    out.unlink()


def bench_groups(cwd, size, ours):
    """More files than are open at once: what a pass through a temporary file adds."""
    files, megabytes = make_files(cwd, 10 * FILES, size // 10)
    more = run(UNITRACE, "merge", "-o", cwd / "all.json", *files)
    print(f"  as {len(files)} files {megabytes / more[0]:.0f} MB/s per core, {more[2]:.0f} MB peak: a "
          f"temporary file is written and read at {megabytes / max(more[0] - ours[0], 0.001):.0f} "
          "MB/s per core")
    for path in cwd.iterdir():
        path.unlink()


def bench_many(cwd):
    rows = ",".join('{"ph":"X","name":"step","pid":1,"tid":1,"ts":%d,"dur":5}' % (10 * i)
                    for i in range(30))
    for n in range(MANY):
        (cwd / f"rank{n}.json").write_text(
            f'{{"distributedInfo":{{"rank":{n}}},"traceEvents":[{rows}]}}')
    cost = run(UNITRACE, "merge", "-o", cwd / "all.json", cwd)
    print(f"{MANY} files of 2 kB: {cost[0] / MANY * 1e3:.2f} ms CPU per file, {cost[2]:.0f} MB peak")
    for path in cwd.iterdir():
        path.unlink()


def main():
    harness.need()
    cwd = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-bench-", dir=os.environ.get("BENCH_DIR")))
    try:
        files, out, megabytes, small = bench(cwd, SIZE // 8)
        run(sys.executable, "-c", "import json, sys; json.load(open(sys.argv[1]))", out)
        out.unlink()
        bench_script(files, out, megabytes, small)
        bench_groups(cwd, SIZE // 8, small)
        _, out, _, large = bench(cwd, SIZE)
        print(f"  memory at 8 x the size: {large[2] / small[2]:.2f} x")
        print("budget: >= 250 MB/s per core; memory independent of size")
        for path in cwd.iterdir():
            path.unlink()
        bench_many(cwd)
    finally:
        shutil.rmtree(cwd)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make_file(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
