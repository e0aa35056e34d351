-- The mean time of a sample by rank and brick, and its median over all ranks. The result contains only the 64 bricks
-- with the longest total time, and the 1,024 ranks that are furthest from the median in any of them.
WITH bricks AS (
    SELECT category, brick, row_number() OVER (ORDER BY sum(total_ns) DESC, brick, category) AS place
    FROM brick_window
    WHERE count > 0
    GROUP BY category, brick
),
means AS (
    SELECT
        run_id,
        rank,
        brick_window.category AS category,
        brick_window.brick AS brick,
        place,
        floor(1e0 * sum(total_ns) / sum(count)) AS ns
    FROM brick_window JOIN bricks ON brick_window.category = bricks.category AND brick_window.brick = bricks.brick
    WHERE count > 0 AND place <= 64
    GROUP BY run_id, rank, brick_window.category, brick_window.brick, place
),
medians AS (
    SELECT category, brick, median(ns) AS ns FROM means GROUP BY category, brick
),
beside AS (
    SELECT
        means.run_id AS run_id,
        means.rank AS rank,
        means.category AS category,
        means.brick AS brick,
        place,
        means.ns AS ns,
        medians.ns AS median_ns,
        CASE WHEN medians.ns > 0 THEN abs(floor(1e6 * means.ns / medians.ns) - 1e6) ELSE 0e0 END AS distance
    FROM means JOIN medians ON means.category = medians.category AND means.brick = medians.brick
),
ranks AS (
    SELECT run_id, rank, row_number() OVER (ORDER BY max(distance) DESC, run_id, rank) AS furthest
    FROM beside
    GROUP BY run_id, rank
)
SELECT
    beside.run_id AS run_id,
    beside.rank AS rank,
    category,
    brick,
    CAST(ns AS BIGINT) AS mean_ns,
    CAST(floor(median_ns) AS BIGINT) AS median_ns
FROM beside JOIN ranks ON beside.run_id = ranks.run_id AND beside.rank = ranks.rank
WHERE furthest <= 1024
ORDER BY run_id, rank, place
