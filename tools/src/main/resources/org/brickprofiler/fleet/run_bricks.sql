-- The bricks of each run, over all its ranks and windows.
SELECT run_id, category, brick, count, total_ns, min_ns, max_ns, elements, unresolved
FROM brick_sum
WHERE scope = 'run'
ORDER BY run_id, category, brick
