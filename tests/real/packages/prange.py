"""numba: a parallel loop on TBB, five times."""
import numba
import numpy

numba.config.THREADING_LAYER = "tbb"


@numba.njit(parallel=True)
def total(values):
    found = 0.0
    for i in numba.prange(len(values)):
        found += values[i]
    return found


for _ in range(5):
    result = total(numpy.ones(100_000))
print(int(result), numba.threading_layer())
