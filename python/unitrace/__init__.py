"""unitrace from Python: profile a program, mark what it does.

    python -m unitrace script.py            every function, with file and line
    python -m unitrace -p script.py         only between Profiler().enable() and .disable()

    import unitrace
    with unitrace.range("step"):
        ...
    unitrace.counter("loss", 0.3)

    trace = unitrace.open("run.json")       what was recorded, as tables
    trace.stats().to_pandas()

    %load_ext unitrace                      in a notebook: %%unitrace records a cell

PYTEST_DONT_REWRITE: pytest would rather import plugins itself and warns that we are there already.
"""
from ._marks import (append_meta_data, counter, detach, frame, marker, message, metadata,
                     overlapped, pause, range, recording, resume, signpost, thread_name)
from ._profile import Profiler

task = range
__all__ = ["Error", "Interrupted", "Profiler", "Table", "Trace", "append_meta_data", "counter",
           "detach", "frame", "marker", "message", "metadata", "open", "overlapped", "pause", "range",
           "recording", "resume", "signpost", "task", "thread_name"]
__version__ = "0.1.0"

# Reading is for those who ask for it: programs that are recorded import this package, too.
_READING = {"open": ("_read", "open_traces"), "Trace": ("_read", "Trace"), "Table": ("_read", "Table"),
            "Error": ("_library", "Error"), "Interrupted": ("_library", "Interrupted"),
            "load_ipython_extension": ("_notebook", "load_ipython_extension"),
            "unload_ipython_extension": ("_notebook", "unload_ipython_extension")}


def __getattr__(name):
    if name not in _READING:
        raise AttributeError(f"module 'unitrace' has no attribute {name!r}")
    from importlib import import_module
    module, what = _READING[name]
    return getattr(import_module("." + module, __name__), what)
