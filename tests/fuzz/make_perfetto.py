#!/usr/bin/env python3
"""Write the seeds of fuzz_perfetto into corpus/perfetto: a small trace for each part of the format
that is read. protoc makes them from text. Run it again when the schema has grown; inputs that once
crashed are kept beside them."""
import pathlib
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
APP = """
packet { track_descriptor { uuid: 1 process { pid: 10 process_name: "RANK 1 app" cmdline: "app" cmdline: "-x"
         process_labels: "node" } } trusted_packet_sequence_id: 1 }
packet { track_descriptor { uuid: 2 parent_uuid: 1 thread { pid: 10 tid: 11 thread_name: "main" } } }
"""
TEXTS = {
    "slices": APP + """
packet { timestamp: 5 track_event { type: TYPE_SLICE_BEGIN track_uuid: 2 name: "a" categories: "x" categories: "y" } }
packet { timestamp: 6 track_event { type: TYPE_INSTANT track_uuid: 1 name: "i" } }
packet { timestamp: 7 track_event { type: TYPE_INSTANT name: "g" } }
packet { timestamp: 9 track_event { type: TYPE_SLICE_END track_uuid: 2 } }
packet { timestamp: 3 track_event { type: TYPE_SLICE_END track_uuid: 2 } }
packet { timestamp: 8 track_event { type: TYPE_SLICE_BEGIN track_uuid: 2 } }
""",
    "interned": APP + """
packet { trusted_packet_sequence_id: 3 sequence_flags: 1 trace_packet_defaults {
         timestamp_clock_id: 64 track_event_defaults { track_uuid: 2 extra_counter_track_uuids: 4 } } }
packet { trusted_packet_sequence_id: 3 sequence_flags: 2 timestamp: 5 interned_data {
         event_names { iid: 1 name: "n" } event_categories { iid: 1 name: "c" }
         debug_annotation_names { iid: 1 name: "k" } debug_annotation_string_values { iid: 1 name: "v" }
         source_locations { iid: 1 file_name: "f" function_name: "g" line_number: 3 } }
         track_event { type: TYPE_INSTANT name_iid: 1 category_iids: 1 extra_counter_values: 9
                       debug_annotations { name_iid: 1 string_value_iid: 1 } source_location_iid: 1
                       task_execution { posted_from_iid: 1 } } }
packet { trusted_packet_sequence_id: 3 sequence_flags: 2 previous_packet_dropped: 1
         timestamp: 6 track_event { type: TYPE_INSTANT name_iid: 2 } }
""",
    "clocks": APP + """
packet { clock_snapshot { clocks { clock_id: 6 timestamp: 1000 } clocks { clock_id: 3 timestamp: 500 }
         clocks { clock_id: 1 timestamp: 99999 } primary_trace_clock: 6 } trusted_packet_sequence_id: 1 }
packet { clock_snapshot { clocks { clock_id: 3 timestamp: 700 } clocks { clock_id: 64 timestamp: 5
         is_incremental: true unit_multiplier_ns: 1000 } } trusted_packet_sequence_id: 2 }
packet { timestamp: 3 timestamp_clock_id: 64 trusted_packet_sequence_id: 2 track_event { type: TYPE_INSTANT track_uuid: 2 } }
packet { timestamp: 600 timestamp_clock_id: 3 track_event { type: TYPE_INSTANT track_uuid: 2 } }
packet { timestamp: 600 timestamp_clock_id: 70 track_event { type: TYPE_INSTANT track_uuid: 2 } }
""",
    "counters": APP + """
packet { track_descriptor { uuid: 3 parent_uuid: 2 counter { type: COUNTER_THREAD_TIME_NS is_incremental: true
         unit_multiplier: 1000 } } }
packet { track_descriptor { uuid: 4 parent_uuid: 1 static_name: "heap" counter { unit_name: "pages" } } }
packet { timestamp: 1 track_event { type: TYPE_COUNTER track_uuid: 3 counter_value: -4 } }
packet { timestamp: 2 track_event { type: TYPE_COUNTER track_uuid: 4 double_counter_value: 2.5 } }
packet { timestamp: 3 track_event { type: TYPE_INSTANT track_uuid: 2 extra_counter_track_uuids: 3
         extra_counter_track_uuids: 9 extra_counter_values: 1 extra_counter_values: 2
         extra_double_counter_track_uuids: 4 extra_double_counter_values: 0.5 } }
""",
    "annotations": APP + """
packet { timestamp: 1 track_event { type: TYPE_INSTANT track_uuid: 2 correlation_id_str: "z"
  debug_annotations { name: "b" bool_value: true } debug_annotations { name: "u" uint_value: 1 }
  debug_annotations { name: "i" int_value: -1 } debug_annotations { name: "d" double_value: 0.1 }
  debug_annotations { name: "s" string_value: "t" } debug_annotations { name: "p" pointer_value: 16 }
  debug_annotations { name: "j" legacy_json_value: "{\\"a\\": [1, 2.5, null]}" }
  debug_annotations { name: "l" array_values { uint_value: 1 } array_values { string_value: "x" } }
  debug_annotations { name: "o" dict_entries { name: "k" array_values { dict_entries { name: "q" } } } }
  debug_annotations { name: "n" nested_value { nested_type: DICT dict_keys: "a" dict_values { nested_type: ARRAY
     array_values { int_value: 1 } array_values { string_value: "s" } } } } debug_annotations { name: "e" }
  debug_annotations { name: "unfinished" bool_value: true } } }
packet { timestamp: 2 track_event { type: TYPE_INSTANT track_uuid: 2 debug_annotations { name: "object_new" uint_value: 7 } } }
packet { timestamp: 3 track_event { type: TYPE_INSTANT track_uuid: 1 name: "unitrace"
         debug_annotations { name: "dropped" uint_value: 2 } debug_annotations { name: "x" uint_value: 1 } } }
""",
    "flows": APP + """
packet { timestamp: 1 track_event { type: TYPE_SLICE_BEGIN track_uuid: 2 flow_ids: 1 flow_ids: 2 } }
packet { timestamp: 2 track_event { type: TYPE_SLICE_END track_uuid: 2 flow_ids_old: 1 terminating_flow_ids_old: 2 } }
packet { timestamp: 3 track_event { type: TYPE_INSTANT track_uuid: 2 name: "flow" terminating_flow_ids: 1 } }
packet { timestamp: 4 track_event { type: TYPE_INSTANT track_uuid: 77 name: "flow" flow_ids: 1 } }
""",
    "lanes": APP + """
packet { track_descriptor { uuid: 5 parent_uuid: 1 name: "r" sibling_order_rank: -2 } }
packet { track_descriptor { uuid: 6 parent_uuid: 1 name: "r" } }
packet { track_descriptor { uuid: 7 parent_uuid: 2 name: "main (overlap)" } }
packet { track_descriptor { uuid: 8 parent_uuid: 9 name: "loop" } }
packet { track_descriptor { uuid: 9 parent_uuid: 8 } }
packet { timestamp: 1 track_event { type: TYPE_SLICE_BEGIN track_uuid: 5 name: "a" } }
packet { timestamp: 2 track_event { type: TYPE_SLICE_BEGIN track_uuid: 6 name: "b" } }
packet { timestamp: 3 track_event { type: TYPE_INSTANT track_uuid: 6 name: "in b" } }
packet { timestamp: 4 track_event { type: TYPE_SLICE_END track_uuid: 5 } }
packet { timestamp: 5 track_event { type: TYPE_SLICE_END track_uuid: 6 } }
packet { timestamp: 1 track_event { type: TYPE_SLICE_BEGIN track_uuid: 2 } }
packet { timestamp: 4 track_event { type: TYPE_SLICE_END track_uuid: 2 } }
packet { timestamp: 2 track_event { type: TYPE_SLICE_BEGIN track_uuid: 7 } }
packet { timestamp: 6 track_event { type: TYPE_SLICE_END track_uuid: 7 } }
packet { timestamp: 6 track_event { type: TYPE_SLICE_BEGIN track_uuid: 8 } }
packet { timestamp: 7 track_event { type: TYPE_COUNTER track_uuid: 9 counter_value: 1 } }
""",
    "legacy": APP + "".join(f"""
packet {{ timestamp: {i} track_event {{ track_uuid: 2 name: "n" legacy_event {{ phase: {ord(p)} unscoped_id: {i % 3}
         duration_us: 2 bind_id: 5 flow_direction: FLOW_INOUT }} debug_annotations {{ name: "v" int_value: 1 }} }} }}
""" for i, p in enumerate("BEXiIRCbenSTpFstfNODM")) + """
packet { trusted_packet_sequence_id: 4 thread_descriptor { pid: 10 tid: 12 reference_timestamp_us: 100 } }
packet { trusted_packet_sequence_id: 4 track_event { type: TYPE_INSTANT timestamp_delta_us: 5
         legacy_event { pid_override: 3 tid_override: 4 local_id: 1 } } }
packet { trusted_packet_sequence_id: 4 track_event { type: TYPE_INSTANT timestamp_absolute_us: 5 } }
packet { process_descriptor { pid: 20 process_name: "old" } }
""",
    "kernel": """
packet { process_tree { processes { pid: 10 cmdline: "/bin/app" } threads { tid: 11 tgid: 10 name: "w" } } }
packet { ftrace_events { cpu: 1 event { timestamp: 5 pid: 11 print { buf: "B|10|a\\n" } }
  event { timestamp: 6 pid: 11 print { buf: "C|10|c|5" } } event { timestamp: 7 pid: 11 print { buf: "E" } }
  event { timestamp: 7 pid: 11 print { buf: "S|10|s|1" } } event { timestamp: 8 pid: 11 print { buf: "F|10|s|1" } }
  event { timestamp: 8 pid: 11 print { buf: "G|10|t|s|1" } } event { timestamp: 9 pid: 11 print { buf: "H|10|t|1" } }
  event { timestamp: 8 pid: 11 print { buf: "N|10|t|s" } } event { timestamp: 9 pid: 11 print { buf: "?" } }
  event { timestamp: 9 sched_switch { next_comm: "w" next_pid: 11 } } event { timestamp: 10 sched_switch { } }
  compact_sched { switch_timestamp: 20 switch_timestamp: 1 switch_next_pid: 5 switch_next_pid: 0
                  intern_table: "w" switch_next_comm_index: 0 switch_next_comm_index: 3 } } }
""",
}


def encode(text):
    schema = HERE.parent / "export"
    return subprocess.run(["protoc", "--encode=perfetto.protos.Trace", f"-I{schema}",
                           "perfetto_min.proto"], input=text.encode(), stdout=subprocess.PIPE,
                          check=True).stdout


def compressed(data):
    packed = "".join(f"\\{b:03o}" for b in zlib.compress(data))
    return encode(f'packet {{ compressed_packets: "{packed}" }}')


def main():
    folder = HERE / "corpus/perfetto"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TEXTS.items():
        (folder / name).write_bytes(encode(text))
    slices = encode(TEXTS["slices"])
    (folder / "compressed").write_bytes(compressed(slices) + slices[-10:])
    (folder / "cut").write_bytes(slices[:-3])
    (folder / "zeros").write_bytes(slices + bytes(20))
    return 0


if __name__ == "__main__":
    sys.exit(main())
