-- The mean time of a sample by brick over time: the median over the ranks, in each of at most 60 equal parts of a run's
-- windows. The result contains only the 64 bricks with the longest total time.
WITH parts AS (
    SELECT
        run_id,
        win,
        CAST(floor((place - 1) * 6e1 / (CASE WHEN windows < 60 THEN 60 ELSE windows END)) AS BIGINT) AS part
    FROM numbered_window
),
bricks AS (
    SELECT category, brick, row_number() OVER (ORDER BY sum(total_ns) DESC, brick, category) AS place
    FROM brick_window
    WHERE count > 0
    GROUP BY category, brick
),
means AS (
    SELECT
        brick_window.run_id AS run_id,
        rank,
        brick_window.category AS category,
        brick_window.brick AS brick,
        place,
        part,
        1e0 * sum(total_ns) / sum(count) AS ns
    FROM brick_window
    JOIN bricks ON brick_window.category = bricks.category AND brick_window.brick = bricks.brick
    JOIN parts ON brick_window.run_id = parts.run_id AND brick_window.win = parts.win
    WHERE count > 0 AND place <= 64
    GROUP BY brick_window.run_id, rank, brick_window.category, brick_window.brick, place, part
)
SELECT category, brick, part, CAST(floor(median(ns)) AS BIGINT) AS median_ns
FROM means
GROUP BY category, brick, place, part
ORDER BY place, part
