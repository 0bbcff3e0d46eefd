"""Runs a program in an interpreter that does not look where we put the package (-E, -I, -S).

    python -I .../unitrace/_run.py [-m module | -c text | script] [arguments]

The launcher writes such a command line for the user's `python -I script arguments`. What the
program sees of itself is what it would have seen: its arguments, sys.path, __main__, and in case of
an exception its traceback, without us at the top.
"""
import os
import sys

if sys.version_info < (3, 9):  # so this file must be readable for Python 2, too
    sys.stderr.write("unitrace: Python %d.%d is not profiled: 3.9 or newer is needed; the program "
                     "runs without\n" % sys.version_info[:2])
    sys.stderr.flush()
    with open("/proc/self/cmdline", "rb") as line:
        _words = line.read().split(b"\0")[:-1]
    # The word before the program's own is this file: without it the line is the user's.
    del _words[len(_words) - len(sys.argv)]
    os.execv(sys.executable, _words)

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_kept = None


def _begin():
    """Switches the profiler on; whatever goes wrong here, the program runs."""
    package = os.path.dirname(_FOLDER)
    sys.path += [package, os.path.join(package, "fallback")]
    try:
        from unitrace import _profile
        _profile.begin(below_us=True)
    except Exception as wrong:  # pylint: disable=broad-except
        sys.stderr.write("unitrace: Python is not profiled: %s\n" % wrong)


def _new_main():
    """The program has a __main__ of its own. Ours lives on in _kept: it holds these functions."""
    global _kept
    _kept = sys.modules["__main__"]
    module = type(sys)("__main__")
    module.__builtins__ = sys.modules["builtins"]
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    sys.modules["__main__"] = module


def _as_main(name, **how):
    import runpy
    runpy._run_module_as_main(name, **how)  # pylint: disable=protected-access


def _text(text, file):
    """As the interpreter does it: what was printed comes before a traceback."""
    try:
        exec(compile(text, file, "exec", dont_inherit=True), sys.modules["__main__"].__dict__)
    finally:
        for stream in (sys.stderr, sys.stdout):
            if stream is not None:
                stream.flush()


def _script(file):
    import io
    from importlib.machinery import SourceFileLoader
    sys.modules["__main__"].__dict__.update(
        __file__=file, __cached__=None, __loader__=SourceFileLoader("__main__", file))
    with io.open_code(file) as source:
        text = source.read()
    _text(text, file)


def _run(words, safe):
    """words: [-m|-c, what, ...] or [script, ...]; safe: the program's folder is not searched."""
    if words[0] in ("-m", "-c"):
        how, what = words.pop(0), words.pop(0)
        sys.argv = [how] + words
        if not safe:
            sys.path.insert(0, "" if how == "-c" else os.getcwd())
        if how == "-m":
            return _as_main(what)
        return _text(what, "<string>")
    sys.argv = list(words)
    if os.path.isdir(words[0]) or words[0].endswith((".pyz", ".zip")):
        sys.path.insert(0, words[0])
        return _as_main("__main__", alter_argv=False)
    if not safe:
        sys.path.insert(0, os.path.dirname(os.path.realpath(words[0])))
    return _script(os.path.abspath(words[0]))


def _without_us(traceback):
    while traceback and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    return traceback


def run(words, begin=None):
    """In place of the module that is __main__ now: [-m module | -c text | script] and arguments."""
    safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    if not safe:
        del sys.path[0]  # that of the module
    _new_main()
    if begin:
        begin()
    try:
        _run(words, safe)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as wrong:  # pylint: disable=broad-except
        wrong.__traceback__ = _without_us(wrong.__traceback__)
        sys.excepthook(type(wrong), wrong, wrong.__traceback__)
        sys.exit(1)


if __name__ == "__main__":
    run(sys.argv[1:], _begin)
