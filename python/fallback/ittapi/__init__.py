"""`import ittapi` where Intel's package is not installed."""
from unitrace.ittapi import *  # noqa: F401,F403
from unitrace.ittapi import __all__  # noqa: F401
