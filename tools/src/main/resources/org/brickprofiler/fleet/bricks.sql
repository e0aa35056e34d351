-- The bricks of all ranks, windows and runs together, over all samples and by phase, the longest total time first.
SELECT
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
    unmarked,
    standard_error_ns,
    degrees_of_freedom
FROM brick_sum
WHERE scope = 'all'
ORDER BY phase, total_ns DESC, brick, category
