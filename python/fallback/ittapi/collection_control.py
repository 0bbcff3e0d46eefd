"""`import ittapi.collection_control` where Intel's package is not installed."""
from unitrace.ittapi.collection_control import *  # noqa: F401,F403
from unitrace.ittapi.collection_control import __all__  # noqa: F401
