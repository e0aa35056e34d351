-- What each rank computes, and how long its collectives take, beside its peers: one row for each rank (win is NULL), and
-- one for each window in which it computed 2 % longer than it usually does and beyond what chance does. Peers are the ranks
-- with the same device for what is computed, and all ranks of the run for collectives, since these they enter together. Of
-- two ranks, that which comes later to a collective has the shorter one: late_ns is how much shorter than usual all
-- collectives of a step are. held is in how many windows a rank was at least half as far from its peers as it usually is.
WITH sums AS (
    SELECT
        run_id,
        rank,
        win,
        CAST(sum(CASE WHEN category = 'Communication' THEN 0 ELSE total_ns END) AS BIGINT) AS compute_ns,
        CAST(sum(CASE WHEN category = 'Communication' THEN total_ns END) AS BIGINT) AS collective_ns
    FROM brick_window
    GROUP BY run_id, rank, win
),
steps AS (
    SELECT run_id, rank, win, sum(steps) AS steps FROM step_window GROUP BY run_id, rank, win
),
places AS (
    SELECT run_id, rank, coalesce(min(device), '') AS device, coalesce(min(host), '') AS host
    FROM rank_window
    GROUP BY run_id, rank
),
rates AS (
    SELECT
        sums.run_id AS run_id,
        sums.rank AS rank,
        sums.win AS win,
        device,
        host,
        1e0 * compute_ns / (CASE WHEN steps > 0 THEN steps ELSE 1 END) AS compute_ns,
        1e0 * collective_ns / (CASE WHEN steps > 0 THEN steps ELSE 1 END) AS collective_ns
    FROM sums
    JOIN places ON sums.run_id = places.run_id AND sums.rank = places.rank
    LEFT JOIN steps ON sums.run_id = steps.run_id AND sums.rank = steps.rank AND sums.win = steps.win
),
usual AS (
    SELECT run_id, device, win, median(compute_ns) AS compute_ns FROM rates GROUP BY run_id, device, win
),
usual_collectives AS (
    SELECT run_id, win, median(collective_ns) AS collective_ns FROM rates GROUP BY run_id, win
),
stands AS (
    SELECT
        rates.run_id AS run_id,
        rates.rank AS rank,
        rates.win AS win,
        rates.device AS device,
        host,
        rates.compute_ns AS compute_ns,
        floor(1e6 * rates.compute_ns / usual.compute_ns) - 1e6 AS stand,
        floor(usual_collectives.collective_ns - rates.collective_ns) AS late_ns
    FROM rates
    JOIN usual ON rates.run_id = usual.run_id AND rates.device = usual.device AND rates.win = usual.win
    JOIN usual_collectives ON rates.run_id = usual_collectives.run_id AND rates.win = usual_collectives.win
    WHERE usual.compute_ns > 0
),
ranks AS (
    SELECT
        run_id,
        rank,
        min(device) AS device,
        min(host) AS host,
        count(*) AS windows,
        floor(median(compute_ns)) AS compute_ns,
        floor(median(stand)) AS stand,
        floor(median(late_ns)) AS late_ns
    FROM stands
    GROUP BY run_id, rank
),
beside AS (
    SELECT
        stands.run_id AS run_id,
        stands.rank AS rank,
        stands.win AS win,
        stands.device AS device,
        stands.host AS host,
        stands.compute_ns AS compute_ns,
        stands.stand - ranks.stand AS beyond,
        stands.late_ns AS late_ns
    FROM stands
    JOIN ranks ON stands.run_id = ranks.run_id AND stands.rank = ranks.rank
),
spreads AS (
    SELECT run_id, device, median(abs(beyond)) AS spread FROM beside GROUP BY run_id, device
),
held AS (
    SELECT
        beside.run_id AS run_id,
        beside.rank AS rank,
        CAST(sum(CASE WHEN 2 * beyond >= -ranks.stand THEN 1 ELSE 0 END) AS BIGINT) AS held
    FROM beside
    JOIN ranks ON beside.run_id = ranks.run_id AND beside.rank = ranks.rank
    GROUP BY beside.run_id, beside.rank
)
SELECT
    ranks.run_id AS run_id,
    ranks.rank AS rank,
    CAST(NULL AS BIGINT) AS win,
    device,
    host,
    windows,
    held,
    CAST(compute_ns AS BIGINT) AS compute_ns,
    CAST(stand AS BIGINT) AS beyond_ppm,
    CAST(late_ns AS BIGINT) AS late_ns
FROM ranks
JOIN held ON ranks.run_id = held.run_id AND ranks.rank = held.rank
UNION ALL
SELECT
    beside.run_id AS run_id,
    rank,
    CAST(win AS BIGINT) AS win,
    beside.device AS device,
    host,
    1 AS windows,
    1 AS held,
    CAST(floor(compute_ns) AS BIGINT) AS compute_ns,
    CAST(beyond AS BIGINT) AS beyond_ppm,
    CAST(late_ns AS BIGINT) AS late_ns
FROM beside
JOIN spreads ON beside.run_id = spreads.run_id AND beside.device = spreads.device
WHERE beyond >= 20000 AND beyond >= 6 * spread
ORDER BY run_id, rank, win NULLS FIRST
