-- The bricks of a window, and whether they lack too much for a test: more than one measurement of a brick in a hundred is
-- unresolved, or the rank dropped a measurement, of whichever brick. Packs of earlier versions do not count either.
SELECT
    brick_window.*,
    CASE WHEN 99e0 * unresolved > count OR dropped > 0 THEN 1 ELSE 0 END AS lacking
FROM brick_window
LEFT JOIN rank_window ON brick_window.run_id = rank_window.run_id
    AND brick_window.rank = rank_window.rank AND brick_window.win = rank_window.win
