"""Regions in which recording is on, or off."""
from .. import _marks
from ._region import Region


class _Switch(Region):
    def __init__(self, func=None, activator=None):
        super().__init__(func)
        self.activator = activator
        self._done = False

    def _switch(self, on):
        (_marks.resume if on else _marks.pause)()

    def begin(self):
        self._done = not callable(self.activator) or bool(self.activator())
        if self._done:
            self._switch(self.inside)

    def end(self):
        if self._done:
            self._switch(not self.inside)


class ActiveRegion(_Switch):
    """Records this region only; for runs that start paused."""

    inside = True


class PausedRegion(_Switch):
    """Leaves this region out."""

    inside = False


def active_region(func=None, activator=None):
    return ActiveRegion(func, activator)


def paused_region(func=None, activator=None):
    return PausedRegion(func, activator)
