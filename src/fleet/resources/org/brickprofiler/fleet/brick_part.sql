-- The bricks of a window, of all samples and of those that belong to the steps of each phase: a sum over the rows of
-- several phases counts samples twice.
SELECT run_id, rank, win, '' AS phase, category, brick, count, total_ns, min_ns, max_ns, elements, unresolved, dist
FROM brick_window
UNION ALL
SELECT run_id, rank, win, phase, category, brick, count, total_ns, min_ns, max_ns, elements, unresolved, dist
FROM brick_phase_window
