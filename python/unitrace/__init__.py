"""unitrace from Python: profile a program, mark what it does.

    python -m unitrace script.py            every function, with file and line
    python -m unitrace -p script.py         only between Profiler().enable() and .disable()

    import unitrace
    with unitrace.range("step"):
        ...
    unitrace.counter("loss", 0.3)

PYTEST_DONT_REWRITE: pytest would rather import plugins itself and warns that we are there already.
"""
from ._marks import (append_meta_data, counter, detach, frame, marker, message, metadata,
                     overlapped, pause, range, recording, resume, signpost, thread_name)
from ._profile import Profiler

task = range
__all__ = ["Profiler", "append_meta_data", "counter", "detach", "frame", "marker", "message",
           "metadata", "overlapped", "pause", "range", "recording", "resume", "signpost", "task",
           "thread_name"]
__version__ = "0.1.0"
