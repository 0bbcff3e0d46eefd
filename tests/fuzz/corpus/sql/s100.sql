SELECT RUN_METRIC('android/process_metadata.sql');
