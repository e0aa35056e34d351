-- The change of the mean time of a sample from the first third of a run's windows to the last, in millionths, by brick:
-- its median over the ranks, the numbers of ranks on which it rose and fell, and the rank on which it rose most. Only
-- ranks that recorded samples in both thirds count.
WITH ends AS (
    SELECT run_id, win, CASE WHEN 3 * place <= windows THEN 1 ELSE 2 END AS third
    FROM numbered_window
    WHERE windows >= 3 AND (3 * place <= windows OR 3 * place > 2 * windows)
),
sums AS (
    SELECT
        brick_window.run_id,
        rank,
        category,
        brick,
        sum(CASE WHEN third = 1 THEN total_ns ELSE 0 END) AS first_total,
        sum(CASE WHEN third = 1 THEN count ELSE 0 END) AS first_count,
        sum(CASE WHEN third = 2 THEN total_ns ELSE 0 END) AS last_total,
        sum(CASE WHEN third = 2 THEN count ELSE 0 END) AS last_count
    FROM brick_window JOIN ends ON brick_window.run_id = ends.run_id AND brick_window.win = ends.win
    GROUP BY brick_window.run_id, rank, category, brick
),
means AS (
    SELECT
        run_id,
        rank,
        category,
        brick,
        CAST(floor(1e0 * first_total / first_count) AS BIGINT) AS first_ns,
        CAST(floor(1e0 * last_total / last_count) AS BIGINT) AS last_ns,
        CAST(floor(1e6 * last_total / last_count * first_count / first_total) AS BIGINT) - 1000000 AS change_ppm
    FROM sums
    WHERE first_count > 0 AND last_count > 0 AND first_total > 0
),
placed AS (
    SELECT
        means.*,
        row_number() OVER (PARTITION BY category, brick ORDER BY change_ppm, run_id, rank) AS place,
        count(*) OVER (PARTITION BY category, brick) AS ranks
    FROM means
)
SELECT
    category,
    brick,
    max(ranks) AS ranks,
    CAST(floor(median(first_ns)) AS BIGINT) AS first_ns,
    CAST(floor(median(last_ns)) AS BIGINT) AS last_ns,
    max(CASE WHEN 2 * place = ranks OR 2 * place = ranks + 1 THEN change_ppm END) AS change_ppm,
    CAST(sum(CASE WHEN change_ppm > 0 THEN 1 ELSE 0 END) AS BIGINT) AS risen,
    CAST(sum(CASE WHEN change_ppm < 0 THEN 1 ELSE 0 END) AS BIGINT) AS fallen,
    max(change_ppm) AS most_ppm,
    max(CASE WHEN place = ranks THEN run_id END) AS most_run,
    max(CASE WHEN place = ranks THEN rank END) AS most_rank
FROM placed
GROUP BY category, brick
ORDER BY brick, category
