"""switched.py - regions that something decides on; arguments by their names."""
import ittapi
from ittapi.collection_control import ManualCollectionRegionActivator

activator = ManualCollectionRegionActivator(ManualCollectionRegionActivator.INACTIVE)


@ittapi.active_region(activator=activator)
def measured(name):
    with ittapi.task(ittapi.string_handle(string=name), domain=ittapi.domain(name="switched")):
        pass


measured("not yet")
activator.activate()
measured("now")
activator.deactivate()
measured("no more")
with ittapi.active_region(activator=lambda: True):
    measured("around")
    with ittapi.paused_region(activator=None):
        measured("left out")
ittapi.task_begin(ittapi.domain("switched"), ittapi.string_handle("paused"))
ittapi.task_end(ittapi.domain("switched"))
