"""selected.py - records only what lies between resume and pause."""
import ittapi

with ittapi.task("before"):
    pass
ittapi.resume()
with ittapi.task("selected 1"):
    pass
ittapi.pause()
with ittapi.task("between"):
    pass
with ittapi.active_region():
    with ittapi.task("selected 2"):
        pass
with ittapi.task("after"):
    pass
