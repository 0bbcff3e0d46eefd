SELECT name, ts, (SELECT COUNT(*) FROM FOLLOWING_FLOW(slice_id)) as following FROM slice;
