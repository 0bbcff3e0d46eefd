/*
 * memory_cxx.cpp - every form of operator new and delete, for the tests of --memory; and what C++
 * does when there is no memory. Prints what it saw itself.
 */
/* link: -fno-optimize-sibling-calls -rdynamic */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct Plain {
	char bytes[1000];
};
struct Leaked {
	char bytes[1111];
};
struct alignas(64) Aligned {
	char bytes[1024];
};

NOINLINE static Plain *one()
{
	return new Plain;
}
NOINLINE static Plain *many()
{
	return new Plain[10];
}
NOINLINE static Plain *quiet()
{
	return new (std::nothrow) Plain;
}
NOINLINE static Plain *quiet_many()
{
	return new (std::nothrow) Plain[10];
}
NOINLINE static Aligned *aligned()
{
	return new Aligned;
}
NOINLINE static Aligned *aligned_many()
{
	return new Aligned[10];
}
NOINLINE static std::vector<int> *container()
{
	return new std::vector<int>(1000);
}
NOINLINE static Leaked *leaked()
{
	return new Leaked;
}

static int handled;

static void handler()
{
	handled++;
	std::set_new_handler(nullptr);
}

template <typename Make> static const char *outcome(Make make)
{
	try {
		return make() ? "memory" : "null";
	} catch (const std::bad_alloc &) {
		return "bad_alloc";
	} catch (...) {
		return "another exception";
	}
}

int main()
{
	volatile std::size_t huge = SIZE_MAX / 4;

	delete one();
	delete[] many();
	delete quiet();
	delete[] quiet_many();
	delete aligned();
	delete[] aligned_many();
	delete container();
	std::printf("%d\n", leaked() != nullptr);
	std::printf("%d\n", reinterpret_cast<std::uintptr_t>(aligned()) % 64 == 0);
	std::printf("%s\n", outcome([&] { return ::operator new(huge); }));
	std::printf("%s\n", outcome([&] { return ::operator new(huge, std::nothrow); }));
	std::printf("%s\n", outcome([&] { return ::operator new(huge, std::align_val_t(64)); }));
	std::set_new_handler(handler);
	std::printf("%s %d\n", outcome([&] { return ::operator new(huge); }), handled);
	void *volatile nothing = ::operator new(0); /* kept from compilers that know the answer */
	std::printf("%d\n", nothing != nullptr);
	return 0;
}
