"""The interface of itt-python (NERSC), so that programs written for it need not change.

    from unitrace import itt        # or, under the launcher, plain `import itt`
"""
from . import _marks

__all__ = ["detach", "domain_create", "pause", "pt_region_begin", "pt_region_create",
           "pt_region_end", "resume", "task_begin", "task_end"]

detach, pause, resume = _marks.detach, _marks.pause, _marks.resume


class Domain:
    """What domain_create() gives and the tasks take."""

    __slots__ = ("name", "handle")

    def __init__(self, name):
        self.name = name
        self.handle = _marks.domain(name)


def domain_create(name):
    return Domain(name)


def _handle_of(domain):
    if not isinstance(domain, Domain):
        raise TypeError(f"a domain of domain_create() is needed, not {type(domain).__name__}")
    return domain.handle


def task_begin(domain, name):
    handle = _handle_of(domain)
    if handle:
        _marks.core.task_begin(handle, _marks.handle(str(name)), 0, 0)


def task_end(domain):
    handle = _handle_of(domain)
    if handle:
        _marks.core.task_end(handle)


class _Region:
    """Regions of processor trace: there is none here, so that they are tasks."""

    __slots__ = ("range",)

    def __init__(self, name):
        self.range = _marks.range(name, "pt_region")


def pt_region_create(name):
    return _Region(name)


def pt_region_begin(region):
    region.range.begin()


def pt_region_end(region):
    region.range.end()
