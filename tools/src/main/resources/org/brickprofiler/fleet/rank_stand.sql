-- The deviation of a rank in a window. stand is the excess of its computing time per step over the median of its peers,
-- in millionths. late_ns is the number of ns per step by which its collectives are shorter than the median. The peers
-- are the ranks of its run with the same device for computing time, and all ranks of its run for collectives, because
-- all of them enter the same collectives. A window in which a brick lacks too many measurements, or whose times are
-- estimates, has no row. If any rank of the run recorded steps, a window without steps has no row either, because it
-- has no time per step.
WITH sums AS (
    SELECT
        run_id,
        rank,
        win,
        CAST(sum(CASE WHEN category = 'Communication' THEN 0 ELSE total_ns END) AS BIGINT) AS compute_ns,
        CAST(sum(CASE WHEN category = 'Communication' THEN total_ns END) AS BIGINT) AS collective_ns
    FROM checked_brick
    GROUP BY run_id, rank, win
    HAVING max(lacking) = 0
),
phases AS (
    SELECT run_id, rank, win, sum(steps) AS steps FROM step_window GROUP BY run_id, rank, win
),
stepped AS (
    SELECT run_id FROM phases WHERE steps > 0 GROUP BY run_id
),
places AS (
    SELECT run_id, rank, device, host FROM run_rank WHERE windows >= 6
),
counted AS (
    SELECT
        sums.run_id AS run_id,
        sums.rank AS rank,
        sums.win AS win,
        device,
        host,
        CAST(CASE WHEN steps > 0 THEN steps ELSE 1 END AS BIGINT) AS steps,
        compute_ns,
        collective_ns
    FROM sums
    JOIN places ON sums.run_id = places.run_id AND sums.rank = places.rank
    LEFT JOIN phases ON sums.run_id = phases.run_id AND sums.rank = phases.rank AND sums.win = phases.win
    LEFT JOIN stepped ON sums.run_id = stepped.run_id
    WHERE phases.steps > 0 OR stepped.run_id IS NULL
),
rates AS (
    SELECT
        run_id,
        rank,
        win,
        device,
        host,
        steps,
        1e0 * compute_ns / steps AS compute_ns,
        1e0 * collective_ns / steps AS collective_ns
    FROM counted
),
usual AS (
    SELECT run_id, device, win, median(compute_ns) AS compute_ns FROM rates GROUP BY run_id, device, win
),
usual_collectives AS (
    SELECT run_id, win, median(collective_ns) AS collective_ns FROM rates GROUP BY run_id, win
)
SELECT
    rates.run_id AS run_id,
    rates.rank AS rank,
    rates.win AS win,
    rates.device AS device,
    host,
    steps,
    rates.compute_ns AS compute_ns,
    floor(1e6 * rates.compute_ns / usual.compute_ns) - 1e6 AS stand,
    floor(usual_collectives.collective_ns - rates.collective_ns) AS late_ns
FROM rates
JOIN usual ON rates.run_id = usual.run_id AND rates.device = usual.device AND rates.win = usual.win
JOIN usual_collectives ON rates.run_id = usual_collectives.run_id AND rates.win = usual_collectives.win
WHERE usual.compute_ns > 0
