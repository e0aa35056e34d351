-- The numbers of measurements that the bricks of each rank lack: unresolved if the device gave no time, dropped if
-- their queue was full, and pending if their end was not known yet when the last window of the rank ended. All three
-- are NULL in packs of earlier versions. untested is the number of windows of the rank that lack too many measurements
-- for a test, estimated the number of those whose times are estimates.
WITH samples AS (
    SELECT run_id, rank, CAST(sum(count) AS BIGINT) AS samples, CAST(sum(unresolved) AS BIGINT) AS unresolved
    FROM brick_window
    GROUP BY run_id, rank
),
untested AS (
    SELECT
        run_id,
        rank,
        CAST(sum(1 - estimated) AS BIGINT) AS windows,
        CAST(sum(estimated) AS BIGINT) AS estimated
    FROM incomplete_window
    GROUP BY run_id, rank
),
placed AS (
    SELECT run_id, rank, dropped, pending, row_number() OVER (PARTITION BY run_id, rank ORDER BY win DESC) AS place
    FROM rank_window
),
ranks AS (
    SELECT
        run_id,
        rank,
        count(*) AS windows,
        CAST(sum(dropped) AS BIGINT) AS dropped,
        max(CASE WHEN place = 1 THEN pending END) AS pending
    FROM placed
    GROUP BY run_id, rank
)
SELECT
    ranks.run_id AS run_id,
    ranks.rank AS rank,
    coalesce(samples, 0) AS samples,
    CASE WHEN dropped IS NOT NULL THEN coalesce(unresolved, 0) END AS unresolved,
    dropped,
    pending,
    ranks.windows AS windows,
    coalesce(untested.windows, 0) AS untested,
    coalesce(untested.estimated, 0) AS estimated
FROM ranks
LEFT JOIN samples ON ranks.run_id = samples.run_id AND ranks.rank = samples.rank
LEFT JOIN untested ON ranks.run_id = untested.run_id AND ranks.rank = untested.rank
ORDER BY run_id, rank
