"""Domains, texts and ids."""
from .. import _marks

_DEFAULT = "ittapi"


class Domain:
    """domain(name); without a name the default domain."""

    __slots__ = ("name", "handle")

    def __init__(self, name=None):
        self.name = _DEFAULT if name is None else str(name)
        self.handle = _marks.domain(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"unitrace.ittapi.Domain({self.name!r})"


class StringHandle:
    __slots__ = ("text", "handle")

    def __init__(self, text):
        self.text = str(text)
        self.handle = _marks.handle(self.text)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"unitrace.ittapi.StringHandle({self.text!r})"


def handle_of(domain):  # pylint: disable=redefined-outer-name
    """The number of a domain, 0 when nothing is recorded. Its type is looked at in any case."""
    if not isinstance(domain, Domain):
        raise TypeError(f"a Domain is needed, not {type(domain).__name__}; see domain()")
    return domain.handle


class Id:
    """A number that no other task has."""

    __slots__ = ("number", "_handle")

    def __init__(self, domain):  # pylint: disable=redefined-outer-name
        self._handle = 0
        self._handle = handle_of(domain)
        self.number = _marks.next_id()
        if self._handle:
            _marks.core.id_create(self._handle, self.number)

    def __del__(self):
        if self._handle:
            _marks.core.id_destroy(self._handle, self.number)

    def __str__(self):
        return f"({self.number}, 0)"

    def __repr__(self):
        return f"unitrace.ittapi.Id({self.number}, 0)"


def domain(name=None):
    return Domain(name)


def string_handle(string):
    return StringHandle(string)


def id(domain):  # pylint: disable=redefined-builtin,redefined-outer-name
    return Id(domain)
