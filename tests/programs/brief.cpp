/*
 * brief.cpp - CPU time in pieces too short for a sample, and functions that look alike.
 *
 *     brief threads COUNT US      so many threads, two at a time, of so many us of CPU time each
 *     brief children COUNT US     the same of processes, which end by _exit()
 *     brief execs COUNT US        executes itself so often, each time after us of CPU time
 *     brief idle MS               waits
 *     brief templates MS          three functions of one template, so long each
 *     brief alloc                 functions of its own with "alloc" in their names keep memory
 *
 * Prints the CPU time that it has used, with that of its children, as {"cpu": NS}.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static volatile unsigned long sink;
void *volatile keep[4096]; /* else a compiler leaves calls out that nobody sees */

static long long cpu_of_thread()
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

__attribute__((noinline)) static void burn(long long ns)
{
	for (long long end = cpu_of_thread() + ns; cpu_of_thread() < end;) {
		for (int i = 0; i < 500; i++)
			sink = sink * 3 + 1;
	}
}

static void *short_lived(void *us)
{
	burn(*static_cast<long *>(us) * 1000);
	return nullptr;
}

static void threads(long count, long us)
{
	for (long i = 0; i < count; i += 2) {
		pthread_t two[2];

		for (pthread_t &t : two)
			pthread_create(&t, nullptr, short_lived, &us);
		for (pthread_t &t : two)
			pthread_join(t, nullptr);
	}
}

static void children(long count, long us)
{
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (!child) {
			burn(us * 1000);
			_exit(0);
		}
		waitpid(child, nullptr, 0);
	}
}

static void execs(const char *self, long count, long us)
{
	std::string left = std::to_string(count - 1), time = std::to_string(us);

	burn(us * 1000);
	if (count > 1)
		execl("/proc/self/exe", self, "execs", left.c_str(), time.c_str(), nullptr);
}

template <int N> struct work {
	__attribute__((noinline)) static void go(long ms)
	{
		burn(ms * 1000000ll + N);
		sink = sink + N;
	}
};

__attribute__((noinline)) static void fill_allocations()
{
	for (int i = 0; i < 100; i++)
		keep[i] = memset(malloc(1000), 1, 1000);
}

__attribute__((noinline)) static void user_calloc()
{
	for (int i = 100; i < 150; i++)
		keep[i] = calloc(10, 200);
}

/* What it returns is of the C++ library, it is not. */
template <class T> __attribute__((noinline)) std::vector<T> *make_allocated(size_t count)
{
	return new std::vector<T>(count);
}

static long long used(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000ll +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000ll;
}

int main(int argc, char **argv)
{
	std::string what = argc > 1 ? argv[1] : "";
	long a = argc > 2 ? atol(argv[2]) : 0, b = argc > 3 ? atol(argv[3]) : 0;

	if (what == "threads") {
		threads(a, b);
	} else if (what == "children") {
		children(a, b);
	} else if (what == "execs") {
		execs(argv[0], a, b);
	} else if (what == "idle") {
		usleep(static_cast<useconds_t>(a) * 1000);
	} else if (what == "templates") {
		work<1>::go(a);
		work<2>::go(a);
		work<3>::go(a);
	} else if (what == "alloc") {
		fill_allocations();
		user_calloc();
		keep[200] = make_allocated<char>(50000);
	} else {
		return 2;
	}
	printf("{\"cpu\": %lld}\n", used(RUSAGE_SELF) + used(RUSAGE_CHILDREN));
	return 0;
}
