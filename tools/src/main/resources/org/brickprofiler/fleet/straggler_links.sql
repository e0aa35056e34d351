-- The excess time of each collective on the ranks of a host over their peers, the ranks of the run with the same
-- device, in ns per step, or per sample if no steps were recorded: the median and the minimum over the ranks of the
-- host. spread_ns is the median distance of the peers from their median. windows is the smallest number of windows of a
-- rank of the host, and usual_windows the median over the peers. Windows in which a brick lacks too many measurements,
-- or whose times are estimates, do not count.
WITH hosts AS (
    SELECT run_id, rank, host, device FROM run_rank WHERE host <> '' AND windows >= 6
),
steps AS (
    SELECT step_window.run_id AS run_id, step_window.rank AS rank, block, sum(steps) AS steps
    FROM step_window
    JOIN numbered_window ON step_window.run_id = numbered_window.run_id AND step_window.win = numbered_window.win
    LEFT JOIN incomplete_window ON step_window.run_id = incomplete_window.run_id
        AND step_window.rank = incomplete_window.rank AND step_window.win = incomplete_window.win
    WHERE incomplete_window.win IS NULL
    GROUP BY step_window.run_id, step_window.rank, block
),
sums AS (
    SELECT
        brick_window.run_id AS run_id,
        brick_window.rank AS rank,
        brick,
        block,
        count(*) AS windows,
        sum(total_ns) AS total_ns,
        sum(count) AS samples
    FROM brick_window
    JOIN numbered_window ON brick_window.run_id = numbered_window.run_id AND brick_window.win = numbered_window.win
    LEFT JOIN incomplete_window ON brick_window.run_id = incomplete_window.run_id
        AND brick_window.rank = incomplete_window.rank AND brick_window.win = incomplete_window.win
    WHERE incomplete_window.win IS NULL AND category = 'Communication' AND count > 0
    GROUP BY brick_window.run_id, brick_window.rank, brick, block
),
means AS (
    SELECT
        sums.run_id AS run_id,
        host,
        device,
        sums.rank AS rank,
        brick,
        sums.block AS block,
        windows,
        1e0 * total_ns / (CASE WHEN steps > 0 THEN steps ELSE samples END) AS ns
    FROM sums
    JOIN hosts ON sums.run_id = hosts.run_id AND sums.rank = hosts.rank
    LEFT JOIN steps ON sums.run_id = steps.run_id AND sums.rank = steps.rank AND sums.block = steps.block
),
usual AS (
    SELECT run_id, device, brick, block, median(ns) AS ns FROM means GROUP BY run_id, device, brick, block
),
stands AS (
    SELECT
        means.run_id AS run_id,
        host,
        means.device AS device,
        rank,
        means.brick AS brick,
        sum(windows) AS windows,
        floor(median(usual.ns)) AS usual_ns,
        floor(median(means.ns - usual.ns)) AS stand
    FROM means
    JOIN usual ON means.run_id = usual.run_id AND means.device = usual.device
        AND means.brick = usual.brick AND means.block = usual.block
    GROUP BY means.run_id, host, means.device, rank, means.brick
    HAVING sum(windows) >= 6
),
middles AS (
    SELECT run_id, device, brick, count(*) AS peers, median(windows) AS windows, floor(median(stand)) AS middle
    FROM stands
    GROUP BY run_id, device, brick
),
beside AS (
    SELECT
        stands.run_id AS run_id,
        host,
        stands.device AS device,
        stands.brick AS brick,
        peers,
        stands.windows AS windows,
        middles.windows AS usual_windows,
        usual_ns,
        stand - middle AS beyond
    FROM stands
    JOIN middles ON stands.run_id = middles.run_id AND stands.device = middles.device AND stands.brick = middles.brick
),
spreads AS (
    SELECT run_id, device, brick, floor(median(abs(beyond))) AS spread FROM beside GROUP BY run_id, device, brick
)
SELECT
    beside.run_id AS run_id,
    host,
    beside.device AS device,
    beside.brick AS brick,
    max(peers) AS peers,
    count(*) AS ranks,
    CAST(min(windows) AS BIGINT) AS windows,
    CAST(floor(max(usual_windows)) AS BIGINT) AS usual_windows,
    CAST(floor(median(usual_ns)) AS BIGINT) AS usual_ns,
    CAST(max(spread) AS BIGINT) AS spread_ns,
    CAST(floor(median(beyond)) AS BIGINT) AS longer_ns,
    CAST(min(beyond) AS BIGINT) AS least_longer_ns
FROM beside
JOIN spreads ON beside.run_id = spreads.run_id AND beside.device = spreads.device AND beside.brick = spreads.brick
GROUP BY beside.run_id, host, beside.device, beside.brick
ORDER BY run_id, brick, host, device
