"""Inputs of `roofline`: metrics of kernels in the layouts of Intel's unitrace, old and new, and of ours."""
from make_inputs import put

GPU = """# A device that is easy to calculate with.
PlatformName,"Test GPU"
FP16_GFLOPS,2000
FP16_XMX_GFLOPS,8000
BF16_XMX_GFLOPS,8000
FP32_GFLOPS,1000
FP64_GFLOPS,500
GPU_MEMORY_BW_in_GB_per_sec,100
L3_BW_in_GB_per_sec,400
"""
CHIP = """PlatformName,"Test chip"
FP64_GFLOPS,500
FP32_GFLOPS,1000
FP16_TENSOR_GFLOPS,16000
GPU_MEMORY_BW_in_GB_per_sec,100
L2_BW_in_GB_per_sec,300
L1_BW_in_GB_per_sec,1000
SHARED_BW_in_GB_per_sec,1000
"""
GEMM, COPY, FFT, TINY = ("gemm[SIMD16 {56; 1; 1} {64; 8; 1}]", "void copy<float, 4>(float*)[SIMD32 {8; 1; 1} {32; 1; 1}]",
                         "fft<double>[SIMD16 {4; 1; 1} {16; 1; 1}]", "flags[SIMD8 {1; 1; 1} {1; 1; 1}]")
OPS = "XVE_INST_EXECUTED_"
COMPUTE = (f"GpuTime[ns],{OPS}FP16[events],{OPS}FP32[events],{OPS}FP64[events],{OPS}XMX_FP16[events],"
           f"{OPS}XMX_BF16[events],{OPS}XMX_FP16_UTILIZATION[%]")
MEMORY = ("GpuTime[ns],AvgGpuCoreFrequencyMHz[MHz],L3_BYTE_READ[bytes],L3_BYTE_WRITE[bytes],"
          "GPU_MEMORY_BYTE_READ[bytes],GPU_MEMORY_BYTE_WRITE[bytes],XVE_THREADS_OCCUPANCY_ALL[%]")
# two calls of gemm: 10 ms, 6e10 operations of XMX, 5e8 bytes of memory, 2e9 of L3
COMPUTE_ROWS = [(GEMM, 6100000, 0, 1000, 0, 58593750, 0, "90.500000"), (GEMM, 4100000, 0, 1000, 0, 58593750, 0, "91.500000"),
                (COPY, 30000000, 0, 0, 0, 0, 0, "0.000000"), (FFT, 9000000, 0, 0, 120000000, 0, 0, "0.000000"),
                (TINY, 1000000, 0, 0, 0, 0, 0, "0.000000"), ("never seen again[SIMD8 {1; 1; 1} {1; 1; 1}]", 5, 1, 1, 1, 1, 1, "1.000000")]
MEMORY_ROWS = [(GEMM, 6000000, 1450, 900000000, 100000000, 150000000, 100000000, "46.000000"),
               (GEMM, 4000000, 1450, 900000000, 100000000, 150000000, 100000000, "47.000000"),
               (COPY, 30000000, 1450, 1400000000, 1400000000, 1350000000, 1350000000, "80.000000"),
               (FFT, 9000000, 1450, 800000000, 200000000, 50000000, 40000000, "50.000000"),
               (TINY, 1000000, 1450, 0, 0, 0, 0, "0.100000")]


def new_layout(columns, rows):
    yield f"\n=== Device #0 Metrics ===\n\nKernel,GlobalInstanceId,SubDeviceId,{columns}\n"
    for i, (name, *cells) in enumerate(rows):
        yield f'"{name}",{i + 1},0,' + ",".join(map(str, cells)) + "\n\n"


def old_layout(columns, rows):
    yield ("\n=== Device Timing Summary ===\n\n                Total Execution Time (ns):           5579618203\n\n"
           "== L0 Backend ==\n\n Kernel,       Calls,           Time (ns)\n gemm,           2,            10000000\n\n"
           "== Kernel Metrics ==\n\n")
    for name, *cells in rows:
        if "," in name:
            continue  # names have no quotes there
        yield f"\nKernel,Device,SubDeviceId,{columns},QueryBeginTime[ns],\n{name},0,0," + ",".join(map(str, cells)) + ",7,\n"


def repeated(line):
    return line * 2 if "SIMD" in line else line


def nvidia():
    sass = "smsp__sass_thread_inst_executed_op_"
    columns = ("GpuTime[ns],gpu__time_duration.sum[ns],dram__bytes_read.sum[bytes],dram__bytes_write.sum[bytes],"
               "lts__t_sectors_srcunit_tex_op_read.sum[sectors],lts__t_sectors_srcunit_tex_op_write.sum[sectors],l1tex__t_bytes.sum[bytes],"
               f"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,{sass}dfma_pred_on.sum[inst],{sass}ffma_pred_on.sum[inst],"
               f"{sass}fadd_pred_on.sum[inst],sm__ops_path_tensor_src_fp16.sum,lts__t_sector_hit_rate.pct[%],l1tex__t_sector_hit_rate.pct[%]")
    rows = [("nvjet_hsh_128x256[SIMD32 {132; 1; 1} {384; 1; 1}]", 2000000, 2000000, 40000000, 10000000, 6250000, 312500, 0, 9000000, 0, 0,
             1000, 26000000000, "81.500000", "0.000000"),
            ("void at::native::copy_kernel<float>(float*, int)[SIMD32 {1024; 1; 1} {256; 1; 1}]", 5000000, 5000000, 240000000, 230000000, 7500000,
             7500000, 480000000, 0, 0, 0, 0, 0, "50.000000", "0.000000"),
            ("saxpy[SIMD32 {64; 1; 1} {128; 1; 1}]", 1000000, 1000000, 60000000, 30000000, 1875000, 937500, 90000000, 0, 0, 15000000, 0, 0,
             "33.000000", "20.000000"),
            ("chase(long*)[SIMD32 {1; 1; 1} {1; 1; 1}]", 4000000, 4000000, 1000000, 0, 31250, 0, 1000000, 0, 0, 0, 50, 0, "0.500000", "0.000000")]
    return columns, rows


def make_roofline():
    put("roofline/gpu.csv", GPU)
    put("roofline/chip.csv", CHIP)
    put("roofline/flops.csv", "".join(new_layout(COMPUTE, COMPUTE_ROWS)))
    put("roofline/bytes.csv", "".join(new_layout(MEMORY, MEMORY_ROWS)))
    put("roofline/old.flops", "".join(old_layout(COMPUTE, COMPUTE_ROWS)))
    put("roofline/old.bytes", "".join(old_layout(MEMORY, MEMORY_ROWS)))
    put("roofline/twice.bytes", "".join(repeated(line) for line in "".join(old_layout(MEMORY, MEMORY_ROWS)).splitlines(True))
        + "zeCommandListAppendMemoryFill,0,0,5000000,0,0,0,0,0,0,7,\n")
    put("roofline/run.metrics.12.csv", "".join(new_layout(*nvidia())))
    put("roofline/run.metrics.13.csv", "".join(new_layout(*nvidia())))
    put("roofline/stalls.csv", "\n=== Device #0 Metrics ===\n\n Kernel, IP[Address], Active[Events], ControlStall[Events], OtherStall[Events]\n"
        ' "gemm", 00000120, 3, 0, 2\n')
    put("roofline/other.csv", '\n=== Device #0 Metrics ===\n\nKernel,GlobalInstanceId,SubDeviceId,GpuTime[ns],XVE_STALL[%]\n"gemm",1,0,10,5\n')
    put("roofline/bad.csv", '\n=== Device #0 Metrics ===\n\nKernel,GlobalInstanceId,SubDeviceId,GpuTime[ns],dram__bytes.sum\n"gemm",1,0,10,many\n')
    put("roofline/broken_device.csv", "FP32_GFLOPS,fast\n")
    put("roofline/empty.csv", "")


SETS = [make_roofline]
