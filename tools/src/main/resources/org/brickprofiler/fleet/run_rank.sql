-- The ranks of each run, with their device, their host and their number of windows. A rank with fewer than 6 windows is
-- neither tested nor a peer of others, because so few windows do not show its usual speed.
SELECT
    run_id,
    rank,
    coalesce(min(device), '') AS device,
    coalesce(min(host), '') AS host,
    count(DISTINCT win) AS windows
FROM rank_window
GROUP BY run_id, rank
