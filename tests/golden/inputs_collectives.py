"""Inputs of `ranks`: collective operations of NCCL, gloo and oneCCL whose speed can be worked out.

Times below are in us. NCCL, two ranks, as torch.profiler writes it (kernels on stream 20, other work on 7):

    rank 0   gemm 1000-2000, allreduce of 4 MiB 2000-3100
    rank 1   gemm 1000-3000, allreduce 3000-3100
             so rank 0 waits 1000 for 1; it takes 100: 41.943 GB/s, times 2 (n - 1) / n = 1
    both     gemm 3900-4300 and allreduce of 4 MiB 4000-4400 beside it: 100 of 400 are exposed
    both     allgather of 2 MiB 5000-5050: 41.943 GB/s, times (n - 1) / n = 1/2
    both     reduce_scatter of 1 MiB 6000-6100, of which only the call says the size
    rank 0   sends 64 KiB to 1: 7000-7010

gloo, two ranks, as torch.profiler writes it: operations on threads of their own, which copy, too.

    rank 0   compute 0-1000, all_reduce of 1 MB 1000-3000
    rank 1   compute 0-2500, all_reduce 2500-3000 beside aten::mm 2500-2600: 400 exposed
    both     all_gather of 0.5 MB each 3000-3500, then a barrier 4000-4100

oneCCL, two ranks, as we record it: tasks with a step inside, sizes in bytes; a call that only begins
its operation, which goes on in an event.

oneCCL on MPI, two ranks, with calls of both: a broadcast of MPI's, then ten times an allreduce of
oneCCL's, which waits in MPI_Waitall; rank 1 comes 50 ms later to each.
"""
import json

from make_inputs import put


def span(name, begin, end, cat, pid, tid, **args):
    return {"ph": "X", "name": name, "cat": cat, "pid": pid, "tid": tid, "ts": begin, "dur": end - begin,
            **({"args": args} if args else {})}


def named(pid, label):
    return [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": "python"}},
            {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "ts": 0, "args": {"labels": label}}]


def torch_file(rank, events, backend):
    return json.dumps({"schemaVersion": 1, "deviceProperties": [], "distributedInfo": {
        "backend": backend, "rank": rank, "world_size": 2}, "host_name": "node", "displayTimeUnit": "ms",
        "baseTimeNanoseconds": 1700000000000000000, "traceEvents": events}) + "\n"


def comms(name, n_in, n_out, dtype="Float", **more):
    return {"Collective name": name, "In msg nelems": n_in, "Out msg nelems": n_out, "dtype": dtype,
            "Group size": 2, "Process Group Name": "0", "Process Group Description": "default_pg",
            "Process Group Ranks": "[0, 1]", **more}


def nccl_rank(rank):
    pid = 100 + rank
    late = 1000 * rank

    def host(name, begin, end, **args):
        return span(name, begin, end, "cpu_op", pid, pid, **args)

    def kernel(name, begin, end, stream=20, **args):
        return span(name, begin, end, "kernel", 0, stream, device=0, stream=stream, **args)

    reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    events = [
        span("ProfilerStep#1", 0, 8000, "user_annotation", pid, pid),
        host("record_param_comms", 900, 950, **comms("allreduce", 1 << 20, 1 << 20)),
        kernel("gemm", 1000, 2000 + late, 7),
        kernel(reduce, 2000 + late, 3100, **comms("allreduce", 1 << 20, 1 << 20)),
        kernel("gemm", 3900, 4300, 7),
        kernel(reduce, 4000, 4400, **comms("allreduce", 1 << 20, 1 << 20)),
        kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 5000, 5050,
               **comms("_allgather_base", 1 << 19, 1 << 20, "BFloat16")),
        host("record_param_comms", 5900, 5950, **comms("reduce_scatter_tensor_coalesced", 1 << 18, 1 << 17,
                                                       **{"External id": 77})),
        kernel("ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", 6000, 6100,
               **{"External id": 77}),
        kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 7000, 7010,
               **comms("recv" if rank else "send", 1 << 14, 1 << 14)),
    ]
    return torch_file(rank, named(pid, "CPU") + named(0, "GPU 0") + events, "nccl")


def gloo_rank(rank):
    pid, worker = 200 + rank, 300 + rank

    def gloo(name, begin, end, dims=None):
        shape = {"Input Dims": [[dims]], "Input type": ["float"]} if dims else {}
        return span("gloo:" + name, begin, end, "user_annotation", pid, worker, **shape)

    events = [
        span("train", 0, 5000, "user_annotation", pid, pid),
        span("compute", 0, 1000 + 1500 * rank, "user_annotation", pid, pid),
        span("c10d::allreduce_", 950 + 1500 * rank, 990 + 1500 * rank, "cpu_op", pid, pid),
        *([span("aten::mm", 2500, 2600, "cpu_op", pid, pid)] if rank else []),
        gloo("all_reduce", 1000 + 1500 * rank, 3000, 250000),
        gloo("all_gather", 3000, 3500, 125000),
        *[span("aten::copy_", 3400 + 10 * i, 3405 + 10 * i, "cpu_op", pid, worker) for i in range(8)],
        gloo("barrier", 4000, 4100),
    ]
    return torch_file(rank, named(pid, "CPU") + events, "gloo")


def oneccl_rank(rank):
    pid = 400 + rank
    events = [
        span("solve", 0, 3000, "app", pid, pid),
        span("allreduce", 1000 + 200 * rank, 1500, "oneCCL::API", pid, pid, send_size=4000, recv_size=4000),
        span("allreduce", 1000 + 200 * rank, 1400, "oneCCL::SCHED", pid, pid),
        span("bcast", 2000, 2010, "oneCCL::API", pid, pid, send_size=800),
        span("oneCCL::COLL", 2050, 2100, "event", pid, pid),
        span("oneCCL::RECV", 2060, 2100, "event", pid, pid),
    ]
    return json.dumps({"traceEvents": events, "otherData": {"tool": "unitrace", "processes": [
        {"pid": pid, "rank": rank, "name": "app", "host": "node",
         "realtime_offset_ns": 1700000000000000000}]}}) + "\n"


def both_rank(rank):
    pid, begin = 500 + rank, 2000
    events = [span("MPI_Bcast", 1000, 1010, "MPI", pid, pid, comm="MPI_COMM_WORLD", seq=0, root=0, bytes=8)]
    for _ in range(10):
        came, end = begin + 1000 + 50000 * rank, begin + 51200
        events += [span("compute", begin, came, "app", pid, pid),
                   span("allreduce", came + 10, end, "oneCCL::API", pid, pid, send_size=4000, recv_size=4000),
                   span("MPI_Waitall", came + 20, end - 10, "MPI", pid, pid)]
        begin = end + 100
    return json.dumps({"traceEvents": events, "otherData": {"tool": "unitrace", "processes": [
        {"pid": pid, "rank": rank, "name": "app", "host": "node",
         "realtime_offset_ns": 1700000000000000000}]}}) + "\n"


def collectives():
    for rank in range(2):
        put(f"collectives/nccl.{rank}.json", nccl_rank(rank))
        put(f"collectives/gloo.{rank}.json", gloo_rank(rank))
        put(f"collectives/oneccl.{rank}.json", oneccl_rank(rank))
        put(f"collectives/both.{rank}.json", both_rank(rank))


SETS = [collectives]
