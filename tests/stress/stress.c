/*
 * stress.c - THREADS PAIRS: every thread marks so many tasks as fast as it can. Which task has
 * which name, argument and counter value follows from its number (stress.h), so that
 * stress_check.c can tell whether a single record is missing, torn or out of place.
 *
 * Prints the process's memory in KiB when the first thread is a tenth, half and all the way
 * through: "private total" per line.
 */
#include "stress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ittnotify.h>

static __itt_domain *domain;
static __itt_string_handle *names[STRESS_NAMES], *key;
static uint64_t pairs;

static long status_of(const char *text, const char *field)
{
	const char *at = strstr(text, field);

	return at ? strtol(at + strlen(field), NULL, 10) : 0;
}

static void print_memory(void)
{
	char text[4096] = { 0 };
	FILE *f = fopen("/proc/self/status", "r");
	size_t len = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[len] = '\0';
	printf("%ld %ld\n", status_of(text, "RssAnon:"), status_of(text, "VmRSS:"));
	if (f)
		fclose(f);
}

static void *run(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	char name[32];
	__itt_counter counter;

	snprintf(name, sizeof(name), "counter %u", (unsigned int)me);
	counter = __itt_counter_create(name, "stress");
	for (uint64_t i = 0; i < pairs; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, names[i % STRESS_NAMES]);
		if (i % STRESS_ARGUMENT == 0)
			__itt_metadata_add(domain, __itt_null, key, __itt_metadata_u64, 1, &i);
		if (i % STRESS_COUNTER == 0)
			__itt_counter_set_value(counter, &i);
		__itt_task_end(domain);
		if (me == 0 && (i == pairs / 10 || i == pairs / 2 || i == pairs - 1))
			print_memory();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 2;
	pthread_t *threads = calloc(count, sizeof(*threads));
	char name[32];

	pairs = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
	domain = __itt_domain_create("stress");
	key = __itt_string_handle_create("number");
	for (unsigned int i = 0; i < STRESS_NAMES; i++) {
		snprintf(name, sizeof(name), STRESS_NAME, i);
		names[i] = __itt_string_handle_create(name);
	}
	for (size_t i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i);
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
