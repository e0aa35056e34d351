-- The time of the requests of each rank, by cause of waiting. The rank with the longest mean waiting time comes first.
-- The own work of requests is no waiting. Packs of earlier versions do not distinguish it: it is NULL there.
WITH sums AS (
    SELECT
        run_id,
        rank,
        CAST(sum(finished) AS BIGINT) AS finished,
        CAST(sum(queued_behind_prompts_ns + stalled_behind_prompts_ns) AS BIGINT) AS behind_prompts_ns,
        CAST(sum(queued_behind_decoding_ns + stalled_behind_decoding_ns) AS BIGINT) AS behind_decoding_ns,
        CAST(sum(queued_idle_ns + stalled_idle_ns) AS BIGINT) AS idle_ns,
        CAST(sum(own_prompt_ns + decode_ns + decode_beside_prompts_ns + delivery_ns + coalesce(own_work_ns, 0)) AS BIGINT)
            AS served_ns
    FROM request_window
    GROUP BY run_id, rank
    HAVING sum(finished) > 0
)
SELECT run_id, rank, finished, behind_prompts_ns, behind_decoding_ns, idle_ns, served_ns
FROM sums
ORDER BY 1e0 * (behind_prompts_ns + behind_decoding_ns + idle_ns) / finished DESC, run_id, rank
