INCLUDE PERFETTO MODULE slices.with_context;
SELECT name, ts, dur, depth, thread_name, tid, process_name, pid FROM thread_slice;
