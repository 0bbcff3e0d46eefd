"""Lets unitrace into an interpreter that it has started.

The launcher puts this folder in front of PYTHONPATH; site imports the module when the interpreter
starts. It takes itself out of the way and runs the sitecustomize that would have been found without
it. Then, behind everything else, the program finds `unitrace` and the packages that it stands in
for; and if the session asks for Python, the profiler is switched on. Without a sitecustomize of the
user's it ends as the import of a missing module, which is what site expects. Nothing that goes
wrong here may keep the program from running.
"""
import os
import sys


def _leave_the_path():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if not p or os.path.abspath(p) != here]
    sys.path_importer_cache.pop(here, None)
    return os.path.dirname(here)


def _is_profiled():
    session = os.environ.get("UT_SESSION")
    return bool(session) and os.path.exists(os.path.join(session, "python"))


def _too_old():
    """Said by interpreters that we know nothing about; their program runs on, unrecorded."""
    if sys.version_info >= (3, 9):
        return False
    if _is_profiled():
        sys.stderr.write("unitrace: Python %d.%d is not profiled: 3.9 or newer is needed; the "
                         "program runs without\n" % sys.version_info[:2])
    return True


def _load_in_python_2():
    import imp  # pylint: disable=deprecated-module,import-error
    _too_old()
    imp.load_module("sitecustomize", *imp.find_module("sitecustomize"))


def _start(package):
    # Behind everything else: a package that the user has installed comes first.
    sys.path += [package, os.path.join(package, "fallback")]
    if _too_old() or not _is_profiled():
        return
    try:
        from unitrace import _profile
        _profile.begin()
    except Exception as wrong:  # pylint: disable=broad-except
        sys.stderr.write("unitrace: Python is not profiled: %s\n" % wrong)


def _load(package):
    # What importlib gives other names to, which would have to be read from files first.
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder
    spec = PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        _start(package)
        raise ModuleNotFoundError("No module named 'sitecustomize'", name="sitecustomize")
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    try:
        spec.loader.exec_module(module)
    finally:
        _start(package)


if sys.version_info < (3,):
    _leave_the_path()
    _load_in_python_2()
else:
    _load(_leave_the_path())
