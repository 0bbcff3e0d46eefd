/*
 * limited.cu [TURNS [NAME...]] - kernels with one known limit each, for test_bottlenecks.py. Each runs for some
 * milliseconds, so that samples at intervals hit it. The name of a kernel is that of its limit.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>

#define MUST(call)                                                                                 \
	do {                                                                                       \
		cudaError_t e = (call);                                                            \
		if (e != cudaSuccess) {                                                            \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const size_t LARGE = (size_t)1 << 30; /* bytes: far more than the L2 cache */
static const int LINKS = 1 << 26;
static const int THREADS = 256;

__global__ void dram_copy(const float4 *from, float4 *to, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		to[i] = from[i];
}

__global__ void fill_links(unsigned int *next, unsigned int count)
{
	unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count) /* one cycle through all of them, as the count is a power of two */
		next[i] = (i * 1664525u + 1013904223u) & (count - 1);
}

__global__ void latency_chase(const unsigned int *next, int steps, unsigned int *out)
{
	unsigned int at = (blockIdx.x * 32 + threadIdx.x) * 15731u;

	for (int i = 0; i < steps; i++)
		at = next[at];
	out[threadIdx.x] = at;
}

template <typename T> __device__ void chains(T *out, int steps, T a, T b)
{
	T x[8];

	for (int k = 0; k < 8; k++)
		x[k] = a + (T)(threadIdx.x + k);
	for (int i = 0; i < steps; i++) {
#pragma unroll
		for (int k = 0; k < 8; k++)
			x[k] = x[k] * a + b;
	}
	for (int k = 1; k < 8; k++)
		x[0] += x[k];
	if (x[0] == (T)12345)
		*out = x[0];
}

__global__ void fp32_chains(float *out, int steps, float a, float b)
{
	chains<float>(out, steps, a, b);
}

__global__ void fp64_chains(double *out, int steps, double a, double b)
{
	chains<double>(out, steps, a, b);
}

__global__ void fp16_chains(__half2 *out, int steps, __half2 a, __half2 b)
{
	__half2 x[8];

	for (int k = 0; k < 8; k++)
		x[k] = __hadd2(a, __half2half2(__int2half_rn((int)threadIdx.x + k)));
	for (int i = 0; i < steps; i++) {
#pragma unroll
		for (int k = 0; k < 8; k++)
			x[k] = __hfma2(x[k], a, b);
	}
	for (int k = 1; k < 8; k++)
		x[0] = __hadd2(x[0], x[k]);
	if (__heq(__low2half(x[0]), __int2half_rn(1234)))
		*out = x[0];
}

__global__ void integer_chains(unsigned int *out, int steps, unsigned int a, unsigned int b)
{
	unsigned int x[8];

	for (int k = 0; k < 8; k++)
		x[k] = a + threadIdx.x + k;
	for (int i = 0; i < steps; i++) {
#pragma unroll
		for (int k = 0; k < 8; k++)
			x[k] = ((x[k] ^ a) >> 1 | b) ^ x[k] >> 3;
	}
	for (int k = 1; k < 8; k++)
		x[0] ^= x[k];
	if (x[0] == 12345)
		*out = x[0];
}

/* The heavy half of the FP32 pipe multiplies integers; logic and additions are another pipe's. */
__global__ void integer_products(unsigned int *out, int steps, unsigned int a, unsigned int b)
{
	chains<unsigned int>(out, steps, a, b);
}

/* Twice as many FP32 operations as logic: each instruction issued, and neither pipe full. */
__global__ void issue_slots(float *out, int steps, float a, float b, unsigned int c)
{
	float x[8];
	unsigned int y[4];

	for (int k = 0; k < 8; k++)
		x[k] = a + threadIdx.x + k;
	for (int k = 0; k < 4; k++)
		y[k] = c + threadIdx.x + k;
	for (int i = 0; i < steps; i++) {
#pragma unroll
		for (int k = 0; k < 8; k++) {
			x[k] = x[k] * a + b;
			if (k & 1)
				asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;"
					     : "+r"(y[k / 2])
					     : "r"(c), "r"(y[(k / 2 + 1) & 3]));
		}
	}
	for (int k = 1; k < 8; k++)
		x[0] += x[k];
	if (x[0] == 12345 || (y[0] ^ y[1] ^ y[2] ^ y[3]) == 12345)
		*out = x[0];
}

__global__ void special_functions(float *out, int steps, float a)
{
	float x[4];

	for (int k = 0; k < 4; k++)
		x[k] = a + threadIdx.x + k;
	for (int i = 0; i < steps; i++) {
#pragma unroll
		for (int k = 0; k < 4; k++)
			asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[k]));
	}
	if (x[0] + x[1] + x[2] + x[3] == 12345)
		*out = x[0];
}

__global__ void tensor_products(float *out, int steps, unsigned int seed)
{
	float c[4][4] = {};
	unsigned int a[4] = { seed, seed, seed, seed }, b[2] = { seed, seed };

	for (int i = 0; i < steps; i++) {
#pragma unroll
		for (int k = 0; k < 4; k++)
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
				     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
				     : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
				     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
				       "r"(b[1]));
	}
	if (c[0][0] + c[1][1] + c[2][2] + c[3][3] == 12345)
		*out = c[0][0];
}

/* stride 1: each lane its bank; 32: all lanes the same one */
template <int STRIDE> __device__ void read_shared(float *out, int steps)
{
	__shared__ float cells[32 * 32 + 32];
	volatile float *mine = cells + (threadIdx.x & 31) * STRIDE;
	float sum = 0;

	for (int i = threadIdx.x; i < 32 * 32 + 32; i += blockDim.x)
		cells[i] = i;
	__syncthreads();
	for (int i = 0; i < steps; i++) {
#pragma unroll
		for (int k = 0; k < 16; k++)
			sum += mine[k];
	}
	if (sum == 12345)
		*out = sum;
}

__global__ void shared_reads(float *out, int steps)
{
	read_shared<1>(out, steps);
}

__global__ void shared_conflicts(float *out, int steps)
{
	read_shared<32>(out, steps);
}

/* A histogram in shared memory; the lanes of a warp use different banks. */
__global__ void shared_atomics(unsigned int *out, int steps)
{
	__shared__ unsigned int cells[64];

	if (threadIdx.x < 64)
		cells[threadIdx.x] = 0;
	__syncthreads();
	for (int i = 0; i < steps; i++)
		atomicAdd(&cells[(threadIdx.x * 7 + i) & 63], threadIdx.x);
	__syncthreads();
	if (cells[0] == 12345)
		*out = cells[1];
}

__global__ void atomics_spread(unsigned int *cells, int steps)
{
	unsigned int at = blockIdx.x * 977 + threadIdx.x;

	for (int i = 0; i < steps; i++)
		atomicAdd(&cells[(at + i * 61) & 0xffff], at);
}

__global__ void atomics_one(unsigned int *cells, int steps)
{
	unsigned int old = threadIdx.x;

	for (int i = 0; i < steps; i++)
		old = atomicExch(cells, old + 1);
	if (old == 0xffffffffu)
		cells[1] = old;
}

/* Eight ways through, each for four lanes of a warp, with loops that cannot be turned into selections. */
__global__ void divergent_lanes(float *out, int steps, int length, float a)
{
	float x = threadIdx.x;
	unsigned int n = threadIdx.x;

	for (int i = 0; i < steps; i++) {
#define WAY(number, what)                                                                          \
	case number:                                                                               \
		for (int k = 0; k < length; k++)                                                   \
			what;                                                                      \
		break
		switch (n++ & 7) {
			WAY(0, x = x * a + 1.0f);
			WAY(1, x = (x - a) * 1.5f);
			WAY(2, x = fmaxf(x, a) + 0.5f);
			WAY(3, x = fminf(x, a) * 2.0f);
			WAY(4, x = a - x * 7.0f);
			WAY(5, x = x * x + 0.1f);
			WAY(6, x = fabsf(x) * 0.3f);
			WAY(7, x = x * 0.8f + a);
		}
#undef WAY
	}
	if (x == 12345)
		*out = x;
}

/* Two ways through, for every other lane; loops again, for the same reason. */
__global__ void divergent_halves(float *out, int steps, int length, float a)
{
	float x = threadIdx.x, y = a;

	for (int i = 0; i < steps; i++) {
		if (threadIdx.x & 1) {
			for (int k = 0; k < length; k++)
				x = x * a + 1.0f;
		} else {
			for (int k = 0; k < length; k++)
				y = fmaxf(y - x, a) * 1.5f;
		}
	}
	if (x + y == 12345)
		*out = x;
}

__global__ void l2_reads(const float4 *from, unsigned int mask, int steps, float *out)
{
	unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (int i = 0; i < steps; i++) {
		float4 v = __ldcg(&from[at & mask]);

		sum += v.x + v.y + v.z + v.w;
		at += gridDim.x * blockDim.x + 32;
	}
	if (sum == 12345)
		*out = sum;
}

__global__ void l1_reads(const float4 *from, int steps, float *out)
{
	unsigned int at = threadIdx.x;
	float sum = 0;

	for (int i = 0; i < steps; i++) {
		float4 v = __ldca(&from[at & 0x3ff]);

		sum += v.x + v.y + v.z + v.w;
		at += 32;
	}
	if (sum == 12345)
		*out = sum;
}

/* Each thread waits for its own results, and there are far too few of them. */
__global__ void low_occupancy(float *out, int steps, float a)
{
	extern __shared__ float room[];
	float x = threadIdx.x;

	room[threadIdx.x] = x;
	for (int i = 0; i < steps; i++) {
		x = x * a + 1.0f;
		x = room[((unsigned int)i + threadIdx.x) & 63] + x;
	}
	if (x == 12345)
		*out = x;
}

__global__ void lonely_block(float *out, int steps, float a, float b)
{
	chains<float>(out, steps, a, b);
}

__global__ void tiny_launch(float *out)
{
	if (threadIdx.x == 0)
		*out += 1;
}

static int count_of_names;
static char **names;

static bool wants(const char *name)
{
	for (int i = 0; i < count_of_names; i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return !count_of_names;
}

#define RUN(kernel, grid, block, shared, ...)                                                      \
	do {                                                                                       \
		if (wants(#kernel)) {                                                              \
			kernel<<<grid, block, shared>>>(__VA_ARGS__);                              \
			MUST(cudaDeviceSynchronize());                                             \
		}                                                                                  \
	} while (0)

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 1, processors, full;
	const int room = 200 << 10;
	float4 *a, *b;
	unsigned int *next, *cells;

	names = argv + 2;
	count_of_names = argc > 2 ? argc - 2 : 0;
	MUST(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
	full = processors * (2048 / THREADS) * 2; /* two waves of full multiprocessors */
	MUST(cudaMalloc(&a, LARGE));
	MUST(cudaMalloc(&b, LARGE));
	MUST(cudaMalloc(&next, LINKS * sizeof(*next)));
	MUST(cudaMalloc(&cells, 1 << 20));
	MUST(cudaMemset(a, 0, LARGE));
	MUST(cudaMemset(cells, 0, 1 << 20));
	MUST(cudaFuncSetAttribute(low_occupancy, cudaFuncAttributeMaxDynamicSharedMemorySize, room));
	fill_links<<<LINKS / THREADS, THREADS>>>(next, LINKS);
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < turns; i++) {
		float *out = (float *)cells;

		for (int k = 0; k < 4; k++)
			RUN(dram_copy, full, THREADS, 0, a, b, LARGE / sizeof(float4));
		RUN(latency_chase, processors, 32, 0, next, 4000, cells);
		RUN(fp32_chains, full, THREADS, 0, out, 16384, 0.5f, 1.0f);
		RUN(fp64_chains, full, THREADS, 0, (double *)cells, 8192, 0.5, 1.0);
		RUN(fp16_chains, full, THREADS, 0, (__half2 *)cells, 16384,
		    __float2half2_rn(0.5f), __float2half2_rn(1.0f));
		RUN(integer_chains, full, THREADS, 0, cells, 4096, 0x5a5a5a5au, 0x1234u);
		RUN(integer_products, full, THREADS, 0, cells, 8192, 1664525u, 1013904223u);
		RUN(issue_slots, full, THREADS, 0, out, 8192, 0.5f, 1.0f, 0x5a5a5a5au);
		RUN(special_functions, full, THREADS, 0, out, 8192, 0.5f);
		RUN(tensor_products, full, THREADS, 0, out, 4096, 0u);
		RUN(shared_reads, full, THREADS, 0, out, 2048);
		RUN(shared_conflicts, full, THREADS, 0, out, 64);
		RUN(shared_atomics, full, THREADS, 0, cells, 512);
		RUN(atomics_spread, full, THREADS, 0, cells, 2048);
		RUN(atomics_one, processors, THREADS, 0, cells, 64);
		RUN(divergent_lanes, full, THREADS, 0, out, 512, 8, 0.5f);
		RUN(divergent_halves, full, THREADS, 0, out, 64, 64, 0.5f);
		RUN(l2_reads, full, THREADS, 0, a, (8u << 20) / sizeof(float4) - 1, 4096, out);
		RUN(l1_reads, full, THREADS, 0, a, 8192, out);
		RUN(low_occupancy, processors * 4, 64, room, out, 16384, 0.5f);
		RUN(lonely_block, 1, THREADS, 0, out, 262144, 0.5f, 1.0f);
		for (int k = 0; k < 20; k++)
			RUN(tiny_launch, 1, 32, 0, out);
	}
	MUST(cudaDeviceSynchronize());
	return 0;
}
