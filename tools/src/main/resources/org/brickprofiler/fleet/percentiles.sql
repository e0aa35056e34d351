-- The buckets of the 50th, 90th, 99th and 99.9th percentile of each brick, over all samples and by phase. The
-- percentiles are nearest ranks, as in a profile. Estimated samples are left out: the error of their percentiles is not
-- known.
WITH exploded AS (
    SELECT phase, category, brick, explode(dist) AS part FROM brick_part WHERE coalesce(unmarked, 0) = 0
),
merged AS (
    SELECT phase, category, brick, part.bucket AS bucket, sum(part.n) AS n
    FROM exploded
    GROUP BY phase, category, brick, part.bucket
),
ranked AS (
    SELECT
        phase,
        category,
        brick,
        bucket,
        sum(n) OVER (PARTITION BY phase, category, brick ORDER BY bucket) AS upto,
        sum(n) OVER (PARTITION BY phase, category, brick) AS samples
    FROM merged
)
SELECT
    phase,
    category,
    brick,
    CAST(max(samples) AS BIGINT) AS samples,
    min(CASE WHEN 100 * upto >= 50 * samples THEN bucket END) AS p50,
    min(CASE WHEN 100 * upto >= 90 * samples THEN bucket END) AS p90,
    min(CASE WHEN 100 * upto >= 99 * samples THEN bucket END) AS p99,
    min(CASE WHEN 1000 * upto >= 999 * samples THEN bucket END) AS p999
FROM ranked
GROUP BY phase, category, brick
ORDER BY phase, brick, category
