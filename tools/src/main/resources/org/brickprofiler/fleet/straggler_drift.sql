-- Candidates for ranks that drift: relative to their peers, they change by at least 2 % from the first third of their
-- blocks of windows to the last, in all bricks (brick is '') or in one brick relative to the others. One row for each
-- block. Deviations are in millionths. stand_ppm is the deviation of the rank in the block. beyond_ppm is its change
-- beyond the median change of its peers. slow_ppm is its excess over the peers in the slower one of both thirds.
-- work_ppm is the change of its elements per sample relative to its peers.
WITH stands AS (
    SELECT run_id, device, rank, brick, block, stand, work, windows FROM brick_stand
),
common AS (
    SELECT
        run_id,
        device,
        rank,
        block,
        floor(median(stand)) AS stand,
        floor(median(work)) AS work,
        max(windows) AS windows
    FROM stands
    GROUP BY run_id, device, rank, block
),
series AS (
    SELECT
        stands.run_id AS run_id,
        stands.device AS device,
        stands.rank AS rank,
        brick,
        stands.block AS block,
        floor(1e6 * (1e6 + stands.stand) / greatest(1e6 + common.stand, 1e0)) - 1e6 AS stand,
        stands.work AS work,
        stands.windows AS windows
    FROM stands
    JOIN common ON stands.run_id = common.run_id AND stands.rank = common.rank AND stands.block = common.block
    UNION ALL
    SELECT run_id, device, rank, '' AS brick, block, stand, work, windows FROM common
),
placed AS (
    SELECT
        run_id,
        device,
        rank,
        brick,
        block,
        stand,
        work,
        windows,
        row_number() OVER (PARTITION BY run_id, rank, brick ORDER BY block) AS place,
        count(*) OVER (PARTITION BY run_id, rank, brick) AS blocks
    FROM series
),
ends AS (
    SELECT
        run_id,
        device,
        rank,
        brick,
        sum(windows) AS windows,
        floor(median(CASE WHEN 3 * place <= blocks THEN stand END)) AS early,
        floor(median(CASE WHEN 3 * place > 2 * blocks THEN stand END)) AS late,
        floor(median(CASE WHEN 3 * place > 2 * blocks THEN work END))
            - floor(median(CASE WHEN 3 * place <= blocks THEN work END)) AS work
    FROM placed
    WHERE blocks >= 6
    GROUP BY run_id, device, rank, brick
    HAVING sum(windows) >= 6
),
middles AS (
    SELECT
        run_id,
        device,
        brick,
        count(*) AS ranks,
        median(windows) AS windows,
        floor(median(early)) AS early,
        floor(median(late)) AS late,
        floor(median(late - early)) AS change
    FROM ends
    GROUP BY run_id, device, brick
),
beside AS (
    SELECT
        ends.run_id AS run_id,
        ends.device AS device,
        ends.rank AS rank,
        ends.brick AS brick,
        ranks,
        ends.windows AS windows,
        middles.windows AS usual_windows,
        ends.late - ends.early - change AS beyond,
        CASE
            WHEN ends.late - middles.late >= ends.early - middles.early THEN ends.late - middles.late
            ELSE ends.early - middles.early
        END AS slow,
        work
    FROM ends
    JOIN middles ON ends.run_id = middles.run_id AND ends.device = middles.device AND ends.brick = middles.brick
),
spreads AS (
    SELECT run_id, device, brick, floor(median(abs(beyond))) AS spread FROM beside GROUP BY run_id, device, brick
),
usual_spreads AS (
    SELECT run_id, device, count(*) AS bricks, floor(median(spread)) AS spread
    FROM spreads
    WHERE brick <> ''
    GROUP BY run_id, device
)
SELECT
    beside.run_id AS run_id,
    beside.rank AS rank,
    beside.brick AS brick,
    placed.block AS block,
    CAST(stand AS BIGINT) AS stand_ppm,
    CAST(beyond AS BIGINT) AS beyond_ppm,
    CAST(slow AS BIGINT) AS slow_ppm,
    CAST(beside.work AS BIGINT) AS work_ppm,
    CAST(spreads.spread AS BIGINT) AS spread_ppm,
    CAST(usual_spreads.spread AS BIGINT) AS usual_spread_ppm,
    ranks,
    CAST(beside.windows AS BIGINT) AS windows,
    CAST(floor(usual_windows) AS BIGINT) AS usual_windows,
    bricks
FROM beside
JOIN spreads ON beside.run_id = spreads.run_id AND beside.device = spreads.device AND beside.brick = spreads.brick
JOIN usual_spreads ON beside.run_id = usual_spreads.run_id AND beside.device = usual_spreads.device
JOIN placed ON beside.run_id = placed.run_id AND beside.rank = placed.rank AND beside.brick = placed.brick
WHERE abs(beyond) >= 20000 AND slow >= 20000
ORDER BY run_id, rank, brick, block
