SELECT upid FROM counter JOIN process_counter_track ON process_counter_track.id = counter.track_id
WHERE process_counter_track.name LIKE 'memory%' AND value > 20
