"""Tasks of asyncio as overlapping spans, from their creation to their end.

The C half calls install() when it meets the first call of BaseEventLoop.create_task: a program that
does not use asyncio is not touched.
"""
import sys

from . import _marks

DOMAIN = "asyncio"


def _watch(task):
    coroutine = task.get_coro()
    name = getattr(coroutine, "__qualname__", None) or type(coroutine).__name__
    span = _marks.overlapped(name, DOMAIN)
    span.begin()

    def end(_):
        span.metadata("task", task.get_name())  # which it may have got after it was made
        span.end()
    task.add_done_callback(end)


def _watch_all(loop):
    import asyncio
    for task in asyncio.all_tasks(loop):
        _watch(task)


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
    original = BaseEventLoop.create_task

    def create_task(self, *args, **kwargs):
        task = original(self, *args, **kwargs)
        _watch(task)
        return task
    create_task.__doc__, create_task.__wrapped__ = original.__doc__, original
    BaseEventLoop.create_task = create_task
    loop = _loop_of_first_task(BaseEventLoop)
    if loop:
        loop.call_soon(_watch_all, loop)
