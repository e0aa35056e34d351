-- The bricks of all ranks, windows and runs together, of all samples and in the steps of each phase, the longest first.
SELECT
    phase,
    category,
    brick,
    CAST(sum(count) AS BIGINT) AS count,
    CAST(sum(total_ns) AS BIGINT) AS total_ns,
    min(min_ns) AS min_ns,
    max(max_ns) AS max_ns,
    CAST(sum(elements) AS BIGINT) AS elements
FROM brick_part
GROUP BY phase, category, brick
ORDER BY phase, total_ns DESC, brick, category
