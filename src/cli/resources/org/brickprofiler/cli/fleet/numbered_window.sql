-- The windows of each run in their order: which it is, from 1, of how many, and in which of at most 20 equal blocks, from 0.
SELECT
    run_id,
    win,
    place,
    windows,
    CAST(floor((place - 1) * 2e1 / (CASE WHEN windows < 20 THEN 20 ELSE windows END)) AS BIGINT) AS block
FROM (
    SELECT
        run_id,
        win,
        row_number() OVER (PARTITION BY run_id ORDER BY win) AS place,
        count(*) OVER (PARTITION BY run_id) AS windows
    FROM (SELECT run_id, win FROM rank_window GROUP BY run_id, win) AS each_once
) AS numbered
