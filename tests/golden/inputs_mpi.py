"""Inputs of `ranks`: three ranks whose waits can be worked out with pencil and paper.

Times below are in us. All tasks are in the domain "app": "step" around everything, "assemble" inside.

    rank 0   assemble 1000-3000, sends to 1 at 3000, Allreduce 3010-4010
             assemble 5000-6000, Ssend to 2 6000-8000, Bcast 8000-8500, Isend to 1 at 8600,
             Reduce (root) 8700-9000
    rank 1   assemble 1000-2000, Recv 2000-3015, Allreduce 3020-4010
             assemble 5000-8400, Bcast (root) 8400-8500, Irecv, Waitall 8505-8700, Reduce 8750-8760
    rank 2   assemble 1000-4000, Allreduce 4000-4010
             assemble 5000-7500, Recv 7500-7990, Bcast 8000-8500, Reduce 8900-8905

So rank 1 waits 1000 for 0 (Recv), ranks 0 and 1 wait 990 and 980 for 2 (Allreduce), rank 0 waits 1500
for 2 (Ssend), ranks 0 and 2 wait 400 each for 1 (Bcast), rank 1 waits 95 for 0 (Waitall), and rank 0
waits 200 for 2 (Reduce): 5565 in all, 3670 of them for rank 2, of which 3470 because of assemble.
"""
import json

from make_inputs import put

WORLD = {"comm": "MPI_COMM_WORLD"}
IDS = {"a": "0x1000000000000a", "b": "0x1000000000000b", "c": "0x1000000000000c"}


def span(name, begin, end, cat="MPI", **args):
    return {"ph": "X", "ts": begin, "dur": end - begin, "name": name, "cat": cat, **({"args": args} if args else {})}


def flow(kind, ts, which):
    more = {"bp": "e"} if kind == "f" else {}
    return {"ph": kind, "ts": ts, "name": "MPI message", "cat": "flow", "id": IDS[which],
            "id2": {"global": IDS[which]}, **more}


def task(name, begin, end):
    return span(name, begin, end, cat="app")


RANKS = [
    [task("step", 1000, 5000), task("assemble", 1000, 3000),
     span("MPI_Send", 3000, 3010, to=1, tag=7, bytes=800, **WORLD), flow("s", 3000, "a"),
     span("MPI_Allreduce", 3010, 4010, seq=0, bytes=8, received=8, **WORLD),
     task("step", 5000, 9000), task("assemble", 5000, 6000),
     span("MPI_Ssend", 6000, 8000, to=2, tag=7, bytes=1000000, **WORLD), flow("s", 6000, "b"),
     span("MPI_Bcast", 8000, 8500, seq=1, root=1, received=80, **WORLD),
     span("MPI_Isend", 8600, 8605, to=1, tag=8, bytes=16, **WORLD), flow("s", 8600, "c"),
     span("MPI_Reduce", 8700, 9000, seq=2, root=0, bytes=8, received=8, **WORLD)],
    [task("step", 1000, 5000), task("assemble", 1000, 2000),
     span("MPI_Recv", 2000, 3015, **{"from": 0}, tag=7, bytes=800, **WORLD), flow("f", 3014, "a"),
     span("MPI_Allreduce", 3020, 4010, seq=0, bytes=8, received=8, **WORLD),
     task("step", 5000, 9000), task("assemble", 5000, 8400),
     span("MPI_Bcast", 8400, 8500, seq=1, root=1, bytes=80, **WORLD),
     span("MPI_Irecv", 8500, 8505, **{"from": 0}, tag=8, **WORLD),
     span("MPI_Waitall", 8505, 8700, **{"from": 0}, tag=8, bytes=16, **WORLD), flow("f", 8699, "c"),
     span("MPI_Reduce", 8750, 8760, seq=2, root=0, bytes=8, **WORLD)],
    [task("step", 1000, 5000), task("assemble", 1000, 4000),
     span("MPI_Allreduce", 4000, 4010, seq=0, bytes=8, received=8, **WORLD),
     task("step", 5000, 9000), task("assemble", 5000, 7500),
     span("MPI_Recv", 7500, 7990, **{"from": 0}, tag=7, bytes=1000000, **WORLD), flow("f", 7989, "b"),
     span("MPI_Bcast", 8000, 8500, seq=1, root=1, received=80, **WORLD),
     span("MPI_Reduce", 8900, 8905, seq=2, root=0, bytes=8, **WORLD)],
]


def trace(rank, events, size=3):
    pid = 100 + rank
    events = [span("MPI_Init", 0, 1000, rank=rank, size=size), *events, span("MPI_Finalize", 9000, 9100)]
    return {"traceEvents": [{"pid": pid, "tid": pid, **e} for e in events],
            "otherData": {"tool": "unitrace", "version": "0.1.0", "clock": "CLOCK_MONOTONIC",
                          "processes": [{"pid": pid, "rank": rank, "name": "cg", "host": "node",
                                         "realtime_offset_ns": 1700000000000000000 + rank}]}}


def mpi():
    for rank, events in enumerate(RANKS):
        put(f"mpi/cg.{rank}.json", json.dumps(trace(rank, events)) + "\n")


def ping(rank, shown):
    """Every half second a message to rank 1 and one back, 3 us under way each; true times in us."""
    events = [span("MPI_Init", shown(0), shown(1000), rank=rank, size=2)]
    for i in range(1, 61):
        t, there, back = 500000 * i, f"0x1000000000{i:04x}", f"0x2000000000{i:04x}"
        send = "MPI_Send", "s", 10 if rank else 0, 1
        receive = "MPI_Recv", "f", 2 if rank else 5, 13 if not rank else 3
        for name, kind, begin, end in ((receive, send) if rank else (send, receive)):
            which = there if (name == "MPI_Send") != bool(rank) else back
            a, b = shown(t + begin), shown(t + begin + end if name == "MPI_Send" else t + end)
            who = {"to" if name == "MPI_Send" else "from": 1 - rank}
            more = {"bp": "e"} if kind == "f" else {}
            events += [span(name, a, b, tag=1, bytes=8, **who, **WORLD),
                       {"ph": kind, "ts": a if kind == "s" else b, "name": "MPI message", "cat": "flow", "id": which,
                        "id2": {"global": which}, **more}]
    return events + [span("MPI_Finalize", shown(31000000), shown(31000100))]


def hosts():
    """Two hosts: the clock of the second was started 1000 s before, gains 50 us in a second, and its wall
    clock is 5 ms ahead. The messages alone bring that down to 3 us."""
    def beta(t):
        return round(1000000000 + t + t * 50e-6, 3)

    for rank, shown in enumerate((lambda t: t, beta)):
        pid = 200 + rank
        process = {"pid": pid, "rank": rank, "name": "ping", "host": "alpha" if not rank else "beta",
                   "realtime_offset_ns": 1700000000000000000 - rank * (1000000000000 - 5000000)}
        put(f"hosts/ping.{rank}.json", json.dumps(
            {"traceEvents": [{"pid": pid, "tid": pid, **e} for e in ping(rank, shown)],
             "otherData": {"tool": "unitrace", "version": "0.1.0", "clock": "CLOCK_MONOTONIC",
                           "processes": [process]}}) + "\n")
    # the second once more, with what was measured: at the start and at the end, to within 20 us
    trace = {"traceEvents": [{"pid": 201, "tid": 201, **span("MPI_Init", 1000000000, 1000001000, rank=1, size=2)},
                             {"pid": 201, "tid": 201, **span("MPI_Finalize", 1031001550, 1031001650)}],
             "otherData": {"tool": "unitrace", "version": "0.1.0", "clock": "CLOCK_MONOTONIC", "processes": [
                 {**process, "host_clock": {"id": "beta's", "reference": "alpha's", "samples": [
                     [1000000000000, -1000000004000, 20000], [1031001550000, -1000001556000, 20000]]}}]}}
    put("hosts/measured.1.json", json.dumps(trace) + "\n")
    trace = {"traceEvents": [{"pid": 200, "tid": 200, **span("MPI_Init", 0, 1000, rank=0, size=2)},
                             {"pid": 200, "tid": 200, **span("MPI_Finalize", 31000000, 31000100)}],
             "otherData": {"tool": "unitrace", "version": "0.1.0", "clock": "CLOCK_MONOTONIC", "processes": [
                 {"pid": 200, "rank": 0, "name": "ping", "host": "alpha", "host_clock": {"id": "alpha's"},
                  "realtime_offset_ns": 1700000000000000000}]}}
    put("hosts/measured.0.json", json.dumps(trace) + "\n")


def python():
    """Functions of Python in place of tasks: rank 1 calls load() for 3000 us, rank 0 for 1000, most of it in a
    package; then both solve() for 500. Rank 0 waits 2000, while rank 1 is in load() and solve()."""
    def function(name, begin, end, file="/home/me/train.py"):
        return span(name, begin, end, cat="Python", file=file, line=1)

    for rank, load in enumerate((1000, 3000)):
        ready = 1000 + load
        put(f"python/train.{rank}.json", json.dumps(trace(rank, [
            function("<module>", 900, 8000), function("load", 1000, ready),
            function("read", 1100, ready - 100, "/usr/lib/python3/dist-packages/h5py/files.py"),
            function("solve", ready, ready + 500),
            span("MPI_Allreduce", ready + 500, 4510, seq=1, bytes=8, received=8, **WORLD)], 2)) + "\n")


SETS = [mpi, hosts, python]
