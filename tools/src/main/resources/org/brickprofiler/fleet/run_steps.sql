-- The steps of each run by phase, over all its ranks and windows. A step that eight ranks execute counts eight times.
SELECT
    run_id,
    phase,
    CAST(sum(steps) AS BIGINT) AS steps,
    CAST(sum(total_ns) AS BIGINT) AS total_ns,
    CAST(sum(wall_ns) AS BIGINT) AS wall_ns,
    CAST(sum(tokens) AS BIGINT) AS tokens,
    max(max_ns) AS max_ns
FROM step_window
WHERE steps > 0
GROUP BY run_id, phase
ORDER BY run_id, phase
