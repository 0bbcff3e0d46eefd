/*
 * raii.cpp - tasks that end by themselves: a guard for C++.
 *
 *	c++ -std=c++11 -Iinclude examples/raii.cpp -Lbuild/lib -littnotify -o raii
 *	unitrace ./raii
 *
 * Whatever leaves the scope (return, break, exception) ends the task, so tasks stay balanced.
 */
#include <cstdio>
#include <stdexcept>

#include <ittnotify.h>

namespace
{

__itt_domain *const domain = __itt_domain_create("example.raii");

/* Make a name once (a static) and tasks of it as often as you like: finding a name takes time. */
class task
{
      public:
	explicit task(__itt_string_handle *name)
	{
		__itt_task_begin(domain, __itt_null, __itt_null, name);
	}

	~task()
	{
		__itt_task_end(domain);
	}

	task(const task &) = delete;
	task &operator=(const task &) = delete;
};

long fibonacci(int n)
{
	static __itt_string_handle *const name = __itt_string_handle_create("fibonacci");
	const task guard(name);

	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

void fail()
{
	const task guard(__itt_string_handle_create("fail"));

	throw std::runtime_error("on purpose");
}

} // namespace

int main()
{
	const task guard(__itt_string_handle_create("main"));

	std::printf("fibonacci(10) = %ld\n", fibonacci(10));
	try {
		fail();
	} catch (const std::exception &e) {
		const task handling(__itt_string_handle_create("handle"));

		std::printf("caught: %s\n", e.what());
	}
	return 0;
}
