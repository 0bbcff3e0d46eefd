"""Inputs of `categorize` and `summary`: what -h, -d and -r print in two ranks, and schemas."""
from make_inputs import put

STARS = "*" * 60 + "\n"
TOTALS = """
=== {title} ===

             Total Execution Time (ns):            {run}
    Total {what} Time for L0 backend (ns):             {spent}

== L0 Backend ==

"""


def table(title, rows):
    width = max(len(name) for name in [title, *(row[0] for row in rows)])
    total = sum(time for _, _, time in rows)
    yield (f"{title:>{width}},        Calls,            Time (ns),     Time (%),         Average (ns),"
           "             Min (ns),             Max (ns)\n")
    for name, calls, time in rows:
        each = f"{time // calls:20}"
        yield f"{name:>{width}}, {calls:12}, {time:20}, {100 * time / total:12.6f}, {each}, {each}, {each}\n"
    yield "\n\n"


def report(rank, k):
    kernels = [('"gemm_kernel"', 4, 400 * k), ('"xetla::hgemm<float, 8>"', 2, 150 * k),
               ('"zeCommandListAppendMemoryCopy(M2D)"', 3, 100 * k)]
    if rank == 0:
        kernels.append(('"strange<int, int>"', 1, 50))
    yield TOTALS.format(title="API Timing Summary", what="API", run=1000 * k, spent=400)
    yield from table("Function", [("zeCommandQueueSynchronize", 4, 300), ("zeInit", 1, 100)])
    yield TOTALS.format(title="Device Timing Summary", what="Device", run=1000 * k, spent=700 * k)
    yield from table("Kernel", kernels)
    for _ in range(rank + 1):  # a release of the original prints this twice
        yield f"{STARS}*  Process ID : {100 + rank} | Rank ID : {rank}\n{STARS}"
        yield from table("Function", [("oneCCL::allreduce", 3, 60 * k),
                                      ("oneCCL::ALLREDUCE_SMALL", 3, 30 * k)])


def reports():
    for rank in range(2):
        put(f"reports/output.{rank}", "".join(report(rank, rank + 1)))
    put("reports/notes.txt", "a text that is no report\n")
    put("reports/plain.ini", "[matmul if starts with]\ngemm\n")
    put("reports/broken.ini", "[matmul if starts with]\ngemm\n[matmul if starts with]\nmm\n")
    put("reports/kernels.ini", """# kinds of kernels
[total if equals to]
L0_backend

[wallclock if equals to]
Wallclock

[matmul if equals to]
gemm_kernel

[matmul.fast if starts with]
xetla::hgemm < float

[mem_op if starts with]
zeCommandListAppendMemory

[allreduce if ends with]
ALLREDUCE_SMALL

[rest if contains]
strange
""")


SETS = [reports]
