-- The standard errors of the estimated totals of brick_sum, and their degrees of freedom, after Satterthwaite. The
-- estimates of ranks and windows are independent, so their variances add up. The sums are of whole numbers, which are
-- equal in every order: thousand-millionths of the largest variance, and of its square. Both results are NULL if the
-- error of one estimate is not known, since too few of its samples have marks.
WITH estimates AS (
    SELECT
        'run' AS scope,
        run_id,
        '' AS phase,
        category,
        brick,
        standard_error_ns,
        degrees_of_freedom
    FROM brick_window
    WHERE unmarked > 0
    UNION ALL
    SELECT
        'all' AS scope,
        '' AS run_id,
        phase,
        category,
        brick,
        standard_error_ns,
        degrees_of_freedom
    FROM brick_part
    WHERE unmarked > 0
),
largest AS (
    SELECT
        scope,
        run_id,
        phase,
        category,
        brick,
        max(standard_error_ns) AS error_ns,
        min(degrees_of_freedom) AS degrees,
        count(*) - count(degrees_of_freedom) AS without_error
    FROM estimates
    GROUP BY scope, run_id, phase, category, brick
),
parts AS (
    SELECT
        largest.scope AS scope,
        largest.run_id AS run_id,
        largest.phase AS phase,
        largest.category AS category,
        largest.brick AS brick,
        error_ns,
        degrees,
        CASE WHEN error_ns > 0 THEN standard_error_ns / error_ns ELSE 0e0 END AS part,
        degrees_of_freedom
    FROM estimates
    JOIN largest ON estimates.scope = largest.scope AND estimates.run_id = largest.run_id
        AND estimates.phase = largest.phase AND estimates.category = largest.category
        AND estimates.brick = largest.brick
    WHERE without_error = 0
),
sums AS (
    SELECT
        scope,
        run_id,
        phase,
        category,
        brick,
        max(error_ns) AS error_ns,
        max(degrees) AS degrees,
        CAST(sum(CAST(floor(1e9 * part * part) AS BIGINT)) AS BIGINT) AS variances,
        CAST(sum(CAST(floor(1e9 * part * part * part * part / degrees_of_freedom) AS BIGINT)) AS BIGINT) AS squares
    FROM parts
    GROUP BY scope, run_id, phase, category, brick
)
SELECT
    scope,
    run_id,
    phase,
    category,
    brick,
    error_ns * sqrt(variances / 1e9) AS standard_error_ns,
    CASE WHEN squares > 0 THEN 1e0 * variances * variances / squares / 1e9 ELSE degrees END AS degrees_of_freedom
FROM sums
