-- How many rows of the scope fall under each reason; null: candidates. And the last of these in the order of a list.
-- reads:

-- step: reason_counts (kept)
SELECT reason, count(*) AS urls FROM judged GROUP BY reason

-- step: last_candidate (kept)
SELECT sort_value, url_key FROM judged WHERE reason IS NULL ORDER BY sort_value, url_key DESC LIMIT 1
