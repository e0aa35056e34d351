-- The windows of each run in their order: place is the number of a window, from 1, windows their total, and block the
-- number of its block, from 0. Up to 60 windows are one block each. More windows are divided into 20 equal blocks, so
-- that each has at least three and thus a median.
SELECT
    run_id,
    win,
    place,
    windows,
    CASE WHEN windows <= 60 THEN place - 1 ELSE CAST(floor((place - 1) * 2e1 / windows) AS BIGINT) END AS block
FROM (
    SELECT
        run_id,
        win,
        row_number() OVER (PARTITION BY run_id ORDER BY win) AS place,
        count(*) OVER (PARTITION BY run_id) AS windows
    FROM (SELECT run_id, win FROM rank_window GROUP BY run_id, win) AS each_once
) AS numbered
