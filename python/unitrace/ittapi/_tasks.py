"""Tasks and events."""
from .. import _marks
from ._objects import Domain, Id, StringHandle, handle_of
from ._region import NamedRegion


def _number(of):
    """The number of an id, of a task, of nothing."""
    if isinstance(of, Task):
        of = of.id()
    if of is not None and not isinstance(of, Id):
        raise TypeError(f"an Id is needed, not {type(of).__name__}; see id()")
    return of.number if of is not None else 0


def _text(name):
    return name.handle if isinstance(name, StringHandle) else _marks.handle(str(name))


def task_begin(domain, name, id=None, parent=None):  # pylint: disable=redefined-builtin
    handle = handle_of(domain)
    if handle:
        _marks.core.task_begin(handle, _text(name), _number(id), _number(parent))


def task_end(domain):
    handle = handle_of(domain)
    if handle:
        _marks.core.task_end(handle)


def task_begin_overlapped(domain, name, id, parent=None):  # pylint: disable=redefined-builtin
    handle = handle_of(domain)
    if handle:
        _marks.core.overlapped_begin(handle, _text(name), _number(id), _number(parent))


def task_end_overlapped(domain, id):  # pylint: disable=redefined-builtin
    handle = handle_of(domain)
    if handle:
        _marks.core.overlapped_end(handle, _number(id))


class Task(NamedRegion):
    def __init__(self, task=None, domain=None, id=None, parent=None):
        super().__init__(task)
        named = domain is None or isinstance(domain, str)
        self._domain = Domain(domain) if named else domain
        self._id = Id(self._domain) if id is None else id
        self._parent = parent.id() if isinstance(parent, Task) else parent

    def domain(self):
        return self._domain

    def id(self):
        return self._id

    def parent_id(self):
        return self._parent

    def __str__(self):
        return (f"{{ name: '{self._name}', domain: '{self._domain}', id: {self._id}, "
                f"parent_id: {self._parent} }}")


class NestedTask(Task):
    """A task on one thread, inside what is open there."""

    def begin(self):
        task_begin(self._domain, self._name, self._id, self._parent)

    def end(self):
        task_end(self._domain)


class OverlappedTask(Task):
    """A task that need not nest with others."""

    def begin(self):
        task_begin_overlapped(self._domain, self._name, self._id, self._parent)

    def end(self):
        task_end_overlapped(self._domain, self._id)


def nested_task(task=None, domain=None, id=None, parent=None):
    return NestedTask(task, domain, id, parent)


def overlapped_task(task=None, domain=None, id=None, parent=None):
    return OverlappedTask(task, domain, id, parent)


def task(task=None, domain=None, id=None, parent=None, overlapped=False):
    kind = OverlappedTask if overlapped else NestedTask
    return kind(task, domain, id, parent)


class Event(NamedRegion):
    def __init__(self, region=None):
        super().__init__(region)
        self._event = None

    def begin(self):
        if self._event is None:
            self._event = _marks.core.event(str(self._name))
        _marks.core.event_start(self._event)

    def end(self):
        _marks.core.event_end(self._event)


def event(region=None):
    return Event(region)


class PtRegion(NamedRegion):
    """A region of processor trace: there is none here, so that it is a task."""

    def begin(self):
        task_begin(Domain("pt_region"), self._name)

    def end(self):
        task_end(Domain("pt_region"))


def pt_region(pt_region=None):  # pylint: disable=redefined-outer-name
    return PtRegion(pt_region)
