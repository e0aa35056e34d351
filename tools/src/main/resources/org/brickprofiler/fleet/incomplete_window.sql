-- The windows of a rank in which a brick lacks too many measurements for a test. The sums over all bricks are then
-- incomplete as well.
SELECT run_id, rank, win FROM checked_brick WHERE lacking = 1 GROUP BY run_id, rank, win
