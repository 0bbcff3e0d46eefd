SELECT category, COUNT(*) AS n, SUM(dur) AS total FROM slice WHERE category IS NOT NULL GROUP BY 1 ORDER BY 3 DESC
