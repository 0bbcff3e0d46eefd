/* clock.c - see clock.h. No stdio, no malloc: this runs in the application's process too. */
#include "wire/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "wire/vdso.h"

#define INVARIANT_TSC (1u << 8) /* same rate in all states of the CPU, never stops */

uint64_t ut_clock_ns(clockid_t id)
{
	struct timespec t;

	ut_vdso_clock(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool file_has(const char *path, const char *word)
{
	char buf[256];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return strstr(buf, word) != NULL;
}

/* The kernel uses the TSC as its own clock only after it has checked that it is steady and equal
 * on all CPUs; a reader of ours can ask no more of it. */
static enum ut_clock_source wire_clock_probe(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	if (__get_cpuid(0x80000007, &a, &b, &c, &d) && d & INVARIANT_TSC &&
	    file_has("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"))
		return UT_CLOCK_TSC;
#endif
	return UT_CLOCK_MONOTONIC;
}

enum ut_clock_source ut_clock_source(void)
{
	static _Atomic int known;
	int source = atomic_load_explicit(&known, memory_order_relaxed);

	if (!source) {
		source = wire_clock_probe();
		atomic_store_explicit(&known, source, memory_order_relaxed);
	}
	return (enum ut_clock_source)source;
}

void ut_clock_pair_take(enum ut_clock_source source, struct ut_clock_pair *pair)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = ut_clock_ticks(source);
		uint64_t mono = ut_clock_ns(CLOCK_MONOTONIC);
		uint64_t real = ut_clock_ns(CLOCK_REALTIME);
		uint64_t boot = ut_clock_ns(CLOCK_BOOTTIME);
		uint64_t again = ut_clock_ns(CLOCK_MONOTONIC);
		uint64_t after = ut_clock_ticks(source);

		if (again - mono >= best)
			continue;
		best = again - mono;
		/* The middle of the ticks against the middle of the two looks at the clock. */
		*pair = (struct ut_clock_pair){ .ticks = before + (after - before) / 2,
						.mono = mono + best / 2,
						.real = real,
						.boot = boot,
						.error = best / 2 + 1 };
	}
}

/* No clock shows more ns (292 years): times that can be added without thinking. */
#define LATEST (UINT64_MAX >> 1)

/* Room for one more: the inner pair whose neighbours are closest together says least. */
static void drop_least(struct ut_clock_map *map)
{
	size_t least = 1;

	for (size_t i = 1; i + 1 < map->count; i++)
		if (map->pairs[i + 1].ticks - map->pairs[i - 1].ticks <
		    map->pairs[least + 1].ticks - map->pairs[least - 1].ticks)
			least = i;
	map->count--;
	memmove(&map->pairs[least], &map->pairs[least + 1],
		(map->count - least) * sizeof(map->pairs[0]));
}

static size_t wire_clock_place_of(const struct ut_clock_map *map, uint64_t ticks)
{
	size_t at = map->count;

	while (at > 0 && map->pairs[at - 1].ticks >= ticks)
		at--;
	return at;
}

/* Not monotonic: from another boot or a damaged file. The earlier pairs are believed. */
static bool contradicts(const struct ut_clock_map *map, size_t at, const struct ut_clock_pair *pair)
{
	if (at > 0 && map->pairs[at - 1].mono > pair->mono)
		return true;
	return at < map->count &&
	       (map->pairs[at].ticks == pair->ticks || map->pairs[at].mono < pair->mono);
}

void ut_clock_map_add(struct ut_clock_map *map, const struct ut_clock_pair *pair)
{
	size_t at = wire_clock_place_of(map, pair->ticks);

	if (pair->mono > LATEST || contradicts(map, at, pair))
		return;
	if (map->count == sizeof(map->pairs) / sizeof(map->pairs[0])) {
		drop_least(map);
		at = wire_clock_place_of(map, pair->ticks);
	}
	memmove(&map->pairs[at + 1], &map->pairs[at], (map->count - at) * sizeof(map->pairs[0]));
	map->pairs[at] = *pair;
	map->count++;
}

void ut_clock_map_finish(struct ut_clock_map *map, double fallback_rate)
{
	const struct ut_clock_pair *first = &map->pairs[0];
	const struct ut_clock_pair *last = &map->pairs[map->count ? map->count - 1 : 0];

	map->rate = fallback_rate;
	if (map->count >= 2 && last->mono - first->mono >= 1000000 && last->ticks > first->ticks)
		map->rate =
			(double)(last->mono - first->mono) / (double)(last->ticks - first->ticks);
}

static const struct ut_clock_pair *last_at_or_before(const struct ut_clock_map *map, uint64_t ticks)
{
	size_t lo = 0, hi = map->count;

	/* Who follows a recording asks for its end. */
	if (hi > 2 && map->pairs[hi - 2].ticks <= ticks)
		lo = hi - 2;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (map->pairs[mid].ticks <= ticks)
			lo = mid;
		else
			hi = mid;
	}
	return &map->pairs[lo];
}

uint64_t ut_clock_map_ns(const struct ut_clock_map *map, uint64_t ticks)
{
	const struct ut_clock_pair *a, *end = map->pairs + map->count;
	double rate = map->rate, ns;
	uint64_t most;

	if (!map->count)
		return ticks;
	a = last_at_or_before(map, ticks);
	if (ticks < a->ticks) {
		ns = (double)(a->ticks - ticks) * rate;
		return ns >= (double)a->mono ? 0 : a->mono - (uint64_t)ns;
	}
	/* Close pairs have more reading error than drift: the overall rate is better there. */
	if (a + 1 < end && a[1].mono - a->mono >= 100000000)
		rate = (double)(a[1].mono - a->mono) / (double)(a[1].ticks - a->ticks);
	ns = (double)(ticks - a->ticks) * rate;
	most = (a + 1 < end ? a[1].mono : LATEST) - a->mono;
	return a->mono + (ns >= (double)most ? most : (uint64_t)ns);
}
