"""What merging costs: against cat, which only copies, and against a script that loads and dumps.

8 files of BENCH_MERGE_MB megabytes each (64 by default; 250 is the size of the budget). MB/s are
megabytes of input per second of CPU time of the whole command, which is "per core"; they do not
depend on how many cores there are or who else uses them, much. Memory is the peak of the process,
taken at two sizes.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
UNITRACE = BUILD / "bin/unitrace"
FILES = 8
SIZE = int(os.environ.get("BENCH_MERGE_MB", 64)) * 1000 * 1000

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


def events(rng):
    """Lines of events as profilers write them, about 220 bytes each."""
    ts, i = 1000.0, 0
    while True:
        ts += rng.random() * 20
        pid = rng.randrange(4)
        i += 1
        if i % 5 == 0:
            yield (f'{{"ph":"{"sf"[i % 2]}","id":{i},"name":"ac2g","cat":"ac2g","pid":{pid},'
                   f'"tid":{pid},"ts":{ts:.3f}}}')
            continue
        yield (f'{{"ph":"X","name":"{NAMES[i % 4]}","cat":"cpu_op","pid":{pid},"tid":{i % 7},'
               f'"ts":{ts:.3f},"dur":{rng.random() * 100:.3f},"args":{{"External id":{i},'
               f'"Input Dims":[[{i % 64},3,244,244],[5,3,3,3],[5]],"grid":[{i % 8192},1,1]}}}}')


def make_file(path, size, seed):
    source, n = events(random.Random(seed)), 0
    with open(path, "w") as f:
        n += f.write(f'{{"schemaVersion":1,"baseTimeNanoseconds":{1700000000000000000 + seed},'
                     '"traceEvents":[\n')
        n += f.write(next(source))
        while n < size:
            n += f.write(",\n" + next(source))
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


def bench(cwd, size):
    files = [cwd / f"rank{n}.json" for n in range(FILES)]
    for n, path in enumerate(files):
        make_file(path, size, n)
    megabytes = sum(p.stat().st_size for p in files) / 1e6
    out = cwd / "all.json"
    with open(out, "w") as f:
        cat = run("cat", *files, stdout=f)
    out.unlink()
    ours = run(UNITRACE, "merge", "-o", out, *files)
    print(f"{FILES} files, {megabytes:.0f} MB")
    print(f"  merge {megabytes / ours[0]:7.0f} MB/s per core  {ours[1]:6.2f} s  "
          f"{ours[2]:6.0f} MB peak   {ours[0] / max(cat[0], 0.01):5.1f} x cat's CPU time")
    return files, out, megabytes, ours


def main():
    cwd = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-bench-", dir=os.environ.get("BENCH_DIR")))
    try:
        files, out, megabytes, small = bench(cwd, SIZE // 8)
        # Not here: a child's peak starts from what its parent held.
        run(sys.executable, "-c", "import json, sys; json.load(open(sys.argv[1]))", out)
        out.unlink()
        script = run(sys.executable, "-c", SCRIPT, out, *files)
        print(f"  python {megabytes / script[0]:6.0f} MB/s per core  {script[1]:6.2f} s  "
              f"{script[2]:6.0f} MB peak   merge is {script[0] / small[0]:.1f} x as fast")
        out.unlink()
        _, _, _, large = bench(cwd, SIZE)
        print(f"  memory at 8 x the size: {large[2] / small[2]:.2f} x")
        print("budget: >= 250 MB/s per core; memory independent of size")
    finally:
        shutil.rmtree(cwd)


if __name__ == "__main__":
    main()
