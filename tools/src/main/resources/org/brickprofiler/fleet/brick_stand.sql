-- The deviation of a rank in a brick and a block of windows, in millionths. stand is the excess of its time over the
-- median of its peers, the ranks of its run with the same device. The time is the median, over the windows of the
-- block, of the mean time of a sample, so stalls in less than half of the windows do not count. work is the excess of
-- the elements per sample over the median of the peers. windows is the number of windows of the block in which the
-- brick ran and has enough measurements for a test.
WITH devices AS (
    SELECT run_id, rank, device FROM run_rank WHERE windows >= 6
),
sums AS (
    SELECT
        checked_brick.run_id AS run_id,
        checked_brick.rank AS rank,
        brick,
        block,
        count(*) AS windows,
        median(1e0 * total_ns / count) AS ns,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        CAST(sum(count) AS BIGINT) AS samples,
        CAST(sum(elements) AS BIGINT) AS elements
    FROM checked_brick
    JOIN numbered_window ON checked_brick.run_id = numbered_window.run_id AND checked_brick.win = numbered_window.win
    WHERE category <> 'Communication' AND count > 0 AND lacking = 0
    GROUP BY checked_brick.run_id, checked_brick.rank, brick, block
),
means AS (
    SELECT
        sums.run_id AS run_id,
        device,
        sums.rank AS rank,
        brick,
        block,
        windows,
        ns,
        total_ns,
        1e0 * elements / samples AS work
    FROM sums
    JOIN devices ON sums.run_id = devices.run_id AND sums.rank = devices.rank
),
usual AS (
    SELECT run_id, device, brick, block, median(ns) AS ns, median(work) AS work
    FROM means
    GROUP BY run_id, device, brick, block
)
SELECT
    means.run_id AS run_id,
    means.device AS device,
    means.rank AS rank,
    means.brick AS brick,
    means.block AS block,
    floor(1e6 * means.ns / usual.ns) - 1e6 AS stand,
    CASE WHEN usual.work > 0 THEN floor(1e6 * means.work / usual.work) - 1e6 ELSE 0e0 END AS work,
    windows,
    total_ns
FROM means
JOIN usual ON means.run_id = usual.run_id AND means.device = usual.device
    AND means.brick = usual.brick AND means.block = usual.block
WHERE usual.ns > 0
