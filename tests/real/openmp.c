/* openmp.c - two parallel loops, one of them unbalanced on purpose, and a critical section. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static void spin(double seconds)
{
	double until = omp_get_wtime() + seconds;

	while (omp_get_wtime() < until)
		;
}

int main(void)
{
	double sum = 0;
	int count = 0;

	omp_set_num_threads(2);
	for (int round = 0; round < 3; round++) {
#pragma omp parallel for reduction(+ : sum) schedule(static)
		for (int i = 0; i < 1000; i++)
			sum += i;
	}
#pragma omp parallel for schedule(static, 1)
	for (int i = 0; i < 2; i++)
		spin(i ? 0.03 : 0.001); /* one thread waits 29 ms for the other */
#pragma omp parallel
	{
#pragma omp critical(counting)
		count++;
	}
	printf("%.0f %d\n", sum, count);
	return 0;
}
