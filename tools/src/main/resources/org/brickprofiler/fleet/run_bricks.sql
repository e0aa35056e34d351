-- The bricks of each run, over all its ranks and windows.
SELECT
    run_id,
    category,
    brick,
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
FROM brick_sum
WHERE scope = 'run'
ORDER BY run_id, category, brick
