"""`import itt` where itt-python is not installed."""
from unitrace.itt import *  # noqa: F401,F403
from unitrace.itt import __all__  # noqa: F401
