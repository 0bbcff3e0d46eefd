"""Inputs of `devlog` and `ops`: logs as tt-metal wrote them in 2023 and as it writes them in 2026."""
import json

from make_inputs import put

SIX = "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]"
THIRTEEN = SIX + ", data, run host ID,  zone name, type, source line, source file, meta data"
FIFTEEN = (SIX + ", data, run host ID, trace id, trace id counter, zone name, type, source line, "
           "source file, meta data")
GRAYSKULL = "ARCH: grayskull, CHIP_FREQ[MHz]: 1202"
WORMHOLE = "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64"


def log(first, header, rows, comma=", "):
    return "\n".join([first, header, *(comma.join(map(str, row)) for row in rows)]) + "\n"


def launch(t, core=(0, 0), chip=0, risc=("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"), took=7000):
    """The four stamps of every processor: firmware, kernel, end of kernel, end of firmware."""
    for i, name in enumerate(risc):
        for timer, at in ((1, 10 * i), (2, 100 + 7 * i), (3, took - 50 * i), (4, took + 60 - 50 * i)):
            yield chip, *core, name, timer, t + at


def zones(t, host, core=(1, 1), chip=0, trace="", took=8000, wide=True):
    """An op on a core: firmware around kernels, a zone and a number of the user's inside."""
    for i, risc in enumerate(("BRISC", "NCRISC", "TRISC_0", "TRISC_1")):
        short = "TRISC" if risc[0] == "T" else risc

        def row(timer, at, zone, kind, data=0, note=""):
            ids = (trace, 1 if trace != "" else "") if wide else ()
            return (chip, *core, risc, timer, t + at, data, host, *ids, zone, kind, 10 + timer % 7,
                    "/src/kernel.cc", note)

        yield row(501, 30 * i, f"{short}-FW", "ZONE_START",
                  note='{"sub_device_id":0;"sub_device_manager_id":1}' if not i else "")
        yield row(502, 200 + 30 * i, f"{short}-KERNEL", "ZONE_START")
        if not i:
            yield row(601, 300, "GATHER", "ZONE_START")
            yield row(601, 900, "GATHER", "ZONE_END")
            yield row(602, 950, "COUNT", "TS_DATA", 4711)
        if risc == "TRISC_0":
            yield row(603, took - 105, "CB-COMPUTE-WAIT-FRONT", "ZONE_TOTAL", 1235)
        yield row(502, took - 100 * i, f"{short}-KERNEL", "ZONE_END")
        yield row(501, took + 90 - 100 * i, f"{short}-FW", "ZONE_END")


def logs():
    few = ("BRISC", "NCRISC", "TRISC_1")
    old = [*launch(6000000), *launch(6000040, (1, 0), risc=few, took=6500), *launch(6020000, risc=few, took=7100)]
    put("tt_logs/old.csv", log(GRAYSKULL, SIX, old))
    put("tt_logs/old_later.csv", log(GRAYSKULL, SIX, [
        *launch(6000000, took=7400), *launch(6000040, (1, 0), risc=few, took=6500),
        *launch(6020000, risc=few, took=6900)]))
    put("tt_logs/ghz.csv", log("Chip clock is at 1.2 GHz", SIX, launch(100000, risc=("NCRISC", "BRISC"))))
    put("tt_logs/both_headers.csv", log("Chip clock is at 1202 Mhz; " + GRAYSKULL + ";", SIX, [
        *launch(5000), (0, 0, 0, "TRISC_0", 17, 5600), (0, 0, 0, "TRISC_0", 18, 5900)]))
    put("tt_logs/zones.csv", log(WORMHOLE, FIFTEEN, [
        *zones(5000000, 1024), *zones(5020000, 2048, took=8111), *zones(5000500, 1024, (2, 1), took=7700),
        *zones(5020100, 2048, (2, 1))], ","))
    put("tt_logs/chips.csv", log(WORMHOLE, FIFTEEN, [
        *zones(5000000, 1024), *zones(9100000, 1025, chip=1), *zones(5020000, 2048), *zones(9120000, 2049, chip=1)], ","))
    put("tt_logs/replayed.csv", log(WORMHOLE, FIFTEEN, [*zones(5000000, 1024, trace=3), *zones(5020000, 1024, trace=3)], ","))
    put("tt_logs/thirteen.csv", log("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000", THIRTEEN, [
        *zones(700000, 1024, wide=False), *zones(720000, 2048, wide=False)], ","))
    put("tt_logs/one_op.csv", log("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000", THIRTEEN,
                                  [r for r in zones(700000, 1024, wide=False) if r[3] == "BRISC"], ","))
    put("tt_logs/missing.csv", log(GRAYSKULL, SIX, [r for i, r in enumerate(old) if i % 5]))
    put("tt_logs/wrapped.csv", log(GRAYSKULL, SIX, [(*r[:5], r[5] % (1 << 32)) for r in launch((1 << 32) - 3000)]))
    whole = log(GRAYSKULL, SIX, old)
    put("tt_logs/cut.csv", whole[:len(whole) - 11])
    put("tt_logs/header_only.csv", GRAYSKULL + "\n" + SIX + "\n")
    put("tt_logs/empty.csv", "")
    put("tt_logs/text.csv", "this is no log\nnor is this\n")
    put("tt_logs/odd_rows.csv", log(GRAYSKULL, SIX, [*launch(6000), (0, 0, 0, "BRISC", "x", 5), (0, 0), ("", "", "", "", "", ""),
                                                     (0, 0, 0, "WHO</script>", 1, 7000), (0, 0, 0, "BRISC", 1, -5)]))
    put("tt_logs/hostile.csv", log(WORMHOLE, FIFTEEN, [
        (0, 1, 1, "BRISC", 7, 9000 + i, 0, 1024, "", "", name, kind, 3, name, "") for name in (
            "</script><b>", '"quoted"', "=1+1", "\x1b[31m") for i, kind in enumerate(("ZONE_START", "ZONE_END"))], ","))
    put("tt_logs/other_arch.csv", log("ARCH: dragonfly, CHIP_FREQ[MHz]: 900", SIX, launch(6000)))


# 2023: a folder per op, with a log of the host in logs/ops and one of the device in logs/ops_device.

HOST = ("Name, Start timer count [ns], Stop timer count [ns], Delta timer count [ns], Global Call Count, "
        "Call Count, Stack Size, Inputs, Outputs, Math Fidelity, Parallelization Strategy, Preferred Name, "
        "Meta Data, Type")
CALLS = "Name, Start timer count [ns], Stop timer count [ns], Delta timer count [ns]"
TENSOR = "1_1_64_32|TILE|BFLOAT16|DEV_0_DRAM_INTERLEAVED"


def host_row(name, start, end, number, call, depth, tensors=2, fidelity="HiFi2", how="MULTI_CORE", kind="tt_dnn_device",
             note=""):
    inputs = "-".join([TENSOR] * tensors)
    return (f"{name}, {start}, {end}, {end - start}, {number}, {call}, {depth}, {inputs}, "
            f"{TENSOR if tensors else ''}, {fidelity}, {how}, {name.split('::')[-1]}, {note}, {kind}")


def ops_2023():
    softmax, zone = "tt::made_up::Softmax", "my_part"
    tops = {softmax: [host_row(softmax, 1000000, 1800000, 2, 1, 2), host_row(softmax, 4000000, 4300000, 4, 2, 1, 1)],
            "tt::made_up::Add": [host_row("tt::made_up::Add", 2000000, 2400000, 3, 1, 2, how="")],
            zone: [host_row(zone, 900000, 2500000, 1, 1, 1, 0, "", "", "custom_zone", "step one")],
            "plain_torch": [host_row("plain_torch", 3000000, 3200000, 5, 1, 1, 0, "", "", "python_fallback",
                                     "args:((1;2))-outputs:(x)")]}
    for name, rows in tops.items():
        for root in ("ops", "ops_device"):
            put(f"tt_ops23/logs/{root}/{name}/profile_log_host.csv", "\n".join([HOST, *rows]) + "\n")
    calls = {(softmax, 1): [("CompileProgram", 1100000, 1500000), ("LaunchProgram", 1600000, 1750000)],
             (softmax, 2): [("LaunchProgram", 4100000, 4250001), ("LaunchProgram", 4260000, 4270000)],
             ("tt::made_up::Add", 1): [("LaunchProgram", 2050000, 2300000), ("ReadFromDevice", 2310000, 2320000)]}
    for (name, call), rows in calls.items():
        text = "\n".join([CALLS, *(f"{n}, {a}, {b}, {b - a}" for n, a, b in rows)]) + "\n"
        put(f"tt_ops23/logs/ops/{name}/{call}/profile_log_host.csv", text)
        put(f"tt_ops23/logs/ops_device/{name}/{call}/profile_log_device.csv",
            log(GRAYSKULL, SIX, [*launch(70000000 + call * 100000), *launch(70000050 + call * 100000, (1, 0))]))


# 2026: what Tracy exported, beside a report of the devices.

REPORT = ("GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE ARCH,OP NAME,CORE COUNT,"
          "AVAILABLE WORKER CORE COUNT,DEVICE TRACE FIRMWARE DURATION [ns],DEVICE TRACE KERNEL DURATION [ns],"
          "DEVICE KERNEL FIRST TO LAST START [ns],DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
          "DEVICE KERNEL DURATION [ns],DEVICE KERNEL START CYCLE,DEVICE KERNEL END CYCLE,"
          "DEVICE KERNEL DURATION DM START [ns],DEVICE KERNEL DM START CYCLE,DEVICE KERNEL DM END CYCLE,"
          "DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],DEVICE TRISC0 KERNEL DURATION [ns],"
          "DEVICE TRISC1 KERNEL DURATION [ns],DEVICE TRISC2 KERNEL DURATION [ns],DEVICE ERISC KERNEL DURATION [ns],"
          "OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns]\n"
          "1024,,,0,wormhole_b0,,64,72,,,120,3000,5000,8000,2800,5100,7900,2790,5110,7900,2700,2600,2500,210,400,,0,0\n"
          "2048,,,0,wormhole_b0,,64,72,,,130,3100,20000,23100,2900,20100,23000,2880,20120,23000,2750,2650,2510,220,410,,"
          "12000,12120\n"
          "4096,7,1,0,wormhole_b0,,8,72,,,15,900,30000,30900,800,30050,30850,800,30050,30850,790,700,,,,,6900,6950\n"
          "4096,7,2,0,wormhole_b0,,8,72,,,15,910,40000,40910,805,40050,40855,805,40050,40855,795,701,,,,,,\n")


def tensor(*shape, dtype="BFLOAT16", where="DRAM", layout="INTERLEAVED"):
    return {"dtype": dtype, "layout": "TILE", "shape": dict(zip("WZYX", (f"{n}[{n}]" for n in shape))),
            "storage_type": {"device_id": 0, "memory_config": {"buffer_type": where, "memory_layout": layout}}}


def device_op(name, number, inputs, fidelity="LoFi"):
    op = {"attributes": {"axis": "2", "config": "MemoryConfig(kind=3,size=4)"}, "device_id": 0, "global_call_count": number,
          "input_tensors": inputs, "op_code": name, "op_hash": number * 3, "op_type": "tt_dnn_device",
          "kernel_info": {"compute_kernels": [{"math_fidelity": fidelity, "name": "work/5/", "source": "kernels/work.cpp"}],
                          "datamovement_kernels": [{"name": "fetch/6/", "source": "kernels/fetch.cpp"}],
                          "kernel_sizes": {"TENSIX_DM_0_max_kernel_size": 700, "TENSIX_DM_1_max_kernel_size": 900,
                                           "TENSIX_COMPUTE_0_max_kernel_size": 1100}},
          "optional_input_tensors": [], "output_tensors": [tensor(1, 1, 64, 64)],
          "performance_model": {"ideal_ns": 90, "compute_ns": 20, "bandwidth_ns": 90, "input_bws": [101.5], "output_bws": [55]},
          "program_cache_hit": False}
    return f'`TT_DNN_DEVICE_OP: "{name}", {number * 3}, 0, false, {number} ->\n{json.dumps(op, indent=4)}`'


def ops_2026():
    fallback = {"attributes": None, "global_call_count": 2147486720, "op_code": "torch.mul", "op_type": "python_fallback",
                "input_tensors": [{"dtype": "FLOAT32", "layout": "ROW_MAJOR", "storage_type": "HOST",
                                   "shape": {"W": "1[1]", "Z": "1[1]", "Y": "2[2]", "X": "8[8]"}}]}
    data = ["MessageName;total_ns", device_op("ConvMadeUp", 1024, [tensor(1, 1, 64, 32), tensor(1, 1, 32, 64, where="L1",
            layout="WIDTH_SHARDED", dtype="BFLOAT8_B")]) + ";2000500",
            '`TT_DNN_DEVICE_OP: "ConvMadeUp", 3072, 0, true, 2048`;3000500',
            f'`TT_DNN_FALL_BACK_OP:"torch.mul" ->\n{json.dumps(fallback, indent=4)}`;3500500',
            "`TT_SIGNPOST: warm\nall of it`;3900000", "`TT_METAL_TRACE_BEGIN: 0, 7`;4000000",
            device_op("AddMadeUp", 4096, [tensor(1, 1, 64, 64)] * 2, "HiFi3") + ";4100500",
            "`TT_METAL_TRACE_ENQUEUE_PROGRAM: 0, 7, 4`;4100600", "`TT_METAL_TRACE_END: 0, 7`;4200000",
            "`TT_METAL_TRACE_REPLAY: 0, 7`;5000000", "`TT_METAL_TRACE_REPLAY: 0, 7`;6000000", "`TT_SIGNPOST: end`;7000000"]
    times = ["name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text",
             'TT_DNN_DEVICE_OP,/src/op.hpp,10,,"id:1024",2000000,950,1,',
             'TT_DNN_DEVICE_OP,/src/op.hpp,10,,"id:2048",3000000,310,1,',
             'TT_DNN_FALL_BACK_OP,/src/op.hpp,10,,"id:2147486720",3500000,4321,1,',
             'TT_DNN_DEVICE_OP,/src/op.hpp,10,,"id:4096",4100000,700,1,',
             "CompileProgram,/src/p.cpp,20,,,2000100,400,1,id:1024", "CompileProgram,/src/p.cpp,20,,,2000600,60,1,id:1024",
             "HWCommandQueue_write_buffer,/src/q.cpp,30,,,3000100,70,1,id:2048"]
    put("tt_ops26/art/.logs/tracy_ops_data.csv", "\n".join(data) + "\n")
    put("tt_ops26/art/.logs/tracy_ops_times.csv", "\n".join(times) + "\n")
    put("tt_ops26/art/.logs/cpp_device_perf_report.csv", REPORT)
    device = log(WORMHOLE, FIFTEEN, [*zones(5000000, 1024), *zones(5000100, 1024, (2, 1)), *zones(5020000, 2048),
                                     *zones(5040000, 4096, trace=7)], ",")
    put("tt_ops26/legacy/.logs/profile_log_device.csv", device)
    put("tt_ops26/broken/.logs/tracy_ops_data.csv", "\n".join(data)[:-900])
    put("tt_ops26/broken/.logs/tracy_ops_times.csv", times[0] + "\n")


SETS = [logs, ops_2023, ops_2026]
