"""The C half of the package, or what stands in for it."""
try:
    from . import _core as core
except ImportError:  # not built for this interpreter, or not allowed in this subinterpreter
    from . import _nocore as core
    core.explain()
