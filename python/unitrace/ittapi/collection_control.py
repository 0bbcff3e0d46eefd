"""ittapi.collection_control: regions in which recording is on or off, and what decides on them."""
from .._marks import detach, pause, resume
from ._control import ActiveRegion, PausedRegion, active_region, paused_region

__all__ = ["ActiveRegion", "ManualCollectionRegionActivator", "PausedRegion", "active_region",
           "detach", "pause", "paused_region", "resume"]


class ManualCollectionRegionActivator:
    """Lets regions have an effect, or none, until told otherwise."""

    INACTIVE, ACTIVE = 0, 1

    def __init__(self, state=ACTIVE):
        self.state = state

    def activate(self):
        self.state = self.ACTIVE

    def deactivate(self):
        self.state = self.INACTIVE

    def __call__(self):
        return self.state == self.ACTIVE
