"""`import itt` where itt-python is not installed."""
from unitrace.itt import *  # noqa: F401,F403
from unitrace.itt import __all__  # noqa: F401

if __name__ == "__main__":
    raise SystemExit("unitrace: itt is a library: there is nothing to run in it")
