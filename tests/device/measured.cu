/*
 * measured.cu [TURNS [reset|_exit|running]] - kernels whose counters are known or easy to compare:
 * a plain matmul of 1024^3, saxpy, a copy, a sum, a transposition and a pointer chase.
 * MEASURED_SIZE=N: of N^3, and arrays of N^2; a multiple of 64.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define MUST(call)                                                                                 \
	do {                                                                                       \
		cudaError_t e = (call);                                                            \
		if (e != cudaSuccess) {                                                            \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const int LINKS = 1 << 22;

__global__ void matmul(int n, const float *a, const float *b, float *c)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y;
	int column = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += a[row * n + k] * b[k * n + column];
	c[row * n + column] = sum;
}

__global__ void saxpy(float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	y[i] = a * x[i] + y[i];
}

__global__ void copy(const float4 *from, float4 *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = from[i];
}

__global__ void transpose(int n, const float *from, float *to)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	to[x * n + y] = from[y * n + x];
}

__global__ void sum(const float *x, float *out)
{
	atomicAdd(out, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void chase(const int *next, int steps, int *out)
{
	int at = threadIdx.x;

	for (int i = 0; i < steps; i++)
		at = next[at];
	out[threadIdx.x] = at;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 1, *links = (int *)malloc(LINKS * sizeof(int));
	const char *end = argc > 2 ? argv[2] : "", *size = getenv("MEASURED_SIZE");
	int n = size && atoi(size) >= 64 ? atoi(size) / 64 * 64 : 1024, all = n * n;
	size_t bytes = (size_t)all * sizeof(float);
	dim3 grid(n / 16, n / 16), block(16, 16);
	float *a, *b, *c;
	int *next, *out;

	MUST(cudaMalloc(&a, bytes));
	MUST(cudaMalloc(&b, bytes));
	MUST(cudaMalloc(&c, bytes));
	MUST(cudaMalloc(&next, LINKS * sizeof(int)));
	MUST(cudaMalloc(&out, 4096));
	for (int i = 0; i < LINKS; i++)
		links[i] = (int)(((long long)i * 7919 + 104729) % LINKS);
	MUST(cudaMemcpy(next, links, LINKS * sizeof(int), cudaMemcpyHostToDevice));
	MUST(cudaMemset(a, 0, bytes));
	MUST(cudaMemset(b, 0, bytes));
	for (int i = 0; i < turns; i++) {
		matmul<<<grid, block>>>(n, a, b, c);
		saxpy<<<all / 256, 256>>>(0.5f, a, b);
		copy<<<all / 4 / 256, 256>>>((float4 *)a, (float4 *)c);
		transpose<<<grid, block>>>(n, a, c);
		sum<<<all / 256, 256>>>(a, c);
		chase<<<1, 32>>>(next, 2000, out);
	}
	if (!strcmp(end, "running"))
		return 0;
	MUST(cudaDeviceSynchronize());
	if (!strcmp(end, "reset"))
		MUST(cudaDeviceReset());
	if (!strcmp(end, "_exit"))
		_exit(3);
	return 0;
}
