"""For test_read.py: reading in any CPython, with nothing but what it brings; references come back."""
import concurrent.futures
import gc
import sys

sys.path.insert(0, sys.argv[1])
import unitrace  # noqa: E402

path = sys.argv[2]


def ask():
    with unitrace.open(path) as trace:
        rows = trace.slices().fetchall()
        assert len(rows) == 2406, len(rows)
        assert trace.query("select count(*) from slice").fetchall() == [(2406,)]
        stats = {row[0]: row[1] for row in trace.stats()}
        assert stats["inner"] == 1200, stats
        iterator = iter(trace.slices())
        next(iterator)  # given up half way
        trace.query("select * from slice").columns  # never read
        trace.stats().__arrow_c_stream__()  # a capsule that nobody takes
        assert trace.counters().fetchall() and trace.flows().fetchall()
        trace.ops(), trace.device().fetchall(), trace.kernels().fetchall()
    try:
        trace.stats().fetchall()
        raise AssertionError("closed traces answer")
    except unitrace.Error:
        pass
    for wrong in (lambda: unitrace.open("/nowhere"), lambda: unitrace.open(path).query("nonsense")):
        try:
            wrong()
            raise AssertionError("a mistake that nobody tells")
        except unitrace.Error:
            pass


def count():
    """References that a debug build knows of, else objects and memory blocks."""
    gc.collect()
    return getattr(sys, "gettotalrefcount", sys.getallocatedblocks)()


for _ in range(3):
    ask()
growth = []
for _ in range(3):
    before = count()
    for _ in range(10):
        ask()
    growth.append(count() - before)
# ten rounds each; one reference to each row would be 24,000, and caches of the interpreter fill once
assert min(growth) < 100, growth
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for done in [pool.submit(ask) for _ in range(8)]:
        done.result()
print("%d.%d.%d%s" % (*sys.version_info[:3], "-debug" if hasattr(sys, "gettotalrefcount") else ""))
