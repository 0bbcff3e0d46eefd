"""What tasks, events and collection regions share: context manager, decorator, begin and end."""
import functools
import os
import sys

from ._objects import StringHandle

_HERE = os.path.dirname(__file__)


class Region:
    """begin() and end() come from below; function is what is wrapped, None = not yet."""

    def __init__(self, function=None):
        self._function = function
        if function is not None:
            if not callable(function):
                raise TypeError("func must be a callable object or None.")
            functools.update_wrapper(self, function, updated=())

    def begin(self):
        raise NotImplementedError

    def end(self):
        raise NotImplementedError

    def __enter__(self):
        self.begin()

    def __exit__(self, *_):
        self.end()

    def _run(self, function, *args, **kwargs):
        self.begin()
        try:
            return function(*args, **kwargs)
        finally:
            self.end()

    def _name_after(self, function):
        """What is wrapped later may give its name."""

    def _wrap(self, function):
        if not callable(function):
            raise TypeError("Callable object is expected as a first argument.")
        self._name_after(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            return self._run(function, *args, **kwargs)
        return wrapped

    def __call__(self, *args, **kwargs):
        if self._function is not None:
            return self._run(self._function, *args, **kwargs)
        return self._wrap(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return functools.partial(self._run, self._function.__get__(instance, owner))


def _call_site():
    """Where the program made the region: the first place that is not in this package."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame.f_back and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


class NamedRegion(Region):
    """A region with a name: a text, that of the function, or else where it was made."""

    def __init__(self, what):
        super().__init__(what if callable(what) else None)
        self._given = isinstance(what, str)
        if what is None:
            what = _call_site()
        self._name = StringHandle(what if isinstance(what, str) else name_of(what))

    def _name_after(self, function):
        if not self._given:
            self._name = StringHandle(name_of(function))

    def name(self):
        return self._name

    def __str__(self):
        return str(self._name)

    def __repr__(self):
        return f"{type(self).__name__}('{self._name}')"


def name_of(function):
    for attribute in ("__qualname__", "__name__"):
        if hasattr(function, attribute):
            return getattr(function, attribute)
    return f"{type(function).__name__}.__call__"
