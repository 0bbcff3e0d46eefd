#include "draw/bins.h"

#include <math.h>

static size_t bins_column_of(double x, double low, double high, size_t columns)
{
	double at = (x - low) / (high - low) * (double)columns;

	if (!(at > 0))
		return 0;
	return at < (double)columns ? (size_t)at : columns - 1;
}

size_t ut_bins_fill(struct ut_bin *bins, size_t columns, const struct ut_bins_of *of)
{
	size_t used = 0, last = 0;

	for (size_t i = 0; i < of->count; i++) {
		double at = of->x ? of->x[i] : (double)i;
		double value = of->y[i];
		struct ut_bin *bin = used ? &bins[used - 1] : NULL;
		size_t column;

		if (!isfinite(value) || !isfinite(at) || at < of->low || at > of->high)
			continue;
		column = bins_column_of(at, of->low, of->high, columns);
		if (!bin || column > last) {
			if (used == columns)
				break; /* x does not ascend */
			bins[used++] = (struct ut_bin){ at, value, value, value, 1 };
			last = column;
			continue;
		}
		bin->count++;
		bin->x += (at - bin->x) / (double)bin->count;
		bin->mean += (value - bin->mean) / (double)bin->count;
		bin->low = fmin(bin->low, value);
		bin->high = fmax(bin->high, value);
	}
	return used;
}
