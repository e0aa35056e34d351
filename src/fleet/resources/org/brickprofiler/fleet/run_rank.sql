-- The ranks of each run, each with its device, its host and how many windows it has. A rank with fewer than 6 windows is
-- neither tested nor a peer of others: so few do not show how fast it usually is.
SELECT
    run_id,
    rank,
    coalesce(min(device), '') AS device,
    coalesce(min(host), '') AS host,
    count(DISTINCT win) AS windows
FROM rank_window
GROUP BY run_id, rank
