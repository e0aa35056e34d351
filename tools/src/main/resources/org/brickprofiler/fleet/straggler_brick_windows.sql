-- The windows in which a rank takes longer in a brick than it usually does relative to its peers, while all its other
-- computation does not. One row for each window with an excess of at least 2 % and of 6 median absolute deviations.
-- Only ranks and bricks with such an excess in the mean of a block of windows are considered. brick_ns and late_ns are
-- per step. work_ppm is the excess of the elements per sample over the usual number. slow and windows are the numbers
-- of slow windows and of all windows of this brick on all peers. own_windows is the number of windows of the rank.
WITH stands AS (
    SELECT run_id, device, rank, brick, block, stand FROM brick_stand
),
common AS (
    SELECT run_id, rank, block, floor(median(stand)) AS stand FROM stands GROUP BY run_id, rank, block
),
apart AS (
    SELECT
        stands.run_id AS run_id,
        device,
        stands.rank AS rank,
        brick,
        floor(1e6 * (1e6 + stands.stand) / greatest(1e6 + common.stand, 1e0)) - 1e6 AS stand
    FROM stands
    JOIN common ON stands.run_id = common.run_id AND stands.rank = common.rank AND stands.block = common.block
),
middles AS (
    SELECT run_id, rank, brick, floor(median(stand)) AS stand FROM apart GROUP BY run_id, rank, brick
),
moved AS (
    SELECT
        apart.run_id AS run_id,
        device,
        apart.rank AS rank,
        apart.brick AS brick,
        floor(1e6 * (1e6 + apart.stand) / greatest(1e6 + middles.stand, 1e0)) - 1e6 AS beyond
    FROM apart
    JOIN middles ON apart.run_id = middles.run_id AND apart.rank = middles.rank AND apart.brick = middles.brick
),
spreads AS (
    SELECT run_id, device, brick, median(abs(beyond)) AS spread FROM moved GROUP BY run_id, device, brick
),
bricks AS (
    SELECT run_id, device, count(*) AS bricks FROM spreads GROUP BY run_id, device
),
candidates AS (
    SELECT moved.run_id AS run_id, moved.device AS device, rank, moved.brick AS brick
    FROM moved
    JOIN spreads ON moved.run_id = spreads.run_id AND moved.device = spreads.device AND moved.brick = spreads.brick
    WHERE beyond >= 20000 AND beyond >= 6 * spread
    GROUP BY moved.run_id, moved.device, rank, moved.brick
),
sums AS (
    SELECT
        brick_window.run_id AS run_id,
        rank,
        win,
        brick_window.brick AS brick,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        CAST(sum(count) AS BIGINT) AS samples,
        CAST(sum(elements) AS BIGINT) AS elements
    FROM brick_window
    JOIN (SELECT run_id, brick FROM candidates GROUP BY run_id, brick) AS looked_at
        ON brick_window.run_id = looked_at.run_id AND brick_window.brick = looked_at.brick
    WHERE category <> 'Communication' AND count > 0
    GROUP BY brick_window.run_id, rank, win, brick_window.brick
),
means AS (
    SELECT
        sums.run_id AS run_id,
        device,
        sums.rank AS rank,
        sums.win AS win,
        brick,
        1e0 * total_ns / samples AS ns,
        1e0 * elements / samples AS work,
        1e0 * total_ns / steps AS brick_ns,
        compute_ns - 1e0 * total_ns / steps AS rest_ns,
        late_ns
    FROM sums
    JOIN rank_stand ON sums.run_id = rank_stand.run_id AND sums.rank = rank_stand.rank AND sums.win = rank_stand.win
),
usual AS (
    SELECT run_id, device, win, brick, median(ns) AS ns, median(work) AS work, median(rest_ns) AS rest_ns
    FROM means
    GROUP BY run_id, device, win, brick
),
window_stands AS (
    SELECT
        means.run_id AS run_id,
        means.device AS device,
        means.rank AS rank,
        means.win AS win,
        means.brick AS brick,
        floor(1e6 * means.ns * usual.rest_ns / (usual.ns * means.rest_ns)) AS stand,
        CASE WHEN usual.work > 0 THEN floor(1e6 * means.work / usual.work) ELSE 1e6 END AS work,
        brick_ns,
        late_ns
    FROM means
    JOIN usual ON means.run_id = usual.run_id AND means.device = usual.device
        AND means.win = usual.win AND means.brick = usual.brick
    WHERE usual.ns > 0 AND usual.rest_ns > 0 AND means.rest_ns > 0
),
window_middles AS (
    SELECT run_id, rank, brick, count(*) AS windows, floor(median(stand)) AS stand, floor(median(work)) AS work
    FROM window_stands
    GROUP BY run_id, rank, brick
),
beside AS (
    SELECT
        window_stands.run_id AS run_id,
        device,
        window_stands.rank AS rank,
        win,
        window_stands.brick AS brick,
        floor(1e6 * window_stands.stand / greatest(window_middles.stand, 1e0)) - 1e6 AS beyond,
        window_stands.work - window_middles.work AS work,
        window_middles.windows AS own_windows,
        brick_ns,
        late_ns
    FROM window_stands
    JOIN window_middles ON window_stands.run_id = window_middles.run_id AND window_stands.rank = window_middles.rank
        AND window_stands.brick = window_middles.brick
),
window_spreads AS (
    SELECT run_id, device, brick, count(*) AS windows, median(abs(beyond)) AS spread
    FROM beside
    GROUP BY run_id, device, brick
),
slow AS (
    SELECT
        beside.run_id AS run_id,
        beside.device AS device,
        rank,
        win,
        beside.brick AS brick,
        beyond,
        work,
        own_windows,
        brick_ns,
        late_ns,
        windows,
        count(*) OVER (PARTITION BY beside.run_id, beside.device, beside.brick) AS slow
    FROM beside
    JOIN window_spreads ON beside.run_id = window_spreads.run_id AND beside.device = window_spreads.device
        AND beside.brick = window_spreads.brick
    WHERE beyond >= 20000 AND beyond >= 6 * spread
)
SELECT
    slow.run_id AS run_id,
    slow.rank AS rank,
    slow.brick AS brick,
    CAST(win AS BIGINT) AS win,
    CAST(beyond AS BIGINT) AS beyond_ppm,
    CAST(work AS BIGINT) AS work_ppm,
    CAST(floor(brick_ns) AS BIGINT) AS brick_ns,
    CAST(late_ns AS BIGINT) AS late_ns,
    slow,
    windows,
    own_windows,
    bricks
FROM slow
JOIN candidates ON slow.run_id = candidates.run_id AND slow.rank = candidates.rank AND slow.brick = candidates.brick
JOIN bricks ON slow.run_id = bricks.run_id AND slow.device = bricks.device
ORDER BY run_id, rank, brick, win
