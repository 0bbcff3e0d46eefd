"""`import ittapi.compat` where Intel's package is not installed."""
from unitrace.itt import *  # noqa: F401,F403
from unitrace.itt import __all__  # noqa: F401
