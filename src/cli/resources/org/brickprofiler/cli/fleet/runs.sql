-- What each run consists of, and when its windows began, ms since 1970.
SELECT
    run_id,
    count(DISTINCT rank) AS ranks,
    count(DISTINCT host) AS hosts,
    count(DISTINCT win) AS windows,
    max(world_size) AS world_size,
    min(model) AS model,
    min(precision) AS precision,
    min(commit_id) AS commit_id,
    min(device) AS device,
    count(DISTINCT device) AS devices,
    min(start_ms) AS first_ms,
    max(start_ms) AS last_ms
FROM rank_window
GROUP BY run_id
ORDER BY run_id
