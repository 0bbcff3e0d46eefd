"""pytest: every test is a range in the timeline; a fixture profiles the tests that ask for it.

    def test_something(unitrace_profile): ...
    python -m unitrace -p -m pytest test_something.py

pytest finds the plugin by itself. It does nothing when unitrace does not record the run.
"""
import pytest

from . import _marks
from ._profile import Profiler

DOMAIN = "pytest"


@pytest.fixture
def unitrace_profile():
    """Profiles the test function, and with -l its lines, under `python -m unitrace -p`."""
    with Profiler() as profiler:
        yield profiler


@pytest.fixture
def tracy_profile(unitrace_profile):  # pylint: disable=redefined-outer-name
    """The name that Tenstorrent's profiler has for unitrace_profile."""
    return unitrace_profile


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    with _marks.range(item.nodeid, DOMAIN):
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
