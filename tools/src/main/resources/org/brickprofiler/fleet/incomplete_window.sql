-- The windows of a rank that are not tested: those whose times are estimates (estimated is 1), and those in which a
-- brick lacks too many measurements for a test, so that the sums over all bricks are incomplete as well.
SELECT run_id, rank, win, 0 AS estimated FROM checked_brick WHERE lacking = 1 GROUP BY run_id, rank, win
UNION ALL
SELECT run_id, rank, win, 1 AS estimated FROM estimated_window
