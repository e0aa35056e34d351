-- The bricks of all ranks, windows and runs together, of all samples and in the steps of each phase, the longest first.
SELECT phase, category, brick, count, total_ns, min_ns, max_ns, elements, unresolved
FROM brick_sum
WHERE scope = 'all'
ORDER BY phase, total_ns DESC, brick, category
