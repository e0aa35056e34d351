-- The bricks of each run, over all its ranks and windows. Rows without a sample have no extremes.
-- If the extremes of one row are unknown, so are those of all: both are 0 then.
SELECT
    run_id,
    category,
    brick,
    CAST(sum(count) AS BIGINT) AS count,
    CAST(sum(total_ns) AS BIGINT) AS total_ns,
    CASE
        WHEN max(CASE WHEN max_ns = 0 AND total_ns > 0 THEN 1 ELSE 0 END) = 1 THEN 0
        ELSE coalesce(min(CASE WHEN count > 0 THEN min_ns END), 0)
    END AS min_ns,
    CASE WHEN max(CASE WHEN max_ns = 0 AND total_ns > 0 THEN 1 ELSE 0 END) = 1 THEN 0 ELSE max(max_ns) END AS max_ns,
    CAST(sum(elements) AS BIGINT) AS elements,
    CAST(sum(unresolved) AS BIGINT) AS unresolved
FROM brick_window
GROUP BY run_id, category, brick
ORDER BY run_id, category, brick
