-- The computing time of each rank and the delay at which it enters collectives, relative to its peers. One row for each
-- rank (win is NULL), and one for each slow window: the rank computed longer than it usually does by at least 2 % and 6
-- median absolute deviations. Of two ranks, the one that enters a collective later spends less time in it: late_ns is
-- the time per step by which the collectives of the rank are shorter than the median.
-- held is the number of windows in which the deviation was at least half of beyond_ppm. spread_ppm is the median
-- distance of a window from the median window of its rank. A rank with fewer than 6 windows is not tested: its times
-- are NULL, and windows counts all its windows. For other ranks, windows counts only windows with a time per step and
-- with enough measurements, not estimates.
WITH stands AS (
    SELECT run_id, rank, win, device, host, compute_ns, stand, late_ns FROM rank_stand
),
ranks AS (
    SELECT
        run_id,
        rank,
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
        stands.stand AS stand,
        floor(1e6 * (1e6 + stands.stand) / greatest(1e6 + ranks.stand, 1e0)) - 1e6 AS beyond,
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
        CAST(sum(CASE WHEN 2 * beside.stand >= ranks.stand THEN 1 ELSE 0 END) AS BIGINT) AS held
    FROM beside
    JOIN ranks ON beside.run_id = ranks.run_id AND beside.rank = ranks.rank
    GROUP BY beside.run_id, beside.rank
)
SELECT
    run_rank.run_id AS run_id,
    run_rank.rank AS rank,
    CAST(NULL AS BIGINT) AS win,
    run_rank.device AS device,
    run_rank.host AS host,
    CASE WHEN run_rank.windows < 6 THEN run_rank.windows ELSE coalesce(ranks.windows, 0) END AS windows,
    held,
    CAST(compute_ns AS BIGINT) AS compute_ns,
    CAST(stand AS BIGINT) AS beyond_ppm,
    CAST(late_ns AS BIGINT) AS late_ns,
    CAST(floor(spread) AS BIGINT) AS spread_ppm
FROM run_rank
LEFT JOIN ranks ON run_rank.run_id = ranks.run_id AND run_rank.rank = ranks.rank
LEFT JOIN held ON ranks.run_id = held.run_id AND ranks.rank = held.rank
LEFT JOIN spreads ON run_rank.run_id = spreads.run_id AND run_rank.device = spreads.device
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
    CAST(late_ns AS BIGINT) AS late_ns,
    CAST(floor(spread) AS BIGINT) AS spread_ppm
FROM beside
JOIN spreads ON beside.run_id = spreads.run_id AND beside.device = spreads.device
WHERE beyond >= 20000 AND beyond >= 6 * spread
ORDER BY run_id, rank, win NULLS FIRST
