-- The bricks of each window whose times are measured. lacking is 1 if the brick lacks too many measurements for a test: more than 1 % of its
-- measurements are unresolved, or the rank dropped a measurement of any brick. Packs of earlier versions do not count
-- these, so lacking is 0.
SELECT
    brick_window.*,
    CASE WHEN 99e0 * unresolved > count OR dropped > 0 THEN 1 ELSE 0 END AS lacking
FROM brick_window
LEFT JOIN rank_window ON brick_window.run_id = rank_window.run_id
    AND brick_window.rank = rank_window.rank AND brick_window.win = rank_window.win
LEFT JOIN estimated_window ON brick_window.run_id = estimated_window.run_id
    AND brick_window.rank = estimated_window.rank AND brick_window.win = estimated_window.win
WHERE estimated_window.win IS NULL
