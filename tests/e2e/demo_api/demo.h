/*
 * demo.h - a runtime for a device that does not exist, with what real ones have: queues, kernels,
 * copies, asynchronous work, an interface for tools. Tests prove by it what a new API needs.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stdint.h>

enum demo_function {
	DEMO_LAUNCH,
	DEMO_COPY,
	DEMO_WAIT,
};

/* What a device has done. */
struct demo_activity {
	enum demo_function function; /* DEMO_LAUNCH or DEMO_COPY */
	int queue;
	const char *name;
	unsigned int grid[3], block[3];
	unsigned int registers;
	uint64_t bytes;
	uint64_t queued, start, end; /* CLOCK_MONOTONIC, ns */
	uint64_t call;               /* number of the call that asked for it */
	double active;               /* percent of its lanes */
};

/* What a tool is told: calls as they begin and end, work when it is complete. */
struct demo_tool {
	void (*enter)(enum demo_function function, uint64_t call);
	void (*leave)(enum demo_function function);
	void (*done)(const struct demo_activity *activity);
};

/*
 * The runtime loads the libraries that the environment lists in DEMO_TOOL_LIBRARIES, with colons
 * between them, and calls the demoToolLoad() of each; the last tool that hands over its functions
 * is told.
 */
typedef const struct demo_tool *demo_tool_load(void);

#define DEMO_QUEUES 2

void demoLaunch(int queue, const char *name, const unsigned int grid[3],
		const unsigned int block[3]);
void demoCopy(int queue, uint64_t bytes);
void demoWait(void);

#endif
