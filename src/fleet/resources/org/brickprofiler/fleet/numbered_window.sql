-- The windows of each run in their order: which it is, from 1, of how many, and in which block, from 0. Of up to 60 windows
-- each is a block of its own; more are in 20 equal blocks, of which each has three at least, so that it has a median.
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
