-- One list: the limits of hosts, over what is left for it.
-- reads: remaining
-- fragments: list_rank

-- step: host_listed
SELECT *, {list_rank} AS list_rank FROM remaining

-- step: within_hosts
SELECT
    *,
    CASE
        WHEN host_limit >= 0 AND list_rank > host_limit THEN 'host_limit'
        WHEN list_rank > host_budget THEN 'time_budget'
    END AS host_cut
FROM host_listed
