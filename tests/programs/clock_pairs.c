/* clock_pairs.c - tasks on a clock of the program's own, begun and ended in every mix. */
#include <ittnotify.h>

static void clock_info(__itt_clock_info *info, void *data)
{
	(void)data;
	info->clock_freq = 1000000000;
	info->clock_base = 0;
}

static __attribute__((noinline)) void clocked_function(void)
{
}

int main(void)
{
	__itt_domain *d = __itt_domain_create("pairs");
	__itt_clock_domain *clock = __itt_clock_domain_create(clock_info, 0);
	__itt_timestamp from, to;

	__itt_task_begin_fn_ex(d, clock, 1000, __itt_null, __itt_null, (void *)clocked_function);
	__itt_task_end_ex(d, clock, 3000);
	__itt_task_begin_ex(d, clock, 5000, __itt_null, __itt_null,
			    __itt_string_handle_create("outer"));
	__itt_task_begin_ex(d, clock, 6000, __itt_null, __itt_null,
			    __itt_string_handle_create("inner"));
	__itt_task_end_ex(d, clock, 7000);
	__itt_task_end_ex(d, clock, 9000);
	from = __itt_get_timestamp();
	to = __itt_get_timestamp();
	/* No clock: the collector's own. */
	__itt_task_begin_ex(d, 0, from, __itt_null, __itt_null,
			    __itt_string_handle_create("own clock"));
	__itt_task_end_ex(d, 0, to);
	__itt_task_begin_ex(d, clock, 10000, __itt_null, __itt_null,
			    __itt_string_handle_create("never ended"));
	return 0;
}
