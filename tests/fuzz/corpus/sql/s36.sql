CREATE VIEW outer_slice_with_utid AS
SELECT ts, dur, slice.name as slice_name, slice.id as slice_id, utid, thread.name as thread_name
FROM slice JOIN thread_track ON thread_track.id = slice.track_id JOIN thread USING (utid) WHERE depth = 0;
CREATE VIRTUAL TABLE breakdown
USING SPAN_LEFT_JOIN(outer_slice_with_utid PARTITIONED utid, thread_state PARTITIONED utid);
SELECT slice_name, SUM(IIF(state = 'R', dur, 0)) AS runnable_time, SUM(IIF(state = 'D', dur, 0)) AS uninterruptible_time
FROM breakdown GROUP BY slice_id;
