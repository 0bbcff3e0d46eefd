"""Profiling on and off: the whole program (begin) or parts of it (Profiler)."""
import functools
import os
import sys

from . import _asyncio, _marks, _settings
from ._native import core

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_settings_now = None  # of this process; False = there are none


def _current():
    """The settings, once the C half has taken them; None when nothing is to be profiled."""
    global _settings_now
    if _settings_now is None:
        s = _settings.read()
        if s and core.configure(_HERE, s.files, s.not_files, s.modules, s.not_modules, s.imports,
                                s.depth, s.min_ns):
            os.register_at_fork(after_in_child=core.forked)
            core.on_task(_asyncio.install)
        else:
            s = None
        _settings_now = s or False
    return _settings_now or None


def _say(text):
    if sys.stderr:
        sys.stderr.write(f"unitrace: {text}\n")


_unhook = None  # gives threading its own hook back


def _hook_threads(lines):
    """Lines and C calls up to 3.11: each new thread has to switch its own profiling on."""
    global _unhook
    import threading
    if lines:
        _unhook = functools.partial(threading.settrace, threading._trace_hook)
        threading.settrace(core.thread_hook)
    else:
        _unhook = functools.partial(threading.setprofile, threading._profile_hook)
        threading.setprofile(core.thread_hook)


def _take_only_what_is_free(lines, c_calls):
    """Up to 3.11 the interpreter has one place each for who wants lines and who wants C calls."""
    taken = []
    if sys.version_info < (3, 12):
        taken = [name for name, wanted, held in (("lines", lines, sys.gettrace()),
                                                 ("C calls", c_calls, sys.getprofile()))
                 if wanted and held]
    if taken:
        _say(f"no {' and no '.join(taken)} here: another tool takes them; functions are recorded")
    return lines and "lines" not in taken, c_calls and "C calls" not in taken


def _start(settings, lines, whole):
    lines, c_calls = _take_only_what_is_free(lines, settings.c_calls)
    if core.hooks_threads(lines, c_calls):
        _hook_threads(lines)
    try:
        core.start(lines, c_calls, whole)
    except RuntimeError as wrong:
        _say(f"Python is not profiled: {wrong}")


def _stop():
    global _unhook
    core.stop()
    if _unhook:
        _unhook()
    _unhook = None


def begin(below_us=False):
    """Called when the interpreter starts (inject/sitecustomize.py), or by _run.py, below which the
    program runs."""
    if core.__name__.endswith("_nocore"):
        return
    settings = _current()
    if settings is None or settings.partial:
        return
    import atexit
    atexit.register(core.stop)
    _start(settings, False, not below_us)


class Profiler:
    """Profiles from enable() to disable(), on all threads.

    It has an effect in programs that run under `python -m unitrace -p` or
    `unitrace --python-partial`. Also a context manager and a decorator; what is inside another one
    belongs to that.
    """

    _open = 0  # how many are enabled

    def __init__(self):
        settings = _current()
        self._settings = settings if settings and settings.partial else None
        self._enabled = False

    def enable(self):
        if self._settings is None or self._enabled:
            return
        self._enabled = True
        Profiler._open += 1
        if Profiler._open == 1:
            _start(self._settings, self._settings.lines, False)

    def disable(self):
        if not self._enabled:
            return
        self._enabled = False
        Profiler._open -= 1
        if not Profiler._open:
            _stop()

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *_):
        self.disable()

    def __call__(self, function):
        return _marks.around(Profiler, function)
