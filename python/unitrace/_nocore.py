"""Stands in for the C half where there is none for this interpreter: records nothing, but switches
the collection on and off where the launcher has let the program do so."""
import os
import sys


def _is_recorded():
    return os.path.isdir(os.environ.get("UT_SESSION", ""))


def explain():
    """Under unitrace somebody waits for records: say why there are none."""
    if _is_recorded() and sys.stderr:
        sys.stderr.write("unitrace: functions and marks of Python %d.%d are not recorded: the "
                         "package is not built for it; pip install SOURCE does that\n"
                         % sys.version_info[:2])


def joined():
    return False


rejoin = joined


def configure(*_):
    return False


hooks_threads = configure


def domain(_):
    return 0


handle = event = domain


def counter(*_):
    return 0


def _nothing(*_):
    return None


start = stop = on_task = forked = thread_hook = thread_name = _nothing
task_begin = task_end = overlapped_begin = overlapped_end = id_create = id_destroy = _nothing
frame_begin = frame_end = event_start = event_end = marker = counter_set = metadata = _nothing
detach = _nothing


def _switch(value):
    """The collector, if it is in the program from the start (--start-paused), sees the variable."""
    if _is_recorded():
        os.environ["PTI_ENABLE_COLLECTION"] = value


def pause():
    _switch("0")


def resume():
    _switch("1")
