INCLUDE PERFETTO MODULE counters.intervals;
SELECT ts, dur, value, next_value, delta_value FROM counter_leading_intervals!((SELECT * FROM counter)) ORDER BY ts, value;
