SELECT ts, value FROM counter WHERE track_id=50
