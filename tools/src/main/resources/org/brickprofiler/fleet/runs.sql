-- The identity of each run: its time, its numbers of ranks and hosts, and its model, precision, commit and device if
-- they are equal on all ranks.
SELECT
    run_id,
    count(DISTINCT rank) AS ranks,
    count(DISTINCT host) AS hosts,
    count(DISTINCT win) AS windows,
    min(start_ms) AS start_ms,
    max(start_ms + CAST(floor(wall_ns / 1e6) AS BIGINT)) AS end_ms,
    CAST(sum(wall_ns) AS BIGINT) AS wall_ns,
    CAST(sum(dropped) AS BIGINT) AS dropped,
    CASE WHEN min(model) = max(model) THEN min(model) END AS model,
    CASE WHEN min(precision) = max(precision) THEN min(precision) END AS precision,
    CASE WHEN min(commit_id) = max(commit_id) THEN min(commit_id) END AS commit_id,
    CASE WHEN min(device) = max(device) THEN min(device) END AS device,
    count(DISTINCT device) AS devices
FROM rank_window
GROUP BY run_id
ORDER BY run_id
