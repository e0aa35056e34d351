-- The bricks of all ranks, windows and runs together, the longest first.
SELECT
    category,
    brick,
    CAST(sum(count) AS BIGINT) AS count,
    CAST(sum(total_ns) AS BIGINT) AS total_ns,
    min(min_ns) AS min_ns,
    max(max_ns) AS max_ns,
    CAST(sum(elements) AS BIGINT) AS elements
FROM brick_window
GROUP BY category, brick
ORDER BY total_ns DESC, brick, category
