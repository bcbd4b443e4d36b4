-- One row with the answers of all rules, and the values of the names that expressions use.
-- reads:
-- fragments: name_values

-- step: judged_row (kept)
SELECT j.*, s.fetch_interval AS known_interval FROM judged AS j JOIN scoped AS s ON s.url = j.url

-- step: names_of_row (kept)
SELECT {name_values} FROM seen_by_schedule AS c LEFT JOIN hostdb AS h ON h.host = c.host
