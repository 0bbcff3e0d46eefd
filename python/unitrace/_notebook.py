"""Notebooks: the viewer in a cell, and %%unitrace, which records one.

    %load_ext unitrace

    %%unitrace --min-duration 100us
    train(model)

What is shown is plain HTML, so it looks alike in JupyterLab, classic notebooks and VS Code. The
viewer is in a frame of its own that may run its script and nothing else: no network, no access to
the notebook.

A cell runs in the kernel, with the notebook's variables. The kernel was not started by unitrace, so
what is recorded is what the package itself can see: Python's functions, marks, and whatever speaks
ITT (PyTorch, oneDNN, ...). With -n the cell is a program of its own, below the launcher: without the
notebook's variables, but with every option of `unitrace record`, devices included.
"""
import ast
import atexit
import html
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from . import __main__ as _command
from . import _library, _marks, _native, _profile, _read

_ROWS = 12  # of the table below a cell
_SLICES = 200_000  # that a page in a notebook holds
_PATIENCE = 60  # s for the launcher to begin or to end


class Frame:
    """A page in a frame: what a notebook shows of a trace."""

    def __init__(self, page, height, text):
        self._page, self._height, self._text = page, height, text

    def _repr_html_(self):
        page = self._page.replace("&", "&amp;").replace('"', "&quot;")
        return (f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{page}" title="unitrace" '
                f'style="width:100%;height:{int(self._height)}px;border:1px solid #8884"></iframe>')

    def __repr__(self):
        return self._text


class Recorded:
    """What %%unitrace gives: the trace of a cell, shown as a table and a timeline."""

    def __init__(self, trace, height=480):
        self.trace, self._height = trace, height

    def stats(self):
        return self.trace.stats(sort="self", limit=_ROWS)

    def _repr_html_(self):
        return _times(self.stats()) + self.trace.show(height=self._height)._repr_html_()

    def __repr__(self):
        return repr(self.stats())


def _times(table):
    """Statistics for people: names, counts, and times in ms."""
    shown = [("name", "name"), ("count", "count"), ("total", "total_ns"), ("self", "self_ns"),
             ("mean", "mean_ns"), ("max", "max_ns")]
    rows = [dict(zip(table.columns, row)) for row in table]

    def cell(row, key):
        value = row.get(key)
        if value is None:
            return "<td></td>"
        if key.endswith("_ns"):
            return f'<td style="text-align:right">{value / 1e6:,.3f} ms</td>'
        side = "left" if isinstance(value, str) else "right"
        return f'<td style="text-align:{side}">{html.escape(str(value))[:200]}</td>'

    head = "".join(f"<th>{title}</th>" for title, _ in shown)
    body = "".join("<tr>" + "".join(cell(row, key) for _, key in shown) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


# ---- the session of this kernel --------------------------------------------------------------------

# Runs below the launcher as long as the kernel does, and tells what it was given to pass on.
_GIVEN = ("UT_SESSION", "INTEL_LIBITTNOTIFY64")
_KEEPER = "".join(f'printf "%s\\n" "${key}"; ' for key in _GIVEN) + "exec cat > /dev/null"


def _launcher():
    program = _command.launcher()
    if not program:
        raise _library.Error("the program unitrace is neither beside this package nor on the PATH")
    return program


class _Session:
    """The recording that all cells of this kernel go into, each with a span of its own around it."""

    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="unitrace-notebook-")
        atexit.register(self.end)
        words = [_launcher(), "record", *options, "--python-partial", "--start-paused", "--quiet",
                 "--no-summary", f"--output={self.folder}/all.utr", "/bin/sh", "-c", _KEEPER]
        self.supervisor = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, cwd=self.folder, text=True)
        self.given = {key: self.supervisor.stdout.readline().rstrip("\n") for key in _GIVEN}
        if not all(self.given.values()):
            said = self.supervisor.stderr.read().strip()
            self.end()
            raise _library.Error(said or "unitrace did not start")
        os.environ.update(self.given)
        _join()
        for key in self.given:  # children of the kernel are not part of it
            os.environ.pop(key, None)

    def end(self):
        """The launcher writes its result, which nobody wants: the folder goes."""
        if self.supervisor.poll() is None:
            self.supervisor.terminate()
            try:
                self.supervisor.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self.supervisor.kill()
                self.supervisor.wait()
        for pipe in (self.supervisor.stdin, self.supervisor.stdout, self.supervisor.stderr):
            try:
                pipe.close()
            except OSError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)


_session = None
_cells = 0


def _join():
    """From here on the package records: what it found out before, without a session, is forgotten."""
    for known in (_marks._domains, _marks._handles, _marks._counters):
        known.clear()
    _native.core.rejoin()
    _profile._settings_now = None
    if _profile._current() is None:
        raise _library.Error("this kernel cannot be recorded: the package was built for another "
                             "Python, or marks were used before; restart the kernel and load unitrace "
                             "first, or record the cell with -n")


def _begin(options):
    global _session
    if _session is None:
        if os.environ.get("UT_SESSION"):
            raise _library.Error("this kernel runs below unitrace already")
        _session = _Session(options)
    elif options != _session.options:
        said = shlex.join(_session.options[1:]) or "no options"
        raise _library.Error(f"this kernel records with {said} since its first recorded cell; restart "
                             "it, or take -n for a process of its own")
    return _session


def _trace_of_cell(session, name):
    """The part of the recording that lies in the span of a cell."""
    path = os.path.join(session.folder, f"{name}.utr")
    with _read.Trace([session.given["UT_SESSION"]]) as everything:
        where = everything.query("select ts, dur from slice where cat = 'notebook' and name = "
                                 f"'{name}'").fetchall()
    if not where:
        raise _library.Error("the cell was not recorded")
    begin, length = where[-1]
    run = subprocess.run([_launcher(), "filter", session.given["UT_SESSION"], f"--from=@{begin}ns",
                          f"--to=@{begin + length}ns", "--clip", f"--output={path}", "--quiet"],
                         capture_output=True, text=True, env=_plain_environment())
    if run.returncode:
        raise _library.Error(run.stderr.strip())
    return _read.Trace([path])


def _plain_environment():
    return {key: value for key, value in os.environ.items() if key not in ("UT_SESSION",)}


def _compile(shell, text):
    """The cell as code, and its last line as code of its own if that has a value to show."""
    name = shell.compile.cache(text, shell.execution_count)
    tree = shell.transform_ast(shell.compile.ast_parse(shell.transform_cell(text), filename=name))
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = shell.compile(ast.Expression(tree.body.pop().value), name, "eval")
    return shell.compile(tree, name, "exec"), last


def _run(code, last, names):
    exec(code, names)  # pylint: disable=exec-used
    return eval(last, names) if last else None  # pylint: disable=eval-used


def _record_here(shell, options, text):
    """The cell in this kernel. Gives its trace, its value, and the exception that ended it."""
    global _cells
    code, last = _compile(shell, text)
    session = _begin(options)
    _cells += 1
    name, value, wrong = f"cell-{_cells}", None, None
    profiler, names = _profile.Profiler(), shell.user_ns
    _marks.resume()
    try:
        with _marks.range(name, domain="notebook"):
            profiler.enable()
            try:
                value = _run(code, last, names)
            except BaseException as raised:  # pylint: disable=broad-except
                wrong = raised.with_traceback(raised.__traceback__.tb_next.tb_next)
            finally:
                profiler.disable()
    finally:
        _marks.pause()
    return _trace_of_cell(session, name), value, wrong


def _record_apart(options, text):
    """The cell as a program of its own, below the launcher."""
    folder = tempfile.mkdtemp(prefix="unitrace-notebook-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script, path = os.path.join(folder, "cell.py"), os.path.join(folder, "cell.utr")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text)
    run = subprocess.run([_launcher(), "record", *options, "--no-summary", "--quiet", f"--output={path}",
                          sys.executable, script], capture_output=True, text=True,
                         env=_plain_environment())
    sys.stdout.write(run.stdout)
    sys.stderr.write(run.stderr)
    if not os.path.exists(path):
        raise _library.Error("nothing was recorded")
    return _read.Trace([path])


# ---- the magic -------------------------------------------------------------------------------------

USAGE = """\
%%unitrace [-n] [-o NAME] [options]
records the cell and shows a table and the timeline of it.

  -n         in a process of its own: without the notebook's variables, with every option of
             "unitrace record", devices included
  -o NAME    the trace becomes the variable NAME
  options    those of "python -m unitrace": --c-calls, --depth N, --min-duration TIME, --files GLOB,
             --modules NAME, ... and those of "unitrace record"
"""


def _parse(line):
    """(apart, name of the variable, options for the launcher)"""
    words, apart, variable = shlex.split(line), False, None
    kept = []
    while words:
        word = words.pop(0)
        if word == "-n":
            apart = True
        elif word == "-o":
            variable = words.pop(0) if words else ""
            if not variable.isidentifier():
                raise _command.Misuse(f"-o takes the name of a variable, not '{variable}'")
        elif word in ("-h", "--help"):
            return None
        else:
            kept.append(word)
    options, _ = _command.parse([*kept, "cell"])
    return apart, variable, options


def _display(value):
    from IPython.display import display
    display(value)


def _magic(shell):
    def unitrace(line, cell):
        from IPython.core.error import UsageError
        try:
            parsed = _parse(line)
        except (_command.Misuse, ValueError) as wrong:
            raise UsageError(f"%%unitrace: {wrong}") from None
        if parsed is None:
            print(USAGE, end="")
            return None
        apart, variable, options = parsed
        value = raised = None
        try:
            if apart:
                trace = _record_apart(options, cell)
            else:
                trace, value, raised = _record_here(shell, options, cell)
        except _library.Error as wrong:
            raise UsageError(f"%%unitrace: {wrong}") from None
        if variable:
            shell.user_ns[variable] = trace
        if raised is not None:
            raise raised
        if value is not None:
            _display(value)
        return Recorded(trace)

    return unitrace


def load_ipython_extension(shell):
    """%load_ext unitrace"""
    shell.register_magic_function(_magic(shell), magic_kind="cell", magic_name="unitrace")


def unload_ipython_extension(shell):
    """%unload_ext unitrace"""
    shell.magics_manager.magics["cell"].pop("unitrace", None)
