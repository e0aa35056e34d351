-- Candidates for ranks that take at least 2 % longer than their peers in a brick or in all bricks (brick is NULL), and
-- the slowest rank of each brick. Deviations are in millionths. The deviation of a rank in a brick is the median over
-- the blocks of windows. The median over its bricks is its deviation in all bricks, and the rows of single bricks are
-- relative to it.
-- work_ppm is the excess of the elements per sample over the median of the peers. share_ppm is the brick's share of the
-- computing time of the rank. windows is the number of windows in which the brick ran on the rank, at least 6, and
-- usual_windows its median over the ranks.
-- held is the number of blocks, out of blocks, in which the deviation was at least half of beyond_ppm, and held_ppm is
-- the mean deviation in them. all_held, out of all_blocks, is the number of such blocks of all peers.
-- spread_with_ppm is the largest spread that is possible if one of the ranks were an outlier. above_ppm and below_ppm
-- are the distances of the upper and the lower quartile of the brick's blocks, on all ranks, from the median block of
-- their rank.
WITH blocks AS (
    SELECT run_id, device, rank, brick, block, stand, work, windows, total_ns FROM brick_stand
),
stands AS (
    SELECT
        run_id,
        device,
        rank,
        brick,
        floor(median(stand)) AS stand,
        floor(median(work)) AS work,
        sum(windows) AS windows,
        CAST(sum(total_ns) AS BIGINT) AS total_ns
    FROM blocks
    GROUP BY run_id, device, rank, brick
    HAVING sum(windows) >= 6
),
moved AS (
    SELECT
        blocks.run_id AS run_id,
        blocks.device AS device,
        blocks.brick AS brick,
        blocks.stand - stands.stand AS beyond
    FROM blocks
    JOIN stands ON blocks.run_id = stands.run_id AND blocks.rank = stands.rank AND blocks.brick = stands.brick
),
quartiles AS (
    SELECT
        run_id,
        device,
        brick,
        median(CASE WHEN beyond > 0 THEN beyond END) AS above,
        median(CASE WHEN beyond < 0 THEN -beyond END) AS below
    FROM moved
    GROUP BY run_id, device, brick
),
common AS (
    SELECT
        run_id,
        device,
        rank,
        floor(median(stand)) AS stand,
        floor(median(work)) AS work,
        max(windows) AS windows,
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
        floor(1e6 * (1e6 + stands.stand) / greatest(1e6 + common.stand, 1e0)) - 1e6 AS stand,
        stands.work AS work,
        stands.windows AS windows,
        floor(1e6 * stands.total_ns / common.total_ns) AS share
    FROM stands
    JOIN common ON stands.run_id = common.run_id AND stands.rank = common.rank
    UNION ALL
    SELECT run_id, device, rank, CAST(NULL AS STRING) AS brick, stand, work, windows, 1e6 AS share FROM common
),
middles AS (
    SELECT
        run_id,
        device,
        coalesce(brick, '') AS brick,
        count(*) AS ranks,
        median(windows) AS windows,
        floor(median(stand)) AS middle
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
        compared.windows AS windows,
        middles.windows AS usual_windows,
        middle,
        stand - middle AS beyond,
        row_number() OVER (
            PARTITION BY compared.run_id, compared.device, compared.brick ORDER BY stand DESC, compared.rank
        ) AS place,
        work,
        share
    FROM compared
    JOIN middles ON compared.run_id = middles.run_id AND compared.device = middles.device
        AND coalesce(compared.brick, '') = middles.brick
),
distances AS (
    SELECT
        run_id,
        device,
        coalesce(brick, '') AS brick,
        ranks,
        abs(beyond) AS distance,
        row_number() OVER (PARTITION BY run_id, device, brick ORDER BY abs(beyond)) AS nearest
    FROM beside
),
spreads AS (
    SELECT
        run_id,
        device,
        brick,
        floor(median(distance)) AS spread,
        max(CASE WHEN 2 * nearest <= ranks + 4 THEN distance END) AS spread_with
    FROM distances
    GROUP BY run_id, device, brick
),
usual_spreads AS (
    SELECT run_id, device, count(*) AS bricks, floor(median(spread)) AS spread
    FROM spreads
    WHERE brick <> ''
    GROUP BY run_id, device
),
whole AS (
    SELECT run_id, device, rank, block, floor(median(stand)) AS stand FROM blocks GROUP BY run_id, device, rank, block
),
places AS (
    SELECT
        blocks.run_id AS run_id,
        blocks.device AS device,
        blocks.rank AS rank,
        blocks.brick AS brick,
        floor(1e6 * (1e6 + blocks.stand) / greatest(1e6 + common.stand, 1e0)) - 1e6 - middle AS stand
    FROM blocks
    JOIN common ON blocks.run_id = common.run_id AND blocks.rank = common.rank
    JOIN middles ON blocks.run_id = middles.run_id AND blocks.device = middles.device AND blocks.brick = middles.brick
    UNION ALL
    SELECT
        whole.run_id AS run_id,
        whole.device AS device,
        whole.rank AS rank,
        '' AS brick,
        whole.stand - middle AS stand
    FROM whole
    JOIN middles ON whole.run_id = middles.run_id AND whole.device = middles.device AND middles.brick = ''
),
candidates AS (
    SELECT run_id, device, rank, coalesce(brick, '') AS brick, beyond FROM beside WHERE beyond >= 20000
),
held AS (
    SELECT
        candidates.run_id AS run_id,
        candidates.rank AS rank,
        candidates.brick AS brick,
        count(*) AS blocks,
        CAST(sum(CASE WHEN 2 * stand >= beyond THEN 1 ELSE 0 END) AS BIGINT) AS held,
        floor(avg(CASE WHEN 2 * stand >= beyond THEN stand END)) AS stand
    FROM candidates
    JOIN places ON candidates.run_id = places.run_id AND candidates.rank = places.rank AND candidates.brick = places.brick
    GROUP BY candidates.run_id, candidates.rank, candidates.brick
),
levels AS (
    SELECT run_id, device, brick, 0 AS rank, 1 AS counts, 2 * stand AS level FROM places
    UNION ALL
    SELECT run_id, device, brick, rank, 0 AS counts, beyond AS level FROM candidates
),
slower AS (
    SELECT
        run_id,
        rank,
        brick,
        counts,
        sum(counts) OVER (PARTITION BY run_id, device, brick ORDER BY level DESC) AS held,
        sum(counts) OVER (PARTITION BY run_id, device, brick) AS blocks
    FROM levels
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
    CAST(spread_with AS BIGINT) AS spread_with_ppm,
    CAST(usual_spreads.spread AS BIGINT) AS usual_spread_ppm,
    CAST(floor(above) AS BIGINT) AS above_ppm,
    CAST(floor(below) AS BIGINT) AS below_ppm,
    ranks,
    CAST(windows AS BIGINT) AS windows,
    CAST(floor(usual_windows) AS BIGINT) AS usual_windows,
    bricks,
    held.blocks AS blocks,
    held.held AS held,
    CAST(held.stand AS BIGINT) AS held_ppm,
    CAST(slower.held AS BIGINT) AS all_held,
    CAST(slower.blocks AS BIGINT) AS all_blocks
FROM beside
JOIN spreads ON beside.run_id = spreads.run_id AND beside.device = spreads.device
    AND coalesce(beside.brick, '') = spreads.brick
JOIN usual_spreads ON beside.run_id = usual_spreads.run_id AND beside.device = usual_spreads.device
LEFT JOIN quartiles ON beside.run_id = quartiles.run_id AND beside.device = quartiles.device
    AND beside.brick = quartiles.brick
LEFT JOIN held ON beside.run_id = held.run_id AND beside.rank = held.rank AND coalesce(beside.brick, '') = held.brick
LEFT JOIN slower ON beside.run_id = slower.run_id AND beside.rank = slower.rank
    AND coalesce(beside.brick, '') = slower.brick AND slower.counts = 0
WHERE beyond >= 20000 OR place = 1
ORDER BY run_id, rank, brick NULLS FIRST
