/*
 * counted.cu - a CUDA program that knows what it has asked of the device, and says so:
 *
 *	kernels 300 spins 5 graph 60 copies 7 fills 3 managed 65536
 *	spin 2000.4 us
 *
 * Kernels on three streams, a graph of three kernels replayed 20 times, copies, fills, managed
 * memory that both sides touch. A spin takes two milliseconds of the device's own clock, whatever
 * its frequency is; the last line is what CUDA events say of it.
 */
#include <cstdio>
#include <cstdlib>

#define MUST(call)                                                                                 \
	do {                                                                                       \
		cudaError_t e = (call);                                                            \
		if (e != cudaSuccess) {                                                            \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const int SIZE = 1 << 14;

__global__ void add_one(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += 1;
}

__global__ void spin(unsigned long long ns)
{
	unsigned long long begin, now;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

static void launch(float *x, cudaStream_t s)
{
	add_one<<<SIZE / 256, 256, 0, s>>>(x, SIZE);
}

static void replay_a_graph(float *x, cudaStream_t s)
{
	cudaGraph_t graph;
	cudaGraphExec_t ready;

	MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 3; i++)
		launch(x, s);
	MUST(cudaStreamEndCapture(s, &graph));
	MUST(cudaGraphInstantiate(&ready, graph, 0));
	for (int i = 0; i < 20; i++)
		MUST(cudaGraphLaunch(ready, s));
	MUST(cudaStreamSynchronize(s));
	MUST(cudaGraphExecDestroy(ready));
	MUST(cudaGraphDestroy(graph));
}

/* Both sides touch it, so that its pages move. */
static void use_managed_memory(cudaStream_t s)
{
	float *both;

	MUST(cudaMallocManaged(&both, SIZE * sizeof(float)));
	for (int i = 0; i < SIZE; i++)
		both[i] = 1;
	launch(both, s);
	MUST(cudaStreamSynchronize(s));
	if (both[SIZE - 1] != 2)
		exit(2);
	MUST(cudaFree(both));
}

static float time_spins(cudaStream_t s, int count)
{
	cudaEvent_t begin, end;
	float ms, least = 1e9f;

	MUST(cudaEventCreate(&begin));
	MUST(cudaEventCreate(&end));
	for (int i = 0; i < count; i++) {
		MUST(cudaEventRecord(begin, s));
		spin<<<1, 1, 0, s>>>(2000000);
		MUST(cudaEventRecord(end, s));
		MUST(cudaEventSynchronize(end));
		MUST(cudaEventElapsedTime(&ms, begin, end));
		least = ms < least ? ms : least;
	}
	return least * 1000;
}

int main()
{
	static float host[SIZE];
	cudaStream_t streams[3];
	float *x, us;

	MUST(cudaMalloc(&x, sizeof(host)));
	for (int i = 0; i < 3; i++)
		MUST(cudaStreamCreate(&streams[i]));
	for (int i = 0; i < 3; i++)
		MUST(cudaMemsetAsync(x, 0, sizeof(host), streams[i]));
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < 299; i++)
		launch(x, streams[i % 3]);
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < 7; i++)
		MUST(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
	replay_a_graph(x, streams[0]);
	use_managed_memory(streams[1]);
	us = time_spins(streams[2], 5);
	printf("kernels 300 spins 5 graph 60 copies 7 fills 3 managed %zu\nspin %.1f us\n",
	       SIZE * sizeof(float), us);
	return 0;
}
