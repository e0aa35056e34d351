-- The steps of all ranks by phase, the phase with the longest total time first.
SELECT
    phase,
    CAST(sum(steps) AS BIGINT) AS steps,
    CAST(sum(total_ns) AS BIGINT) AS total_ns,
    CAST(sum(wall_ns) AS BIGINT) AS wall_ns,
    CAST(sum(tokens) AS BIGINT) AS tokens,
    max(max_ns) AS max_ns
FROM step_window
WHERE steps > 0
GROUP BY phase
ORDER BY total_ns DESC, phase
