"""Marks: ranges, frames, counters, messages and what is said about them.

Every mark is an ITT mark, so that marks of Python, of C++ and of libraries look alike. Nothing is
recorded, and next to nothing happens, in a program that unitrace does not record.
"""
import functools
import itertools

from ._native import core

DOMAIN = "python"  # of marks that name no domain

_domains = {}
_handles = {}
_counters = {}
_numbers = itertools.count(1)  # of ids
_CO_GENERATOR, _CO_COROUTINE = 0x20, 0x80  # as in inspect, which takes long to import
_MOST_NAMES = 65536  # texts that differ every time must not fill the memory


def domain(name):
    """The handle of a domain: 0 = nothing is recorded."""
    if name not in _domains:
        _domains[name] = core.domain(name)
    return _domains[name]


def handle(name):
    """The handle of a text."""
    found = _handles.get(name)
    if found is None:
        found = core.handle(name)
        if len(_handles) < _MOST_NAMES:
            _handles[name] = found
    return found


def next_id():
    """A number that no other mark of this process has."""
    return next(_numbers)


def around(make, function):
    """function with the context manager make() around each run, also of a coroutine or generator."""
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if flags & _CO_COROUTINE:
        async def wrapped(*args, **kwargs):
            with make():
                return await function(*args, **kwargs)
    elif flags & _CO_GENERATOR:
        def wrapped(*args, **kwargs):
            with make():
                return (yield from function(*args, **kwargs))
    else:
        def wrapped(*args, **kwargs):
            with make():
                return function(*args, **kwargs)
    return functools.wraps(function)(wrapped)


class range:  # pylint: disable=redefined-builtin
    """A named stretch of the program on one thread: context manager, decorator or begin()/end().

        with unitrace.range("step", batch=32):
            ...

    Further arguments become arguments of the span in the timeline.
    """

    __slots__ = ("_domain", "_name", "_args")

    def __init__(self, name, domain=DOMAIN, **args):  # pylint: disable=redefined-outer-name
        self._domain = globals()["domain"](domain)
        self._name = handle(str(name)) if self._domain else 0
        self._args = args

    def begin(self):
        if self._domain:
            core.task_begin(self._domain, self._name, 0, 0)
            for key, value in self._args.items():
                core.metadata(self._domain, 0, handle(key), _plain(value))

    def end(self):
        if self._domain:
            core.task_end(self._domain)

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *_):
        self.end()

    def __call__(self, function):
        return around(lambda: self, function)


class overlapped:
    """A stretch that need not nest with others: it may end on another thread or after its parent."""

    __slots__ = ("_domain", "_name", "_id")

    def __init__(self, name, domain=DOMAIN):  # pylint: disable=redefined-outer-name
        self._domain = globals()["domain"](domain)
        self._name = handle(str(name)) if self._domain else 0
        self._id = 0

    def begin(self):
        if self._domain:
            self._id = next_id()
            core.overlapped_begin(self._domain, self._name, self._id, 0)

    def metadata(self, key, value):
        if self._domain and self._id:
            core.metadata(self._domain, self._id, handle(key), _plain(value))

    def end(self):
        if self._domain and self._id:
            core.overlapped_end(self._domain, self._id)
            self._id = 0

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *_):
        self.end()


class frame:
    """One turn of something that repeats, such as a training step; frames have a row of their own.

        with unitrace.frame("training"):
            ...
    """

    __slots__ = ("_domain", "_id")

    def __init__(self, name=DOMAIN):
        self._domain = domain(name)
        self._id = 0

    def begin(self):
        if self._domain:
            self._id = next_id()
            core.frame_begin(self._domain, self._id)

    def end(self):
        if self._domain and self._id:
            core.frame_end(self._domain, self._id)
            self._id = 0

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *_):
        self.end()


def counter(name, value, domain=DOMAIN):  # pylint: disable=redefined-outer-name
    """Sets a counter to a number."""
    key = (name, domain)
    if key not in _counters:
        _counters[key] = core.counter(str(name), domain)
    core.counter_set(_counters[key], value)


def marker(name, domain=DOMAIN, process=False):  # pylint: disable=redefined-outer-name
    """A moment of this thread, or of the whole process."""
    number = globals()["domain"](domain)
    if number:
        core.marker(number, handle(str(name)), process)


def message(text):
    """A line of text at this moment."""
    marker(text, "message", True)


def signpost(header, message=None):  # pylint: disable=redefined-outer-name
    """A message under the name that Tenstorrent's profiler has for it."""
    globals()["message"](header if message is None else f"{header}: {message}")


def metadata(key, value, domain=DOMAIN):  # pylint: disable=redefined-outer-name
    """Says something about the innermost span that is open on this thread."""
    number = globals()["domain"](domain)
    if number:
        core.metadata(number, 0, handle(str(key)), _plain(value))


def append_meta_data(text):
    """What the op that runs shows in its column METADATA (Tenstorrent's profiler)."""
    metadata("METADATA", text)


def _plain(value):
    return value if isinstance(value, (int, float, str)) else str(value)


def thread_name(name):
    """How the row of this thread is called."""
    core.thread_name(str(name))


def recording():
    """Is this process recorded at all?"""
    return core.joined()


def pause():
    """Stops recording until resume(); see --start-paused."""
    core.pause()


def resume():
    """Records from here on."""
    core.resume()


def detach():
    """Records no more, for ever."""
    core.detach()
