-- The windows of a rank in which bricks were marked by sampling: their times are estimates, and a brick of which no
-- sample had marks is in a later window.
SELECT run_id, rank, win FROM device_window WHERE idle_ns IS NULL
UNION
SELECT run_id, rank, win FROM brick_window WHERE unmarked > 0
