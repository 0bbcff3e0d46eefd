"""Inputs of `analyze`: flex traces of jobs on AIU devices, torch traces, compiler logs.

A device counts cycles in 32 bits (TS1 to TS5 of an event: in, ready, begun, done, out) and charge
(Power); the host's clock is in microseconds. Here a rank's counter was zero at ZERO + 1000 * rank.
"""
from make_inputs import compact, lines, put, trace, x

START, MHZ, BITS = 1600000000.0, 560.0, 1 << 32
PREP, EXEC, DMA_IN, DMA_OUT = 15500000000000000001, 2000000000000000001, 14200000000000000001, 3700000000000000001


class Job:
    """The events of one flex file, as pairs of B and E."""

    def __init__(self, rank=0, early=500.0):
        self.rank, self.zero, self.charge, self.events = rank, START - early - 1000.0 * rank, 5000, []

    def cycles(self, when):
        return int((when - self.zero) * MHZ) % BITS

    def stamps(self, *times, **more):
        self.charge += 9000
        return {**more, "Power": str(self.charge % BITS),
                **{f"TS{i + 1}": str(self.cycles(t)) for i, t in enumerate(times)}}

    def pair(self, name, tid, begin, end, attr=None):
        for ph, ts in (("B", begin), ("E", end)):
            event = {"name": name, "ph": ph, "pid": self.rank, "tid": tid, "ts": round(ts, 3)}
            self.events.append({"attr": attr, **event} if attr else event)

    def kernel(self, name, t, took, prep=6.0, **more):
        attr = self.stamps(t, t, t + prep, t + prep + took, t + prep + took + 0.5, **more)
        self.pair(f"{name} Cmpt Prep", PREP, t, t + prep, attr)
        self.pair(f"{name} Cmpt Exec", EXEC, t + prep, t + prep + took, attr)
        return t + prep + took + 2.0

    def copy(self, name, t, took, size, out=False):
        attr = self.stamps(*((t, t, t, t, t + took) if out else (t, t + took, t + took, t + took, t + took)),
                           Bytes=str(size))
        self.pair(f"{name} {'DmaO' if out else 'DmaI'}", DMA_OUT if out else DMA_IN, t, t + took, attr)
        return t + took + 1.0

    def text(self):
        return "[\n" + lines(self.events) + "\n]\n"


LAYERS = (("conv1", 40.0), ("relu_1", 12.5), ("matmul_2", 55.0), ("matmul_3", 57.0))


def iteration(job, t, scale=1.0):
    begin = t
    t = job.copy("weights_in", t, 4.0, 65536)
    for name, took in LAYERS:
        t = job.kernel(name, t, took * scale)
    t = job.copy("result_out", t, 3.0, 16384, out=True)
    job.pair("AIU Roundtrip", 77, begin - 20, t + 10)
    job.pair("Flex RoundTrip", 78, begin - 30, t + 20)
    return t


def flex():
    for number in (1, 2):
        job = Job(early=500.0)
        t = START + (number - 1) * 2000
        for i in range(3 - number):
            t = iteration(job, t, 1.0 + 0.1 * i) + 100
        put(f"aiu_flex/net-job-{number}.json", job.text())
    put("aiu_flex/ideal.log", """[DeepRT] ===== Perf BEGIN =====
====== Perf Summary ======
~~~~ Ideal/Total Cycles ~~~~
-----------------------------------------
Name                            Ideal Cy.
-----------------------------------------
conv1-opCatConv_fp16            24000
relu_1-opCatScalar              0
matmul_2-opCatBmm_fp16          30000
matmul_3-opCatBmm_fp16          31000
other-NA                        0
-----------------------------------------
Total                           85000
-----------------------------------------
====== Perf Summary End ======
[DeepRT] ===== Perf END =====
""")
    table = ("====== Perf Summary ======\n~~~~ Ideal/Total Cycles ~~~~\nconv1-opCatConv_fp16   {}\n"
             "relu_1-opCatScalar   0\nmatmul_2-opCatBmm_fp16   {}\nmatmul_3-opCatBmm_fp16   {}\n"
             "Total   {}\n====== Perf Summary End ======\n")
    put("aiu_flex/phases.log", "[DeepRT] ===== Perf BEGIN =====\n  PREFILL  \n" +
        table.format(20000, 25000, 26000, 71000) + "  DECODING  \n" + table.format(400, 500, 600, 1500))
    put("aiu_flex/autopilot.log", "[DeepRT] ===== DSM-AutoPilot BEGIN =====\n[DeepRT] ===== Perf BEGIN =====\n" +
        table.format(20000, 25000, 26000, 71000))
    put("aiu_flex/broken.log", "====== Perf Summary ======\n~~~~ Ideal/Total Cycles ~~~~\nconv1-opCatConv_fp16 many\n")
    put("aiu_flex/profile.json", compact({"name": "mine", "stages": [{"create_slice_from_BE": True},
                                                                     {"drop_global_events": True}]}))


def coll():
    """All-reduce along the ranks 0, 1, 2; the last tells the sum to the others. Twice."""
    ranks, size = 3, "262144"
    jobs = [Job(r, early=700.0) for r in range(ranks)]
    for number in range(2):
        base = START + 1000.0 * number
        group = f"AllReduce_all_reduce_{number}"
        last = f"[sync={group}_s2_r0x3_4]"
        for r, job in enumerate(jobs):
            t = base + r * 3
            job.kernel(f"add_{number}", t, 100.0)
            if r:
                t0 = base + 110 + r * 60
                job.pair(f"SenRdmaReceive_{900 + r} [{size}B] [sync={group}_s{r - 1}_r{r}_{2 * r - 2}] DmaI", DMA_IN,
                         t0 - 40, t0 + 2, job.stamps(t0 - 40, t0, t0 + 0.01, t0 + 0.01, t0 + 0.02, Bytes=size,
                                                     CollGroup=group, Peer=str(r - 1), Type="WDone Barrier"))
                job.kernel(f"{group}_Add_{2 * r - 1}", t0 + 3, 8.0, CollGroup=group)
            out = base + 130 + r * 60
            if r < ranks - 1:
                job.pair(f"SenRdmaSend_{800 + r} [sync={group}_s{r}_r{r + 1}_{2 * r}] DmaO", DMA_OUT, out, out + 30,
                         job.stamps(out - 5, out - 5, out, out, out + 28, Bytes=size, CollGroup=group,
                                    Peer=str(r + 1), Type="SingleCast"))
                got = base + 330 + r
                job.pair(f"SenRdmaReceive_{950 + r} [{size}B] {last} DmaI", DMA_IN, got - 60, got + 2,
                         job.stamps(got - 60, got, got + 0.01, got + 0.01, got + 0.02, Bytes=size,
                                    CollGroup=group, Peer="2", Type="WDone Barrier"))
            else:
                cast = f"SenRdmaSend_{850 + number}"
                job.pair(f"{cast} - Set BcList {last} DmaO", DMA_OUT, out, out + 1, job.stamps(
                    out, out, out, out, out + 1, CollGroup=group, Peers="0,1", Type="Set BCList"))
                for peer in range(2):
                    job.pair(f"{cast} - Xseg to rank {peer} {last} DmaO", DMA_OUT, out + 2, out + 3, job.stamps(
                        out + 2, out + 2, out + 2, out + 2, out + 3, CollGroup=group, Peer=str(peer),
                        Type="MultiCast XSEG"))
                job.pair(f"{cast} Data {last} DmaO", DMA_OUT, out + 4, out + 40, job.stamps(
                    out + 4, out + 4, out + 4, out + 4, out + 40, Bytes=size, CollGroup=group, Type="MultiCast"))
    for r, job in enumerate(jobs):
        put(f"aiu_coll/sum-rank_{r}-of_3-job-1.json", job.text())


def torch_rank(rank):
    t, pid, events = 7000000000.0 + 5 * rank, 600 + rank, []
    for number in (1, 2):
        tied = {"correlation": number}
        events += [x("aten::linear", t, 200, pid, pid, "cpu_op", **{"External id": number * 8}),
                   x("aiuLaunchControlBlocks", t + 2, 5, pid, pid, "privateuse1_runtime", num_cbs=4, **tied),
                   {"ph": "s", "id": number, "pid": pid, "tid": pid, "ts": t + 2, "cat": "ac2g", "name": "ac2g"},
                   x("aiuScheduleWait", t + 8, 180, pid, pid, "privateuse1_runtime", **tied),
                   x("Memcpy (HtoD)", t + 10, 15, 0, 100, "gpu_memcpy", bytes=32768, device=0, **tied)]
        for i, took in enumerate((30, 42.5, 21)):
            events.append(x(f"matmul_{number}{i}", t + 30 + i * 45, took + rank, 0, 1, "kernel", device=0,
                            stream=1, **tied))
        events += [{"ph": "f", "id": number, "pid": 0, "tid": 1, "ts": t + 30, "cat": "ac2g", "name": "ac2g", "bp": "e"},
                   x("Memcpy (DtoH)", t + 170, 5, 0, 200, "gpu_memcpy", bytes=4096, device=0, **tied)]
        t += 250
    events += [{"name": "process_name", "ph": "M", "pid": p, "tid": 0, "args": {"name": "python"}} for p in (pid, 0)]
    events += [{"name": "process_labels", "ph": "M", "pid": 0, "tid": 0, "args": {"labels": "AIU 0"}}]
    return trace(events, schemaVersion=1, deviceProperties=[{"id": 0, "name": "AIU", "type": "AIU"}],
                 distributedInfo={"backend": "gloo", "rank": rank, "world_size": 2}, displayTimeUnit="ms")


def torch():
    for rank in (0, 1):
        put(f"aiu_torch/net_rank{rank}.pt.trace.json", torch_rank(rank))
    for kernel, ideal, kind in (("matmul_10", 21000, "bmm"), ("matmul_11", 30000, "bmm"), ("matmul_20", 9000, "add")):
        put(f"aiu_torch/cache/inductor-spyre/{kernel}/perf/ideal_cycles.json",
            compact([{"ideal_cycles": ideal, "op_category": kind}]))
    job = Job(early=500.0)
    iteration(job, START)
    put("aiu_torch/flex-job-1.json", job.text())


def odd():
    wrap = Job(early=(BITS - 60000) / MHZ)  # the counter starts again within the first kernel
    iteration(wrap, START)
    put("aiu_odd/wrap-job-1.json", wrap.text())
    one = Job()
    one.kernel("only", START, 20.0)
    put("aiu_odd/one-job-1.json", one.text())
    back = Job()
    back.kernel("good", START, 20.0)
    back.pair("bad Cmpt Exec", EXEC, START + 50, START + 60, {"Power": "1", "TS1": "9", "TS2": "8", "TS3": "7",
                                                              "TS4": "6", "TS5": "5"})
    put("aiu_odd/backwards.json", back.text())
    overlap = [x("a", 10.0, 20.0, 0, 5), x("b", 20.0, 20.0, 0, 5), x("c", 30.0, 40.0, 0, 5), x("inside", 12.0, 3.0, 0, 5),
               x("same", 100.0, 5.0, 0, 6), x("same", 100.0, 5.0, 0, 6), x("zero", 110.0, 0.0, 0, 6),
               {"name": "reversed", "ph": "B", "pid": 0, "tid": 7, "ts": 50.0},
               {"name": "reversed", "ph": "E", "pid": 0, "tid": 7, "ts": 40.0},
               {"name": "open", "ph": "B", "pid": 0, "tid": 7, "ts": 60.0},
               {"name": "mark", "ph": "i", "pid": 0, "tid": 7, "ts": 61.0, "s": "t"},
               {"name": "level", "ph": "C", "pid": 0, "tid": 7, "ts": 62.0, "args": {"v": 3}}]
    put("aiu_odd/overlap.json", "[\n" + lines(overlap) + "\n]\n")
    put("aiu_odd/meta.json", compact([{"args": {"name": "AIU 7"}, "name": "process_name", "ph": "M", "pid": 7}]))
    put("aiu_odd/none.json", "[]\n")
    put("aiu_odd/text.json", "no trace\n")
    put("aiu_odd/empty.json", "")
    for rank in (0, 1):
        events = [x(name, START + i * 30, 20.0, rank, 2, Power=str(9000 + i * 700), **{
            f"TS{k + 1}": str(56000 + i * 16800 + k * 2800) for k in range(5)})
            for i, name in enumerate(("w DmaI", "op_0_MatMul Cmpt Exec", "op_1_MatMul Cmpt Exec"))]
        put(f"aiu_odd/obj-rank_{rank}-of_2-job-1.json", trace(
            events, distributedInfo={"rank": rank, "world_size": 2}, displayTimeUnit="ms", hostname=f"h{rank}"))
        put(f"aiu_odd/log{rank}.txt", "====== Perf Summary ======\n~~~~ Ideal/Total Cycles ~~~~\n"
            f"op_0_MatMul-opCatBmm_fp16   {4000 + rank}\nop_1_MatMul-opCatBmm_fp16   5000\nTotal   {9000 + rank}\n"
            "====== Perf Summary End ======\n")


SETS = [flex, coll, torch, odd]
