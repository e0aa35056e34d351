-- The bricks of each run, over all its ranks and windows.
SELECT
    run_id,
    category,
    brick,
    CAST(sum(count) AS BIGINT) AS count,
    CAST(sum(total_ns) AS BIGINT) AS total_ns,
    min(min_ns) AS min_ns,
    max(max_ns) AS max_ns,
    CAST(sum(elements) AS BIGINT) AS elements
FROM brick_window
GROUP BY run_id, category, brick
ORDER BY run_id, category, brick
