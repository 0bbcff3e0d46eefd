"""For test_read*.py: a small trace with everything in it."""

ODD = ["plain", "with, comma", "line\nbreak", "\u00dcn\u00efcode \u540d", "", "x" * 5000]


def events():
    """Spans that nest on two threads of two processes, async spans, instants, counters, an arrow."""
    made = []
    for pid in (10, 20):
        made.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": f"app {pid}"}})
        for tid in (pid, pid + 1):
            for i in range(300):
                made.append({"ph": "X", "pid": pid, "tid": tid, "ts": i * 10, "dur": 8.5,
                             "name": ODD[i % len(ODD)], "cat": "" if i % 3 else "cpu"})
                made.append({"ph": "X", "pid": pid, "tid": tid, "ts": i * 10 + 1, "dur": 2,
                             "name": "inner", "args": {"i": i}})
        made.append({"ph": "b", "pid": pid, "tid": pid, "ts": 5, "id": 1, "name": "long", "cat": "a"})
        made.append({"ph": "e", "pid": pid, "tid": pid, "ts": 500, "id": 1, "name": "long", "cat": "a"})
        made.append({"ph": "b", "pid": pid, "tid": pid, "ts": 7, "id": 2, "name": "never", "cat": "a"})
        made.append({"ph": "i", "pid": pid, "tid": pid, "ts": 42, "name": "now", "s": "t"})
        for i in range(5):
            made.append({"ph": "C", "pid": pid, "ts": i * 100, "name": "load", "args": {"value": i / 2}})
    made.append({"ph": "s", "pid": 10, "tid": 10, "ts": 1.5, "id": 7, "name": "go"})
    made.append({"ph": "f", "pid": 20, "tid": 20, "ts": 21.5, "id": 7, "name": "go", "bp": "e"})
    return made
