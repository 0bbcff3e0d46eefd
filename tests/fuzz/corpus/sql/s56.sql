select ts, callsite_id from perf_sample join thread using (utid)
