"""Profiling on and off: the whole program (begin) or parts of it (Profiler)."""
import functools
import os
import sys

from . import _asyncio, _settings
from ._native import core

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_settings_now = None  # of this process; False = there are none


def _current():
    """The settings, once the C half has taken them; None when nothing is to be profiled."""
    global _settings_now
    if _settings_now is None:
        s = _settings.read()
        if s and core.configure(_HERE, s.files, s.not_files, s.modules, s.not_modules, s.depth,
                                s.min_ns):
            os.register_at_fork(after_in_child=core.forked)
            core.on_task(_asyncio.install)
        else:
            s = None
        _settings_now = s or False
    return _settings_now or None


_hooked = None  # how threads are told


def _hook_threads(lines):
    """Lines and C calls up to 3.11: each new thread has to switch its own profiling on."""
    global _hooked
    import threading
    _hooked = threading.settrace if lines else threading.setprofile
    _hooked(core.thread_hook)


def _start(settings, lines, whole):
    if core.start(lines, settings.c_calls, whole):
        _hook_threads(lines)


def _stop():
    global _hooked
    core.stop()
    if _hooked:
        _hooked(None)
    _hooked = None


def begin(below_us=False):
    """Called when the interpreter starts (inject/sitecustomize.py), or by _run.py, below which the
    program runs."""
    if core.__name__.endswith("_nocore"):
        if os.environ.get("UT_SESSION"):
            sys.stderr.write("unitrace: Python %d.%d is not profiled: the package is not built for "
                             "it; try: pip install SOURCE/python\n" % sys.version_info[:2])
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
    `unitrace --python-partial`, unless somebody else traces or profiles already. Also a context
    manager and a decorator; what is inside another one belongs to that.
    """

    _open = 0  # how many are enabled

    def __init__(self):
        settings = _current()
        self._settings = settings if settings and settings.partial else None
        if self._settings and not Profiler._open and (sys.gettrace() or sys.getprofile()):
            self._settings = None
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
        @functools.wraps(function)
        def profiled(*args, **kwargs):
            with Profiler():
                return function(*args, **kwargs)
        return profiled
