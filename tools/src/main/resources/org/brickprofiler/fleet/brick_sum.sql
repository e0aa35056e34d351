-- The bricks of each run (scope is 'run'), and of all runs together, over all samples and by phase (scope is 'all').
-- Rows without a sample do not count for the extremes. If the extremes of one row are unknown, both extremes of the sum
-- are 0. The standard error of an estimated total is NULL if it is not known.
WITH sums AS (
    SELECT
        scope,
        run_id,
        phase,
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
        CAST(sum(unresolved) AS BIGINT) AS unresolved,
        CAST(sum(device_samples) AS BIGINT) AS device_samples,
        CAST(sum(unmarked) AS BIGINT) AS unmarked
    FROM (
        SELECT
            'run' AS scope,
            run_id,
            '' AS phase,
            category,
            brick,
            count,
            total_ns,
            min_ns,
            max_ns,
            elements,
            unresolved,
            device_samples,
            unmarked
        FROM brick_window
        UNION ALL
        SELECT
            'all' AS scope,
            '' AS run_id,
            phase,
            category,
            brick,
            count,
            total_ns,
            min_ns,
            max_ns,
            elements,
            unresolved,
            device_samples,
            unmarked
        FROM brick_part
    ) AS of_scope
    GROUP BY scope, run_id, phase, category, brick
)
SELECT
    sums.scope AS scope,
    sums.run_id AS run_id,
    sums.phase AS phase,
    sums.category AS category,
    sums.brick AS brick,
    count,
    total_ns,
    min_ns,
    max_ns,
    elements,
    unresolved,
    device_samples,
    unmarked,
    standard_error_ns,
    degrees_of_freedom
FROM sums
LEFT JOIN brick_error ON sums.scope = brick_error.scope AND sums.run_id = brick_error.run_id
    AND sums.phase = brick_error.phase AND sums.category = brick_error.category AND sums.brick = brick_error.brick
