"""ittapi.compat: itt-python's interface under the name that Intel's package has for it."""
from ..itt import *  # noqa: F401,F403
from ..itt import __all__  # noqa: F401
