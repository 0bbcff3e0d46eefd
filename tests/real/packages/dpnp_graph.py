"""dpnp: kernels of its own through SYCL, a sort that uses a buffer, a barrier, a copy to the host."""
import dpctl
import dpnp

queue = dpctl.SyclQueue("opencl:cpu")
values = dpnp.arange(1000, dtype="f4", sycl_queue=queue)
doubled = values + values
ordered = dpnp.sort(doubled)
queue.submit_barrier()
queue.wait()
print(int(dpnp.sum(ordered)))
