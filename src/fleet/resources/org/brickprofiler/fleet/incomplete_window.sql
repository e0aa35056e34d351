-- The windows in which a brick of the rank lacks too much for a test, so that the sums of all bricks do, too.
SELECT run_id, rank, win FROM checked_brick WHERE lacking = 1 GROUP BY run_id, rank, win
