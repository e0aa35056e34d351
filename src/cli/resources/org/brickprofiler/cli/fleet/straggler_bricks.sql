-- Which ranks take longer than their peers in a brick, or in all bricks alike (brick is NULL): candidates, by 2 % and more.
-- Peers are the ranks of a run with the same device. Windows are added up to at most 20 blocks. In each block a rank stands
-- at the ratio of its mean to the median of its peers; where it stands altogether is the median over the blocks. What all
-- its bricks have in common, their median, is a row of its own, and is taken from the others. Millionths. work_ppm is how
-- much more than the median of its peers the rank has to do in a sample, and share_ppm the brick's share of what it
-- computed.
WITH numbered AS (
    SELECT
        run_id,
        win,
        row_number() OVER (PARTITION BY run_id ORDER BY win) AS place,
        count(*) OVER (PARTITION BY run_id) AS windows
    FROM (SELECT run_id, win FROM rank_window GROUP BY run_id, win) AS each_once
),
blocks AS (
    SELECT
        run_id,
        win,
        CAST(floor((place - 1) * 2e1 / (CASE WHEN windows < 20 THEN 20 ELSE windows END)) AS BIGINT) AS block
    FROM numbered
),
devices AS (
    SELECT run_id, rank, coalesce(min(device), '') AS device FROM rank_window GROUP BY run_id, rank
),
sums AS (
    SELECT
        brick_window.run_id AS run_id,
        brick_window.rank AS rank,
        brick,
        block,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        CAST(sum(count) AS BIGINT) AS samples,
        CAST(sum(elements) AS BIGINT) AS elements
    FROM brick_window
    JOIN blocks ON brick_window.run_id = blocks.run_id AND brick_window.win = blocks.win
    WHERE category <> 'Communication' AND count > 0
    GROUP BY brick_window.run_id, brick_window.rank, brick, block
),
means AS (
    SELECT
        sums.run_id AS run_id,
        device,
        sums.rank AS rank,
        brick,
        block,
        1e0 * total_ns / samples AS ns,
        total_ns,
        1e0 * elements / samples AS work
    FROM sums
    JOIN devices ON sums.run_id = devices.run_id AND sums.rank = devices.rank
),
usual AS (
    SELECT run_id, device, brick, block, median(ns) AS ns, median(work) AS work
    FROM means
    GROUP BY run_id, device, brick, block
),
stands AS (
    SELECT
        means.run_id AS run_id,
        means.device AS device,
        means.rank AS rank,
        means.brick AS brick,
        floor(median(floor(1e6 * means.ns / usual.ns) - 1e6)) AS stand,
        floor(median(CASE WHEN usual.work > 0 THEN floor(1e6 * means.work / usual.work) - 1e6 ELSE 0e0 END)) AS work,
        CAST(sum(total_ns) AS BIGINT) AS total_ns
    FROM means
    JOIN usual ON means.run_id = usual.run_id AND means.device = usual.device
        AND means.brick = usual.brick AND means.block = usual.block
    WHERE usual.ns > 0
    GROUP BY means.run_id, means.device, means.rank, means.brick
),
common AS (
    SELECT
        run_id,
        device,
        rank,
        floor(median(stand)) AS stand,
        floor(median(work)) AS work,
        CAST(sum(total_ns) AS BIGINT) AS total_ns
    FROM stands
    GROUP BY run_id, device, rank
),
compared AS (
    SELECT
        stands.run_id AS run_id,
        stands.device AS device,
        stands.rank AS rank,
        stands.brick AS brick,
        stands.stand - common.stand AS stand,
        stands.work AS work,
        floor(1e6 * stands.total_ns / common.total_ns) AS share
    FROM stands
    JOIN common ON stands.run_id = common.run_id AND stands.rank = common.rank
    UNION ALL
    SELECT run_id, device, rank, CAST(NULL AS STRING) AS brick, stand, work, 1e6 AS share FROM common
),
middles AS (
    SELECT run_id, device, coalesce(brick, '') AS brick, count(*) AS ranks, floor(median(stand)) AS middle
    FROM compared
    GROUP BY run_id, device, coalesce(brick, '')
),
beside AS (
    SELECT
        compared.run_id AS run_id,
        compared.device AS device,
        compared.rank AS rank,
        compared.brick AS brick,
        ranks,
        stand - middle AS beyond,
        work,
        share
    FROM compared
    JOIN middles ON compared.run_id = middles.run_id AND compared.device = middles.device
        AND coalesce(compared.brick, '') = middles.brick
),
spreads AS (
    SELECT run_id, device, coalesce(brick, '') AS brick, floor(median(abs(beyond))) AS spread
    FROM beside
    GROUP BY run_id, device, coalesce(brick, '')
),
usual_spreads AS (
    SELECT run_id, device, count(*) AS bricks, floor(median(spread)) AS spread
    FROM spreads
    WHERE brick <> ''
    GROUP BY run_id, device
)
SELECT
    beside.run_id AS run_id,
    beside.device AS device,
    beside.rank AS rank,
    beside.brick AS brick,
    CAST(beyond AS BIGINT) AS beyond_ppm,
    CAST(work AS BIGINT) AS work_ppm,
    CAST(share AS BIGINT) AS share_ppm,
    CAST(spreads.spread AS BIGINT) AS spread_ppm,
    CAST(usual_spreads.spread AS BIGINT) AS usual_spread_ppm,
    ranks,
    bricks
FROM beside
JOIN spreads ON beside.run_id = spreads.run_id AND beside.device = spreads.device
    AND coalesce(beside.brick, '') = spreads.brick
JOIN usual_spreads ON beside.run_id = usual_spreads.run_id AND beside.device = usual_spreads.device
WHERE beyond >= 20000
ORDER BY run_id, rank, brick NULLS FIRST
