-- The mean time of a sample on the fastest, the median and the slowest rank of all runs, by brick, over all samples and
-- by phase, and the names of the fastest and the slowest rank.
WITH means AS (
    SELECT
        phase,
        category,
        brick,
        run_id,
        rank,
        CAST(floor(1e0 * sum(total_ns) / sum(count)) AS BIGINT) AS ns
    FROM brick_part
    WHERE count > 0
    GROUP BY phase, category, brick, run_id, rank
),
placed AS (
    SELECT
        phase,
        category,
        brick,
        run_id,
        rank,
        ns,
        row_number() OVER (PARTITION BY phase, category, brick ORDER BY ns, run_id, rank) AS place,
        count(*) OVER (PARTITION BY phase, category, brick) AS ranks
    FROM means
)
SELECT
    phase,
    category,
    brick,
    max(ranks) AS ranks,
    min(ns) AS min_ns,
    max(CASE WHEN place = 1 THEN run_id END) AS min_run,
    max(CASE WHEN place = 1 THEN rank END) AS min_rank,
    max(CASE WHEN 2 * place = ranks OR 2 * place = ranks + 1 THEN ns END) AS median_ns,
    max(ns) AS max_ns,
    max(CASE WHEN place = ranks THEN run_id END) AS max_run,
    max(CASE WHEN place = ranks THEN rank END) AS max_rank
FROM placed
GROUP BY phase, category, brick
ORDER BY phase, brick, category
