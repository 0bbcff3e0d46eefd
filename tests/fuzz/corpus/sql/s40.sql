SELECT s.ts AS ts, s.dur AS dur, s.name AS slice, p.name AS process, t.name AS thread
FROM slice s JOIN thread_track tt ON s.track_id = tt.id JOIN thread t on tt.utid = t.utid
JOIN process p on t.upid = p.upid
WHERE s.name LIKE '%step%' AND p.name = 'train' AND t.is_main_thread ORDER BY dur DESC;
