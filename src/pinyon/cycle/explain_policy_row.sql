-- The policy of one host, and the values of the names that its expressions use.
-- reads:
-- fragments: name_values

-- step: policy_row (kept)
SELECT * FROM policies

-- step: names_of_host (kept)
SELECT {name_values} FROM hosts_asked AS a LEFT JOIN hostdb AS h ON h.host = a.host
