#!/usr/bin/env python3
"""Made-up logs and traces for the pictures of the guides (tools/pictures.sh), the same every time.

  picture_data.py FOLDER      writes devlog.csv, ops.json, analyze.json, before.json, after.json,
                              samples.json

They have the shape of real ones: a device log of Tenstorrent, a trace of torch.profiler, a trace of
an AIU job of four ranks, samples of a training program."""
import json
import pathlib
import random
import sys

ZONES = ("PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
         "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data")


def device_log(rnd):
    """Three ops on twelve cores: a reader, a writer and three processors that compute."""
    yield "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64"
    yield ZONES
    work = {"NCRISC": ("READ", 0.10, 0.62), "TRISC_0": ("UNPACK", 0.18, 0.80),
            "TRISC_1": ("MATH", 0.22, 0.86), "TRISC_2": ("PACK", 0.28, 0.92),
            "BRISC": ("WRITE", 0.34, 0.97)}
    for core in range(12):
        t = 20000
        for op, length in enumerate((5200, 8400, 3600), 1):
            length = int(length * rnd.uniform(0.8, 1.0))
            for risc, (zone, begin, end) in work.items():
                def row(timer, share, name, kind):
                    at = t + int(length * share) + rnd.randrange(40)
                    return (0, 1 + core % 4, 1 + core // 4, risc, timer, at, 0, op << 10, "", "", name,
                            kind, 30 + timer, f"{zone.lower()}er.cpp", "")
                rows = [row(1, 0, f"{risc}-FW", "ZONE_START"), row(2, begin, f"{risc}-KERNEL", "ZONE_START")]
                for tile in range(3):
                    first = begin + (end - begin) * (tile + 0.1) / 3
                    rows += [row(3, first, zone, "ZONE_START"),
                             row(3, first + (end - begin) * rnd.uniform(0.15, 0.25), zone, "ZONE_END")]
                rows += [row(2, end, f"{risc}-KERNEL", "ZONE_END"), row(1, 1.05, f"{risc}-FW", "ZONE_END")]
                yield from (",".join(map(str, r)) for r in rows)
            t += 10500


LAYER = (("aten::layer_norm", "vectorized_layer_norm_kernel", 14, "[8, 512, 1024]"),
         ("aten::addmm", "sm90_xmma_gemm_bf16_128x256", 58, "[4096, 1024], [1024, 3072]"),
         ("aten::scaled_dot_product_attention", "flash_fwd_kernel", 74, "[8, 16, 512, 64]"),
         ("aten::addmm", "sm90_xmma_gemm_bf16_128x128", 31, "[4096, 1024], [1024, 1024]"),
         ("aten::add", "vectorized_elementwise_kernel", 11, "[8, 512, 1024]"),
         ("aten::addmm", "sm90_xmma_gemm_bf16_128x256", 69, "[4096, 1024], [1024, 4096]"),
         ("aten::gelu", "vectorized_elementwise_kernel", 22, "[8, 512, 4096]"),
         ("aten::addmm", "sm90_xmma_gemm_bf16_128x256", 72, "[4096, 4096], [4096, 1024]"))


def torch_trace(rnd):
    """The forward pass of three layers: calls are quick at first, then the device is behind."""
    host, device, number = 100.0, 0.0, 0
    for _ in range(3):
        for name, kernel, took, shapes in LAYER:
            number += 1
            long = rnd.uniform(24, 36)
            shape = [[int(n) for n in part.strip("[] ").split(",")] for part in shapes.split("], ")]
            yield {"ph": "X", "cat": "cpu_op", "name": name, "pid": 4211, "tid": 4211, "ts": round(host, 3),
                   "dur": round(long, 3), "args": {"Input Dims": shape}}
            yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4211, "tid": 4211,
                   "ts": round(host + long * 0.5, 3), "dur": 5.0, "args": {"correlation": number}}
            device = max(device + 1.5, host + long * 0.5 + 8)
            took *= rnd.uniform(0.95, 1.1)
            yield {"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": round(device, 3),
                   "dur": round(took, 3), "args": {"correlation": number, "device": 0, "stream": 7}}
            device += took
            host += long + rnd.uniform(2, 6)


CYCLES = 560  # of the device, per us
FIRST = {" DmaI": 0, " Cmpt Prep": 1, " Cmpt Exec": 2, " DmaO": 3}


def aiu_span(name, rank, begin, end, **more):
    first = next(i for suffix, i in FIRST.items() if suffix in name)
    stamps = {f"TS{i + 1}": str((begin if i <= first else end) * CYCLES) for i in range(5)}
    return {"name": name, "ph": "X", "pid": rank, "tid": 100 + first, "ts": begin, "dur": end - begin,
            "args": {**stamps, **more}}


def aiu_trace(rnd):
    """Four ranks, 7 steps; rank 2 is slow, so that the others wait for it in the collective."""
    kernels = (("qkv_matmul", 62), ("softmax", 24), ("attn_out_matmul", 38), ("mlp_up_matmul", 71),
               ("silu", 12), ("mlp_down_matmul", 66))
    for rank in range(4):
        power = 1000
        for step in range(7):
            at = 5000 + 520 * step
            yield aiu_span("embedding_weights DmaI", rank, at - 40, at - 6)
            for i, (name, took) in enumerate(kernels):
                end = at + int(took * rnd.uniform(0.95, 1.12) * (1.22 if rank == 2 else 1))
                power += (end - at) * rnd.randrange(130000, 170000)
                yield aiu_span(f"{name}_{i} Cmpt Exec", rank, at, end, Power=str(power))
                at = end + 3
            yield aiu_span(f"SenRdmaSend_{7 + rank} [sync=s] DmaO", rank, at, 5440 + 520 * step,
                           CollGroup="AllReduce_all_reduce_1", Peer=str((rank + 1) % 4))


def training(rnd, slower):
    """Steps of a training loop as torch.profiler has them: Python, ops, calls, kernels, arrows."""
    ops = (("aten::layer_norm", "vectorized_layer_norm", 24), ("aten::addmm", "nvjet_sm90_tst_128x64", 61),
           ("aten::scaled_dot_product_attention", "cudnn_sdpa_flash_fprop", 85 * slower),
           ("aten::add", "vectorized_elementwise<add>", 18), ("aten::gelu", "vectorized_elementwise<Gelu>", 33),
           ("aten::addmm", "nvjet_sm90_tst_192x128", 74))
    main, gpu = {"pid": 4235, "tid": 4235}, {"pid": 0, "tid": 7}
    for at, name, label in ((main, "process_name", "python3 train.py"), (main, "thread_name", "MainThread"),
                            (gpu, "process_name", "cuda:0"), (gpu, "thread_name", "stream 7")):
        yield {"ph": "M", "name": name, **at, "args": {"name": label}}
    yield {"ph": "M", "name": "process_labels", **gpu, "args": {"labels": "GPU 0"}}
    t, free, corr = 1000.0, 1000.0, 0

    def span(at, name, cat, begin, end, **args):
        return {"ph": "X", "name": name, "cat": cat, "ts": round(begin, 3), "dur": round(end - begin, 3),
                **at, "args": args}

    for step in range(6):
        begin = t
        t += 30
        for block in range(4):
            inside = t
            t += 6
            for op, kernel, took in ops:
                host, corr = rnd.uniform(38, 60), corr + 1
                took *= rnd.uniform(0.94, 1.08) * (2.2 if (step, block) == (4, 1) else 1)
                yield span(main, op, "cpu_op", t, t + host, **{"Input Dims": "[[2048, 768], [768]]"})
                yield span(main, "cudaLaunchKernel", "cuda_runtime", t + host - 9, t + host - 2, correlation=corr)
                start, took = round(max(free, t + host + 4), 3), round(took, 3)
                yield span(gpu, kernel, "kernel", start, start + took, correlation=corr,
                           grid="[128,1,1]", block="[256,1,1]", stream=7, device=0)
                yield {"ph": "s", "id": corr, "name": "ac2g", "cat": "ac2g", "ts": round(t + host - 5, 3), **main}
                yield {"ph": "f", "bp": "e", "id": corr, "name": "ac2g", "cat": "ac2g", "ts": round(start, 3), **gpu}
                free, t = round(start + took, 3), t + host + rnd.uniform(2, 6)
            yield span(main, f"Block.forward [{block}]", "python_function", inside, t)
            t += 3
        t = max(t, free) + 20
        yield span(main, "cudaDeviceSynchronize", "cuda_runtime", t - 20, t - 4)
        yield span(main, "train_step", "python_function", begin, t)
        yield {"ph": "C", "name": "GPU memory", "ts": round(begin, 3), "pid": 4235,
               "args": {"MiB": 1500 + 40 * step}}
        t += 25


METRICS = ("GpuTime[ns],dram__bytes_read.sum[bytes],dram__bytes_write.sum[bytes],lts__t_sectors_srcunit_tex_op_read.sum,"
           "lts__t_sectors_srcunit_tex_op_write.sum,l1tex__t_bytes.sum[bytes],l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,"
           "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__ops_path_tensor_src_bf16_dst_fp32.sum,"
           "lts__t_sector_hit_rate.pct[%],l1tex__t_sector_hit_rate.pct[%]")
# name, calls, us, share of DRAM's 4.6 TB/s, L2 and L1 bytes per byte of DRAM, FFMA per byte, tensor TFLOP/s, hits
KERNELS = [("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NNT", 48, 310, .12, 4.5, 0, .001, 690, 78, 0),
           ("nvjet_tst_256x128_64x4_1x2_h_bz_coopB_NTN", 24, 420, .09, 5.2, 0, .001, 735, 82, 0),
           ("flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 128>>", 12, 260, .07, 3.1, 0, .3, 410, 71, 0),
           ("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", 12, 690, .08, 3.6, 0, .25, 330, 70, 2),
           ("vectorized_layer_norm_kernel<c10::BFloat16, float>", 25, 62, .71, 1.1, 1.4, .6, 0, 34, 28),
           ("GeLUCUDAKernelImpl_elementwise", 12, 88, .90, 1.02, 1.02, .9, 0, 33, 0),
           ("multi_tensor_apply_kernel<FusedAdamMathFunctor>", 4, 940, .88, 1.01, 1.01, .35, 0, 34, 1),
           ("cunn_SoftMaxForward<8, c10::BFloat16, float>", 2, 150, .63, 1.2, 2.0, .5, 0, 31, 41),
           ("index_select_embedding_kernel", 2, 35, .22, 1.6, 2.6, .01, 0, 55, 12)]


def metrics():
    """A training step on an H200 as -q -g Roofline measures it."""
    yield f"\n=== Device #0 Metrics ===\n\nKernel,GlobalInstanceId,SubDeviceId,{METRICS}\n"
    instance = 0
    for name, calls, us, dram, l2, l1, ffma, tensor, hits, near in KERNELS:
        moved, ns = dram * 4.6e12 * us * 1e-6, us * 1000
        cells = [ns, moved * .6, moved * .4, moved * l2 * .7 / 32, moved * l2 * .3 / 32, moved * l1, tensor * 1e12 * us * 1e-6 / 12000,
                 moved * ffma, tensor * 1e12 * us * 1e-6]
        for _ in range(calls):
            instance += 1
            yield (f'"{name}[SIMD32 {{132; 1; 1}} {{384; 1; 1}}]",{instance},0,' + ",".join(f"{c:.0f}" for c in cells) +
                   f",{hits:f},{near:f}\n\n")


PY, LIBS = "/usr/bin/python3.11", "/home/me/venv/lib/python3.11/site-packages/"
TRAIN, CPU = "/home/me/train.py", LIBS + "torch/lib/libtorch_cpu.so"


def script(name, file, line):
    return name, file, file, line


def native(module, *names):
    return [(name, module) for name in names]


def samples(rnd):
    """A training program: steps of forward, backward and optimiser, words that are counted in Python,
    a worker of OpenMP; samples of 1 ms with the task that they fell into."""
    top = [*native(PY, "_start", "Py_RunMain"), script("<module>", TRAIN, 44), script("main", TRAIN, 33)]
    module = [script("Module._call_impl", LIBS + "torch/nn/modules/module.py", 1751)]
    net = [*top, *module, script("Net.forward", TRAIN, 12)]
    mm = native(CPU, "at::native::addmm", "mkl_blas_sgemm", "mkl_blas_avx512_sgemm_kernel")
    conv = native(CPU, "at::native::convolution", "dnnl_primitive_execute", "dnnl::impl::cpu::x64::jit_avx512_conv_fwd")
    engine = [*top, script("Tensor.backward", LIBS + "torch/_tensor.py", 647), *native(CPU, "torch::autograd::Engine::execute")]
    adam = [*top, script("Adam.step", LIBS + "torch/optim/adam.py", 223), script("_single_tensor_adam", LIBS + "torch/optim/adam.py", 544)]
    words = [*top, script("tokenise", TRAIN, 21)]
    fault = native("[kernel]", "asm_exc_page_fault", "do_anonymous_page", "clear_page_erms")
    worker = native("/usr/lib/libgomp.so.1", "gomp_thread_start")
    stacks = [
        ("aten::addmm", net + mm, 9), ("aten::conv2d", net + conv, 14), ("aten::relu", net + native(CPU, "at::native::relu"), 4),
        ("step", engine + conv, 12), ("step", engine + mm, 8), ("step", engine + native(CPU, "at::native::batch_norm_backward"), 5),
        ("Optimizer.step", adam + native(CPU, "at::native::sqrt", "vmsSqrt"), 6),
        ("Optimizer.step", adam + native(CPU, "at::native::addcdiv_") + fault, 4),
        ("tokenise", words + native(PY, "unicode_hash"), 11), ("tokenise", words + native(PY, "_PyDict_GetItem", "dict_lookup"), 13),
        ("tokenise", [*top, script("tokenise", TRAIN, 22), *native(PY, "PyUnicode_Format")], 9), ("tokenise", words, 5),
        ("tokenise", [*top, script("tokenise", TRAIN, 23), *native(PY, "list_sort")], 3),
    ]
    frames, known, found, spans, now = {}, {}, [], [], 0.0

    def number(stack):
        parent = None
        for name, module, *source in stack:
            key = (parent, name, module, *source)
            if key not in known:
                known[key] = str(len(known) + 1)
                frames[known[key]] = {"name": name, "category": module, **({"parent": parent} if parent else {}),
                                      **({"file": source[0], "line": source[1]} if source else {})}
            parent = known[key]
        return parent

    for _ in range(12):
        begin = now
        for task, stack, count in stacks:
            count = max(1, round(count * rnd.uniform(0.7, 1.3)))
            if task != "step":
                spans.append({"ph": "X", "pid": 7, "tid": 7, "ts": now, "dur": count * 1000.0, "name": task, "cat": "PyTorch"})
            for i in range(count):
                found.append({"pid": 7, "tid": 7, "ts": now + i * 1000.0 + 500, "name": "cpu-clock", "sf": number(stack), "weight": 1000000})
                if "at::native::conv" in stack[-3][0] or i % 2:
                    inner = conv[1:] if rnd.random() < 0.45 else native("/usr/lib/libgomp.so.1", "gomp_team_barrier_wait_end")
                    found.append({"pid": 7, "tid": 8, "ts": now + i * 1000.0 + 700, "name": "cpu-clock", "sf": number(worker + inner), "weight": 1000000})
            now += count * 1000.0
        spans.append({"ph": "X", "pid": 7, "tid": 7, "ts": begin, "dur": now - begin, "name": "step", "cat": "train"})
    for tid, name in ((7, "python"), (8, "python: OpenMP worker")):
        spans.append({"ph": "M", "pid": 7, "tid": tid, "name": "thread_name", "args": {"name": name}})
    spans.append({"ph": "M", "pid": 7, "tid": 7, "name": "process_name", "args": {"name": "python train.py"}})
    return {"traceEvents": spans, "stackFrames": frames, "samples": found}


RANKS, HALO_STEPS = 8, 40


def halo(rnd):
    """The events of eight ranks, times in us: each assembles, sends its border to the next one, solves, and all
    meet. Rank 5 takes twice as long to assemble, rank 1 half as long again."""
    now, events, message = [1000.0] * RANKS, [[] for _ in range(RANKS)], 0

    def add(rank, name, length, cat="MPI", **args):
        events[rank].append({"ph": "X", "ts": now[rank], "dur": length, "name": name, "cat": cat, "args": args})
        now[rank] += length

    def flow(rank, ph, ts, number):
        events[rank].append({"ph": ph, "ts": ts, "name": "MPI message", "cat": "flow", "id": hex(number),
                             "id2": {"global": hex(number)}, **({"bp": "e"} if ph == "f" else {})})

    for rank in range(RANKS):
        events[rank].append({"ph": "X", "ts": 0, "dur": 1000, "name": "MPI_Init", "cat": "MPI",
                             "args": {"rank": rank, "size": RANKS}})
    for step in range(HALO_STEPS):
        sent = []
        for rank in range(RANKS):
            add(rank, "assemble", 500 * {5: 2.2, 1: 1.5}.get(rank, 1) * rnd.uniform(0.95, 1.05), cat="app")
            sent.append(now[rank])
            add(rank, "MPI_Isend", 4, to=(rank + 1) % RANKS, tag=step, bytes=65536, comm="MPI_COMM_WORLD")
            flow(rank, "s", sent[rank], 0x10000000000000 + message + rank)
        for rank in range(RANKS):
            before = (rank - 1) % RANKS
            until = max(now[rank], sent[before]) + 12
            add(rank, "MPI_Recv", until - now[rank], **{"from": before}, tag=step, bytes=65536, comm="MPI_COMM_WORLD")
            flow(rank, "f", until - 1, 0x10000000000000 + message + before)
            add(rank, "solve", 300 * rnd.uniform(0.97, 1.03), cat="app")
        last = max(now) + 9
        for rank in range(RANKS):
            add(rank, "MPI_Allreduce", last - now[rank], seq=step, bytes=8, received=8, comm="MPI_COMM_WORLD")
        message += RANKS
    for rank in range(RANKS):
        add(rank, "MPI_Finalize", 100)
    return events


def job(rnd):
    for rank, events in enumerate(halo(rnd)):
        pid = 4000 + rank
        yield {"traceEvents": [{"pid": pid, "tid": pid, **e} for e in events],
               "otherData": {"tool": "unitrace", "processes": [
                   {"pid": pid, "rank": rank, "name": "halo", "host": "node1", "realtime_offset_ns": 1700000000000000000}]}}


def main():
    folder = pathlib.Path(sys.argv[1])
    for rank, trace in enumerate(job(random.Random(1))):
        (folder / f"halo.{rank}.json").write_text(json.dumps(trace))
    (folder / "samples.json").write_text(json.dumps(samples(random.Random(1))))
    (folder / "devlog.csv").write_text("\n".join(device_log(random.Random(1))) + "\n")
    (folder / "step.metrics.csv").write_text("".join(metrics()))
    for name, slower in (("before", 1.0), ("after", 1.6)):
        (folder / f"{name}.json").write_text(json.dumps(list(training(random.Random(1), slower))))
    for name, made in (("ops", torch_trace), ("analyze", aiu_trace)):
        (folder / f"{name}.json").write_text(json.dumps(list(made(random.Random(1)))))


if __name__ == "__main__":
    main()
