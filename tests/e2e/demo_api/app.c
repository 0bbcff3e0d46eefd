/* app.c - a program that uses the runtime in demo.h in ITT tasks. */
#include "demo.h"
#include "ittnotify.h"

int main(void)
{
	static const unsigned int grid[2][3] = { { 8, 2, 1 }, { 4, 1, 1 } },
				  block[3] = { 64, 1, 1 };
	__itt_domain *domain = __itt_domain_create("app");
	__itt_string_handle *step = __itt_string_handle_create("step");

	for (int i = 0; i < 3; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, step);
		demoCopy(0, 4096);
		demoLaunch(0, "gemm", grid[0], block);
		demoLaunch(1, "relu", grid[1], block);
		demoWait();
		__itt_task_end(domain);
	}
	return 0;
}
