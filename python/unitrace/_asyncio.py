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


def _end_with(task, span):
    """task: None = it was not made. A program's own factory may make tasks of any kind, and tasks
    that are done already."""
    def end(done):  # which is the task; naming it here would tie the two into a cycle
        if hasattr(done, "get_name"):
            span.metadata("task", done.get_name())  # which it may have got after it was made
        span.end()
    if not hasattr(task, "add_done_callback") or task.done():
        end(task)
    else:
        task.add_done_callback(end)


def _watch_all(loop):
    import asyncio
    for task in asyncio.all_tasks(loop):
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
    loop = _loop_of_first_task(BaseEventLoop)
    if loop:
        loop.call_soon(_watch_all, loop)
