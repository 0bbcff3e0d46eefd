"""`from tracy import Profiler` where Tenstorrent's package is not installed."""
from unitrace import Profiler, signpost

__all__ = ["Profiler", "signpost"]
