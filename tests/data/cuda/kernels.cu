/*
 * kernels.cu - what kernels.cubin was compiled from, for tests of readers of such files:
 *
 *	nvcc -O2 -lineinfo -cubin -gencode arch=compute_90,code=sm_90 -o kernels.cubin /src/kernels.cu
 */
__device__ __forceinline__ float multiply(float a, float b)
{
	return a * b;
}

__global__ void matmul(int n, const float *a, const float *b, float *c)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y;
	int column = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

#pragma unroll 1
	for (int k = 0; k < n; k++)
		sum += multiply(a[row * n + k], b[k * n + column]);
	c[row * n + column] = sum;
}

extern "C" __global__ void relu(float *x)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = x[i] > 0 ? x[i] : 0;
}

__global__ void chase(const int *next, int steps, int *out)
{
	int at = threadIdx.x;

#pragma unroll 1
	for (int i = 0; i < steps; i++)
		at = next[at];
	out[threadIdx.x] = at;
}
