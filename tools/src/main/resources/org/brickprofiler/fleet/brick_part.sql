-- The bricks of each rank and window: one row over all samples (phase is ''), and one row per phase over the samples of
-- its steps. A sum over the rows of several phases counts samples twice.
SELECT
    run_id,
    rank,
    win,
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
    unmarked,
    standard_error_ns,
    degrees_of_freedom,
    dist
FROM brick_window
UNION ALL
SELECT
    run_id,
    rank,
    win,
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
    degrees_of_freedom,
    dist
FROM brick_phase_window
