"""dpctl: an OpenCL kernel on shared memory, five times, through SYCL."""
import dpctl
import dpctl.memory
import dpctl.program
import numpy

COUNT = 100_000
queue = dpctl.SyclQueue("opencl:cpu")
program = dpctl.program.create_program_from_source(
    queue, "__kernel void twice(__global int *a) { a[get_global_id(0)] *= 2; }")
kernel = program.get_sycl_kernel("twice")
memory = dpctl.memory.MemoryUSMShared(4 * COUNT, queue=queue)
values = numpy.ndarray(COUNT, numpy.int32, buffer=memory)
values[:] = 1
for _ in range(5):
    queue.submit(kernel, [memory], [COUNT]).wait()
print(values.sum())
