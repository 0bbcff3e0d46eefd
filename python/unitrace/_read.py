"""Traces as data: unitrace.open("run.json"), then questions whose answers any library of tables takes.

Answers are made when they are used, straight from the columns of the trace, without the GIL. Ctrl-C
ends a question that runs.
"""
import ctypes
import os
import sys
import tempfile
import threading
import warnings
import weakref

from . import _library


def _arrow():
    try:
        from . import _arrow as module
    except ImportError as wrong:
        raise _library.Error("this package was built without the headers of Python, which reading "
                             f"traces needs (Debian: python3-dev): {wrong}") from None
    return module


def _wait(work, interrupt):
    """work() in a thread of its own, so that Ctrl-C is heard here; elsewhere just work()."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    result, done = [], threading.Event()

    def run():
        try:
            result.append((work(), None))
        except BaseException as wrong:  # pylint: disable=broad-except
            result.append((None, wrong))
        done.set()

    threading.Thread(target=run, daemon=True).start()
    try:
        done.wait()  # not join(): a thread whose join was interrupted looks dead to Python 3.11
    except KeyboardInterrupt:
        while not done.wait(0.05):  # it may be about to begin
            interrupt()
        raise
    value, wrong = result[0]
    if wrong:
        raise wrong
    return value


class Table:
    """An answer: rows of named columns, read as often as wanted.

    pandas.DataFrame.from_arrow(t), polars.DataFrame(t), pyarrow.table(t), DuckDB's "from t" take it
    as it is; iterating gives tuples.
    """

    def __init__(self, trace, question, *arguments):
        self._trace, self._question, self._arguments = trace, question, arguments
        self._first = None  # a stream that was asked for and not yet used

    def _stream(self):
        first, self._first = self._first, None
        return first or self._trace._ask(self._question, *self._arguments)

    def __arrow_c_stream__(self, requested_schema=None):
        del requested_schema  # ours is what there is; who wants another one converts
        stream = self._stream()  # lives here until it was moved
        return _arrow().capsule(ctypes.addressof(stream))

    def _peek(self):
        if self._first is None:
            self._first = self._stream()
        return _arrow().columns(ctypes.addressof(self._first))

    @property
    def columns(self):
        """The names of the columns."""
        return [name for name, _ in self._peek()]

    def batches(self):
        """Lists of tuples, some thousand rows each."""
        stream, arrow = self._stream(), _arrow()
        address = ctypes.addressof(stream)
        try:
            while True:
                rows = arrow.next_rows(address)
                if rows is None:
                    return
                yield rows
        finally:
            arrow.release(address)

    def __iter__(self):
        for rows in self.batches():
            yield from rows

    def fetchall(self):
        """All rows as a list of tuples."""
        return [row for rows in self.batches() for row in rows]

    def to_arrow(self):
        """As a table of pyarrow."""
        import pyarrow
        return pyarrow.table(self)

    def to_pandas(self):
        """As a DataFrame of pandas, which needs pyarrow for it."""
        return self.to_arrow().to_pandas()

    def to_polars(self):
        """As a DataFrame of polars."""
        import polars
        return polars.DataFrame(self)

    def _head(self, most):
        rows = []
        for row in self:
            if len(rows) == most:
                return rows, True
            rows.append(row)
        return rows, False

    def __repr__(self):
        rows, more = self._head(10)
        lines = [" ".join(self.columns)] + [" ".join(map(str, row)) for row in rows]
        return "\n".join(lines + (["..."] if more else []))

    def _repr_html_(self):
        import html
        rows, more = self._head(20)
        cells = lambda row, tag: "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in row)
        text = [f"<tr>{cells(self.columns, 'th')}</tr>"]
        text += [f"<tr>{cells(row, 'td')}</tr>" for row in rows]
        return f"<table>{''.join(text)}</table>" + ("<p>...</p>" if more else "")

    _is_finalizing = staticmethod(sys.is_finalizing)

    def __del__(self):
        # At the end of the interpreter what this needs may be gone, and the memory goes anyway.
        if not self._is_finalizing() and getattr(self, "_first", None) is not None:
            first, self._first = self._first, None
            _arrow().release(ctypes.addressof(first))


def _seconds(value):
    """A time as the command line writes it: numbers are seconds after the first event."""
    if value is None or isinstance(value, str):
        return value
    return f"{value * 1e9:.0f}ns"


_UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "": 1e9}


def _ns(value):
    """A time after the first event in ns, for SQL."""
    if not isinstance(value, str):
        return round(value * 1e9)
    digits = value.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        return round(float(digits) * _UNITS[value[len(digits):]])
    except (KeyError, ValueError):
        raise _library.Error(f"'{value}' is no time such as 1.5s or 20ms") from None


def _between(window, *, name=None):
    """The condition that moments lie in a window and have a name (patterns, one or several)."""
    start, end = window if window is not None else (None, None)
    conditions = [f"ts {sign} trace_start() + {_ns(value)}"
                  for sign, value in ((">=", start), ("<", end)) if value is not None]
    if name is not None:
        names = [name] if isinstance(name, str) else name
        quoted = ("'" + one.replace("'", "''") + "'" for one in names)
        conditions.append("(" + " or ".join(f"name glob {one}" for one in quoted) + ")")
    return " where " + " and ".join(conditions) if conditions else ""


def _events(given, window):
    """The options that choose events; window is a pair of times."""
    start, end = window if window is not None else (None, None)
    for key in ("min_dur", "max_dur"):
        if key in given:
            given[key] = _seconds(given[key])
    return {"from": _seconds(start), "to": _seconds(end), **given}


class Trace:
    """One or several files that are open, on one clock each. Closed by close(), with, or the end."""

    def __init__(self, paths, threads=0):
        said = []
        handle = _wait(lambda: _library.open_trace(paths, threads, said.append), lambda: None)
        for text in said:
            warnings.warn(text, stacklevel=3)
        self._handle = handle
        self._close = weakref.finalize(self, _library.library().unitrace_close, handle)

    # ---- what is open ---------------------------------------------------------------------------

    @property
    def paths(self):
        """The files that were found."""
        found = []
        while True:
            path = _library.library().unitrace_path(self._live(), len(found))
            if path is None:
                return found
            found.append(os.fsdecode(path))

    def close(self):
        """Lets go of the files; what was answered before stays."""
        self._handle = None
        self._close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<unitrace.Trace {', '.join(self.paths) if self._handle else 'closed'}>"

    def _live(self):
        if not self._handle:
            raise _library.Error("the trace is closed")
        return self._handle

    def _ask(self, question, *arguments):
        handle = self._live()
        return _wait(lambda: _library.ask(question, handle, *arguments),
                     lambda: _library.library().unitrace_interrupt(handle))

    def _table(self, name, given):
        return Table(self, "table", name.encode(), _library.options(given))

    # ---- questions ------------------------------------------------------------------------------

    def query(self, sql):
        """The rows that SQL gives; the guide for `unitrace query` has the tables."""
        table = Table(self, "query", sql.encode())
        table._first = table._stream()  # mistakes in it are told here
        return table

    def stats(self, by="name", *, window=None, sort=None, limit=None, **events):
        """How often and how long, per name, category, thread, process, rank or combination."""
        return self._table("stats", {"by": by, "sort": sort, "limit": limit,
                                     **_events(events, window)})

    def slices(self, name=None, *, window=None, **events):
        """Every slice: id, ts, dur, name, cat and where it lies, in order of tracks."""
        return Table(self, "slices", _library.options({"name": name, **_events(events, window)}))

    def counters(self, name=None, *, window=None):
        """Every value of every counter."""
        return self.query("select ts, name, value, unit, track_id, process_name, pid, rank, trace "
                          "from counter" + _between(window, name=name))

    def flows(self):
        """Every arrow: from which slice to which."""
        return self.query("select * from flow")

    def ops(self, *, limit=None):
        """A row per op, with what it called and what it made devices do, in the order of time."""
        return self._table("ops", {"limit": limit})

    def samples(self):
        """Every sample with the function that it was taken in."""
        return self.query("""
            select s.ts, s.name, s.cat, s.weight, f.name as function, f.module, s.callsite_id,
                   s.track_id, s.thread_name, s.tid, s.pid, s.rank
              from sample s
              left join stack_profile_callsite c on c.id = s.callsite_id and c.trace = s.trace
              left join stack_profile_frame f on f.id = c.frame_id and f.trace = s.trace""")

    def device(self):
        """How devices were used: busy, idle, waiting for the host."""
        return self._table("device", {})

    def kernels(self, *, sort=None, limit=None):
        """Kernels by their time, with the task that launched most of it."""
        return self._table("kernels", {"sort": sort, "limit": limit})

    def calls(self, *, sort=None, limit=None):
        """Calls of runtimes, and what devices did, by name."""
        return self._table("calls", {"sort": sort, "limit": limit})

    def diff(self, other, by="name", *, min_count=None, sort=None, limit=None, window=None, **events):
        """What has changed from this trace to the other one."""
        given = _library.options({"by": by, "min_count": min_count, "sort": sort, "limit": limit,
                                  **_events(events, window)})
        return Table(self, "diff", other._live(), given)

    # ---- the viewer -----------------------------------------------------------------------------

    def save_page(self, path, *, title=None, max_slices=None, window=None):
        """The viewer with this trace in one HTML file, which shows a window first."""
        handle = self._live()
        given = {"title": title, "max_slices": max_slices, **_events({}, window)}
        _wait(lambda: _library.write_page(handle, path, given), lambda: None)

    def page(self, **options):
        """The same as a text."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            self.save_page(path, **options)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def show(self, window=None, *, height=600, title=None, max_slices=200_000):
        """The viewer in a notebook's cell, at a window of the timeline."""
        from ._notebook import Frame
        return Frame(self.page(title=title, max_slices=max_slices, window=window), height, repr(self))

    def _repr_html_(self):
        return self.show()._repr_html_() if self._handle else None


def open_traces(*paths, threads=0):
    """Opens whatever unitrace opens: files of any format it knows, folders, patterns; several at once."""
    return Trace(paths, threads)
