"""Tasks of asyncio as overlapping spans, from their creation to their end.

The C half calls install() when it meets the first call of BaseEventLoop.create_task: a program that
does not use asyncio is not touched.
"""
import sys

from . import _marks
from ._native import core

DOMAIN = "asyncio"


def _begin(coroutine):
    name = getattr(coroutine, "__qualname__", None) or type(coroutine).__name__
    span = _marks.overlapped(name, DOMAIN)
    span.begin()
    return span


class _End:  # pylint: disable=too-few-public-methods
    """Ends a span when its task is done. The loop does not see it: core.watch_calls()."""
    __slots__ = ("span",)

    def __init__(self, span):
        self.span = span

    def __call__(self, done):  # the task; keeping it here would tie the two into a cycle
        if hasattr(done, "get_name"):
            self.span.metadata("task", done.get_name())  # which it may have got after it was made
        self.span.end()


def _end_with(task, span):
    """task: None = it was not made. A program's own factory may make tasks of any kind, and tasks
    that are done already."""
    if not hasattr(task, "add_done_callback") or task.done():
        _End(span)(task)
    else:
        task.add_done_callback(_End(span))


class _WatchAll:  # pylint: disable=too-few-public-methods
    """What a loop takes for a handle: the first turn, none of which is the program's."""
    _cancelled = False

    def __init__(self, loop):
        self.loop = loop

    def _run(self):
        import asyncio
        for task in asyncio.all_tasks(self.loop):
            _end_with(task, _begin(task.get_coro()))


def _loop_of_first_task(base):
    """The loop whose create_task() runs, or is about to."""
    import asyncio
    caller = sys._getframe(2).f_locals.get("self")  # pylint: disable=protected-access
    policy = getattr(asyncio.events, "_event_loop_policy", None)
    candidates = (caller, asyncio._get_running_loop(),
                  getattr(getattr(policy, "_local", None), "_loop", None))
    return next((c for c in candidates if isinstance(c, base)), None)


def install():
    """Called when the first create_task() begins: its task is met when the loop turns."""
    from asyncio.base_events import BaseEventLoop
    BaseEventLoop.create_task = core.watch_tasks(BaseEventLoop.create_task, _begin, _end_with)
    BaseEventLoop.call_soon = core.watch_calls(BaseEventLoop.call_soon, _End)
    loop = _loop_of_first_task(BaseEventLoop)
    if hasattr(loop, "_ready"):
        loop._ready.append(_WatchAll(loop))  # pylint: disable=protected-access
