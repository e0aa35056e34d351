-- The time that each rank spent in bricks, in collectives, and idle. The idle time is what its devices report. If they
-- report none, or not in all windows, it is the time of the steps minus the time of bricks and collectives. It is
-- unknown if neither was recorded.
WITH busy AS (
    SELECT
        run_id,
        rank,
        CAST(sum(CASE WHEN category = 'Communication' THEN 0 ELSE total_ns END) AS BIGINT) AS compute_ns,
        CAST(sum(CASE WHEN category = 'Communication' THEN total_ns ELSE 0 END) AS BIGINT) AS communication_ns
    FROM brick_window
    GROUP BY run_id, rank
),
steps AS (
    SELECT run_id, rank, CAST(sum(total_ns) AS BIGINT) AS step_ns FROM step_window GROUP BY run_id, rank
),
devices AS (
    SELECT run_id, rank, CASE WHEN count(*) = count(idle_ns) THEN CAST(sum(idle_ns) AS BIGINT) END AS idle_ns
    FROM device_window
    GROUP BY run_id, rank
),
places AS (
    SELECT run_id, rank, min(host) AS host, min(device) AS device FROM rank_window GROUP BY run_id, rank
)
SELECT
    busy.run_id,
    busy.rank,
    places.host,
    places.device,
    busy.compute_ns,
    busy.communication_ns,
    CASE
        WHEN devices.idle_ns IS NOT NULL THEN devices.idle_ns
        WHEN steps.step_ns > busy.compute_ns + busy.communication_ns
            THEN steps.step_ns - busy.compute_ns - busy.communication_ns
        WHEN steps.step_ns IS NOT NULL THEN 0
    END AS idle_ns
FROM busy
LEFT JOIN steps ON busy.run_id = steps.run_id AND busy.rank = steps.rank
LEFT JOIN devices ON busy.run_id = devices.run_id AND busy.rank = devices.rank
LEFT JOIN places ON busy.run_id = places.run_id AND busy.rank = places.rank
ORDER BY run_id, rank
