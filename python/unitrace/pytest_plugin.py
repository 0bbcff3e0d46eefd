"""pytest: every test is a range in the timeline; a fixture profiles the tests that ask for it.

    def test_something(unitrace_profile): ...
    python -m unitrace -p -m pytest test_something.py

With --test-traces each test also gets a trace of its own: the launcher cuts it out, by the argument
"trace" of the test's range. pytest finds the plugin by itself. It does nothing when unitrace does
not record the run.
"""
import functools
import hashlib
import inspect
import re

import pytest

from . import _marks, _settings
from ._profile import Profiler

DOMAIN = "pytest"
_MOST = 120  # characters of a file's name


@pytest.fixture
def unitrace_profile(request):
    """Profiles the test function, and with -l its lines, under `python -m unitrace -p`."""
    profiler = Profiler()
    if isinstance(request.node, pytest.Function):
        # Not from here on: what pytest does before it calls the test is not the test's.
        request.node.obj = _profiled(profiler, request.node.obj)
    else:
        profiler.enable()
    yield profiler
    profiler.disable()


def _profiled(profiler, test):
    """The test function, profiled from its call to its return."""
    def call(*args, **kwargs):
        __tracebackhide__ = True  # pylint: disable=unused-variable
        profiler.enable()
        try:
            return test(*args, **kwargs)
        finally:
            profiler.disable()

    async def run(*args, **kwargs):
        __tracebackhide__ = True  # pylint: disable=unused-variable
        with profiler:
            return await test(*args, **kwargs)

    return functools.wraps(test)(run if inspect.iscoroutinefunction(test) else call)


@pytest.fixture
def tracy_profile(unitrace_profile):  # pylint: disable=redefined-outer-name
    """The name that Tenstorrent's profiler has for unitrace_profile."""
    return unitrace_profile


def trace_name(nodeid):
    """A name for the file of a test: fit for any file system, the same in every run.

    tests/test_a.py::test_b is tests-test_a.py-test_b; what has other letters, parameters for
    example, or is very long gets a few digits that tell it from its like.
    """
    plain = nodeid.replace("::", "-").replace("/", "-")
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", plain)
    if name != plain or len(name) > _MOST:
        digits = hashlib.sha256(nodeid.encode("utf-8", "backslashreplace")).hexdigest()[:8]
        name = f"{name[:_MOST].rstrip('_')}-{digits}"
    return name.lstrip(".-") or "test"


_traces = None  # is a trace for each test wanted? None = not looked yet


def _file(nodeid):
    global _traces
    if _traces is None:
        settings = _settings.read()
        _traces = bool(settings and settings.tests)
    return {"trace": trace_name(nodeid)} if _traces else {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    with _marks.range(item.nodeid, DOMAIN, **_file(item.nodeid)):
        yield


def _stage(name):
    @pytest.hookimpl(hookwrapper=True)
    def stage(item):  # pylint: disable=unused-argument
        with _marks.range(name, DOMAIN):
            yield
    return stage


pytest_runtest_setup = _stage("setup")
pytest_runtest_call = _stage("call")
pytest_runtest_teardown = _stage("teardown")
